#pragma once

/// Random numbers that are the same on every platform, unlike the standard library's distributions.

#include <cmath>
#include <cstdint>

#include <reprise/retry/random_generator.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::lab {

/// Streams for different `lane`s of one seed are independent.
class random_stream {
public:
    random_stream(std::uint64_t seed, std::uint64_t lane) noexcept
        : generator_(
              random_generator::mix(seed + random_generator::mix(lane + 0x9e3779b97f4a7c15U))) {}

    /// 64 uniform bits.
    [[nodiscard]] std::uint64_t bits() noexcept { return generator_.next(); }

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
        // In (0, 1], because the logarithm of zero is not finite.
        const double uniform = (static_cast<double>(bits() >> 11U) + 1.0) * 0x1.0p-53;
        return duration{1 + static_cast<std::int64_t>(-std::log(uniform) * mean_ns)};
    }

private:
    random_generator generator_;
};

}  // namespace reprise::lab
