#pragma once

/// The one generator of random numbers that are not secret: jitter, choices among equals, models
/// and simulations.

#include <cstdint>

namespace reprise {

/// SplitMix64: eight bytes of state, the same numbers from the same seed on every machine. The next
/// number can be guessed from the last ones: never use it for secrets.
class random_generator {
public:
    constexpr explicit random_generator(std::uint64_t seed) noexcept : state_(seed) {}

    /// 64 uniform bits.
    [[nodiscard]] constexpr std::uint64_t next() noexcept { return mix(state_ += increment); }

    /// Spreads the bits of a number, which is how to derive one seed from another.
    [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t value) noexcept {
        value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
        value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
        return value ^ (value >> 31U);
    }

private:
    static constexpr std::uint64_t increment = 0x9e3779b97f4a7c15U;

    std::uint64_t state_;
};

}  // namespace reprise
