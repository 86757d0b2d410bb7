#pragma once

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

// The version of a document; changes with every change of it. Zero means "any".
struct cas {
    std::uint64_t value = 0;

    [[nodiscard]] explicit operator bool() const noexcept { return value != 0; }
    friend bool operator==(cas, cas) noexcept = default;
};

// Bytes of a document: a small copy, or a share of the memory they were received in. Cheap to copy
// and to move, also between threads; the memory lives as long as one of them.
class document_bytes {
public:
    document_bytes() noexcept;
    document_bytes(const document_bytes& other) noexcept;
    document_bytes(document_bytes&& other) noexcept;
    document_bytes& operator=(const document_bytes& other) noexcept;
    document_bytes& operator=(document_bytes&& other) noexcept;
    ~document_bytes();

    // Valid as long as this object, and not past its next assignment.
    [[nodiscard]] std::span<const std::byte> view() const noexcept;

private:
    friend struct detail::document_bytes_access;
    // Room for the client's own type, so that its header stays out of here.
    alignas(8) std::byte storage_[80];
};

// How the operation went on its way; the same in every result.
struct operation_trace {
    // Retries made; 0: the first attempt succeeded.
    std::uint32_t retry_attempts = 0;
    // One entry per failed attempt; null if nothing was retried.
    std::shared_ptr<const retry_history> history{};
};

// Names a mutation: a query can be told to wait for it.
struct mutation_token {
    std::string bucket;
    std::uint16_t vbucket = 0;
    std::uint64_t vbucket_uuid = 0;  // changes when the vbucket's history was rolled back
    std::uint64_t seqno = 0;         // counts the changes of the vbucket

    friend bool operator==(const mutation_token&, const mutation_token&) = default;
};

// A document that was read.
class get_result {
public:
    get_result(
        document_bytes content, std::uint32_t flags, couchbase::cas version,
        operation_trace trace) noexcept
        : content_(std::move(content)), flags_(flags), cas_(version), trace_(std::move(trace)) {}

    // After get_and_lock: names the lock, too; give it to unlock or to the next write.
    [[nodiscard]] couchbase::cas cas() const noexcept { return cas_; }
    // As the writer left them; the top byte is the format.
    [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }
    [[nodiscard]] document_format format() const noexcept { return format_of(flags_); }
    // Valid as long as this result.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return content_.view(); }
    [[nodiscard]] std::string_view text() const noexcept { return document().text(); }
    [[nodiscard]] document_view document() const noexcept { return {bytes(), flags_}; }
    // Decoded by codec<T>; a document of another format is errc::decoding_failure.
    template <decodable T>
    [[nodiscard]] std::expected<T, error> content_as() const {
        return codec<T>::decode(document());
    }
    [[nodiscard]] const operation_trace& trace() const noexcept { return trace_; }

private:
    document_bytes content_;
    std::uint32_t flags_;
    couchbase::cas cas_;
    operation_trace trace_;
};

// A document that was read from any of its copies.
class get_replica_result : public get_result {
public:
    get_replica_result(get_result&& read, bool is_replica) noexcept
        : get_result(std::move(read)), is_replica_(is_replica) {}

    // True: from a replica, which may lag behind; false: from the active copy.
    [[nodiscard]] bool is_replica() const noexcept { return is_replica_; }

private:
    bool is_replica_;
};

// A document that was changed or removed.
struct mutation_result {
    // The new version; of a removed document that of its tombstone.
    couchbase::cas cas{};
    // Absent if the server does not give any, or cluster_options::enable_mutation_tokens is off.
    std::optional<mutation_token> token{};
    operation_trace trace{};
};

// A counter after the change.
struct counter_result {
    // After the change, or the initial value if the counter was made.
    std::uint64_t value = 0;
    couchbase::cas cas{};
    std::optional<mutation_token> token{};
    operation_trace trace{};
};

// Whether a document is there; an expired or removed one is not.
struct exists_result {
    bool exists = false;
    couchbase::cas cas{};  // zero if there is none
    operation_trace trace{};

    [[nodiscard]] explicit operator bool() const noexcept { return exists; }
};

}  // namespace reprise::couchbase
