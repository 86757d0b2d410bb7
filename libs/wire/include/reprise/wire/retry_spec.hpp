#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace reprise::wire {

// How the delay grows with r, the number of the retry.
enum class retry_spec_kind : std::uint8_t {
    constant,    // always `interval`
    linear,      // interval x r
    exponential  // interval ^ r, in milliseconds by the protocol's definition
};

// The waiting rule a server may attach to an error code. Pure arithmetic: nothing here waits.
struct retry_spec {
    // A computed delay never exceeds this, also without `ceil`: about 24 days, 2^31 - 1 ms.
    static constexpr std::chrono::milliseconds delay_max{2147483647};

    // Which rule makes the delays after the first retry.
    retry_spec_kind kind = retry_spec_kind::constant;
    // Base interval; at least 1 ms in a usable spec.
    std::chrono::milliseconds interval{1};
    // Delay before the first retry.
    std::chrono::milliseconds after{0};
    // Cap of linear and exponential delays; empty: none.
    std::optional<std::chrono::milliseconds> ceil;
    // Give up this long after the first failure, `after` included; empty: the operation's timeout.
    std::optional<std::chrono::milliseconds> max_duration;

    // The delay before retry number `retry`; 0 is the first retry and waits `after`. Retry r >= 1:
    // interval, min(interval x r, ceil) or min(interval ^ r, ceil). Never overflows.
    constexpr std::chrono::milliseconds delay(std::uint32_t retry) const noexcept {
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

    // Compares the spec as given, not the delays it makes.
    friend bool operator==(const retry_spec&, const retry_spec&) = default;

private:
    // The most a computed delay may be.
    constexpr std::chrono::milliseconds cap() const noexcept {
        return ceil ? std::min(*ceil, delay_max) : delay_max;
    }

    // interval ^ retry, not above cap(). Stops multiplying once it is there, so it takes at most 31
    // steps.
    constexpr std::chrono::milliseconds power(std::uint32_t retry) const noexcept {
        const std::int64_t most = cap().count();
        // An interval of 1 never grows: without this the loop would run `retry` times.
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
