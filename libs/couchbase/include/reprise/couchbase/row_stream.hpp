#pragma once

#include <cstddef>
#include <expected>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include <reprise/couchbase/detail/async_arguments.hpp>
#include <reprise/couchbase/detail/service_work.hpp>
#include <reprise/couchbase/detail/stream_iterator.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/service_results.hpp>

namespace reprise::couchbase {

/// The rows of a result as they arrive, in constant memory: rows that you do not read stay in the
/// network and on the server. There are three ways to read them; use one of them at a time.
///
/// As a C++20 input range of `std::expected<row_view, error>`, which blocks while it waits for the
/// next row. If reading fails, the error is the last element:
/// ```
///     for (const auto& row : *rows) {
///         if (!row) {
///             std::cerr << row.error() << '\n';  // the rows so far are not all rows
///             return false;
///         }
///         std::cout << row->text() << '\n';
///     }
/// ```
/// Row by row, blocking:
/// ```
///     next(): row, row, ..., nothing -> finish(): metadata
///             row, row, error        -> finish(): the same error
/// ```
/// Row by row, asynchronously: `co_await rows->async_next()`, with the same results.
///
/// A stream is move-only, and one thread may use it at a time. The timeout of the request runs
/// until the last row has arrived, also while you process a row. Once you have read the first row,
/// the request is never sent again: if its connection breaks, the stream fails. Destroying a stream
/// before its end cancels the request.
template <class Metadata>
class row_stream {
public:
    /// Reads rows with next(). It must not outlive its stream, and the stream must not be moved
    /// while an iterator is in use.
    using iterator = detail::stream_iterator<row_stream, row_view>;

    row_stream(row_stream&&) noexcept = default;
    row_stream& operator=(row_stream&& other) noexcept {
        if (this != &other) {
            cancel();
            rows_ = std::move(other.rows_);
        }
        return *this;
    }
    ~row_stream() { cancel(); }

    /// Reads the next row and returns an iterator to it. Call it once; a second range continues
    /// where the first one stopped.
    [[nodiscard]] iterator begin() { return iterator(*this); }
    /// The range ends after the last row, or after the error that ended the rows.
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return std::default_sentinel; }

    /// Returns the next row, or nothing after the last one. Blocks until there is a row. The row is
    /// valid until the next call. After the end or an error every further call returns the same.
    /// On the client's own loop the call fails with errc::blocking_call_in_loop; the stream
    /// can still be read elsewhere or with async_next().
    [[nodiscard]] std::expected<std::optional<row_view>, error> next() {
        if (rows_.cursor->has_row()) {
            return rows_.cursor->take_row();
        }
        return detail::next_row(rows_);
    }
    /// The same through a completion token with the signature
    /// `void(std::expected<std::optional<row_view>, error>)`; without a token it can be awaited.
    /// Start the next one when the last one has completed; until then every other read fails with
    /// errc::read_in_progress. Cancelling it cancels the request.
    /// Needs <reprise/couchbase/asio.hpp>.
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_next(Token&& token = {}) {
        return detail::initiation<Token>::next_row(rows_, token);
    }

    /// The service's metadata about the request, or the error that the last read returned. Fails
    /// with errc::invalid_argument before the last row has been read.
    [[nodiscard]] std::expected<Metadata, error> finish() const {
        return detail::finish_rows<Metadata>(rows_);
    }
    /// The retries that were made before the first row arrived. Known after the end or an error;
    /// the error has it, too.
    [[nodiscard]] const operation_trace& trace() const noexcept { return detail::trace_of(rows_); }
    /// Ends the request. The stream then returns the rows that have arrived, and after them
    /// errc::request_canceled.
    void cancel() noexcept {
        if (rows_.source) {
            detail::cancel_rows(rows_);
        }
    }
    /// The largest number of bytes that waited in this client at once, without the batch being
    /// read. For tests and tuning.
    [[nodiscard]] std::size_t buffered_size_peak() const noexcept {
        return detail::buffered_size_peak(rows_);
    }

private:
    friend struct detail::stream_access;
    explicit row_stream(detail::row_handle rows) noexcept : rows_(std::move(rows)) {}

    detail::row_handle rows_;
};

using query_stream = row_stream<query_metadata>;    ///< Rows of cluster::query_stream.
using analytics_stream = query_stream;              ///< Rows of cluster::analytics_stream.
using search_stream = row_stream<search_metadata>;  ///< Hits of cluster::search_stream.
using view_stream = row_stream<view_metadata>;      ///< Rows of bucket::view_stream.

static_assert(std::ranges::input_range<query_stream>);
static_assert(std::ranges::input_range<search_stream>);
static_assert(std::ranges::input_range<view_stream>);

}  // namespace reprise::couchbase
