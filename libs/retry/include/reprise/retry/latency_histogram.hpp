#pragma once

/// How long things took: a histogram with a relative error of at most 1/8, which any number of
/// threads fill without locks.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/time.hpp>

namespace reprise {

/// From 1 microsecond (shorter counts as that) to about 12 days. 2.8 KB.
class REPRISE_EXPORT latency_histogram {
public:
    latency_histogram() noexcept = default;
    /// Copies what has been recorded; other threads may go on recording.
    latency_histogram(const latency_histogram& other) noexcept { add(other); }
    latency_histogram& operator=(const latency_histogram& other) noexcept;

    void record(duration latency) noexcept;
    /// As if everything recorded in `other` had been recorded here.
    void add(const latency_histogram& other) noexcept;
    /// Halves all counts, so that what is recorded from now on weighs more. For percentiles that
    /// follow a service; counters of reports must not forget.
    void forget_half() noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept;
    /// Of everything recorded. What is longer than the histogram's range counts as its end; the sum
    /// saturates after 292 years.
    [[nodiscard]] duration sum() const noexcept;
    /// At least this share of what was recorded (0 to 1) took no longer; zero without any record.
    [[nodiscard]] duration percentile(double share) const noexcept;

    /// Usual limits, for reports that compare several programs.
    static constexpr std::array<duration, 12> limits{
        std::chrono::milliseconds{1},    std::chrono::milliseconds{5},
        std::chrono::milliseconds{10},   std::chrono::milliseconds{25},
        std::chrono::milliseconds{50},   std::chrono::milliseconds{100},
        std::chrono::milliseconds{250},  std::chrono::milliseconds{500},
        std::chrono::milliseconds{1000}, std::chrono::milliseconds{2500},
        std::chrono::milliseconds{5000}, std::chrono::milliseconds{10000},
    };
    /// Cumulative counts per bucket bound; the last element is the total.
    [[nodiscard]] std::array<std::uint64_t, limits.size() + 1> counts_up_to_limits() const noexcept;

private:
    static constexpr std::size_t steps_per_octave = 8;
    static constexpr std::size_t octave_count = 41;

    [[nodiscard]] static std::size_t place_of(duration latency) noexcept;
    [[nodiscard]] static duration upper_end(std::size_t place) noexcept;

    std::array<std::atomic<std::uint64_t>, steps_per_octave * octave_count> counts_{};
    std::array<std::atomic<std::uint64_t>, limits.size() + 1> counts_by_limit_{};
    std::atomic<std::int64_t> sum_us_{0};
};

}  // namespace reprise
