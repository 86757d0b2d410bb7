#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

namespace reprise::wire {

// The expiry field of a document: 0 means never, a value up to 30 days is a number of seconds from
// now, and a larger value is in seconds since 1970. The current time is always an argument.

inline constexpr std::chrono::seconds expiry_relative_max{30 * 24 * 60 * 60};

enum class expiry_errc : std::uint8_t {
    negative_duration = 1,  ///< the duration is below zero
    too_far,                ///< later than the year 2106, which does not fit 32 bits
    /// A time in January 1970, which the server would interpret as a duration.
    too_early
};

std::string_view to_string(expiry_errc code) noexcept;

/// Encodes a duration from now. Zero means never. Beyond 30 days, the field holds a time computed
/// from `now`.
std::expected<std::uint32_t, expiry_errc> encode_expiry(
    std::chrono::seconds duration, std::chrono::sys_seconds now) noexcept;

/// Encodes a point in time. A time in the past is legal: the document expires immediately.
std::expected<std::uint32_t, expiry_errc> encode_expiry(std::chrono::sys_seconds when) noexcept;

/// Returns when a document with this field expires, or nothing if never. Servers use it.
std::optional<std::chrono::sys_seconds> decode_expiry(
    std::uint32_t field, std::chrono::sys_seconds now) noexcept;

}  // namespace reprise::wire
