#include <reprise/wire/document_messages.hpp>

#include <array>

#include <reprise/base/byte_reader.hpp>

#include "frames/message_frame.hpp"

namespace reprise::wire {

using base::store_big_endian;

std::expected<document_request, wire_errc> document_request::decode(
    const frame_view& frame, key_form form) {
    const auto key = detail::read_key(frame, request_shape::key, {.key = true}, form);
    if (!key) {
        return std::unexpected(key.error());
    }
    return document_request{frame.op(), *key};
}

std::expected<store_request, wire_errc> store_request::decode(
    const frame_view& frame, key_form form) {
    const auto key = detail::read_key(
        frame, request_shape::store, {.extras_size = 8, .key = true, .value = true}, form);
    if (!key) {
        return std::unexpected(key.error());
    }
    base::byte_reader extras(frame.extras());
    store_request request;
    request.op = frame.op();
    request.key = *key;
    request.flags = extras.read_u32();
    request.expiry = extras.read_u32();
    request.value = frame.value();
    return request;
}

std::expected<void, wire_errc> concat_request::encode_head(
    base::byte_writer& out, const request_header& header) const {
    return detail::begin_document_request(out, header, op, {}, key, value.size());
}

std::expected<void, wire_errc> concat_request::encode(
    base::byte_writer& out, const request_header& header) const {
    const auto begun = encode_head(out, header);
    if (begun) {
        out.write_bytes(value);
    }
    return begun;
}

std::expected<concat_request, wire_errc> concat_request::decode(
    const frame_view& frame, key_form form) {
    const auto key =
        detail::read_key(frame, request_shape::concat, {.key = true, .value = true}, form);
    if (!key) {
        return std::unexpected(key.error());
    }
    return concat_request{frame.op(), *key, frame.value()};
}

std::expected<void, wire_errc> counter_request::encode(
    base::byte_writer& out, const request_header& header) const {
    std::array<std::byte, 20> extras;
    std::byte* at = store_big_endian(extras.data(), delta);
    at = store_big_endian(at, initial);
    store_big_endian(at, expiry);
    return detail::begin_document_request(out, header, op, extras, key, 0);
}

std::expected<counter_request, wire_errc> counter_request::decode(
    const frame_view& frame, key_form form) {
    const auto key =
        detail::read_key(frame, request_shape::counter, {.extras_size = 20, .key = true}, form);
    if (!key) {
        return std::unexpected(key.error());
    }
    base::byte_reader extras(frame.extras());
    counter_request request;
    request.op = frame.op();
    request.key = *key;
    request.delta = extras.read_u64();
    request.initial = extras.read_u64();
    request.expiry = extras.read_u32();
    return request;
}

std::expected<void, wire_errc> touch_request::encode(
    base::byte_writer& out, const request_header& header) const {
    std::array<std::byte, 4> extras;
    store_big_endian(extras.data(), expiry);
    return detail::begin_document_request(out, header, op, extras, key, 0);
}

std::expected<touch_request, wire_errc> touch_request::decode(
    const frame_view& frame, key_form form) {
    const auto key =
        detail::read_key(frame, request_shape::touch, {.extras_size = 4, .key = true}, form);
    if (!key) {
        return std::unexpected(key.error());
    }
    return touch_request{frame.op(), *key, base::byte_reader(frame.extras()).read_u32()};
}

std::expected<void, wire_errc> get_locked_request::encode(
    base::byte_writer& out, const request_header& header) const {
    std::array<std::byte, 4> extras;
    store_big_endian(extras.data(), lock_seconds.value_or(0));
    const base::byte_view sent = base::byte_view(extras).first(lock_seconds ? 4 : 0);
    return detail::begin_document_request(out, header, opcode::get_locked, sent, key, 0);
}

std::expected<get_locked_request, wire_errc> get_locked_request::decode(
    const frame_view& frame, key_form form) {
    if (const auto error =
            detail::check_request(frame, request_shape::lock, {.extras = true, .key = true})) {
        return std::unexpected(*error);
    }
    const std::size_t extras_size = frame.extras().size();
    if (extras_size != 0 && extras_size != 4) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    const auto key = decode_document_key(frame.key(), form);
    if (!key) {
        return std::unexpected(key.error());
    }
    get_locked_request request{*key, {}};
    if (extras_size == 4) {
        request.lock_seconds = base::byte_reader(frame.extras()).read_u32();
    }
    return request;
}

std::expected<void, wire_errc> get_meta_request::encode(
    base::byte_writer& out, const request_header& header) const {
    const std::array<std::byte, 1> extras{static_cast<std::byte>(version.value_or(0))};
    const base::byte_view sent = base::byte_view(extras).first(version ? 1 : 0);
    return detail::begin_document_request(out, header, opcode::get_meta, sent, key, 0);
}

std::expected<get_meta_request, wire_errc> get_meta_request::decode(
    const frame_view& frame, key_form form) {
    const auto key =
        detail::read_key(frame, request_shape::meta, {.extras = true, .key = true}, form);
    if (!key) {
        return std::unexpected(key.error());
    }
    get_meta_request request{*key, {}};
    if (!frame.extras().empty()) {
        const auto version = std::to_integer<std::uint8_t>(frame.extras()[0]);
        if (frame.extras().size() != 1 || version > 2) {
            return std::unexpected(wire_errc::extras_size_invalid);
        }
        request.version = version;
    }
    return request;
}

std::expected<void, wire_errc> document_response::encode(
    base::byte_writer& out, const response_header& header) const {
    return detail::begin_response(out, header, {4, key.size(), value.size()})
        .then([&](std::byte* start) {
            detail::store(store_big_endian(start, flags), key);
            out.write_bytes(value);
        });
}

std::expected<void, wire_errc> mutation_response::encode(
    base::byte_writer& out, const response_header& header) const {
    return detail::begin_response(out, header, {.extras = detail::token_size(token)})
        .then([&](std::byte* start) { detail::store_token(start, token); });
}

std::expected<void, wire_errc> counter_response::encode(
    base::byte_writer& out, const response_header& header) const {
    const detail::body_sizes sizes{.extras = detail::token_size(token), .value = 8};
    return detail::begin_response(out, header, sizes).then([&](std::byte* start) {
        detail::store_token(start, token);
        out.write_u64(value);
    });
}

std::expected<counter_response, wire_errc> counter_response::decode(const frame_view& frame) {
    if (const auto error = detail::check_response(frame, response_shape::counter)) {
        return std::unexpected(*error);
    }
    if (frame.value().size() != 8) {
        return std::unexpected(wire_errc::value_size_invalid);
    }
    const std::uint64_t value = base::byte_reader(frame.value()).read_u64();
    return counter_response{value, detail::read_token(frame.extras())};
}

std::expected<void, wire_errc> get_meta_response::encode(
    base::byte_writer& out, const response_header& header) const {
    return detail::begin_response(out, header, {.extras = datatype ? 21u : 20u})
        .then([&](std::byte* start) {
            std::byte* at = store_big_endian(start, std::uint32_t{is_deleted ? 1u : 0u});
            at = store_big_endian(at, flags);
            at = store_big_endian(at, expiry);
            at = store_big_endian(at, seqno);
            if (datatype) {
                *at = static_cast<std::byte>(*datatype);
            }
        });
}

std::expected<get_meta_response, wire_errc> get_meta_response::decode(const frame_view& frame) {
    if (const auto error = detail::check_response(frame, response_shape::meta)) {
        return std::unexpected(*error);
    }
    const std::size_t extras_size = frame.extras().size();
    if (extras_size < 20) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    base::byte_reader extras(frame.extras());
    get_meta_response response;
    response.is_deleted = extras.read_u32() != 0;
    response.flags = extras.read_u32();
    response.expiry = extras.read_u32();
    response.seqno = extras.read_u64();
    if (extras_size > 20) {
        response.datatype = static_cast<wire::datatype>(extras.read_u8());
    }
    return response;
}

}  // namespace reprise::wire
