#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace reprise::engine {

// Where an engine's random numbers come from.
struct randomness {
    // Of the fast generator for jitter and choices among equals, which nobody needs to guess.
    std::uint64_t seed = 0;
    // Fills with bytes that nobody can guess: nonces and client ids. In production the operating
    // system's generator. False: there are none; then nobody can log in.
    std::function<bool(std::span<std::byte>)> entropy{};
};

// Everything from one number, for simulations and tests. Never in production: what follows from a
// number can be guessed.
[[nodiscard]] randomness seeded_randomness(std::uint64_t seed);

}  // namespace reprise::engine
