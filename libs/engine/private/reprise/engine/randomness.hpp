#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace reprise::engine {

// The sources of an engine's random numbers.
struct randomness {
    // Seed of the fast generator for jitter and choices among equals, which need not be
    // unpredictable.
    std::uint64_t seed = 0;
    // Fills the bytes with unpredictable data for nonces and client ids. In production it uses the
    // operating system's generator. Returns false if there is no such data; logins then fail.
    std::function<bool(std::span<std::byte>)> entropy{};
};

// Derives everything from one seed, for simulations and tests. Never use it in production, because
// its output is predictable.
[[nodiscard]] randomness seeded_randomness(std::uint64_t seed);

}  // namespace reprise::engine
