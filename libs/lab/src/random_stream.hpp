#pragma once

/// Random numbers that are the same everywhere: the standard library's distributions are not.

#include <cmath>
#include <cstdint>

#include <reprise/retry/time.hpp>

namespace reprise::lab {

/// A counter put through a mixer (SplitMix64): one word of state, streams that do not depend on
/// each other for different `lane`s of one seed.
class random_stream {
public:
    random_stream(std::uint64_t seed, std::uint64_t lane) noexcept
        : state_(mix(seed + mix(lane + golden))) {}

    /// 64 uniform bits.
    [[nodiscard]] std::uint64_t bits() noexcept { return mix(state_ += golden); }

    /// Uniform in [0, limit); the bias is below limit / 2^32.
    [[nodiscard]] std::uint32_t below(std::uint32_t limit) noexcept {
        return static_cast<std::uint32_t>(((bits() >> 32U) * limit) >> 32U);
    }

    /// True with the given probability.
    [[nodiscard]] bool chance(double probability) noexcept {
        return static_cast<double>(bits() >> 11U) * 0x1.0p-53 < probability;
    }

    /// Exponentially distributed with the given mean, in nanoseconds; at least 1.
    [[nodiscard]] duration exponential(double mean_ns) noexcept {
        // In (0, 1]: the logarithm of zero must not happen.
        const double uniform = (static_cast<double>(bits() >> 11U) + 1.0) * 0x1.0p-53;
        return duration{1 + static_cast<std::int64_t>(-std::log(uniform) * mean_ns)};
    }

private:
    static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;

    [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t value) noexcept {
        value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
        value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
        return value ^ (value >> 31U);
    }

    std::uint64_t state_;
};

}  // namespace reprise::lab
