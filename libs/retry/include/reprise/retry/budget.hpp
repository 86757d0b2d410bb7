#pragma once

/// Budgets in addition to the token bucket: the retry throttle of gRPC, and a share of the requests
/// over a window.

#include <cstdint>
#include <memory>
#include <optional>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/token_bucket.hpp>

namespace reprise {

/// The retry throttle of gRPC proposal A6: every failure takes one unit, every success returns
/// `ratio`; retries are allowed only while more than half of the maximum is left.
struct failure_throttle_options {
    double units_max = 10.0;  ///< In (0, 1000].
    double ratio = 0.1;       ///< In [0.001, 1000]; thousandths count.
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const failure_throttle_options& options);

/// The budget with these rules.
class REPRISE_EXPORT failure_throttle final : public driver::retry_budget {
public:
    explicit failure_throttle(const failure_throttle_options& options = {});

    void on_failure(const failure_facts&, time_point) noexcept override;
    [[nodiscard]] driver::payment try_pay(const failure_facts&, time_point) noexcept override;
    void on_success(std::uint32_t, std::uint32_t, time_point) noexcept override;
    /// Retries are allowed while the level is above half of the capacity.
    [[nodiscard]] std::optional<driver::budget_gauge> gauge(time_point) const noexcept override;

private:
    std::shared_ptr<token_bucket> bucket_;
    std::int64_t ratio_;
};

/// Retries as a share of requests plus a minimum rate, over a window (as Finagle and tower do).
struct windowed_budget_options {
    double percent = 20.0;  ///< Retries earned per hundred requests; 0 to 1000.
    /// Always allowed, also without traffic; 0 to 10000. Below one retry per window only 0 is
    /// valid.
    double minimum_per_second = 10.0;
    duration window = std::chrono::seconds{10};  ///< Older credit expires; 1 s to 60 s.
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const windowed_budget_options& options);

/// One atomic word holds the level and the low bits of the time; a second one, which changes every
/// few weeks, holds the rest. Credit above the guaranteed reserve expires by a
/// tenth in each tenth of the window; below it, the minimum rate refills it. Cheaper than a ring of
/// slots and never more generous over a window than percent plus minimum, once the first credit of
/// the window has aged.
class REPRISE_EXPORT windowed_budget final : public driver::retry_budget {
public:
    static constexpr bool needs_time = true;

    explicit windowed_budget(const windowed_budget_options& options = {});

    void on_request(time_point now) noexcept override;
    [[nodiscard]] driver::payment try_pay(const failure_facts&, time_point now) noexcept override;
    void give_back(std::uint32_t cost, time_point now) noexcept override;
    void on_success(std::uint32_t, std::uint32_t, time_point) noexcept override {}
    /// The capacity is what the minimum rate earns in a window.
    [[nodiscard]] std::optional<driver::budget_gauge> gauge(time_point now) const noexcept override;

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
    /// Replaces the account with the result of `change`, unless that returns false.
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
