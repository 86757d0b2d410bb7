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

// What every message's encode and decode share.

namespace reprise::wire::detail {

struct body_sizes {
    std::size_t extras = 0;
    std::size_t key = 0;
    std::size_t value = 0;
};

// Copies `bytes` to `at`; returns the byte after them.
std::byte* store(std::byte* at, base::byte_view bytes) noexcept;

// Writes header and framing extras and makes room for extras and key, which the caller stores at
// the returned pointer before writing the value with `out.write_bytes` (for which there is room).
// The sizes in `header` are filled in here. On an error nothing was written.
std::expected<std::byte*, wire_errc> begin_frame(
    base::byte_writer& out, frame_header header, base::byte_view framing_extras,
    const body_sizes& sizes);

// The same for a request of `op`: checks the rules of its header and writes its frame infos.
std::expected<std::byte*, wire_errc> begin_request(
    base::byte_writer& out, const request_header& header, opcode op, const body_sizes& sizes);

// The same for a response.
std::expected<std::byte*, wire_errc> begin_response(
    base::byte_writer& out, const response_header& header, const body_sizes& sizes);

// A request with a document key: `extras` then the key, then room for `value_size` bytes of value.
std::expected<void, wire_errc> begin_document_request(
    base::byte_writer& out, const request_header& header, opcode op, base::byte_view extras,
    const document_key& key, std::size_t value_size);

// What the header of a request must satisfy: which CAS, which datatype bits, which vbucket.
std::optional<wire_errc> check_request_rules(
    opcode op, std::uint64_t cas, wire::datatype datatype, std::uint16_t vbucket) noexcept;

// Parts a request may have; the others must be empty.
struct allowed_parts {
    bool extras = false;
    bool key = false;
    bool value = false;
};

// Magic, opcode, header rules, absent parts.
std::optional<wire_errc> check_request(
    const frame_view& frame, std::initializer_list<opcode> ops, allowed_parts parts) noexcept;
// The same for any opcode of that shape.
std::optional<wire_errc> check_request(
    const frame_view& frame, request_shape shape, allowed_parts parts) noexcept;

// Magic, opcode (any when the list is empty), a success status. A server may add what we do not
// need: parts that we do not expect, more extras than we know, unknown datatype bits.
std::optional<wire_errc> check_response(
    const frame_view& frame, std::initializer_list<opcode> ops = {}) noexcept;
// The same for any opcode of that shape.
std::optional<wire_errc> check_response(const frame_view& frame, response_shape shape) noexcept;

// The mutation token in the first 16 bytes of extras; none if they are shorter.
std::optional<mutation_token> read_token(base::byte_view extras) noexcept;
inline std::size_t token_size(const std::optional<mutation_token>& token) noexcept {
    return token ? 16 : 0;
}
std::byte* store_token(std::byte* at, const std::optional<mutation_token>& token) noexcept;

}  // namespace reprise::wire::detail
