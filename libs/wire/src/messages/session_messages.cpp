#include <reprise/wire/session_messages.hpp>

#include <array>

#include <reprise/base/byte_reader.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/value.hpp>
#include <reprise/json/write.hpp>

#include "cut_utf8.hpp"
#include "frames/message_frame.hpp"

namespace reprise::wire {

namespace {

void write_features(base::byte_writer& out, hello_feature_set features) {
    for (std::uint16_t code = 0; code <= hello_feature_set::code_max; ++code) {
        if (features.contains(static_cast<hello_feature>(code))) {
            out.write_u16(code);
        }
    }
}

std::expected<hello_feature_set, wire_errc> read_features(base::byte_view value) noexcept {
    if (value.size() % 2 != 0) {
        return std::unexpected(wire_errc::value_size_invalid);
    }
    hello_feature_set features;
    base::byte_reader reader(value);
    while (reader.remaining() > 0) {
        features.insert(static_cast<hello_feature>(reader.read_u16()));
    }
    return features;
}

// Encodes a request whose body is a key followed by a value.
std::expected<void, wire_errc> encode_key_value_request(
    base::byte_writer& out, const request_header& header, opcode op, std::string_view key,
    base::byte_view value) {
    const detail::body_sizes sizes{.key = key.size(), .value = value.size()};
    return detail::begin_request(out, header, op, sizes).then([&](std::byte* start) {
        detail::store(start, base::as_bytes(key));
        out.write_bytes(value);
    });
}

constexpr std::size_t id_digits = 16;

// Parses "<16 hex>/<16 hex>" into the two ids.
bool read_connection_ids(std::string_view text, agent_identity& identity) noexcept {
    if (text.size() != 2 * id_digits + 1 || text[id_digits] != '/') {
        return false;
    }
    identity.client_id = base::parse_hex(text.substr(0, id_digits));
    identity.connection_id = base::parse_hex(text.substr(id_digits + 1));
    return identity.client_id.has_value() && identity.connection_id.has_value();
}

}  // namespace

std::expected<void, wire_errc> hello_request::encode(
    base::byte_writer& out, const request_header& header) const {
    std::array<std::byte, std::size_t{2} * 64> buffer;
    base::byte_writer list{base::mutable_byte_view(buffer)};
    write_features(list, features);
    return encode_key_value_request(out, header, opcode::hello, agent, list.bytes());
}

std::expected<hello_request, wire_errc> hello_request::decode(const frame_view& frame) {
    if (const auto error =
            detail::check_request(frame, {opcode::hello}, {.key = true, .value = true})) {
        return std::unexpected(*error);
    }
    const auto features = read_features(frame.value());
    if (!features) {
        return std::unexpected(features.error());
    }
    return hello_request{base::as_text(frame.key()), *features};
}

std::expected<void, wire_errc> hello_response::encode(
    base::byte_writer& out, const response_header& header) const {
    return detail::begin_response(out, header, {.value = 2 * features.size()}).then([&] {
        write_features(out, features);
    });
}

std::expected<hello_response, wire_errc> hello_response::decode(const frame_view& frame) {
    if (const auto error = detail::check_response(frame, {opcode::hello})) {
        return std::unexpected(*error);
    }
    const auto features = read_features(frame.value());
    if (!features) {
        return std::unexpected(features.error());
    }
    return hello_response{*features};
}

std::string make_agent_key(const agent_identity& identity) {
    const std::string_view agent = detail::cut_utf8(identity.agent, agent_size_max);
    std::string key = "{\"a\":";
    json::append_quoted(key, agent);
    if (identity.client_id && identity.connection_id) {
        key += ",\"i\":\"";
        key += base::to_hex(*identity.client_id, id_digits, base::hex_case::upper);
        key += '/';
        key += base::to_hex(*identity.connection_id, id_digits, base::hex_case::upper);
        key += '"';
    }
    key += '}';
    return key;
}

std::expected<agent_identity, wire_errc> parse_agent_key(std::string_view key) {
    agent_identity identity;
    if (!key.starts_with('{')) {
        identity.agent = key;
        return identity;
    }
    const auto document = json::parse(key);
    if (!document) {
        return std::unexpected(wire_errc::agent_invalid);
    }
    if (const json::value* agent = document->root.find("a")) {
        const auto text = agent->as_string();
        if (!text || text->size() > agent_size_max) {
            return std::unexpected(wire_errc::agent_invalid);
        }
        identity.agent = *text;
    }
    if (const json::value* ids = document->root.find("i")) {
        const auto text = ids->as_string();
        if (!text || !read_connection_ids(*text, identity)) {
            return std::unexpected(wire_errc::agent_invalid);
        }
    }
    return identity;
}

std::expected<void, wire_errc> sasl_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return encode_key_value_request(out, header, op, mechanism, data);
}

std::expected<sasl_request, wire_errc> sasl_request::decode(const frame_view& frame) {
    if (const auto error = detail::check_request(
            frame, {opcode::sasl_auth, opcode::sasl_step}, {.key = true, .value = true})) {
        return std::unexpected(*error);
    }
    if (frame.key().empty()) {
        return std::unexpected(wire_errc::key_missing);
    }
    return sasl_request{frame.op(), base::as_text(frame.key()), frame.value()};
}

std::expected<void, wire_errc> select_bucket_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return encode_key_value_request(out, header, opcode::select_bucket, bucket, {});
}

std::expected<select_bucket_request, wire_errc> select_bucket_request::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_request(frame, {opcode::select_bucket}, {.key = true})) {
        return std::unexpected(*error);
    }
    return select_bucket_request{base::as_text(frame.key())};
}

std::expected<void, wire_errc> get_error_map_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return detail::begin_request(out, header, opcode::get_error_map, {.value = 2}).then([&] {
        out.write_u16(version_max);
    });
}

std::expected<get_error_map_request, wire_errc> get_error_map_request::decode(
    const frame_view& frame) {
    if (const auto error =
            detail::check_request(frame, {opcode::get_error_map}, {.value_size = 2})) {
        return std::unexpected(*error);
    }
    return get_error_map_request{base::byte_reader(frame.value()).read_u16()};
}

std::expected<void, wire_errc> stat_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return encode_key_value_request(out, header, opcode::stat, group, arguments);
}

std::expected<stat_request, wire_errc> stat_request::decode(const frame_view& frame) {
    if (const auto error =
            detail::check_request(frame, {opcode::stat}, {.key = true, .value = true})) {
        return std::unexpected(*error);
    }
    return stat_request{base::as_text(frame.key()), frame.value()};
}

std::expected<void, wire_errc> verbosity_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return detail::begin_request(out, header, opcode::verbosity, {.extras = 4})
        .then([&](std::byte* start) { base::store_big_endian(start, level); });
}

std::expected<verbosity_request, wire_errc> verbosity_request::decode(const frame_view& frame) {
    if (const auto error = detail::check_request(frame, {opcode::verbosity}, {.extras_size = 4})) {
        return std::unexpected(*error);
    }
    return verbosity_request{base::byte_reader(frame.extras()).read_u32()};
}

}  // namespace reprise::wire
