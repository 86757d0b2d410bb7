#include <reprise/wire/message.hpp>

#include <algorithm>
#include <array>

#include <reprise/base/byte_reader.hpp>

#include "frames/message_frame.hpp"

namespace reprise::wire {

namespace detail {

namespace {

std::optional<wire_errc> check_parts(const frame_view& frame, allowed_parts parts) noexcept {
    if (!parts.extras && !parts.extras_size && !frame.extras().empty()) {
        return wire_errc::extras_size_invalid;
    }
    if (!parts.key && !frame.key().empty()) {
        return wire_errc::key_unexpected;
    }
    if (!parts.value && !parts.value_size && !frame.value().empty()) {
        return wire_errc::value_unexpected;
    }
    if (parts.extras_size && frame.extras().size() != *parts.extras_size) {
        return wire_errc::extras_size_invalid;
    }
    if (parts.value_size && frame.value().size() != *parts.value_size) {
        return wire_errc::value_size_invalid;
    }
    return std::nullopt;
}

bool is_one_of(opcode op, std::initializer_list<opcode> ops) noexcept {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
}

}  // namespace

frame_start begin_alternative_request(
    base::byte_writer& out, const request_header& header, frame_header frame,
    const body_sizes& sizes) {
    const opcode op = frame.op;
    if (const auto allowed = check_frame_infos(op, *header.frame_infos); !allowed) {
        return std::unexpected(allowed.error());
    }
    // Larger than the field may be, so that a field that is too long differs from a full writer.
    std::array<std::byte, 2 * framing_extras_size_max> buffer;
    base::byte_writer framing{base::mutable_byte_view(buffer)};
    if (const auto encoded = encode_request_frame_infos(framing, *header.frame_infos); !encoded) {
        const bool is_full = encoded.error() == wire_errc::output_full;
        return std::unexpected(is_full ? wire_errc::frame_info_size_invalid : encoded.error());
    }
    frame.magic = magic::alt_request;
    return begin_frame(out, frame, framing.bytes(), sizes);
}

frame_start begin_response(
    base::byte_writer& out, const response_header& header, const body_sizes& sizes) {
    frame_header frame;
    frame.op = header.op;
    frame.datatype = header.datatype;
    frame.vbucket_or_status = static_cast<std::uint16_t>(header.status);
    frame.opaque = header.opaque;
    frame.cas = header.cas;
    if (header.frame_infos.empty()) {
        frame.magic = magic::response;
        return begin_frame(out, frame, {}, sizes);
    }
    std::array<std::byte, 16> buffer;
    base::byte_writer framing{base::mutable_byte_view(buffer)};
    if (const auto encoded = encode_response_frame_infos(framing, header.frame_infos); !encoded) {
        return std::unexpected(encoded.error());
    }
    frame.magic = magic::alt_response;
    return begin_frame(out, frame, framing.bytes(), sizes);
}

namespace {

std::optional<wire_errc> check_request_frame(
    const frame_view& frame, bool is_expected, allowed_parts parts) noexcept {
    if (!frame.is_request()) {
        return wire_errc::not_a_request;
    }
    if (!is_expected) {
        return wire_errc::opcode_mismatch;
    }
    const frame_header& header = frame.header();
    if (const auto error =
            check_request_rules(header.op, header.cas, header.datatype, header.vbucket_or_status)) {
        return error;
    }
    return check_parts(frame, parts);
}

}  // namespace

std::optional<wire_errc> check_request(
    const frame_view& frame, std::initializer_list<opcode> ops, allowed_parts parts) noexcept {
    return check_request_frame(frame, is_one_of(frame.op(), ops), parts);
}

std::optional<wire_errc> check_request(
    const frame_view& frame, request_shape shape, allowed_parts parts) noexcept {
    return check_request_frame(frame, opcode_info(frame.op()).request == shape, parts);
}

std::expected<document_key, wire_errc> read_key(
    const frame_view& frame, request_shape shape, allowed_parts parts, key_form form) noexcept {
    if (const auto error = check_request(frame, shape, parts)) {
        return std::unexpected(*error);
    }
    return decode_document_key(frame.key(), form);
}

std::optional<wire_errc> check_response(
    const frame_view& frame, std::initializer_list<opcode> ops) noexcept {
    return check_response_frame(frame, ops.size() == 0 || is_one_of(frame.op(), ops));
}

std::byte* store_token(std::byte* at, const std::optional<mutation_token>& token) noexcept {
    if (token) {
        at = base::store_big_endian(at, token->vbucket_uuid);
        at = base::store_big_endian(at, token->seqno);
    }
    return at;
}

}  // namespace detail

std::expected<void, wire_errc> empty_request::encode(
    base::byte_writer& out, const request_header& header) const {
    const auto begun = detail::begin_request(out, header, op, {});
    return begun ? std::expected<void, wire_errc>{} : std::unexpected(begun.error());
}

std::expected<empty_request, wire_errc> empty_request::decode(const frame_view& frame) {
    if (const auto error = detail::check_request(frame, request_shape::empty, {})) {
        return std::unexpected(*error);
    }
    return empty_request{frame.op()};
}

std::expected<void, wire_errc> empty_response::encode(
    base::byte_writer& out, const response_header& header) const {
    const auto begun = detail::begin_response(out, header, {});
    return begun ? std::expected<void, wire_errc>{} : std::unexpected(begun.error());
}

std::expected<empty_response, wire_errc> empty_response::decode(const frame_view& frame) {
    if (const auto error = detail::check_response(frame)) {
        return std::unexpected(*error);
    }
    return empty_response{};
}

std::expected<void, wire_errc> value_response::encode(
    base::byte_writer& out, const response_header& header) const {
    return detail::begin_response(out, header, {.value = value.size()}).then([&] {
        out.write_bytes(value);
    });
}

std::expected<value_response, wire_errc> value_response::decode(const frame_view& frame) {
    if (!frame.is_response()) {
        return std::unexpected(wire_errc::not_a_response);
    }
    return value_response{frame.value()};
}

}  // namespace reprise::wire
