#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <utility>

#include <reprise/couchbase/detail/service_work.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/service_results.hpp>

namespace reprise::couchbase {

// The rows of a result while they come, in constant memory: what the reader does not take stays in
// the network and at the server.
//
//     next(): row, row, ..., nothing -> metadata()
//             or an error, which ends it as well
//
// Move-only; one thread at a time. The service's timeout goes on until the last row has come, also
// while the reader thinks. A request whose first row was read is not sent again: if its connection
// breaks then, next() gives the error. Destroying a stream before its end cancels the request.
template <class Metadata>
class row_stream {
public:
    // Made by the calls that end in `_stream`.
    explicit row_stream(detail::row_handle rows) noexcept : rows_(std::move(rows)) {}
    row_stream(row_stream&&) noexcept = default;
    row_stream& operator=(row_stream&& other) noexcept {
        if (this != &other) {
            cancel();
            rows_ = std::move(other.rows_);
        }
        return *this;
    }
    ~row_stream() { cancel(); }

    // The next row, valid until the next call; nothing after the last one. Blocks until there is
    // one; client_errc::blocking_call_in_loop as for all blocking calls. After an error or the end
    // every further call gives the same.
    [[nodiscard]] std::expected<std::optional<row_view>, error> next() {
        if (rows_.cursor->has_row()) {
            return rows_.cursor->take_row();
        }
        return detail::next_row(rows_);
    }
    // The same through a token: void(std::expected<std::optional<row_view>, error>). One at a time.
    // Canceling it cancels the request. Defined in <reprise/couchbase/asio.hpp>.
    template <class Token>
    auto async_next(Token&& token);

    // After the end; before it, or after an error, an error.
    [[nodiscard]] std::expected<Metadata, error> metadata() const {
        return detail::read_metadata<Metadata>(rows_);
    }
    // How the request went on its way to the first row: retries and their history. Known when
    // next() has given the end or an error; the error has it, too.
    [[nodiscard]] const operation_trace& trace() const noexcept { return detail::trace_of(rows_); }
    // Ends the request; next() then gives the rows that have come and errc::request_canceled.
    void cancel() noexcept {
        if (rows_.source) {
            detail::cancel_rows(rows_);
        }
    }
    // The largest number of bytes of rows that lay in this client at once, beside the batch that
    // the reader was working on. For tests and tuning.
    [[nodiscard]] std::size_t buffered_size_peak() const noexcept {
        return detail::buffered_size_peak(rows_);
    }

private:
    detail::row_handle rows_;
};

using query_stream = row_stream<query_metadata>;
using analytics_stream = query_stream;
using search_stream = row_stream<search_metadata>;
using view_stream = row_stream<view_metadata>;

}  // namespace reprise::couchbase
