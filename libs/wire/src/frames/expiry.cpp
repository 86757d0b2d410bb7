#include <reprise/wire/expiry.hpp>

#include <limits>

namespace reprise::wire {

std::string_view to_string(expiry_errc code) noexcept {
    switch (code) {
        case expiry_errc::negative_duration:
            return "expiry is a negative duration";
        case expiry_errc::too_far:
            return "expiry is after the year 2106";
        case expiry_errc::too_early:
            return "expiry is a time in January 1970";
    }
    return "unknown";
}

std::expected<std::uint32_t, expiry_errc> encode_expiry(
    std::chrono::seconds duration, std::chrono::sys_seconds now) noexcept {
    if (duration.count() < 0) {
        return std::unexpected(expiry_errc::negative_duration);
    }
    if (duration <= expiry_relative_max) {
        return static_cast<std::uint32_t>(duration.count());
    }
    // Once the duration fits 32 bits, no sum below can overflow 64 bits.
    if (duration.count() > std::numeric_limits<std::uint32_t>::max()) {
        return std::unexpected(expiry_errc::too_far);
    }
    return encode_expiry(now + duration);
}

std::expected<std::uint32_t, expiry_errc> encode_expiry(std::chrono::sys_seconds when) noexcept {
    const auto since_epoch = when.time_since_epoch();
    if (since_epoch <= expiry_relative_max) {
        return std::unexpected(expiry_errc::too_early);
    }
    if (since_epoch.count() > std::numeric_limits<std::uint32_t>::max()) {
        return std::unexpected(expiry_errc::too_far);
    }
    return static_cast<std::uint32_t>(since_epoch.count());
}

std::optional<std::chrono::sys_seconds> decode_expiry(
    std::uint32_t field, std::chrono::sys_seconds now) noexcept {
    if (field == 0) {
        return std::nullopt;
    }
    const std::chrono::seconds seconds(field);
    return seconds <= expiry_relative_max ? now + seconds : std::chrono::sys_seconds(seconds);
}

}  // namespace reprise::wire
