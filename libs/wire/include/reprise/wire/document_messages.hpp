#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/message.hpp>

// Whole-document messages. How they are encoded and decoded: see message.hpp.

namespace reprise::wire {

// Expiry fields are as in expiry.hpp. As the expiry of a counter: do not create a missing document.
inline constexpr std::uint32_t expiry_do_not_create = 0xffff'ffff;
// CAS shown for a document that is locked by somebody.
inline constexpr std::uint64_t cas_locked = 0xffff'ffff'ffff'ffff;

// Opcodes of request_shape::key: a key and nothing else. CAS: 0 for the two reads, any for
// remove, not 0 for unlock (it names the lock).
struct document_request {
    opcode op = opcode::get;
    document_key key;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<document_request, wire_errc> decode(const frame_view&, key_form);
};

// set, add, replace. CAS must be 0 for add. The header's datatype says what the value is (JSON and
// Snappy bits only).
struct store_request {
    opcode op = opcode::set;
    document_key key;
    std::uint32_t flags = 0;  // kept by the server unchanged; SDKs say the format in the top byte
    std::uint32_t expiry = 0;
    base::byte_view value;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<store_request, wire_errc> decode(const frame_view&, key_form);
};

// append, prepend: the value is joined to the stored one.
struct concat_request {
    opcode op = opcode::append;
    document_key key;
    base::byte_view value;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<concat_request, wire_errc> decode(const frame_view&, key_form);
};

// increment, decrement. A missing document is created with `initial` (delta not applied), or not at
// all with `expiry_do_not_create`. CAS must be 0.
struct counter_request {
    opcode op = opcode::increment;
    document_key key;
    std::uint64_t delta = 0;
    std::uint64_t initial = 0;
    std::uint32_t expiry = expiry_do_not_create;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<counter_request, wire_errc> decode(const frame_view&, key_form);
};

// touch, get_and_touch: sets a new expiry. CAS must be 0.
struct touch_request {
    opcode op = opcode::touch;
    document_key key;
    std::uint32_t expiry = 0;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<touch_request, wire_errc> decode(const frame_view&, key_form);
};

// get_locked. CAS must be 0; the CAS of the answer is the lock.
struct get_locked_request {
    document_key key;
    // 0 and times above the server's maximum (30 s) mean its default (15 s), as does nothing.
    std::optional<std::uint32_t> lock_seconds;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_locked_request, wire_errc> decode(const frame_view&, key_form);
};

// get_meta. CAS must be 0.
struct get_meta_request {
    document_key key;
    // 0, 1 or 2; with 2 the answer carries the datatype.
    std::optional<std::uint8_t> version;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_meta_request, wire_errc> decode(const frame_view&, key_form);
};

// Answer to get, get_replica, get_and_touch, get_locked. Older servers echo the key to get_replica;
// decode accepts that and shows it raw.
struct document_response {
    std::uint32_t flags = 0;
    base::byte_view value;
    base::byte_view key;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<document_response, wire_errc> decode(const frame_view&);
};

// Answer to set, add, replace, remove, append, prepend. The new CAS is in the header.
struct mutation_response {
    std::optional<mutation_token> token;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<mutation_response, wire_errc> decode(const frame_view&);
};

// Answer to increment and decrement.
struct counter_response {
    std::uint64_t value = 0;
    std::optional<mutation_token> token;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<counter_response, wire_errc> decode(const frame_view&);
};

// Answer to get_meta. A tombstone answers success with `is_deleted`.
struct get_meta_response {
    bool is_deleted = false;
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;
    std::uint64_t seqno = 0;
    std::optional<wire::datatype> datatype;  // only when version 2 was asked for

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<get_meta_response, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
