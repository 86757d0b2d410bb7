#pragma once

/// The token bucket: one allowance for retries, shared by all its holders.
///
/// A retry pays its whole price or does not happen; successes give a little back. When a service is
/// sick the bucket runs dry and the clients stop adding to its load. The bucket is a type of its
/// own, so that several strategies and clients can share one (`std::shared_ptr<token_bucket>`).
///
/// It is the usual budget. Budgets answer one question: can this retry be paid for? They are
/// charged in one place, `admit` (`driver/admission.hpp`); strategies and loops only name the
/// budget that pays. Budgets of other kinds are in `budget.hpp`.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

namespace detail {

/// Budgets count in thousandths of a unit, so that fractions are exact.
[[nodiscard]] constexpr std::int64_t milli_units(double units) noexcept {
    return static_cast<std::int64_t>(units * 1000.0 + (units < 0 ? -0.5 : 0.5));
}

}  // namespace detail

/// Exact under concurrency: one atomic word, no unit created and none lost, never below zero and
/// never above capacity.
class token_bucket {
public:
    /// The size of a bucket.
    struct options {
        double capacity = 500.0;  ///< Units at most; above 0, at most 1e12.
        /// Units at the start. Absent: full. 0 makes a bucket that earns its burst: after a cold
        /// start it pays for retries only out of what successes have put in.
        std::optional<double> initial{};
    };

    token_bucket() : token_bucket(options{}) {}
    /// Throws `invalid_settings` for options that `check` refuses.
    explicit token_bucket(const options& size)
        : capacity_(detail::milli_units(detail::checked(size).capacity)),
          level_(detail::milli_units(size.initial.value_or(size.capacity))) {}

    /// The result of a charge: the level it left or, when refused, the level it found.
    struct charge {
        bool paid = false;
        std::int64_t level = 0;
    };

    /// Takes `cost` milli-units, all or nothing.
    [[nodiscard]] charge try_take(std::int64_t cost) noexcept {
        std::int64_t level = level_.load(std::memory_order_relaxed);
        do {
            if (level < cost) {
                return {false, level};
            }
        } while (!level_.compare_exchange_weak(level, level - cost, std::memory_order_relaxed));
        return {true, level - cost};
    }

    /// Puts `amount` milli-units back, up to the capacity. A full bucket is only read.
    void give(std::int64_t amount) noexcept {
        std::int64_t level = level_.load(std::memory_order_relaxed);
        std::int64_t target = 0;
        do {
            if (level >= capacity_) {
                return;
            }
            // Adding first and correcting later would let others see a level above capacity.
            target = std::min(capacity_, level + amount);
        } while (!level_.compare_exchange_weak(level, target, std::memory_order_relaxed));
    }

    /// The units that retries can spend now; units as in the options.
    [[nodiscard]] double available() const noexcept {
        return static_cast<double>(milli_level()) / 1000.0;
    }
    [[nodiscard]] double capacity() const noexcept {
        return static_cast<double>(capacity_) / 1000.0;
    }
    /// The same, exactly.
    [[nodiscard]] std::int64_t milli_level() const noexcept {
        return level_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::int64_t milli_capacity() const noexcept { return capacity_; }

private:
    const std::int64_t capacity_;
    std::atomic<std::int64_t> level_;
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const token_bucket::options& options);

namespace driver {

/// The answer to "can it be paid?"; `cost` travels in the token, in milli-units.
struct payment {
    bool paid = true;
    std::uint32_t cost = 0;
    std::int64_t level = -1;  ///< Milli-units left (or found, when refused); negative: no level.
};

/// What a budget shows to monitoring, in units.
struct budget_gauge {
    double level = 0.0;     ///< The units left now; may exceed the capacity of a `windowed_budget`.
    double capacity = 0.0;  ///< The level that the budget returns to without traffic.
};

/// One object may serve many clients; all calls may come from any thread at any time.
class REPRISE_EXPORT retry_budget {
public:
    virtual ~retry_budget();
    /// Pays the whole price of a retry, or refuses.
    [[nodiscard]] virtual payment try_pay(const failure_facts& facts, time_point now) noexcept = 0;
    /// A retry that was paid for with `cost` milli-units is not made: its wait was canceled, or a
    /// circuit breaker opened meanwhile. Does nothing unless overridden.
    virtual void give_back(std::uint32_t cost, time_point now) noexcept;
    /// A request succeeded on `attempt`; its last retry cost `cost` milli-units.
    virtual void on_success(std::uint32_t cost, std::uint32_t attempt, time_point now) noexcept = 0;
    /// A request starts. Does nothing unless overridden.
    virtual void on_request(time_point now) noexcept;
    /// An attempt failed, whether it is retried or not. Does nothing unless overridden.
    virtual void on_failure(const failure_facts& facts, time_point now) noexcept;
    /// Its level, for `retry_metrics`. Empty unless overridden: it is not shown.
    [[nodiscard]] virtual std::optional<budget_gauge> gauge(time_point now) const noexcept;
};

}  // namespace driver

namespace detail {

/// Whether a budget overrides `on_request`, `on_failure`. What is inherited does nothing, and a
/// strategy that is compiled with the budget's type need not call it.
template <class B>
concept counts_requests = requires(B& budget, time_point now) {
    budget.on_request(now);
} && !requires {
    requires std::same_as<decltype(&B::on_request), decltype(&driver::retry_budget::on_request)>;
};
template <class B>
concept counts_failures = requires(B& budget, const failure_facts& facts, time_point now) {
    budget.on_failure(facts, now);
} && !requires {
    requires std::same_as<decltype(&B::on_failure), decltype(&driver::retry_budget::on_failure)>;
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
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const retry_prices& prices, double capacity);

/// A token bucket with prices. Copies share the bucket.
class REPRISE_EXPORT token_bucket_budget final : public retry_budget {
public:
    /// Throws `invalid_settings` for a null bucket or prices it can never pay.
    token_bucket_budget(std::shared_ptr<token_bucket> bucket, const retry_prices& prices = {});

    [[nodiscard]] payment try_pay(const failure_facts& facts, time_point) noexcept override {
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
    [[nodiscard]] std::optional<budget_gauge> gauge(time_point) const noexcept override;

    [[nodiscard]] const std::shared_ptr<token_bucket>& bucket() const noexcept { return bucket_; }

private:
    std::shared_ptr<token_bucket> bucket_;
    std::uint32_t retry_;
    std::uint32_t timeout_;
    std::uint32_t throttling_;
    std::uint32_t refund_;
    bool refund_last_cost_;
};

}  // namespace driver

}  // namespace reprise
