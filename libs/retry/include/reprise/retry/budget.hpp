#pragma once

/// Budgets answer one question: can this retry be paid for? They are charged in one place,
/// `admit` (`admission.hpp`); strategies and loops only name the budget that pays.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/token_bucket.hpp>

namespace reprise {

namespace driver {

/// The answer to "can it be paid?"; `cost` travels in the token, in milli-units.
struct payment {
    bool paid = true;
    std::uint32_t cost = 0;
    std::int64_t level = -1;  ///< Milli-units left (or found, when refused); negative: no level.
};

}  // namespace driver

/// One object may serve many clients; all calls may come from any thread at any time.
class REPRISE_EXPORT retry_budget {
public:
    virtual ~retry_budget();
    /// Pays the whole price of a retry, or refuses.
    [[nodiscard]] virtual driver::payment try_pay(
        const failure_facts& facts, time_point now) noexcept = 0;
    /// A retry that was paid for with `cost` milli-units is not made: its wait was canceled, or a
    /// circuit breaker opened meanwhile. Does nothing unless overridden.
    virtual void give_back(std::uint32_t cost, time_point now) noexcept;
    /// A request succeeded on `attempt`; its last retry cost `cost` milli-units.
    virtual void on_success(std::uint32_t cost, std::uint32_t attempt, time_point now) noexcept = 0;
    /// A request starts. Does nothing unless overridden.
    virtual void on_request(time_point now) noexcept;
    /// An attempt failed, whether it is retried or not. Does nothing unless overridden.
    virtual void on_failure(const failure_facts& facts, time_point now) noexcept;
};

namespace detail {

/// Whether a budget overrides `on_request`, `on_failure`. What is inherited does nothing, and a
/// strategy that is compiled with the budget's type need not call it.
template <class B>
concept counts_requests =
    requires(B& budget, time_point now) { budget.on_request(now); } && !requires {
        requires std::same_as<decltype(&B::on_request), decltype(&retry_budget::on_request)>;
    };
template <class B>
concept counts_failures = requires(B& budget, const failure_facts& facts, time_point now) {
    budget.on_failure(facts, now);
} && !requires {
    requires std::same_as<decltype(&B::on_failure), decltype(&retry_budget::on_failure)>;
};

}  // namespace detail

namespace driver {

struct no_budget;

/// Budgets by value. One with `static constexpr bool needs_time = true` gets real times in
/// `on_request` and `on_success`; others get the epoch there. `no_budget` is no `retry_budget`: it
/// means that there is none.
template <class B>
concept budget_policy = std::derived_from<B, retry_budget> || std::same_as<B, no_budget>;

/// Every retry is free.
struct no_budget {
    void on_success(std::uint32_t, std::uint32_t, time_point) const noexcept {}
};

}  // namespace driver

/// The prices of retries and the refund of successes, in units.
struct retry_prices {
    double retry = 5.0;
    double timeout = 10.0;               ///< A retry after a timeout, throttling or not.
    std::optional<double> throttling{};  ///< A retry after other throttling; absent: as `retry`.
    double refund = 1.0;                 ///< Returned by a success.
    /// A success after a retry returns what that retry cost instead of `refund`.
    bool refund_last_cost = false;
};

/// The first contradiction between prices and a bucket of the given capacity, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(
    const retry_prices& prices, double capacity);

/// A token bucket with prices. Copies share the bucket.
class REPRISE_EXPORT token_bucket_budget final : public retry_budget {
public:
    /// Throws `invalid_settings` for a null bucket or prices it can never pay.
    token_bucket_budget(std::shared_ptr<token_bucket> bucket, const retry_prices& prices = {});

    [[nodiscard]] driver::payment try_pay(
        const failure_facts& facts, time_point) noexcept override {
        // A timeout costs its price whatever else the failure is, as in Smithy's guide.
        const std::uint32_t cost = facts.timeout      ? timeout_
                                   : facts.throttling ? throttling_
                                                      : retry_;
        const token_bucket::charge charge = bucket_->try_take(cost);
        return {charge.paid, cost, charge.level};
    }
    void give_back(std::uint32_t cost, time_point) noexcept override { bucket_->give(cost); }
    void on_success(std::uint32_t cost, std::uint32_t attempt, time_point) noexcept override {
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
    double ratio = 0.1;       ///< In [0.001, 1000]; thousandths count.
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(
    const failure_throttle_options& options);

/// The budget with these rules.
class REPRISE_EXPORT failure_throttle final : public retry_budget {
public:
    explicit failure_throttle(const failure_throttle_options& options = {});

    void on_failure(const failure_facts&, time_point) noexcept override;
    [[nodiscard]] driver::payment try_pay(const failure_facts&, time_point) noexcept override;
    void on_success(std::uint32_t, std::uint32_t, time_point) noexcept override;

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

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(
    const windowed_budget_options& options);

/// One atomic word holds the level and the low bits of the time; a second one, which changes every
/// few weeks, holds the rest. Credit above the guaranteed reserve expires by a
/// tenth in each tenth of the window; below it, the minimum rate refills it. Cheaper than a ring of
/// slots and never more generous over a window than percent plus minimum, once the first credit of
/// the window has aged.
class REPRISE_EXPORT windowed_budget final : public retry_budget {
public:
    static constexpr bool needs_time = true;

    explicit windowed_budget(const windowed_budget_options& options = {});

    void on_request(time_point now) noexcept override;
    [[nodiscard]] driver::payment try_pay(const failure_facts&, time_point now) noexcept override;
    void give_back(std::uint32_t cost, time_point now) noexcept override;
    void on_success(std::uint32_t, std::uint32_t, time_point) noexcept override {}

    /// Retries that could be paid for at `now`; units, as those of a `token_bucket`.
    [[nodiscard]] double level(time_point now) const noexcept {
        return static_cast<double>(milli_level(now)) / 1000.0;
    }
    /// The same, exactly.
    [[nodiscard]] std::int64_t milli_level(time_point now) const noexcept;

private:
    struct account;
    struct shared_account;
    [[nodiscard]] account aged(std::uint64_t word, std::int64_t era, time_point now) const noexcept;
    /// Replaces the account by what `change` makes of it, unless that returns false.
    template <class Change>
    account update(time_point now, const Change& change) noexcept;

    std::int64_t deposit_;
    std::int64_t reserve_;
    std::int64_t level_max_;
    double reserve_per_tick_;
    std::int64_t ticks_per_window_;
    std::shared_ptr<shared_account> shared_;
};

}  // namespace reprise
