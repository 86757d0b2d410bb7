#include <algorithm>
#include <bit>
#include <cmath>

#include <reprise/retry/driver/metrics_text.hpp>

namespace reprise {

namespace {

[[nodiscard]] std::uint64_t microseconds_of(duration latency) noexcept {
    const auto count = std::chrono::ceil<std::chrono::microseconds>(latency).count();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1));
}

template <class Number, std::size_t Count>
using counters = std::array<std::atomic<Number>, Count>;

template <class Number, std::size_t Count>
void add_each(counters<Number, Count>& to, const counters<Number, Count>& from) noexcept {
    for (std::size_t index = 0; index < Count; ++index) {
        to[index].fetch_add(from[index].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

/// A counter that another thread changes at the same time keeps its value: halved by both, it could
/// become negative. Returns the half that is left over, for the next counter.
template <class Number>
[[nodiscard]] Number halve(std::atomic<Number>& counter, Number left_over) noexcept {
    Number count = counter.load(std::memory_order_relaxed);
    const Number all = count + left_over;
    if (count == 0) {
        return left_over;  // An empty place stays empty.
    }
    counter.compare_exchange_strong(count, all / 2, std::memory_order_relaxed);
    return all % 2;
}

/// Halves are passed on, so that the total is halved, too. Rounded up, old records in many places
/// would stay for ever.
template <std::size_t Count>
void halve_each(counters<std::uint64_t, Count>& all) noexcept {
    std::uint64_t left_over = 0;
    for (auto& each : all) {
        left_over = halve(each, left_over);
    }
}

}  // namespace

driver::latency_histogram& driver::latency_histogram::operator=(
    const driver::latency_histogram& other) noexcept {
    if (this != &other) {
        for (auto& each : counts_) {
            each.store(0, std::memory_order_relaxed);
        }
        for (auto& each : counts_by_limit_) {
            each.store(0, std::memory_order_relaxed);
        }
        sum_us_.store(0, std::memory_order_relaxed);
        add(other);
    }
    return *this;
}

void driver::latency_histogram::add(const driver::latency_histogram& other) noexcept {
    add_each(counts_, other.counts_);
    add_each(counts_by_limit_, other.counts_by_limit_);
    sum_us_.fetch_add(other.sum_us_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void driver::latency_histogram::forget_half() noexcept {
    halve_each(counts_);
    halve_each(counts_by_limit_);
    static_cast<void>(halve(sum_us_, std::int64_t{0}));
}

/// Values below 8 have a place each; above, every power of two has 8.
std::size_t driver::latency_histogram::place_of(duration latency) noexcept {
    const std::uint64_t value = microseconds_of(latency);
    if (value < steps_per_octave) {
        return static_cast<std::size_t>(value);
    }
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 4;
    const std::size_t place = shift * steps_per_octave + static_cast<std::size_t>(value >> shift);
    return std::min(place, steps_per_octave * octave_count - 1);
}

duration driver::latency_histogram::upper_end(std::size_t place) noexcept {
    std::uint64_t value = place;
    if (place >= 2 * steps_per_octave) {
        const std::size_t shift = place / steps_per_octave - 1;
        value = place % steps_per_octave + steps_per_octave + 1;
        value = (value << shift) - 1;  // In 64 bits, also where `std::size_t` has 32.
    }
    return std::chrono::microseconds{static_cast<std::int64_t>(value)};
}

void driver::latency_histogram::record(duration latency) noexcept {
    counts_[place_of(latency)].fetch_add(1, std::memory_order_relaxed);
    const auto limit = std::ranges::lower_bound(limits, latency) - limits.begin();
    counts_by_limit_[static_cast<std::size_t>(limit)].fetch_add(1, std::memory_order_relaxed);
    const duration counted = std::min(latency, upper_end(counts_.size() - 1));
    sum_us_.fetch_add(
        static_cast<std::int64_t>(microseconds_of(counted)), std::memory_order_relaxed);
}

std::uint64_t driver::latency_histogram::count() const noexcept {
    std::uint64_t total = 0;
    for (const auto& each : counts_) {
        total += each.load(std::memory_order_relaxed);
    }
    return total;
}

duration driver::latency_histogram::sum() const noexcept {
    constexpr auto longest = std::chrono::floor<std::chrono::microseconds>(duration::max());
    return std::min(std::chrono::microseconds{sum_us_.load(std::memory_order_relaxed)}, longest);
}

duration driver::latency_histogram::percentile(double share) const noexcept {
    const std::uint64_t total = count();
    if (total == 0) {
        return duration::zero();
    }
    const double bounded = share >= 0.0 ? std::min(share, 1.0) : 0.0;  // Also if not a number.
    const double wanted = std::ceil(bounded * static_cast<double>(total));
    const auto rank = std::max<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1);
    std::uint64_t seen = 0;
    std::size_t last_place = 0;
    for (std::size_t place = 0; place < counts_.size() && seen < rank; ++place) {
        if (const auto count_here = counts_[place].load(std::memory_order_relaxed)) {
            seen += count_here;
            last_place = place;
        }
    }
    return upper_end(last_place);  // also if another thread has forgotten half of them meanwhile
}

std::array<std::uint64_t, driver::latency_histogram::limits.size() + 1>
driver::latency_histogram::counts_up_to_limits() const noexcept {
    std::array<std::uint64_t, limits.size() + 1> counts{};
    std::uint64_t seen = 0;
    for (std::size_t index = 0; index < counts.size(); ++index) {
        seen += counts_by_limit_[index].load(std::memory_order_relaxed);
        counts[index] = seen;
    }
    return counts;
}

}  // namespace reprise
