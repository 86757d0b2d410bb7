#pragma once

/// Reads the documents of a collection by their keys: see collection::scan.

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <variant>

#include <reprise/couchbase/detail/async_arguments.hpp>
#include <reprise/couchbase/detail/document_call.hpp>
#include <reprise/couchbase/detail/stream_iterator.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/operation_options.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/service_options.hpp>

namespace reprise::couchbase {

/// An end of a range of keys. An empty key means that the range has no such end.
struct scan_term {
    std::string key{};
    /// The range does not contain the key itself.
    bool is_exclusive = false;
};

/// The keys from `from` to `to`, compared byte by byte. Without either, all keys.
struct range_scan {
    scan_term from{};
    scan_term to{};
};

/// The keys that begin with `prefix`.
struct prefix_scan {
    std::string prefix{};
};

/// Documents chosen at random, at most `limit` of them. The same seed chooses the same documents as
/// long as nothing changes; without a seed each scan uses another one.
struct sampling_scan {
    std::size_t limit = 0;
    std::optional<std::uint32_t> seed{};
};

/// The range or sample that a scan reads.
using scan_kind = std::variant<range_scan, prefix_scan, sampling_scan>;

/// The time that a scan may take if its options name none, from the call to the last document.
inline constexpr duration scan_timeout_default = std::chrono::seconds{75};

/// Options of collection::scan.
struct scan_options {
    /// Absent: scan_timeout_default.
    std::optional<duration> timeout{};
    /// Reads no documents but only their keys.
    bool keys_only = false;
    /// Mutations that the scan must see. It waits for them until the timeout; if one of them was
    /// lost in a failover, it fails with errc::mutation_token_outdated.
    mutation_state consistent_with{};
    /// Bounds of one answer of a server. Neither may be zero.
    std::uint32_t batch_item_limit = 50;
    std::uint32_t batch_byte_limit = 15'000;
    /// How many vbuckets of each node are scanned at the same time; at least 1. More is faster and
    /// takes more of the server.
    std::size_t concurrency = 1;
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::retry_allowance* outer_allowance = nullptr;
};

static_assert(operation_options<scan_options>);

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
    const scan_handle& scan, result_receiver<std::optional<scanned_document>>* receiver);
void cancel_scan(const scan_handle& scan) noexcept;
// Cancels the scan if it still exists, from any thread.
[[nodiscard]] std::move_only_function<void()> make_cancel(const scan_handle& scan);
[[nodiscard]] std::optional<error> failure_of(const scan_handle& scan);
[[nodiscard]] std::expected<operation_trace, error> finish_scan(const scan_handle& scan);

}  // namespace detail

/// The documents of a scan as they arrive, in bounded memory. Documents of one vbucket come in the
/// order of their keys; those of different vbuckets are mixed. It is read like a row_stream: as a
/// C++20 input range, with next() or with async_next(), one of them at a time and one thread at a
/// time.
/// ```
///     for (const auto& document : *found) {
///         std::cout << document.key << ": " << document.text() << '\n';
///     }
///     if (auto end = found->finish(); !end) {
///         std::cerr << end.error() << '\n';  // the documents so far are not all documents
///         ...
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

    /// collection::scan makes streams.
    explicit scan_stream(detail::scan_handle scan) noexcept : scan_(std::move(scan)) {}
    scan_stream(scan_stream&&) noexcept = default;
    scan_stream& operator=(scan_stream&& other) noexcept {
        if (this != &other) {
            cancel();
            scan_ = std::move(other.scan_);
        }
        return *this;
    }
    ~scan_stream() { cancel(); }

    /// Reads the next document and returns an iterator to it. Call it once; a second range
    /// continues where the first one stopped.
    [[nodiscard]] iterator begin() { return iterator(*this); }
    /// The range ends after the last document, and also when reading fails; see finish().
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return std::default_sentinel; }

    /// Returns the next document, or nothing after the last one. Blocks until there is one. After
    /// the end or an error every further call returns the same. On the client's own loop the call
    /// fails with client_errc::blocking_call_in_loop; the stream can still be read elsewhere or
    /// with async_next().
    [[nodiscard]] std::expected<std::optional<scanned_document>, error> next() {
        return detail::next_document(scan_);
    }
    /// The same through a completion token with the signature
    /// `void(std::expected<std::optional<scanned_document>, error>)`; without a token it can be
    /// awaited. Start the next one when the last one has completed; until then every other read
    /// fails with client_errc::read_in_progress. Cancelling it cancels the scan. Defined in
    /// <reprise/couchbase/asio.hpp>.
    template <class Token = detail::default_token>
    [[nodiscard]] auto async_next(Token&& token = {});

    /// Why reading stopped. Empty while documents may follow, and after the last one.
    [[nodiscard]] std::optional<error> failure() const { return detail::failure_of(scan_); }
    /// Whether that was the last document, and the retries that it took, those of all vbuckets
    /// together. Fails with failure() if there is one, and with errc::invalid_argument before the
    /// last document has been read. A sample that stops at its limit does not wait for the servers,
    /// and has no trace.
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
    detail::scan_handle scan_;
};

static_assert(std::ranges::input_range<scan_stream>);

}  // namespace reprise::couchbase
