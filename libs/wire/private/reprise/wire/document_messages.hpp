#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/message.hpp>
#include <reprise/wire/message_head.hpp>

// Messages about whole documents. See message.hpp for encoding and decoding.

namespace reprise::wire {

/// As the expiry of a counter, it means: do not create a missing document. Other expiry values are
/// described in expiry.hpp.
inline constexpr std::uint32_t expiry_do_not_create = 0xffff'ffff;
/// The CAS that a server reports for a document locked by another client.
inline constexpr std::uint64_t cas_locked = 0xffff'ffff'ffff'ffff;

/// Opcodes of request_shape::key, which have only a key. The CAS must be 0 for the two reads, may
/// be anything for remove, and must not be 0 for unlock, where it identifies the lock.
struct document_request {
    opcode op = opcode::get;
    document_key key;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<document_request, wire_errc> decode(const frame_view&, key_form);
};

/// set, add, replace. CAS must be 0 for add. The header's datatype describes the value (only the
/// JSON and Snappy bits are allowed).
struct store_request {
    opcode op = opcode::set;
    document_key key;
    std::uint32_t flags =
        0;  ///< the server stores it unchanged; SDKs put the format in the top byte
    std::uint32_t expiry = 0;
    base::byte_view value;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    /// Everything before the value, which must follow. The writer needs room for both.
    std::expected<void, wire_errc> encode_head(base::byte_writer&, const request_header&) const;
    static std::expected<store_request, wire_errc> decode(const frame_view&, key_form);
};

/// append, prepend: the server adds the value to the stored one.
struct concat_request {
    opcode op = opcode::append;
    document_key key;
    base::byte_view value;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    /// Everything before the value, which must follow. The writer needs room for both.
    std::expected<void, wire_errc> encode_head(base::byte_writer&, const request_header&) const;
    static std::expected<concat_request, wire_errc> decode(const frame_view&, key_form);
};

/// increment, decrement. The server creates a missing document with `initial`, without applying the
/// delta, unless the expiry is `expiry_do_not_create`. CAS must be 0.
struct counter_request {
    opcode op = opcode::increment;
    document_key key;
    std::uint64_t delta = 0;
    std::uint64_t initial = 0;
    std::uint32_t expiry = expiry_do_not_create;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<counter_request, wire_errc> decode(const frame_view&, key_form);
};

/// touch, get_and_touch: they set a new expiry. CAS must be 0.
struct touch_request {
    opcode op = opcode::touch;
    document_key key;
    std::uint32_t expiry = 0;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<touch_request, wire_errc> decode(const frame_view&, key_form);
};

/// get_locked. CAS must be 0. The CAS of the answer identifies the lock.
struct get_locked_request {
    document_key key;
    /// If it is empty, 0 or above the server's maximum (30 s), the server uses its default (15 s).
    std::optional<std::uint32_t> lock_seconds;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_locked_request, wire_errc> decode(const frame_view&, key_form);
};

/// get_meta. CAS must be 0.
struct get_meta_request {
    document_key key;
    /// 0, 1 or 2. With 2 the answer contains the datatype.
    std::optional<std::uint8_t> version;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_meta_request, wire_errc> decode(const frame_view&, key_form);
};

/// Answer to get, get_replica, get_and_touch and get_locked. Older servers echo the key in the
/// answer to get_replica; decode accepts it and exposes it undecoded.
struct document_response {
    std::uint32_t flags = 0;
    base::byte_view value;
    base::byte_view key;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<document_response, wire_errc> decode(const frame_view&);
};

/// Answer to set, add, replace, remove, append and prepend. The new CAS is in the header.
struct mutation_response {
    std::optional<mutation_token> token;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<mutation_response, wire_errc> decode(const frame_view&);
};

/// Answer to increment and decrement.
struct counter_response {
    std::uint64_t value = 0;
    std::optional<mutation_token> token;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<counter_response, wire_errc> decode(const frame_view&);
};

/// Answer to get_meta. For a tombstone the status is success and `is_deleted` is set.
struct get_meta_response {
    bool is_deleted = false;
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;
    std::uint64_t seqno = 0;
    std::optional<wire::datatype> datatype;  ///< only if the request asked for version 2

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<get_meta_response, wire_errc> decode(const frame_view&);
};

// The most frequent messages.

[[gnu::always_inline]] inline std::expected<void, wire_errc> document_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return detail::begin_document_request(out, header, op, {}, key, 0);
}

[[gnu::always_inline]] inline std::expected<void, wire_errc> store_request::encode_head(
    base::byte_writer& out, const request_header& header) const {
    std::array<std::byte, 8> extras;
    base::store_big_endian(base::store_big_endian(extras.data(), flags), expiry);
    return detail::begin_document_request(out, header, op, extras, key, value.size());
}

[[gnu::always_inline]] inline std::expected<void, wire_errc> store_request::encode(
    base::byte_writer& out, const request_header& header) const {
    const auto begun = encode_head(out, header);
    if (begun) {
        out.write_bytes(value);
    }
    return begun;
}

inline std::expected<document_response, wire_errc> document_response::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_response(frame, response_shape::document)) {
        return std::unexpected(*error);
    }
    if (frame.extras().size() < 4) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    const std::uint32_t flags = base::byte_reader(frame.extras()).read_u32();
    return document_response{flags, frame.value(), frame.key()};
}

inline std::expected<mutation_response, wire_errc> mutation_response::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_response(frame, response_shape::mutation)) {
        return std::unexpected(*error);
    }
    return mutation_response{detail::read_token(frame.extras())};
}

}  // namespace reprise::wire
