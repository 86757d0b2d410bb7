#include <cmath>
#include <limits>

#include <reprise/retry/budget.hpp>

#include "windowed_eras.hpp"

namespace reprise {

driver::retry_budget::~retry_budget() = default;
void driver::retry_budget::give_back(std::uint32_t, time_point) noexcept {}
void driver::retry_budget::on_request(time_point) noexcept {}
void driver::retry_budget::on_failure(const failure_facts&, time_point) noexcept {}
std::optional<driver::budget_gauge> driver::retry_budget::gauge(time_point) const noexcept {
    return std::nullopt;
}

namespace {

[[nodiscard]] driver::retry_prices checked_prices(
    const std::shared_ptr<token_bucket>& bucket, const driver::retry_prices& prices) {
    if (bucket == nullptr) {
        detail::throw_invalid_settings({"bucket", "must not be null"});
    }
    const double capacity = bucket->capacity();
    if (auto error = check(prices, capacity)) {
        detail::throw_invalid_settings(std::move(*error));
    }
    return prices;
}

[[nodiscard]] std::uint32_t price(double units) noexcept {
    return static_cast<std::uint32_t>(detail::milli_units(units));
}

}  // namespace

driver::token_bucket_budget::token_bucket_budget(
    std::shared_ptr<token_bucket> bucket, const driver::retry_prices& prices)
    : bucket_(std::move(bucket)),
      retry_(price(checked_prices(bucket_, prices).retry)),
      timeout_(price(prices.timeout)),
      throttling_(price(prices.throttling.value_or(prices.retry))),
      refund_(price(prices.refund)),
      refund_last_cost_(prices.refund_last_cost) {}

std::optional<driver::budget_gauge> driver::token_bucket_budget::gauge(time_point) const noexcept {
    return driver::budget_gauge{bucket_->available(), bucket_->capacity()};
}

failure_throttle::failure_throttle(const failure_throttle_options& options)
    : bucket_(std::make_shared<token_bucket>(
          token_bucket::options{detail::checked(options).units_max, std::nullopt})),
      ratio_(detail::milli_units(options.ratio)) {}

void failure_throttle::on_failure(const failure_facts&, time_point) noexcept {
    // Empties a nearly empty throttle: the level of the proposal stops at zero.
    constexpr std::int64_t one_unit = 1000;
    if (const auto charge = bucket_->try_take(one_unit); !charge.paid && charge.level > 0) {
        static_cast<void>(bucket_->try_take(charge.level));
    }
}

driver::payment failure_throttle::try_pay(const failure_facts&, time_point) noexcept {
    const std::int64_t level = bucket_->milli_level();
    return {level > bucket_->milli_capacity() / 2, 0, level};
}

void failure_throttle::on_success(std::uint32_t, std::uint32_t, time_point) noexcept {
    bucket_->give(ratio_);
}

std::optional<driver::budget_gauge> failure_throttle::gauge(time_point) const noexcept {
    return driver::budget_gauge{bucket_->available(), bucket_->capacity()};
}

/// The word has milliseconds in its upper half and milli-units in its lower half.
struct windowed_budget::account {
    std::uint32_t tick = 0;
    std::int64_t level = 0;
    bool is_of_new_time = false;  // not packed: the tick is that of the current time

    [[nodiscard]] static account unpack(std::uint64_t word) noexcept {
        return {
            static_cast<std::uint32_t>(word >> 32U), static_cast<std::int64_t>(word & 0xffffffffU),
            false};
    }
    [[nodiscard]] std::uint64_t pack() const noexcept {
        return (static_cast<std::uint64_t>(tick) << 32U) | static_cast<std::uint64_t>(level);
    }
};

namespace {

/// Rounds down, because a budget must not pay more than it states. The small addition is for
/// numbers that have no exact binary form: 0.1 % is a thousandth.
[[nodiscard]] std::int64_t whole_milli_units(double units) noexcept {
    return static_cast<std::int64_t>(units * 1000.0 + 1e-6);
}

constexpr std::int64_t before_all_eras = std::numeric_limits<std::int64_t>::min() / 2;

}  // namespace

/// `era` is written after `word`, so a word may be newer than its era, never older, and its credit
/// may age twice. Nothing else changes in between (`update`), and to age twice makes no difference
/// to a word that nobody has paid from since. A thread whose time is before the word's does not
/// take the difference for the years until the tick is reached again (`aged`).
struct windowed_budget::shared_account {
    struct reading {
        std::int64_t era;
        std::uint64_t word;
    };

    explicit shared_account(std::int64_t level) noexcept : word(account{0, level, false}.pack()) {}

