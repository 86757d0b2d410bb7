#pragma once

#include <cstdint>

namespace reprise::engine {

// The engine's fast randomness: SplitMix64, eight bytes of state, the same numbers from the same
// seed on every machine. Not for secrets.
class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15ULL);
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
        return mixed ^ (mixed >> 31U);
    }

private:
    std::uint64_t state_;
};

}  // namespace reprise::engine
