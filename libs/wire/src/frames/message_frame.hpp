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

// What all messages share in encode and decode.

namespace reprise::wire::detail {

struct body_sizes {
    std::size_t extras = 0;
    std::size_t key = 0;
    std::size_t value = 0;
};

// Copies `bytes` to `at` and returns a pointer past them.
std::byte* store(std::byte* at, base::byte_view bytes) noexcept;

// Writes header and framing extras and reserves room for extras and key. The caller stores these at
// the returned pointer and then writes the value with `out.write_bytes`, for which there is room.
// Fills in the sizes in `header`. Writes nothing if it fails.
std::expected<std::byte*, wire_errc> begin_frame(
    base::byte_writer& out, frame_header header, base::byte_view framing_extras,
    const body_sizes& sizes);

// The same for a request of `op`. Also checks the rules of its header and writes its frame infos.
std::expected<std::byte*, wire_errc> begin_request(
    base::byte_writer& out, const request_header& header, opcode op, const body_sizes& sizes);

// The same for a response.
std::expected<std::byte*, wire_errc> begin_response(
    base::byte_writer& out, const response_header& header, const body_sizes& sizes);

// Begins a request with a document key: writes `extras` and the key, and checks the room for
// `value_size` bytes of value.
std::expected<void, wire_errc> begin_document_request(
    base::byte_writer& out, const request_header& header, opcode op, base::byte_view extras,
    const document_key& key, std::size_t value_size);

// Checks the CAS, the datatype bits and the vbucket in the header of a request.
std::optional<wire_errc> check_request_rules(
    opcode op, std::uint64_t cas, wire::datatype datatype, std::uint16_t vbucket) noexcept;

// The parts that a request may have. The others must be empty.
struct allowed_parts {
    bool extras = false;
    bool key = false;
    bool value = false;
};

// Checks magic, opcode, header rules and absent parts.
std::optional<wire_errc> check_request(
    const frame_view& frame, std::initializer_list<opcode> ops, allowed_parts parts) noexcept;
// The same for any opcode of that shape.
std::optional<wire_errc> check_request(
    const frame_view& frame, request_shape shape, allowed_parts parts) noexcept;

// Checks magic, opcode (any if the list is empty) and that the status is a success. A server may
// add what we do not need: unexpected parts, longer extras and unknown datatype bits.
std::optional<wire_errc> check_response(
    const frame_view& frame, std::initializer_list<opcode> ops = {}) noexcept;
// The same for any opcode of that shape.
std::optional<wire_errc> check_response(const frame_view& frame, response_shape shape) noexcept;

// Returns the mutation token in the first 16 bytes of extras, or nothing if they are shorter.
std::optional<mutation_token> read_token(base::byte_view extras) noexcept;
inline std::size_t token_size(const std::optional<mutation_token>& token) noexcept {
    return token ? 16 : 0;
}
std::byte* store_token(std::byte* at, const std::optional<mutation_token>& token) noexcept;

}  // namespace reprise::wire::detail
