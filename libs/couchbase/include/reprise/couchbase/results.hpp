#pragma once

/// Results of operations on documents and of requests to the HTTP services.
///
/// All results have one shape: what the server returned is a plain field, and what is computed from
/// the fields (text, format, a decoded value) is a function. You can build a result yourself, for
/// example to test code that takes one: `get_result{.cas = cas{7}}`. See docs/design/public_api.md.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase_types/services.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise::couchbase {

namespace detail {
struct document_bytes_access;
}

/// The version of a document. It changes with every change of the document. Zero means "any
/// version" where a call takes one, and "no version" in a result.
struct cas {
    std::uint64_t value = 0;

    /// Whether this names a version.
    [[nodiscard]] explicit operator bool() const noexcept { return value != 0; }
    friend bool operator==(cas, cas) noexcept = default;
};

/// The bytes of a document: a small copy, or a share of the memory that they were received in. A
/// copy of this object shares the same bytes and costs no copy of them. Copies may live on
/// different threads; the memory is released with the last one.
class document_bytes {
public:
    document_bytes() noexcept;
    document_bytes(const document_bytes& other) noexcept;
    document_bytes(document_bytes&& other) noexcept;
    document_bytes& operator=(const document_bytes& other) noexcept;
    document_bytes& operator=(document_bytes&& other) noexcept;
    ~document_bytes();

    /// The bytes. The view is valid until this object is assigned to, moved from or destroyed.
    [[nodiscard]] std::span<const std::byte> view() const noexcept;

private:
    friend struct detail::document_bytes_access;
    // Room for the client's own type, so that its header stays out of this one.
    alignas(8) std::byte storage_[80];
};

/// The way of an operation to its result. Every result has one.
struct operation_trace {
    /// The number of retries. Zero means that the first attempt succeeded.
    std::uint32_t retry_attempts = 0;
    /// One entry for each failed attempt; null if nothing was retried.
    std::shared_ptr<const retry_history> history{};
};

/// A document that was read.
struct get_result {
    /// The document as it was stored. Its bytes are not copied out of the receive buffer unless
    /// they are few.
    document_bytes content{};
    /// The flags as the writer left them. The top byte is the format.
    std::uint32_t flags = 0;
    /// When the document expires, in seconds since 1970. Zero: never, or the call did not ask for
    /// it (get_options::with_expiry; scans always do).
    std::uint32_t expiry_seconds = 0;
    /// The version. After `get_and_lock` it also names the lock: pass it to `unlock` or to the next
    /// write.
    couchbase::cas cas{};
    operation_trace trace{};

    /// When the document expires. Empty: never, or the call did not ask for it.
    [[nodiscard]] std::optional<std::chrono::sys_seconds> expiry() const noexcept {
        return expiry_seconds == 0
                   ? std::nullopt
                   : std::optional(std::chrono::sys_seconds(std::chrono::seconds(expiry_seconds)));
    }
    /// The format that the flags name.
    [[nodiscard]] document_format format() const noexcept { return format_of(flags); }
    /// The content as bytes. The view is valid as long as this result.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return content.view(); }
    /// The content as text. The view is valid as long as this result.
    [[nodiscard]] std::string_view text() const noexcept { return document().text(); }
    /// Content and flags, as a codec sees them. The view is valid as long as this result.
    [[nodiscard]] document_view document() const noexcept { return {bytes(), flags}; }
    /// The content decoded by `codec<T>`. Fails with errc::decoding_failure if the document has
    /// another format.
    template <decodable T>
    [[nodiscard]] std::expected<T, error> content_as() const {
        return codec<T>::decode(document());
    }
};

/// A document that was read from any of its copies.
struct get_replica_result : get_result {
    /// True if a replica returned the document. A replica may lag behind the active copy.
    bool is_replica = false;
};

/// A document that was changed or removed.
struct mutation_result {
    /// The new version. For a removed document it is the version of the tombstone.
    couchbase::cas cas{};
    /// Absent if the server sends none, or if cluster_options::enable_mutation_tokens is off.
    std::optional<mutation_token> token{};
    operation_trace trace{};
};

/// A counter after a change.
struct counter_result {
    /// The value after the change, or the initial value if the counter was created.
    std::uint64_t value = 0;
    couchbase::cas cas{};
    /// As in mutation_result.
    std::optional<mutation_token> token{};
    operation_trace trace{};
};

/// Whether a document exists.
struct exists_result {
    /// False for a document that has expired or was removed.
    bool exists = false;
    /// Zero if the document does not exist.
    couchbase::cas cas{};
    operation_trace trace{};
};

/// One row as the service sent it: a JSON value. It does not own its bytes; see the function that
/// returned it for how long they live.
class row_view {
public:
    row_view() = default;
    explicit row_view(std::string_view text) noexcept : text_(text) {}

