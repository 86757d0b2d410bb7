#pragma once

/// Latencies of requests, precise to 1 % and better. A failed request counts as slower than every
/// successful one.

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include <reprise/lab/run.hpp>

namespace reprise::lab::detail {

class latency_record {
public:
    latency_record() : counts_(steps_per_octave * octave_count) {}

    void add(duration latency) noexcept {
        ++counts_[place_of(latency)];
        ++succeeded_;
        sum_ += latency;
    }
    void add_failure() noexcept { ++failed_; }
    void clear() noexcept {
        if (succeeded_ + failed_ > 0) {
            std::ranges::fill(counts_, 0U);
            succeeded_ = failed_ = 0;
            sum_ = duration::zero();
        }
    }

    /// The latency that this share of all requests did not exceed; absent if fewer succeeded.
    [[nodiscard]] std::optional<duration> percentile(double share) const noexcept {
        const double rank = share * static_cast<double>(succeeded_ + failed_);
        if (succeeded_ == 0 || rank > static_cast<double>(succeeded_)) {
            return std::nullopt;
        }
        double below = 0.0;
        for (std::size_t place = 0; place < counts_.size(); ++place) {
            const double here = counts_[place];
            if (here > 0.0 && below + here >= rank) {
                const double low = lower_end(place);
                const double high = lower_end(place + 1);
                const double part = (rank - below) / here;
                return duration{static_cast<std::int64_t>(low + part * (high - low))};
            }
            below += here;
        }
        return std::nullopt;
    }

    [[nodiscard]] latency_summary summary() const noexcept {
        latency_summary result;
        if (succeeded_ > 0) {
            result.mean = sum_ / static_cast<std::int64_t>(succeeded_);
        }
        result.p50 = percentile(0.5);
        result.p90 = percentile(0.9);
        result.p99 = percentile(0.99);
        result.p999 = percentile(0.999);
        return result;
    }

private:
    static constexpr std::size_t steps_per_octave = 64;
    static constexpr std::size_t octave_count = 42;
    static constexpr unsigned unit_bits = 8;  ///< 256 ns.

    [[nodiscard]] static std::size_t place_of(duration latency) noexcept {
        const auto units = static_cast<std::uint64_t>(latency.count()) >> unit_bits;
        if (units < steps_per_octave) {
            return static_cast<std::size_t>(units);
        }
        const auto octave = static_cast<std::size_t>(std::bit_width(units)) - 7;
        const std::size_t place =
            (octave + 1) * steps_per_octave + ((units >> octave) - steps_per_octave);
        return std::min(place, steps_per_octave * octave_count - 1);
    }
    [[nodiscard]] static double lower_end(std::size_t place) noexcept {
        const std::size_t octave = place / steps_per_octave;
        const auto step = static_cast<double>(place % steps_per_octave);
        const double unit = static_cast<double>(1U << unit_bits);
        if (octave == 0) {
            return step * unit;
        }
        return (step + steps_per_octave) * unit *
               static_cast<double>(std::uint64_t{1} << (octave - 1));
    }

    std::vector<std::uint32_t> counts_;
    std::uint64_t succeeded_ = 0;
    std::uint64_t failed_ = 0;
    duration sum_{};
};

}  // namespace reprise::lab::detail