    /// The era did not change while the word was read.
    [[nodiscard]] reading read() const noexcept {
        for (;;) {
            const std::int64_t before = era.load(std::memory_order_acquire);
            const std::uint64_t seen = word.load(std::memory_order_acquire);
            if (era.load(std::memory_order_relaxed) == before) {
                return {before, seen};
            }
        }
    }

    std::atomic<std::uint64_t> word;
    std::atomic<std::int64_t> era{before_all_eras};
};

windowed_budget::windowed_budget(const windowed_budget_options& options)
    : deposit_(whole_milli_units(detail::checked(options).percent / 100.0)),
      reserve_(whole_milli_units(
          options.minimum_per_second * std::chrono::duration<double>(options.window).count())),
      level_max_(0xffffffff),
      reserve_per_tick_(options.minimum_per_second),
      ticks_per_window_(
          std::chrono::duration_cast<std::chrono::milliseconds>(options.window).count()),
      shared_(std::make_shared<shared_account>(reserve_)) {}

namespace {

/// The whole units that a rate earns in the last `passed` ticks before `until`. The sum over
/// adjoining times is the same however they are divided: nothing below a unit is lost.
double earned_until(double until, double passed, double rate) noexcept {
    return std::floor(until * rate) - std::floor((until - passed) * rate);
}

}  // namespace

windowed_budget::account windowed_budget::aged(
    std::uint64_t word, std::int64_t era, time_point now) const noexcept {
    account current = account::unpack(word);
    const std::uint32_t tick = detail::tick_of(now);
    const std::int64_t eras_passed = detail::eras_since(current.tick, era, now);
    // Threads read the clock before they get here, so an older time counts as no time passed.
    if (eras_passed < 0 || (eras_passed == 0 && tick <= current.tick)) {
        return current;
    }
    constexpr double longer_than_any_window = 1e12;
    const double passed =
        eras_passed > 1 ? longer_than_any_window : static_cast<double>(tick - current.tick);
    if (current.level < reserve_) {
        // milli-units per ms are units per second.
        const double earned = earned_until(static_cast<double>(tick), passed, reserve_per_tick_);
        if (earned < 1.0) {
            return current;  // Too little to count yet. Keeps the old time so that it accumulates.
        }
        const auto missing = static_cast<double>(reserve_ - current.level);
        current.level += static_cast<std::int64_t>(std::min(earned, missing));
    } else if (current.level > reserve_) {
        const double steps = passed * 10.0 / static_cast<double>(ticks_per_window_);
        const double excess = static_cast<double>(current.level - reserve_);
        const double kept = excess * std::pow(0.9, steps);
        if (excess - kept < 1.0) {
            return current;
        }
        current.level = reserve_ + static_cast<std::int64_t>(kept);
    }
    current.tick = tick;
    current.is_of_new_time = true;
    return current;
}

template <class Change>
windowed_budget::account windowed_budget::update(time_point now, const Change& change) noexcept {
    for (;;) {
        auto [era, word] = shared_->read();
        account next = aged(word, era, now);
        // The credit ages first, and the change follows when all threads can see the new era.
        const bool begins_era = next.is_of_new_time && era < detail::era_of(now);
        if (!begins_era && !change(next)) {
            return next;
        }
        if (!shared_->word.compare_exchange_weak(
                word, next.pack(), std::memory_order_acq_rel, std::memory_order_relaxed)) {
            continue;
        }
        if (!begins_era) {
            return next;
        }
        shared_->era.store(detail::era_of(now), std::memory_order_release);
    }
}

void windowed_budget::on_request(time_point now) noexcept {
    static_cast<void>(update(now, [this](account& next) {
        next.level = std::min(level_max_, next.level + deposit_);
        return true;
    }));
}

driver::payment windowed_budget::try_pay(const failure_facts&, time_point now) noexcept {
    constexpr std::int64_t one_retry = 1000;
    bool is_paid = false;
    const account left = update(now, [&](account& next) {
        is_paid = next.level >= one_retry;
        next.level -= is_paid ? one_retry : 0;
        return is_paid;
    });
    return {is_paid, one_retry, left.level};
}

void windowed_budget::give_back(std::uint32_t cost, time_point now) noexcept {
    static_cast<void>(update(now, [&](account& next) {
        next.level = std::min(level_max_, next.level + std::int64_t{cost});
        return true;
    }));
}

std::int64_t windowed_budget::milli_level(time_point now) const noexcept {
    const auto [era, word] = shared_->read();
    return aged(word, era, now).level;
}

std::optional<driver::budget_gauge> windowed_budget::gauge(time_point now) const noexcept {
    return driver::budget_gauge{level(now), static_cast<double>(reserve_) / 1000.0};
}

}  // namespace reprise
