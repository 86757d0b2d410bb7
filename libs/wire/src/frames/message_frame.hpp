#pragma once

#include <cstddef>
#include <expected>
#include <initializer_list>
#include <optional>

#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/message.hpp>
#include <reprise/wire/message_head.hpp>

// Shared by encode and decode of all messages.

namespace reprise::wire::detail {

// begin_frame for a response.
frame_start begin_response(
    base::byte_writer& out, const response_header& header, const body_sizes& sizes);

// The parts that a request may have. The others must be empty.
struct allowed_parts {
    bool extras = false;
    std::optional<std::size_t> extras_size{};  // exactly; `extras` allows any
    bool key = false;
    bool value = false;
    std::optional<std::size_t> value_size{};
};

// Checks magic, opcode, header rules and absent parts.
std::optional<wire_errc> check_request(
    const frame_view& frame, std::initializer_list<opcode> ops, allowed_parts parts) noexcept;
// The same for any opcode of that shape.
std::optional<wire_errc> check_request(
    const frame_view& frame, request_shape shape, allowed_parts parts) noexcept;

// check_request for a request on a document, which also decodes its key.
std::expected<document_key, wire_errc> read_key(
    const frame_view& frame, request_shape shape, allowed_parts parts, key_form form) noexcept;

// Checks magic, opcode (any if the list is empty) and that the status is a success. A server may
// add what we do not need: unexpected parts, longer extras and unknown datatype bits.
std::optional<wire_errc> check_response(
    const frame_view& frame, std::initializer_list<opcode> ops = {}) noexcept;

inline std::size_t token_size(const std::optional<mutation_token>& token) noexcept {
    return token ? 16 : 0;
}
std::byte* store_token(std::byte* at, const std::optional<mutation_token>& token) noexcept;

}  // namespace reprise::wire::detail
