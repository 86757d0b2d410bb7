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

/// Framing extras are a list of (id, payload) pairs. The length field of a frame allows 255 bytes
/// of them.
inline constexpr std::size_t framing_extras_size_max = 255;
/// Ids and lengths of 15 and more take one extra byte, which is added to 15.
inline constexpr std::uint16_t frame_info_id_max = 15 + 255;
inline constexpr std::size_t frame_info_payload_size_max = 15 + 255;

struct frame_info {
    std::uint16_t id = 0;
    base::byte_view payload;
};

/// Appends one (id, payload) pair, with escapes if needed. An argument out of range puts the writer
/// into its failed state.
void encode_frame_info(base::byte_writer& out, const frame_info& info);

/// Iterates over a framing-extras field: call `next()` until it returns nothing or an error. It
/// accepts any id. Payloads point into the field. Fails with frame_info_truncated.
class frame_info_reader {
public:
    explicit frame_info_reader(base::byte_view field) noexcept : rest_(field) {}
    std::expected<std::optional<frame_info>, wire_errc> next() noexcept;

private:
    base::byte_view rest_;
};

/// How many copies must have a write before the server acknowledges it.
enum class durability_level : std::uint8_t {
    majority = 0x01,                        ///< a majority has it in memory
    majority_and_persist_to_active = 0x02,  ///< as majority, and the active node has it on disk
    persist_to_majority = 0x03,             ///< a majority has it on disk
};

struct durability_requirement {
    durability_level level = durability_level::majority;
    /// The limit on the server, 1 to 65534 ms. If empty, the server uses its default (30 s).
    std::optional<std::chrono::milliseconds> timeout;

    friend bool operator==(const durability_requirement&, const durability_requirement&) = default;
};

/// Converts a client's timeout to the timeout on the wire: nine tenths of it, between 1 ms and
/// 65534 ms.
std::chrono::milliseconds durability_wire_timeout(
    std::chrono::milliseconds client_timeout) noexcept;

/// Fields that a request may carry in addition to its body. If anything is set, the frame is an
/// alternative request, which needs HELLO 0x10. Texts point into the caller's memory or into the
/// decoded frame.
struct request_frame_infos {
    bool barrier = false;       ///< id 0: complete earlier commands first
    bool preserve_ttl = false;  ///< id 5: keep the expiry of the existing document; HELLO 0x14
    std::optional<durability_requirement> durability;  ///< id 1; HELLO 0x11
    std::optional<std::uint16_t> dcp_stream_id;        ///< id 2
    std::optional<std::uint16_t> run_as_token;         ///< id 7
    std::string_view run_as_user;                      ///< id 4; a leading ^ marks an external user
    std::string_view extra_privilege;                  ///< id 6

    bool empty() const noexcept {
        return !barrier && !preserve_ttl && !durability && !dcp_stream_id && !run_as_token &&
               run_as_user.empty() && extra_privilege.empty();
    }
    friend bool operator==(const request_frame_infos&, const request_frame_infos&) = default;
};

/// Appends the field in ascending order of id. Fails with durability_*_invalid, with
/// frame_info_size_invalid if the field would exceed 255 bytes, and with output_full.
std::expected<void, wire_errc> encode_request_frame_infos(
    base::byte_writer& out, const request_frame_infos& infos);

/// Decodes the field of a request as a server does; if an id repeats, the first one counts. Fails
/// with frame_info_truncated, frame_info_size_invalid, frame_info_unknown (id 3 and above 7),
/// durability_level_invalid or durability_timeout_invalid. `check_frame_infos` checks whether the
/// opcode accepts them.
std::expected<request_frame_infos, wire_errc> decode_request_frame_infos(
    base::byte_view field) noexcept;

/// Checks whether requests of `op` may carry these. Fails with frame_info_not_allowed for
/// durability (a server answers 0x04) and with preserve_ttl_not_supported (a server answers 0x83).
std::expected<void, wire_errc> check_frame_infos(
    opcode op, const request_frame_infos& infos) noexcept;

/// Fields that a response may carry in addition to its body. Needs HELLO 0x0f (durations) or 0x1a
/// (units).
struct response_frame_infos {
    /// id 0: the time that the server spent. The wire format rounds it to about 1 % and limits it
    /// to 120 s.
    std::optional<std::chrono::microseconds> server_duration;
    std::optional<std::uint16_t> read_units;                     ///< id 1
    std::optional<std::uint16_t> write_units;                    ///< id 2
    std::optional<std::chrono::microseconds> throttle_duration;  ///< id 3; rounded like id 0

    bool empty() const noexcept;
    friend bool operator==(const response_frame_infos&, const response_frame_infos&) = default;
};

/// Appends the field in ascending order of id. Fails with output_full.
std::expected<void, wire_errc> encode_response_frame_infos(
    base::byte_writer& out, const response_frame_infos& infos);

/// Decodes the field of a response as a client does. It skips unknown ids, and if an id repeats,
/// the last one counts. Fails with frame_info_truncated or frame_info_size_invalid.
std::expected<response_frame_infos, wire_errc> decode_response_frame_infos(
    base::byte_view field) noexcept;

/// Returns the 16-bit form of a duration: round((micros * 2) ^ (1 / 1.74)), saturating. A negative
/// duration counts as 0.
std::uint16_t encode_server_duration(std::chrono::microseconds duration) noexcept;
/// The inverse: encoded ^ 1.74 / 2, rounded to a microsecond. Returns at most about 120 s.
std::chrono::microseconds decode_server_duration(std::uint16_t encoded) noexcept;

}  // namespace reprise::wire
