#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>

#include <reprise/base/bounded_list.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/message.hpp>

// Messages that poll for persistence and replication. See message.hpp for encoding and decoding.

namespace reprise::wire {

/// The number of keys in one observe message. The limit is our own and keeps messages small.
inline constexpr std::size_t observe_key_count_max = 16;

struct observe_key {
    vbucket_id vbucket{};
    document_key key;
};

/// observe: each key has its own vbucket, and the server ignores the header's. CAS must be 0.
struct observe_request {
    base::bounded_list<observe_key, observe_key_count_max> keys;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<observe_request, wire_errc> decode(const frame_view&, key_form);
};

enum class observe_state : std::uint8_t {
    found = 0x00,              ///< in memory, not yet on disk
    persisted = 0x01,          ///< on disk
    not_found = 0x80,          ///< no such document
    logically_deleted = 0x81,  ///< deleted in memory, not yet on disk
};

struct observe_result {
    vbucket_id vbucket{};
    document_key key;
    observe_state state = observe_state::found;  ///< may hold a byte that is not in the list
    std::uint64_t cas = 0;
};

/// Answer to observe, in the order of the request. The header's CAS is a hint: its high 32 bits are
/// the time that persisting takes.
struct observe_response {
    base::bounded_list<observe_result, observe_key_count_max> results;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<observe_response, wire_errc> decode(const frame_view&, key_form);
};

/// observe_seqno: the vbucket is in the header.
struct observe_seqno_request {
    std::uint64_t vbucket_uuid = 0;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<observe_seqno_request, wire_errc> decode(const frame_view&);
};

/// The last state under a vbucket uuid that a failover ended.
struct seqno_failover {
    std::uint64_t old_vbucket_uuid = 0;
    std::uint64_t last_seqno = 0;

    friend bool operator==(const seqno_failover&, const seqno_failover&) = default;
};

/// Answer to observe_seqno.
struct observe_seqno_response {
    vbucket_id vbucket{};
    std::uint64_t vbucket_uuid = 0;  ///< the current one
    std::uint64_t persisted_seqno = 0;
    std::uint64_t current_seqno = 0;
    std::optional<seqno_failover> failed_over;  ///< set if the request named an old uuid

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<observe_seqno_response, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
