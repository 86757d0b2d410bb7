#pragma once

/// Results of operations on documents.
///
/// All results have one shape: what the server returned is a plain field, and what is computed from
/// the fields (text, format, a decoded value) is a function. You can build a result yourself, for
/// example to test code that takes one: `get_result{.cas = cas{7}}`. See docs/design/public_api.md.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/error.hpp>
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

/// How an operation reached its result. Every result has one.
struct operation_trace {
    /// How many retries were made. Zero means that the first attempt succeeded.
    std::uint32_t retry_attempts = 0;
    /// One entry for each failed attempt; null if nothing was retried.
    std::shared_ptr<const retry_history> history{};
};

/// Names one mutation. Pass it to a query (`mutation_state`) that must see the mutation.
struct mutation_token {
    std::string bucket{};
    std::uint16_t vbucket = 0;
    /// Changes when the vbucket's history is rolled back.
    std::uint64_t vbucket_uuid = 0;
    /// Counts the changes of the vbucket.
    std::uint64_t seqno = 0;

    friend bool operator==(const mutation_token&, const mutation_token&) = default;
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

}  // namespace reprise::couchbase
