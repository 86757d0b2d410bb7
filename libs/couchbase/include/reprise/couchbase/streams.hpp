#pragma once

/// Results that are read as they arrive: rows of the HTTP services, and the documents of a scan.

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/options.hpp>
#include <reprise/couchbase/results.hpp>

namespace reprise::couchbase::detail {

/// Makes streams; defined in the library's sources.
struct stream_access;

/// Reads a stream with its next(). It must not outlive the stream, and the stream must not be moved
/// while an iterator is in use. An error is the last element: after it, as after the last item, the
/// iterator equals the sentinel.
template <class Stream, class Item>
class stream_iterator {
public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = std::expected<Item, error>;
    using difference_type = std::ptrdiff_t;

    stream_iterator() noexcept = default;
    /// Reads the first item.
    explicit stream_iterator(Stream& stream) : stream_(&stream) { ++*this; }

    /// Valid until the iterator is advanced.
    [[nodiscard]] const value_type& operator*() const noexcept { return element_; }
    [[nodiscard]] const value_type* operator->() const noexcept { return &element_; }
    stream_iterator& operator++() {
        if (!element_) {
            stream_ = nullptr;
            return *this;
        }
        auto next = stream_->next();
        if (!next) {
            element_ = std::unexpected(std::move(next.error()));
        } else if (*next) {
            element_ = std::move(**next);
        } else {
            stream_ = nullptr;
        }
        return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const stream_iterator& at, std::default_sentinel_t) noexcept {
        return at.stream_ == nullptr;
    }

private:
    Stream* stream_ = nullptr;  // null: after the last element
    value_type element_;
};

}  // namespace reprise::couchbase::detail

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
            leave();
            rows_ = std::move(other.rows_);
        }
        return *this;
    }
    ~row_stream() { leave(); }

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
    void leave() noexcept {
        if (rows_.source) {
            detail::leave_rows(rows_);
        }
    }
    explicit row_stream(detail::row_handle rows) noexcept : rows_(std::move(rows)) {}

    detail::row_handle rows_;
};

using query_stream = row_stream<query_metadata>;    ///< Rows of cluster::query_stream.
using analytics_stream = query_stream;              ///< Rows of cluster::analytics_stream.
using search_stream = row_stream<search_metadata>;  ///< Hits of cluster::search_stream.
using view_stream = row_stream<view_metadata>;      ///< Rows of bucket::view_stream.

/// A document that a scan found, with its expiry. With scan_options::keys_only it has a key and
/// nothing else.
struct scanned_document : get_result {
    std::string key{};
};

namespace detail {

class scan_source;

// A scan under way.
struct scan_handle {
    std::shared_ptr<session> client;
    std::shared_ptr<scan_source> source;
};

[[nodiscard]] std::expected<std::optional<scanned_document>, error> next_document(
    const scan_handle& scan);
void start_next_document(
    const scan_handle& scan, const result_receiver<std::optional<scanned_document>>& receiver);
void cancel_scan(const scan_handle& scan) noexcept;
void leave_scan(const scan_handle& scan) noexcept;  // as leave_rows
// Cancels the scan if it still exists, from any thread.
[[nodiscard]] std::move_only_function<void()> make_cancel(const scan_handle& scan);
[[nodiscard]] std::expected<operation_trace, error> finish_scan(const scan_handle& scan);

}  // namespace detail

/// The documents of a scan as they arrive, in bounded memory. Documents of one vbucket come in the
/// order of their keys; those of different vbuckets are mixed. It is read like a row_stream: as a
/// C++20 input range, with next() or with async_next(), one of them at a time and one thread at a
/// time.
/// ```
///     for (const auto& document : *found) {
///         if (!document) {
///             std::cerr << document.error() << '\n';  // the documents so far are not all
///             return false;
///         }
///         std::cout << document->key << ": " << document->text() << '\n';
///     }
/// ```
/// A scan changes nothing, so it survives broken connections, moving vbuckets and failovers: it
/// goes on after the last document that arrived, and no document is returned twice. A sample cannot
/// go on: if it breaks after its first document in a vbucket, the stream fails. Destroying a stream
/// before its end cancels the scan.
///
/// Each vbucket is read as it was when its scan began, so the result is not a snapshot of the whole
/// collection.
class scan_stream {
public:
    /// Reads documents with next(). It must not outlive its stream, and the stream must not be
    /// moved while an iterator is in use.
    using iterator = detail::stream_iterator<scan_stream, scanned_document>;

    scan_stream(scan_stream&&) noexcept = default;
    scan_stream& operator=(scan_stream&& other) noexcept {
        if (this != &other) {
            leave();
            scan_ = std::move(other.scan_);
        }
        return *this;
    }
    ~scan_stream() { leave(); }

    /// Reads the next document and returns an iterator to it. Call it once; a second range
    /// continues where the first one stopped.
    [[nodiscard]] iterator begin() { return iterator(*this); }
    /// The range ends after the last document, or after the error that ended the scan.
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return std::default_sentinel; }

    /// Returns the next document, or nothing after the last one. Blocks until there is one. After
    /// the end or an error every further call returns the same. On the client's own loop the call
    /// fails with errc::blocking_call_in_loop; the stream can still be read elsewhere or
    /// with async_next().
    [[nodiscard]] std::expected<std::optional<scanned_document>, error> next() {
        return detail::next_document(scan_);
    }
    /// The same through a completion token with the signature
    /// `void(std::expected<std::optional<scanned_document>, error>)`; without a token it can be
    /// awaited. Start the next one when the last one has completed; until then every other read
    /// fails with errc::read_in_progress. Cancelling it cancels the scan. Needs
    /// <reprise/couchbase/asio.hpp>.
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_next(Token&& token = {}) {
        return detail::initiation<Token>::next_document(scan_, token);
    }

    /// The retries of all vbuckets together, or the error that the last read returned. Fails with
    /// errc::invalid_argument before the last document has been read. A sample that stops at its
    /// limit does not wait for the servers, and has no trace.
    [[nodiscard]] std::expected<operation_trace, error> finish() const {
        return detail::finish_scan(scan_);
    }
    /// Ends the scan. The stream then returns the documents that have arrived, and after them
    /// errc::request_canceled.
    void cancel() noexcept {
        if (scan_.source) {
            detail::cancel_scan(scan_);
        }
    }

private:
    friend struct detail::stream_access;
    void leave() noexcept {
        if (scan_.source) {
            detail::leave_scan(scan_);
        }
    }
    explicit scan_stream(detail::scan_handle scan) noexcept : scan_(std::move(scan)) {}

    detail::scan_handle scan_;
};

}  // namespace reprise::couchbase
