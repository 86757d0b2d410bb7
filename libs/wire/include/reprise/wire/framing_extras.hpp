#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

// Framing extras are a list of (id, payload); the length field of a frame allows 255 bytes of them.
inline constexpr std::size_t framing_extras_size_max = 255;
// Ids and lengths from 15 on take one more byte, which adds to 15.
inline constexpr std::uint16_t frame_info_id_max = 15 + 255;
inline constexpr std::size_t frame_info_payload_size_max = 15 + 255;

struct frame_info {
    std::uint16_t id = 0;
    base::byte_view payload;
};

// Appends one (id, payload), with escapes where needed. Out-of-range arguments fail the writer.
void encode_frame_info(base::byte_writer& out, const frame_info& info);

// Walks a framing-extras field: `next()` until it gives nothing or an error. Any id is accepted
// here; payloads point into the field. Error: frame_info_truncated.
class frame_info_reader {
public:
    explicit frame_info_reader(base::byte_view field) noexcept : rest_(field) {}
    std::expected<std::optional<frame_info>, wire_errc> next() noexcept;

private:
    base::byte_view rest_;
};

// How many copies must have a write before it is acknowledged.
enum class durability_level : std::uint8_t {
    majority = 0x01,                        // a majority has it in memory
    majority_and_persist_to_active = 0x02,  // as majority, and the active has it on disk
    persist_to_majority = 0x03,             // a majority has it on disk
};

struct durability_requirement {
    durability_level level = durability_level::majority;
    // Server-side limit, 1..65534 ms; nothing lets the server choose (30 s).
    std::optional<std::chrono::milliseconds> timeout;

    friend bool operator==(const durability_requirement&, const durability_requirement&) = default;
};

// Timeout for the wire from a client's timeout: nine tenths of it, at least 1 ms and at most 65534
// ms.
std::chrono::milliseconds durability_wire_timeout(
    std::chrono::milliseconds client_timeout) noexcept;

// What a request may carry beside its body. Anything set makes the frame an alternative request,
// which needs HELLO 0x10. Texts point to memory of the caller, or into the decoded frame.
struct request_frame_infos {
    bool barrier = false;       // id 0: finish earlier commands first
    bool preserve_ttl = false;  // id 5: keep the expiry of the existing document; HELLO 0x14
    std::optional<durability_requirement> durability;  // id 1; HELLO 0x11
    std::optional<std::uint16_t> dcp_stream_id;        // id 2
    std::optional<std::uint16_t> run_as_token;         // id 7
    std::string_view run_as_user;                      // id 4; a leading ^ marks an external user
    std::string_view extra_privilege;                  // id 6

    bool empty() const noexcept;
    friend bool operator==(const request_frame_infos&, const request_frame_infos&) = default;
};

// Appends the field, ascending by id, durability first among equals. Errors: durability_*_invalid,
// frame_info_size_invalid (the field would pass 255 bytes), output_full.
std::expected<void, wire_errc> encode_request_frame_infos(
    base::byte_writer& out, const request_frame_infos& infos);

// Reads the field of a request as a server does: of a repeated one the first counts. Errors:
// frame_info_truncated, frame_info_size_invalid, frame_info_unknown (id 3 and above 7),
// durability_level_invalid, durability_timeout_invalid. Whether the opcode accepts them is not
// checked here: see `check_frame_infos`.
std::expected<request_frame_infos, wire_errc> decode_request_frame_infos(
    base::byte_view field) noexcept;

// Whether requests of `op` may carry these. Errors: frame_info_not_allowed (durability: a server
// answers 0x04), preserve_ttl_not_supported (a server answers 0x83).
std::expected<void, wire_errc> check_frame_infos(
    opcode op, const request_frame_infos& infos) noexcept;

// What a response may carry beside its body. Needs HELLO 0x0f (durations) or 0x1a (units).
struct response_frame_infos {
    // id 0: time the server spent. Rounded on the wire to about 1% and at most 120 s.
    std::optional<std::chrono::microseconds> server_duration;
    std::optional<std::uint16_t> read_units;                     // id 1
    std::optional<std::uint16_t> write_units;                    // id 2
    std::optional<std::chrono::microseconds> throttle_duration;  // id 3, rounded like id 0

    bool empty() const noexcept;
    friend bool operator==(const response_frame_infos&, const response_frame_infos&) = default;
};

// Appends the field, ascending by id. Error: output_full.
std::expected<void, wire_errc> encode_response_frame_infos(
    base::byte_writer& out, const response_frame_infos& infos);

// Reads the field of a response as a client does: unknown ids are skipped by their length, a
// repeated id counts once (the last). Errors: frame_info_truncated, frame_info_size_invalid.
std::expected<response_frame_infos, wire_errc> decode_response_frame_infos(
    base::byte_view field) noexcept;

// The 16-bit form of a duration: round((micros * 2) ^ (1 / 1.74)), saturating; negative counts as
// 0.
std::uint16_t encode_server_duration(std::chrono::microseconds duration) noexcept;
// Its inverse, encoded ^ 1.74 / 2, rounded to a microsecond; at most about 120 s.
std::chrono::microseconds decode_server_duration(std::uint16_t encoded) noexcept;

}  // namespace reprise::wire
