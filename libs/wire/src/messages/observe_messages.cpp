#include <reprise/wire/observe_messages.hpp>

#include <reprise/base/byte_reader.hpp>

#include "frames/message_frame.hpp"

namespace reprise::wire {

namespace {

constexpr std::size_t observe_entry_head_size = 4;   // vbucket, key length
constexpr std::size_t observe_result_tail_size = 9;  // state, CAS

enum class observe_format : std::uint8_t { no_failover = 0x00, failover = 0x01 };

std::byte* store_observe_key(std::byte* at, vbucket_id vbucket, const document_key& key) noexcept {
    at = base::store_big_endian(at, vbucket.value);
    at = base::store_big_endian(at, static_cast<std::uint16_t>(encoded_size(key)));
    return encode(at, key);
}

// Reads vbucket, key length and key. `decode_key` decodes the key by the sender's rule.
std::expected<observe_key, wire_errc> read_observe_key(
    base::byte_reader& reader, key_form form, decltype(decode_document_key)& decode_key) noexcept {
    observe_key entry;
    entry.vbucket = vbucket_id{reader.read_u16()};
    const std::uint16_t key_size = reader.read_u16();
    const base::byte_view field = reader.read_bytes(key_size);
    if (!reader.ok()) {
        return std::unexpected(wire_errc::spec_truncated);
    }
    const auto key = decode_key(field, form);
    if (!key) {
        return std::unexpected(key.error());
    }
    entry.key = *key;
    return entry;
}

}  // namespace

std::expected<void, wire_errc> observe_request::encode(
    base::byte_writer& out, const request_header& header) const {
    if (keys.empty()) {
        return std::unexpected(wire_errc::spec_count_invalid);
    }
    std::size_t size = 0;
    for (const observe_key& entry : keys) {
        if (const auto checked = check(entry.key); !checked) {
            return checked;
        }
        size += observe_entry_head_size + encoded_size(entry.key);
    }
    return detail::begin_request(out, header, opcode::observe, {.value = size}).then([&] {
        std::byte* at = out.extend(size);
        for (const observe_key& entry : keys) {
            at = store_observe_key(at, entry.vbucket, entry.key);
        }
    });
}

std::expected<observe_request, wire_errc> observe_request::decode(
    const frame_view& frame, key_form form) {
    if (const auto error = detail::check_request(frame, {opcode::observe}, {.value = true})) {
        return std::unexpected(*error);
    }
    observe_request request;
    base::byte_reader reader(frame.value());
    while (reader.remaining() > 0) {
        const auto entry = read_observe_key(reader, form, decode_document_key);
        if (!entry) {
            return std::unexpected(entry.error());
        }
        if (!request.keys.push_back(*entry)) {
            return std::unexpected(wire_errc::spec_count_invalid);
        }
    }
    if (request.keys.empty()) {
        return std::unexpected(wire_errc::spec_count_invalid);
    }
    return request;
}

std::expected<void, wire_errc> observe_response::encode(
    base::byte_writer& out, const response_header& header) const {
    std::size_t size = 0;
    for (const observe_result& result : results) {
        if (const auto checked = check(result.key); !checked) {
            return checked;
        }
        size += observe_entry_head_size + encoded_size(result.key) + observe_result_tail_size;
    }
    return detail::begin_response(out, header, {.value = size}).then([&] {
        std::byte* at = out.extend(size);
        for (const observe_result& result : results) {
            at = store_observe_key(at, result.vbucket, result.key);
            *at++ = static_cast<std::byte>(result.state);
            at = base::store_big_endian(at, result.cas);
        }
    });
}

std::expected<observe_response, wire_errc> observe_response::decode(
    const frame_view& frame, key_form form) {
    if (const auto error = detail::check_response(frame, {opcode::observe})) {
        return std::unexpected(*error);
    }
    observe_response response;
    base::byte_reader reader(frame.value());
    while (reader.remaining() > 0) {
        const auto entry = read_observe_key(reader, form, decode_answered_key);
        if (!entry) {
            return std::unexpected(entry.error());
        }
        observe_result result;
        result.vbucket = entry->vbucket;
        result.key = entry->key;
        result.state = static_cast<observe_state>(reader.read_u8());
        result.cas = reader.read_u64();
        if (!reader.ok()) {
            return std::unexpected(wire_errc::spec_truncated);
        }
        if (!response.results.push_back(result)) {
            return std::unexpected(wire_errc::spec_count_invalid);
        }
    }
    return response;
}

std::expected<void, wire_errc> observe_seqno_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return detail::begin_request(out, header, opcode::observe_seqno, {.value = 8}).then([&] {
        out.write_u64(vbucket_uuid);
    });
}

std::expected<observe_seqno_request, wire_errc> observe_seqno_request::decode(
    const frame_view& frame) {
    if (const auto error =
            detail::check_request(frame, {opcode::observe_seqno}, {.value_size = 8})) {
        return std::unexpected(*error);
    }
    return observe_seqno_request{base::byte_reader(frame.value()).read_u64()};
}

std::expected<void, wire_errc> observe_seqno_response::encode(
    base::byte_writer& out, const response_header& header) const {
    const std::size_t size = failed_over ? 43 : 27;
    return detail::begin_response(out, header, {.value = size}).then([&] {
        const auto format = failed_over ? observe_format::failover : observe_format::no_failover;
        out.write_u8(static_cast<std::uint8_t>(format));
        out.write_u16(vbucket.value);
        out.write_u64(vbucket_uuid);
        out.write_u64(persisted_seqno);
        out.write_u64(current_seqno);
        if (failed_over) {
            out.write_u64(failed_over->old_vbucket_uuid);
            out.write_u64(failed_over->last_seqno);
        }
    });
}

std::expected<observe_seqno_response, wire_errc> observe_seqno_response::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_response(frame, {opcode::observe_seqno})) {
        return std::unexpected(*error);
    }
    base::byte_reader reader(frame.value());
    const std::uint8_t format = reader.read_u8();
    observe_seqno_response response;
    response.vbucket = vbucket_id{reader.read_u16()};
    response.vbucket_uuid = reader.read_u64();
    response.persisted_seqno = reader.read_u64();
    response.current_seqno = reader.read_u64();
    if (format == static_cast<std::uint8_t>(observe_format::failover)) {
        seqno_failover& failed = response.failed_over.emplace();
        failed.old_vbucket_uuid = reader.read_u64();
        failed.last_seqno = reader.read_u64();
    }
    if (!reader.ok() || format > static_cast<std::uint8_t>(observe_format::failover)) {
        return std::unexpected(wire_errc::value_size_invalid);
    }
    return response;
}

}  // namespace reprise::wire
