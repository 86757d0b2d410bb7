#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

namespace reprise::wire {

// The expiry field of a document: 0 never, up to 30 days a number of seconds from now, above that
// seconds since 1970. The current time is always an argument.

inline constexpr std::chrono::seconds expiry_relative_max{30 * 24 * 60 * 60};

enum class expiry_errc : std::uint8_t {
    negative_duration = 1,  // a duration below zero
    too_far,                // after the year 2106: does not fit 32 bits
    too_early               // a time in January 1970, which the server would take for a duration
};

std::string_view to_string(expiry_errc code) noexcept;

// A duration from now. Zero means never; more than 30 days is sent as a time, made with `now`.
std::expected<std::uint32_t, expiry_errc> encode_expiry(
    std::chrono::seconds duration, std::chrono::sys_seconds now) noexcept;

// A point in time. One that has passed is legal: the document is expired at once.
std::expected<std::uint32_t, expiry_errc> encode_expiry(std::chrono::sys_seconds when) noexcept;

// The server's side: when a document with this field expires; empty: never.
std::optional<std::chrono::sys_seconds> decode_expiry(
    std::uint32_t field, std::chrono::sys_seconds now) noexcept;

}  // namespace reprise::wire
