#pragma once

#include <cstdint>

#include <reprise/retry/random_generator.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::sim {

/// A stream of random numbers: the same seed produces the same numbers on every machine. The
/// streams of one seed are independent, so that taking more numbers from one of them (another link,
/// a further operation) does not change the others. This keeps a shrunk scenario close to the
/// original.
class random_stream {
public:
    /// `stream` separates the random numbers for different purposes.
    explicit random_stream(std::uint64_t seed, std::uint64_t stream = 0) noexcept
        : generator_(
              random_generator::mix(seed + random_generator::mix(stream + 0x632be59bd9b4e019ULL))) {
    }

    /// 64 uniform bits.
    std::uint64_t next() noexcept { return generator_.next(); }
    /// 0 .. count - 1; 0 for a count of 0.
    std::uint64_t below(std::uint64_t count) noexcept { return count == 0 ? 0 : next() % count; }
    /// first .. last, both included.
    std::uint64_t between(std::uint64_t first, std::uint64_t last) noexcept {
        return first + below(last - first + 1);
    }
    duration between(duration first, duration last) noexcept {
        const auto width = static_cast<std::uint64_t>((last - first).count());
        return first + duration{static_cast<std::int64_t>(below(width + 1))};
    }
    /// Returns true with a probability of `share` in 1000.
    bool per_mille(std::uint64_t share) noexcept { return below(1000) < share; }
    bool percent(std::uint64_t share) noexcept { return below(100) < share; }

private:
    random_generator generator_;
};

}  // namespace reprise::sim
