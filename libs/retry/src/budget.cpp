#include <cmath>

#include <reprise/retry/budget.hpp>

namespace reprise {

retry_budget::~retry_budget() = default;
void retry_budget::on_request(time_point) noexcept {}
void retry_budget::on_failure(const failure_facts&, time_point) noexcept {}

namespace {

[[nodiscard]] retry_prices checked_prices(
    const std::shared_ptr<token_bucket>& bucket, const retry_prices& prices) {
    if (bucket == nullptr) {
        detail::throw_invalid_settings({"bucket", "must not be null"});
    }
    const double capacity = static_cast<double>(bucket->capacity()) / 1000.0;
    if (auto error = check(prices, capacity)) {
        detail::throw_invalid_settings(std::move(*error));
    }
    return prices;
}

[[nodiscard]] std::uint32_t price(double units) noexcept {
    return static_cast<std::uint32_t>(milli_units(units));
}

}  // namespace

token_bucket_budget::token_bucket_budget(
    std::shared_ptr<token_bucket> bucket, const retry_prices& prices)
    : bucket_(std::move(bucket)),
      retry_(price(checked_prices(bucket_, prices).retry)),
      timeout_(price(prices.timeout)),
      throttling_(price(prices.throttling.value_or(prices.retry))),
      refund_(price(prices.refund)),
      refund_last_cost_(prices.refund_last_cost) {}

failure_throttle::failure_throttle(const failure_throttle_options& options)
    : bucket_(std::make_shared<token_bucket>(
          token_bucket_options{checked(options).units_max, std::nullopt})),
      ratio_(milli_units(options.ratio)) {}

void failure_throttle::on_failure(const failure_facts&, time_point) noexcept {
    // Empties a nearly empty throttle: the level of the proposal stops at zero.
    constexpr std::int64_t one_unit = 1000;
    if (const auto charge = bucket_->try_take(one_unit); !charge.paid && charge.level > 0) {
        static_cast<void>(bucket_->try_take(charge.level));
    }
}

payment failure_throttle::try_pay(const failure_facts&, time_point) noexcept {
    const std::int64_t level = bucket_->level();
    return {level > bucket_->capacity() / 2, 0, level};
}

void failure_throttle::on_success(std::uint32_t, std::uint32_t, time_point) noexcept {
    bucket_->give(ratio_);
}

/// The word has milliseconds in its upper half and milli-units in its lower half. The milliseconds
/// wrap after 49 days, which only ages the credit once more.
struct windowed_budget::account {
    std::uint32_t tick = 0;
    std::int64_t level = 0;

    [[nodiscard]] static account unpack(std::uint64_t word) noexcept {
        return {
            static_cast<std::uint32_t>(word >> 32U), static_cast<std::int64_t>(word & 0xffffffffU)};
    }
    [[nodiscard]] std::uint64_t pack() const noexcept {
        return (static_cast<std::uint64_t>(tick) << 32U) | static_cast<std::uint64_t>(level);
    }
};

namespace {

[[nodiscard]] std::uint32_t to_tick(time_point now) noexcept {
    const auto count =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(count));
}

}  // namespace

windowed_budget::windowed_budget(const windowed_budget_options& options)
    : deposit_(milli_units(checked(options).percent / 100.0)),
      reserve_(milli_units(
          options.minimum_per_second * std::chrono::duration<double>(options.window).count())),
      level_max_(0xffffffff),
      reserve_per_tick_(options.minimum_per_second),
      ticks_per_window_(
          std::chrono::duration_cast<std::chrono::milliseconds>(options.window).count()),
      word_(std::make_shared<std::atomic<std::uint64_t>>(account{0, reserve_}.pack())) {}

windowed_budget::account windowed_budget::aged(std::uint64_t word, time_point now) const noexcept {
    account current = account::unpack(word);
    const std::uint32_t tick = to_tick(now);
    // Threads read the clock before they get here, so a slightly older time counts as no time
    // passed.
    const auto passed = static_cast<std::int32_t>(tick - current.tick);
    if (passed <= 0) {
        return current;
    }
    if (current.level < reserve_) {
        // milli-units per ms are units per second.
        const double earned = reserve_per_tick_ * static_cast<double>(passed);
        if (earned < 1.0) {
            return current;  // Too little to count yet. Keeps the old time so that it accumulates.
        }
        current.level = std::min(reserve_, current.level + static_cast<std::int64_t>(earned));
    } else if (current.level > reserve_) {
        const double steps =
            static_cast<double>(passed) * 10.0 / static_cast<double>(ticks_per_window_);
        const double excess = static_cast<double>(current.level - reserve_);
        const double kept = excess * std::pow(0.9, steps);
        if (excess - kept < 1.0) {
            return current;
        }
        current.level = reserve_ + static_cast<std::int64_t>(kept);
    }
    current.tick = tick;
    return current;
}

void windowed_budget::on_request(time_point now) noexcept {
    std::uint64_t word = word_->load(std::memory_order_relaxed);
    account next;
    do {
        next = aged(word, now);
        next.level = std::min(level_max_, next.level + deposit_);
    } while (!word_->compare_exchange_weak(word, next.pack(), std::memory_order_relaxed));
}

payment windowed_budget::try_pay(const failure_facts&, time_point now) noexcept {
    constexpr std::int64_t one_retry = 1000;
    std::uint64_t word = word_->load(std::memory_order_relaxed);
    account next;
    do {
        next = aged(word, now);
        if (next.level < one_retry) {
            return {false, one_retry, next.level};
        }
        next.level -= one_retry;
    } while (!word_->compare_exchange_weak(word, next.pack(), std::memory_order_relaxed));
    return {true, one_retry, next.level};
}

std::int64_t windowed_budget::level(time_point now) const noexcept {
    return aged(word_->load(std::memory_order_relaxed), now).level;
}

}  // namespace reprise
