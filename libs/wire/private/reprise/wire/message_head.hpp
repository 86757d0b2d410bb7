#pragma once

#include <cstddef>
#include <cstring>
#include <expected>
#include <optional>
#include <type_traits>

#include <reprise/base/assert.hpp>
#include <reprise/base/byte_reader.hpp>
#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/message.hpp>

// How the head of a request is written and that of a response is checked. Inline, so that a message
// whose opcode is a constant becomes one function, without the checks that can only succeed.

namespace reprise::wire::detail {

struct body_sizes {
    std::size_t extras = 0;
    std::size_t key = 0;
    std::size_t value = 0;
};

// Copies `bytes` to `at` and returns a pointer past them.
[[gnu::always_inline]] inline std::byte* store(std::byte* at, base::byte_view bytes) noexcept {
    if (!bytes.empty()) {
        base::copy_few(at, bytes);
    }
    return at + bytes.size();
}

// Where the body of a frame begins, or why it could not begin. Like std::expected, but in two
// registers.
class frame_start {
public:
    frame_start(std::byte* at) noexcept : at_(at) {}
    frame_start(std::unexpected<wire_errc> why) noexcept : error_(why.error()) {}

    explicit operator bool() const noexcept { return at_ != nullptr; }
    std::byte* operator*() const noexcept { return at_; }
    wire_errc error() const noexcept { return error_; }
    // Calls `fill`, with the place or without, if the frame could begin.
    template <class Fill>
    std::expected<void, wire_errc> then(const Fill& fill) const {
        if (at_ == nullptr) {
            return std::unexpected(error_);
        }
        if constexpr (std::is_invocable_v<const Fill&, std::byte*>) {
            fill(at_);
        } else {
            fill();
        }
        return {};
    }

private:
    std::byte* at_ = nullptr;
    wire_errc error_{};
};

// Writes header and framing extras and reserves room for extras and key. The caller stores these at
// the returned pointer and then writes the value with `out.write_bytes`, for which there is room.
// Fills in the sizes in `header`. Writes nothing if it fails.
// Inline because each request passes here.
[[gnu::always_inline]] inline frame_start begin_frame(
    base::byte_writer& out, frame_header header, base::byte_view framing_extras,
    const body_sizes& sizes) {
    const bool is_alternative = has_framing_extras(header.magic);
    const std::size_t framing_max = is_alternative ? framing_extras_size_max : 0;
    const std::size_t key_max = is_alternative ? 0xff : 0xffff;
    const std::size_t head_size = framing_extras.size() + sizes.extras + sizes.key;
    if (framing_extras.size() > framing_max || sizes.extras > 0xff || sizes.key > key_max ||
        sizes.value > 0xffff'ffffu - head_size) {
        return std::unexpected(wire_errc::lengths_exceed_body);
    }
    header.framing_extras_size = static_cast<std::uint8_t>(framing_extras.size());
    header.extras_size = static_cast<std::uint8_t>(sizes.extras);
    header.key_size = static_cast<std::uint16_t>(sizes.key);
    header.body_size = static_cast<std::uint32_t>(head_size + sizes.value);
    // Checks the room for the whole frame before it writes the first byte.
    if (header.frame_size() > out.room()) {
        return std::unexpected(wire_errc::output_full);
    }
    std::byte* at = out.extend(header_size + head_size);
    REPRISE_ASSERT(at != nullptr);
    at = encode_header(at, header);
    return store(at, framing_extras);
}

// Checks the CAS, the datatype bits and the vbucket in the header of a request.
[[gnu::always_inline]] inline std::optional<wire_errc> check_request_rules(
    opcode op, std::uint64_t cas, wire::datatype datatype, std::uint16_t vbucket) noexcept {
    const opcode_facts& facts = opcode_info(op);
    if (facts.cas == cas_rule::must_be_zero && cas != 0) {
        return wire_errc::cas_must_be_zero;
    }
    if (facts.cas == cas_rule::must_not_be_zero && cas == 0) {
        return wire_errc::cas_must_not_be_zero;
    }
    const bool has_document_value =
        facts.request == request_shape::store || facts.request == request_shape::concat;
    const bool has_json_value = op == opcode::range_scan_create;
    const unsigned allowed = has_document_value ? 0x03 : has_json_value ? 0x01 : 0x00;
    if ((static_cast<unsigned>(datatype) & ~allowed) != 0) {
        return wire_errc::datatype_invalid;
    }
    if (vbucket != 0 && facts.needs_vbucket_zero) {
        return wire_errc::vbucket_must_be_zero;
    }
    return std::nullopt;
}

// A request with frame infos.
frame_start begin_alternative_request(
    base::byte_writer& out, const request_header& header, frame_header frame,
    const body_sizes& sizes);

// begin_frame for a request of `op`. Also checks the rules of its header and writes its frame
// infos.
[[gnu::always_inline]] inline frame_start begin_request(
    base::byte_writer& out, const request_header& header, opcode op, const body_sizes& sizes) {
    if (const auto error =
            check_request_rules(op, header.cas, header.datatype, header.vbucket.value)) {
        return std::unexpected(*error);
    }
    frame_header frame;
    frame.op = op;
    frame.datatype = header.datatype;
    frame.vbucket_or_status = header.vbucket.value;
    frame.opaque = header.opaque;
    frame.cas = header.cas;
    if (header.frame_infos && !header.frame_infos->empty()) [[unlikely]] {
        return begin_alternative_request(out, header, frame, sizes);
    }
    frame.magic = magic::request;
    return begin_frame(out, frame, {}, sizes);
}

// Begins a request with a document key: writes `extras` and the key, and checks the room for
// `value_size` bytes of value.
[[gnu::always_inline]] inline std::expected<void, wire_errc> begin_document_request(
    base::byte_writer& out, const request_header& header, opcode op, base::byte_view extras,
    const document_key& key, std::size_t value_size) {
    if (const auto checked = check(key); !checked) [[unlikely]] {
        return std::unexpected(checked.error());
    }
    const body_sizes sizes{extras.size(), encoded_size(key), value_size};
    const auto begun = begin_request(out, header, op, sizes);
    if (!begun) [[unlikely]] {
        return std::unexpected(begun.error());
    }
    wire::encode(store(*begun, extras), key);
    return {};
}

inline std::optional<wire_errc> check_response_frame(
    const frame_view& frame, bool is_expected) noexcept {
    if (!frame.is_response()) {
        return wire_errc::not_a_response;
    }
    if (!is_expected) {
        return wire_errc::opcode_mismatch;
    }
    if (!is_success(frame.status())) {
        return wire_errc::status_unexpected;
    }
    return std::nullopt;
}

// Checks magic, opcode and that the status is a success, for any opcode of that shape.
inline std::optional<wire_errc> check_response(
    const frame_view& frame, response_shape shape) noexcept {
    return check_response_frame(frame, opcode_info(frame.op()).response == shape);
}

// Returns the mutation token in the first 16 bytes of extras, or nothing if they are shorter.
inline std::optional<mutation_token> read_token(base::byte_view extras) noexcept {
    if (extras.size() < 16) {
        return std::nullopt;
    }
    base::byte_reader reader(extras);
    mutation_token token;
    token.vbucket_uuid = reader.read_u64();
    token.seqno = reader.read_u64();
    return token;
}

}  // namespace reprise::wire::detail
