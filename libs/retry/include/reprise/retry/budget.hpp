#pragma once

/// Budgets answer one question of a strategy: can this retry be paid for?
///
/// ```
/// try_pay(facts, now)             a retry is wanted: reserve its price or refuse
/// on_success(cost, attempt, now)  the request succeeded on `attempt`; its last retry cost `cost`
/// on_request(now)                 optional: a request starts
/// on_failure(facts, now)          optional: an attempt failed, retried or not
/// ```
///
/// A budget with `static constexpr bool wants_time = true` gets real times in `on_request` and
/// `on_success`; others get the epoch there.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include <reprise/retry/token_bucket.hpp>

namespace reprise {

/// The answer to "can it be paid?"; `cost` travels in the token, in milli-units.
struct payment {
    bool paid = true;
    std::uint32_t cost = 0;
    std::int64_t level = -1;  ///< Milli-units left (or found, when refused); negative: no level.
};

template <class B>
concept retry_budget = requires(
    B& budget, const failure_facts& facts, time_point now, std::uint32_t cost,
    std::uint32_t attempt) {
    { budget.try_pay(facts, now) } noexcept -> std::same_as<payment>;
    { budget.on_success(cost, attempt, now) } noexcept;
};

/// Every retry is free.
struct no_budget {
    [[nodiscard]] payment try_pay(const failure_facts&, time_point) const noexcept { return {}; }
    void on_success(std::uint32_t, std::uint32_t, time_point) const noexcept {}
};

/// What retries cost and what successes return, in units.
struct bucket_prices {
    double retry = 5.0;
    double timeout = 10.0;               ///< A retry after a timeout, throttling or not.
    std::optional<double> throttling{};  ///< A retry after other throttling; absent: as `retry`.
    double refund = 1.0;                 ///< Returned by a success.
    /// A success after a retry returns what that retry cost instead of `refund`.
    bool refund_last_cost = false;
};

/// The first contradiction between prices and a bucket of the given capacity, if any.
[[nodiscard]] std::optional<settings_error> check(const bucket_prices& prices, double capacity);

/// A token bucket with prices. Copies share the bucket.
class bucket_budget {
public:
    /// Throws `invalid_settings` for a null bucket or prices it can never pay.
    bucket_budget(std::shared_ptr<token_bucket> bucket, const bucket_prices& prices = {});

    [[nodiscard]] payment try_pay(const failure_facts& facts, time_point) noexcept {
        // A timeout costs its price whatever else the failure is, as in Smithy's guide.
        const std::uint32_t cost = facts.timeout      ? timeout_
                                   : facts.throttling ? throttling_
                                                      : retry_;
        const token_bucket::charge charge = bucket_->try_take(cost);
        return {charge.paid, cost, charge.level};
    }
    void on_success(std::uint32_t cost, std::uint32_t attempt, time_point) noexcept {
        bucket_->give(refund_last_cost_ && attempt > 1 ? cost : refund_);
    }

    [[nodiscard]] const std::shared_ptr<token_bucket>& bucket() const noexcept { return bucket_; }

private:
    std::shared_ptr<token_bucket> bucket_;
    std::uint32_t retry_;
    std::uint32_t timeout_;
    std::uint32_t throttling_;
    std::uint32_t refund_;
    bool refund_last_cost_;
};

/// The retry throttle of gRPC proposal A6: every failure takes one unit, every success returns
/// `ratio`; retries are allowed only while more than half of the maximum is left.
struct failure_throttle_options {
    double units_max = 10.0;  ///< In (0, 1000].
    double ratio = 0.1;       ///< Above 0; thousandths count.
};

[[nodiscard]] std::optional<settings_error> check(const failure_throttle_options& options);

class failure_throttle {
public:
    explicit failure_throttle(const failure_throttle_options& options = {});

    void on_failure(const failure_facts&, time_point) noexcept;
    [[nodiscard]] payment try_pay(const failure_facts&, time_point) noexcept;
    void on_success(std::uint32_t, std::uint32_t, time_point) noexcept;

private:
    std::shared_ptr<token_bucket> bucket_;
    std::int64_t ratio_;
};

/// Retries as a share of requests plus a minimum rate, over a window (as Finagle and tower do).
struct windowed_budget_options {
    double percent = 20.0;             ///< Retries earned per hundred requests; 0 to 1000.
    double minimum_per_second = 10.0;  ///< Always allowed, also without traffic; 0 to 10000.
    duration window = std::chrono::seconds{10};  ///< Credit older than this is gone; 1 s to 60 s.
};

[[nodiscard]] std::optional<settings_error> check(const windowed_budget_options& options);

/// One atomic word holds the time and the level. Credit above the guaranteed reserve expires by a
/// tenth in each tenth of the window; below it, the minimum rate refills it. Cheaper than a ring of
/// slots and never more generous over a window than percent plus minimum, once the first credit of
/// the window has aged.
class windowed_budget {
public:
    static constexpr bool wants_time = true;

    explicit windowed_budget(const windowed_budget_options& options = {});

    void on_request(time_point now) noexcept;
    [[nodiscard]] payment try_pay(const failure_facts&, time_point now) noexcept;
    void on_success(std::uint32_t, std::uint32_t, time_point) noexcept {}

    /// Milli-units that could be spent at `now`.
    [[nodiscard]] std::int64_t level(time_point now) const noexcept;

private:
    struct account;
    [[nodiscard]] account aged(std::uint64_t word, time_point now) const noexcept;

    std::int64_t deposit_;
    std::int64_t reserve_;
    std::int64_t level_max_;
    double reserve_per_tick_;
    std::int64_t ticks_per_window_;
    std::shared_ptr<std::atomic<std::uint64_t>> word_;
};

}  // namespace reprise
