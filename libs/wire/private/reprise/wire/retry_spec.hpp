#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace reprise::wire {

/// How the delay grows with r, the number of the retry.
enum class retry_spec_kind : std::uint8_t {
    constant,    ///< `interval`
    linear,      ///< interval x r
    exponential  ///< interval ^ r, in milliseconds by the protocol's definition
};

/// The backoff that a server may attach to an error code. It only computes delays and never waits.
struct retry_spec {
    /// The limit of a computed delay even without `ceil`: 2^31 - 1 ms, about 24 days.
    static constexpr std::chrono::milliseconds delay_max{2147483647};

    /// How delays are computed after the first retry.
    retry_spec_kind kind = retry_spec_kind::constant;
    /// The base interval. At least 1 ms in a usable spec.
    std::chrono::milliseconds interval{1};
    /// The delay before the first retry.
    std::chrono::milliseconds after{0};
    /// The limit of linear and exponential delays. If empty, only delay_max applies.
    std::optional<std::chrono::milliseconds> ceil;
    /// Retries stop this long after the first failure, counting `after`. If empty, the operation's
    /// timeout applies.
    std::optional<std::chrono::milliseconds> max_duration;
    /// The shortest delay, `after` included; a `ceil` below it takes precedence. RFC 0013 names
    /// this member, but its schema does not have it.
    std::optional<std::chrono::milliseconds> floor = std::nullopt;

    /// Returns the delay before retry number `retry`. Retry 0 is the first and waits `after`. Retry
    /// r >= 1 waits interval, min(interval x r, ceil) or min(interval ^ r, ceil). None is shorter
    /// than `floor`. Never overflows.
    constexpr std::chrono::milliseconds delay(std::uint32_t retry) const noexcept {
        return std::max(computed(retry), shortest());
    }

    /// Compares the spec itself, not the delays it produces.
    friend bool operator==(const retry_spec&, const retry_spec&) = default;

private:
    // The delay without `floor`.
    constexpr std::chrono::milliseconds computed(std::uint32_t retry) const noexcept {
        if (retry == 0) {
            return after;
        }
        switch (kind) {
            case retry_spec_kind::constant:
                return interval;
            case retry_spec_kind::linear:
                return std::min(interval * static_cast<std::int64_t>(retry), cap());
            case retry_spec_kind::exponential:
                return power(retry);
        }
        return interval;
    }

    constexpr std::chrono::milliseconds shortest() const noexcept {
        return floor ? std::min(*floor, cap()) : std::chrono::milliseconds{0};
    }

    // The limit of a computed delay.
    constexpr std::chrono::milliseconds cap() const noexcept {
        return ceil ? std::min(*ceil, delay_max) : delay_max;
    }

    // Returns interval ^ retry, limited to cap(). Stops multiplying at the limit, so it takes at
    // most 31 steps.
    constexpr std::chrono::milliseconds power(std::uint32_t retry) const noexcept {
        const std::int64_t most = cap().count();
        // An interval of 1 never grows. Without this check the loop would run `retry` times.
        if (interval.count() <= 1) {
            return std::min(interval, cap());
        }
        std::int64_t result = interval.count();
        for (std::uint32_t step = 1; step < retry && result < most; ++step) {
            result *= interval.count();  // both factors are below 2^31: no overflow
        }
        return std::chrono::milliseconds(std::min(result, most));
    }
};

}  // namespace reprise::wire
