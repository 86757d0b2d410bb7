#include <algorithm>
#include <cmath>
#include <reprise/asio/hedge.hpp>

namespace reprise {

void first_attempt_latencies::bound(std::uint64_t count_max) noexcept {
    if (count() < count_max || is_halving_.exchange(true, std::memory_order_acquire)) {
        return;
    }
    if (count() >= count_max) {  // another thread may have halved them meanwhile
        finished_.forget_half();
        std::uint64_t unfinished = unfinished_.load(std::memory_order_relaxed);
        while (!unfinished_.compare_exchange_weak(
            unfinished, unfinished / 2, std::memory_order_relaxed)) {
        }
    }
    is_halving_.store(false, std::memory_order_release);
}

std::uint64_t first_attempt_latencies::count() const noexcept {
    return finished_.count() + unfinished_.load(std::memory_order_relaxed);
}

std::optional<duration> first_attempt_latencies::percentile(double share) const noexcept {
    const auto finished = static_cast<double>(finished_.count());
    const auto unfinished = static_cast<double>(unfinished_.load(std::memory_order_relaxed));
    const double bounded = share >= 0.0 ? std::min(share, 1.0) : 0.0;  // Also if not a number.
    const double rank = std::max(std::ceil(bounded * (finished + unfinished)), 1.0);
    if (rank > finished) {
        return std::nullopt;
    }
    return finished_.percentile((rank - 0.5) / finished);  // The middle: no rounding moves it.
}

duration hedge_options::current_delay() const noexcept {
    if (seen == nullptr || seen->count() < seen_min) {
        return delay;
    }
    return std::min(seen->percentile(percentile).value_or(delay_max), delay_max);
}

std::optional<driver::settings_error> check(const hedge_options& options) {
    constexpr std::uint32_t attempts_limit = 16;
    if (options.delay < duration::zero()) {
        return driver::settings_error{"delay", "must not be negative"};
    }
    if (options.attempts_max == 0 || options.attempts_max > attempts_limit) {
        return driver::settings_error{"attempts_max", "must be 1 to 16"};
    }
    if (!(options.percentile >= 0.0 && options.percentile <= 1.0)) {
        return driver::settings_error{"percentile", "must be 0 to 1"};
    }
    if (options.seen_max / 2 < options.seen_min) {
        return driver::settings_error{"seen_max", "must be at least twice seen_min"};
    }
    if (options.seen != nullptr && options.delay_max < options.delay) {
        return driver::settings_error{"delay_max", "must be at least delay"};
    }
    return std::nullopt;
}

void detail::check_hedge(repeatability repeat) {
    if (repeat != repeatability::repeatable) {
        throw_invalid_settings({"repeat", "a hedged call must be marked as repeatable"});
    }
}

}  // namespace reprise
