#include <reprise/wire/framing_extras.hpp>

#include <algorithm>
#include <cmath>

#include <reprise/base/byte_reader.hpp>

namespace reprise::wire {

namespace {

constexpr std::uint16_t frame_info_escape = 15;

// Ids in requests.
constexpr std::uint16_t barrier_id = 0;
constexpr std::uint16_t durability_id = 1;
constexpr std::uint16_t dcp_stream_id_id = 2;
constexpr std::uint16_t run_as_user_id = 4;
constexpr std::uint16_t preserve_ttl_id = 5;
constexpr std::uint16_t extra_privilege_id = 6;
constexpr std::uint16_t run_as_token_id = 7;

// Ids in responses.
constexpr std::uint16_t server_duration_id = 0;
constexpr std::uint16_t read_units_id = 1;
constexpr std::uint16_t write_units_id = 2;
constexpr std::uint16_t throttle_duration_id = 3;

constexpr std::int64_t durability_timeout_max_ms = 65534;

void encode_u16_info(base::byte_writer& out, std::uint16_t id, std::uint16_t number) {
    std::byte payload[2];
    base::store_big_endian(payload, number);
    encode_frame_info(out, {id, payload});
}

std::expected<std::uint16_t, wire_errc> decode_u16_info(base::byte_view payload) noexcept {
    if (payload.size() != 2) {
        return std::unexpected(wire_errc::frame_info_size_invalid);
    }
    return base::byte_reader(payload).read_u16();
}

std::expected<void, wire_errc> encode_durability(
    base::byte_writer& out, const durability_requirement& durability) {
    const auto level = static_cast<std::uint8_t>(durability.level);
    if (level < 1 || level > 3) {
        return std::unexpected(wire_errc::durability_level_invalid);
    }
    std::byte payload[3] = {static_cast<std::byte>(level)};
    if (!durability.timeout) {
        encode_frame_info(out, {durability_id, base::byte_view(payload).first(1)});
        return {};
    }
    const std::int64_t timeout = durability.timeout->count();
    if (timeout < 1 || timeout > durability_timeout_max_ms) {
        return std::unexpected(wire_errc::durability_timeout_invalid);
    }
    base::store_big_endian(payload + 1, static_cast<std::uint16_t>(timeout));
    encode_frame_info(out, {durability_id, payload});
    return {};
}

std::expected<durability_requirement, wire_errc> decode_durability(
    base::byte_view payload) noexcept {
    if (payload.size() != 1 && payload.size() != 3) {
        return std::unexpected(wire_errc::frame_info_size_invalid);
    }
    base::byte_reader reader(payload);
    const std::uint8_t level = reader.read_u8();
    if (level < 1 || level > 3) {
        return std::unexpected(wire_errc::durability_level_invalid);
    }
    durability_requirement durability;
    durability.level = static_cast<durability_level>(level);
    if (payload.size() == 3) {
        const std::uint16_t timeout = reader.read_u16();
        if (timeout == 0 || timeout > durability_timeout_max_ms) {
            return std::unexpected(wire_errc::durability_timeout_invalid);
        }
        durability.timeout = std::chrono::milliseconds{timeout};
    }
    return durability;
}

// Stores one frame info of a request into `infos`.
std::optional<wire_errc> apply_request_info(
    const frame_info& info, request_frame_infos& infos) noexcept {
    switch (info.id) {
        case barrier_id:
        case preserve_ttl_id:
            if (!info.payload.empty()) {
                return wire_errc::frame_info_size_invalid;
            }
            (info.id == barrier_id ? infos.barrier : infos.preserve_ttl) = true;
            return std::nullopt;
        case durability_id: {
            const auto durability = decode_durability(info.payload);
            if (!durability) {
                return durability.error();
            }
            infos.durability = *durability;
            return std::nullopt;
        }
        case dcp_stream_id_id:
        case run_as_token_id: {
            const auto number = decode_u16_info(info.payload);
            if (!number) {
                return number.error();
            }
            (info.id == dcp_stream_id_id ? infos.dcp_stream_id : infos.run_as_token) = *number;
            return std::nullopt;
        }
        case run_as_user_id:
        case extra_privilege_id:
            if (info.payload.empty()) {
                return wire_errc::frame_info_size_invalid;
            }
            (info.id == run_as_user_id ? infos.run_as_user : infos.extra_privilege) =
                base::as_text(info.payload);
            return std::nullopt;
        default:
            return wire_errc::frame_info_unknown;
    }
}

}  // namespace

void encode_frame_info(base::byte_writer& out, const frame_info& info) {
    const std::size_t size = info.payload.size();
    if (info.id > frame_info_id_max || size > frame_info_payload_size_max) {
        out.fail();
        return;
    }
    const auto id_nibble = std::min<unsigned>(info.id, frame_info_escape);
    const auto size_nibble = static_cast<unsigned>(std::min<std::size_t>(size, frame_info_escape));
    out.write_u8(static_cast<std::uint8_t>(id_nibble << 4 | size_nibble));
    if (id_nibble == frame_info_escape) {
        out.write_u8(static_cast<std::uint8_t>(info.id - frame_info_escape));
    }
    if (size_nibble == frame_info_escape) {
        out.write_u8(static_cast<std::uint8_t>(size - frame_info_escape));
    }
    out.write_bytes(info.payload);
}

std::expected<std::optional<frame_info>, wire_errc> frame_info_reader::next() noexcept {
    if (rest_.empty()) {
        return std::nullopt;
    }
    base::byte_reader reader(rest_);
    const std::uint8_t first = reader.read_u8();
    frame_info info;
    info.id = first >> 4;
    std::size_t size = first & 0x0f;
    if (info.id == frame_info_escape) {
        info.id = static_cast<std::uint16_t>(frame_info_escape + reader.read_u8());
    }
    if (size == frame_info_escape) {
        size += reader.read_u8();
    }
    info.payload = reader.read_bytes(size);
    if (!reader.ok()) {
        return std::unexpected(wire_errc::frame_info_truncated);
    }
    rest_ = rest_.subspan(reader.position());
    return info;
}

std::chrono::milliseconds durability_wire_timeout(
    std::chrono::milliseconds client_timeout) noexcept {
    // Clamps before the multiplication, which could otherwise overflow 64 bits.
    const std::int64_t clamped = std::clamp<std::int64_t>(client_timeout.count(), 0, 1'000'000);
    return std::chrono::milliseconds{
        std::clamp<std::int64_t>(clamped * 9 / 10, 1, durability_timeout_max_ms)};
}

std::expected<void, wire_errc> encode_request_frame_infos(
    base::byte_writer& out, const request_frame_infos& infos) {
    const std::size_t start = out.written();
    if (infos.barrier) {
        encode_frame_info(out, {barrier_id, {}});
    }
    if (infos.durability) {
        if (const auto encoded = encode_durability(out, *infos.durability); !encoded) {
            out.rewind(start);
            return encoded;
        }
    }
    if (infos.dcp_stream_id) {
        encode_u16_info(out, dcp_stream_id_id, *infos.dcp_stream_id);
    }
    if (!infos.run_as_user.empty()) {
        encode_frame_info(out, {run_as_user_id, base::as_bytes(infos.run_as_user)});
    }
    if (infos.preserve_ttl) {
        encode_frame_info(out, {preserve_ttl_id, {}});
    }
    if (!infos.extra_privilege.empty()) {
        encode_frame_info(out, {extra_privilege_id, base::as_bytes(infos.extra_privilege)});
    }
    if (infos.run_as_token) {
        encode_u16_info(out, run_as_token_id, *infos.run_as_token);
    }
    const bool is_full = !out.ok();
    if (is_full || out.written() - start > framing_extras_size_max) {
        out.rewind(start);
        return std::unexpected(
            is_full ? wire_errc::output_full : wire_errc::frame_info_size_invalid);
    }
    return {};
}

std::expected<request_frame_infos, wire_errc> decode_request_frame_infos(
    base::byte_view field) noexcept {
    request_frame_infos infos;
    frame_info_reader reader(field);
    unsigned seen = 0;
    for (;;) {
        const auto info = reader.next();
        if (!info) {
            return std::unexpected(info.error());
        }
        if (!*info) {
            return infos;
        }
        request_frame_infos repeated;
        const bool is_known = (*info)->id <= run_as_token_id;
        const unsigned bit = is_known ? 1u << (*info)->id : 0u;
        // If an id repeats, the first one counts. The others must still be well formed.
        if (const auto error = apply_request_info(**info, (seen & bit) != 0 ? repeated : infos)) {
            return std::unexpected(*error);
        }
        seen |= bit;
    }
}

std::expected<void, wire_errc> check_frame_infos(
    opcode op, const request_frame_infos& infos) noexcept {
    const opcode_facts& facts = opcode_info(op);
    if (infos.durability && !facts.accepts_durability) {
        return std::unexpected(wire_errc::frame_info_not_allowed);
    }
    if (infos.preserve_ttl && !facts.accepts_preserve_ttl) {
        return std::unexpected(wire_errc::preserve_ttl_not_supported);
    }
    return {};
}

bool response_frame_infos::empty() const noexcept {
    return !server_duration && !read_units && !write_units && !throttle_duration;
}

std::expected<void, wire_errc> encode_response_frame_infos(
    base::byte_writer& out, const response_frame_infos& infos) {
    const std::size_t start = out.written();
    if (infos.server_duration) {
        encode_u16_info(out, server_duration_id, encode_server_duration(*infos.server_duration));
    }
    if (infos.read_units) {
        encode_u16_info(out, read_units_id, *infos.read_units);
    }
    if (infos.write_units) {
        encode_u16_info(out, write_units_id, *infos.write_units);
    }
    if (infos.throttle_duration) {
        encode_u16_info(
            out, throttle_duration_id, encode_server_duration(*infos.throttle_duration));
    }
    if (!out.ok()) {
        out.rewind(start);
        return std::unexpected(wire_errc::output_full);
    }
    return {};
}

std::expected<response_frame_infos, wire_errc> decode_response_frame_infos(
    base::byte_view field) noexcept {
    response_frame_infos infos;
    frame_info_reader reader(field);
    for (;;) {
        const auto info = reader.next();
        if (!info) {
            return std::unexpected(info.error());
        }
        if (!*info) {
            return infos;
        }
        if ((*info)->id > throttle_duration_id) {
            continue;
        }
        const auto number = decode_u16_info((*info)->payload);
        if (!number) {
            return std::unexpected(number.error());
        }
        switch ((*info)->id) {
            case server_duration_id:
                infos.server_duration = decode_server_duration(*number);
                break;
            case read_units_id:
                infos.read_units = *number;
                break;
            case write_units_id:
                infos.write_units = *number;
                break;
            default:
                infos.throttle_duration = decode_server_duration(*number);
                break;
        }
    }
}

std::uint16_t encode_server_duration(std::chrono::microseconds duration) noexcept {
    if (duration.count() <= 0) {
        return 0;
    }
    const double encoded =
        std::round(std::pow(static_cast<double>(duration.count()) * 2, 1.0 / 1.74));
    return static_cast<std::uint16_t>(std::min(encoded, 65535.0));
}

std::chrono::microseconds decode_server_duration(std::uint16_t encoded) noexcept {
    const double micros = std::pow(static_cast<double>(encoded), 1.74) / 2;
    return std::chrono::microseconds{std::llround(micros)};
}

}  // namespace reprise::wire