    /// The row as JSON text.
    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    /// The same as bytes.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::as_bytes(std::span{text_});
    }
    /// The row converted to T: booleans, numbers and strings directly, everything else by
    /// `codec<T>`, which sees JSON. Fails with errc::decoding_failure if the row is no such value.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> as() const {
        return read_fragment<T>({bytes(), flags_of(document_format::json)});
    }

private:
    std::string_view text_;
};

/// The rows of a result: a C++20 forward range of row_view. Copies share the rows. A row_view is
/// valid as long as one of the copies.
class row_list {
public:
    row_list() = default;
    /// The client makes lists. `memory` owns what the rows point into.
    row_list(std::vector<std::string_view> rows, std::shared_ptr<const void> memory) noexcept
        : rows_(std::move(rows)), memory_(std::move(memory)) {}

    /// Valid as long as its list stays where it is.
    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = row_view;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = row_view;

        iterator() noexcept = default;
        iterator(const row_list* rows, std::size_t index) noexcept : rows_(rows), index_(index) {}
        [[nodiscard]] row_view operator*() const noexcept { return (*rows_)[index_]; }
        iterator& operator++() noexcept {
            ++index_;
            return *this;
        }
        iterator operator++(int) noexcept { return {rows_, index_++}; }
        friend bool operator==(const iterator&, const iterator&) noexcept = default;

    private:
        const row_list* rows_ = nullptr;
        std::size_t index_ = 0;
    };

    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
    /// `index` must be less than size().
    [[nodiscard]] row_view operator[](std::size_t index) const noexcept {
        return row_view(rows_[index]);
    }
    [[nodiscard]] iterator begin() const noexcept { return {this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {this, size()}; }

private:
    std::vector<std::string_view> rows_;
    std::shared_ptr<const void> memory_;
};

/// All rows of a request with its metadata.
template <class Metadata>
struct rows_result {
    row_list rows{};
    Metadata metadata{};
    operation_trace trace{};
};

using query_result = rows_result<query_metadata>;    ///< What cluster::query returns.
using analytics_result = query_result;               ///< What cluster::analytics_query returns.
using search_result = rows_result<search_metadata>;  ///< What cluster::search returns.
using view_result = rows_result<view_metadata>;      ///< What bucket::view_query returns.

/// Splits a row of a view. Fails with errc::decoding_failure if it is not a view's row.
[[nodiscard]] std::expected<view_row, error> parse_view_row(row_view row);

/// The answer to cluster::management_request. Its status is 2xx.
struct management_response {
    int status = 0;
    std::string body{};
    operation_trace trace{};
};

/// The result of one path of a sub-document operation.
struct path_result {
    std::string path{};
    /// The error of this path alone; unset if the path succeeded.
    std::error_code code{};
    /// The status that the server sent for this path.
    std::uint16_t status = 0;
    /// JSON; empty if the server returned no value for this path.
    document_bytes value{};
};

namespace detail {
/// The JSON at a place of the call, or the error of that path.
[[nodiscard]] std::expected<document_view, error> content_at(
    const std::vector<path_result>& paths, std::size_t index);
}  // namespace detail

/// The parts of a document that were read.
struct lookup_in_result {
    /// One entry for each lookup_spec of the call, in the same order.
    std::vector<path_result> paths{};
    couchbase::cas cas{};
    /// True if the document was read after its removal (lookup_in_options::access_deleted).
    bool is_deleted = false;
    operation_trace trace{};

    /// The JSON at the path with this index (from 0). Fails with the error of that path
    /// (errc::path_not_found, errc::path_mismatch, ...), or with errc::invalid_argument if the call
    /// had no such path. The view is valid as long as this result.
    [[nodiscard]] std::expected<document_view, error> content(std::size_t index) const {
        return detail::content_at(paths, index);
    }
    /// The same, converted to T by read_fragment.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> content_as(std::size_t index) const {
        const auto found = content(index);
        return found ? read_fragment<T>(*found) : std::unexpected(found.error());
    }
};

/// The parts of a document that were read from any of its copies.
struct lookup_in_replica_result : lookup_in_result {
    /// As in get_replica_result.
    bool is_replica = false;
};

/// A document whose parts were changed, all of them. If one path fails, the whole call fails, and
/// error::info().failed_path is the index of that path.
struct mutate_in_result {
    /// One entry for each mutate_spec of the call, in the same order.
    std::vector<path_result> paths{};
    /// The new version.
    couchbase::cas cas{};
    /// As in mutation_result.
    std::optional<mutation_token> token{};
    operation_trace trace{};

    /// The server's value for the path with this index (from 0): the new number after an
    /// increment or decrement. Other changes return nothing, and reading their content fails with
    /// errc::decoding_failure.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> content_as(std::size_t index) const {
        const auto found = detail::content_at(paths, index);
        return found ? read_fragment<T>(*found) : std::unexpected(found.error());
    }
};

}  // namespace reprise::couchbase
