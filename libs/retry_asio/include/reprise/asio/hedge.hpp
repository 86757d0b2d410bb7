#pragma once

/// Hedging: when an attempt takes unusually long, a second one starts in parallel. The first good
/// answer wins, and the others are canceled.
/// ```
///     const reprise::async_call_options options{
///         .repeat = reprise::repeatability::repeatable, .history = reprise::borrowed(&history)};
///     const auto hedged_read = reprise::hedged(20ms, read_replica);
///     answer = co_await reprise::async_retry(reprise::attempts(3), options, hedged_read);
/// ```
/// Only for calls marked as `repeatable`: the service may execute all attempts. A hedge is admitted
/// like a retry: it counts as one, and the same budget pays for it.

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/metrics_text.hpp>
#include <reprise/retry/outcome.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

/// Latencies of first attempts, from which hedges take their delay. The loops fill it; any number
/// of threads may use it. An attempt that was canceled because a hedge answered first, or that
/// reached its time limit, counts as longer than every other: how long it would have taken is
/// unknown. With the time that it had run, the delay would feed on itself and drift.
class REPRISE_EXPORT first_attempt_latencies {
public:
    /// A first attempt that ended well.
    void record(duration latency) noexcept { finished_.record(latency); }
    /// A first attempt that was cut short.
    void record_unfinished() noexcept { unfinished_.fetch_add(1, std::memory_order_relaxed); }
    /// Halves all counts once there are `count_max`, so that what is recorded from now on weighs
    /// more. Of several threads that call it at the same time, one does.
    void bound(std::uint64_t count_max) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept;
    /// The percentile: at least this share of the first attempts (0 to 1) took no longer. Empty if
    /// it falls among those that were cut short, or if there are no records.
    [[nodiscard]] std::optional<duration> percentile(double share) const noexcept;

private:
    driver::latency_histogram finished_;
    std::atomic<std::uint64_t> unfinished_{0};
    std::atomic<bool> is_halving_{false};
};

/// When a slow attempt is hedged.
struct hedge_options {
    /// An attempt that has not ended after this time is hedged. Not negative.
    duration delay = std::chrono::milliseconds{50};
    /// Attempts that may run at the same time, the first included; 1 to 16.
    std::uint32_t attempts_max = 2;
    /// If it is set, loops record first attempts into it, and once it holds `seen_min` records its
    /// percentile takes the place of `delay`. Share one per service.
    std::shared_ptr<first_attempt_latencies> seen{};
    double percentile = 0.95;     ///< 0 to 1.
    std::uint64_t seen_min = 20;  ///< Records before the percentile counts.
    /// With this many records, loops halve the counts, so that the percentile follows a service
    /// that becomes faster or slower. At least twice `seen_min`.
    std::uint64_t seen_max = 1000;
    /// The longest delay that follows from the percentile, and the delay if the percentile falls
    /// among attempts that were cut short: then more attempts are slow than should be hedged. With
    /// `seen`, at least `delay`.
    duration delay_max = std::chrono::seconds{1};

    /// The delay of a hedge that is considered now.
    [[nodiscard]] REPRISE_EXPORT duration current_delay() const noexcept;
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const hedge_options& options);

/// An operation whose attempts are hedged. Made by `hedged`.
template <class Operation>
class hedged_operation : public detail::wrapped_operation<Operation> {
    static_assert(
        !requires(const Operation& operation) { operation.hedging(); },
        "this operation is hedged already, with options that a second hedged would replace");

public:
    hedged_operation(const hedge_options& options, Operation operation)
        : detail::wrapped_operation<Operation>(std::move(operation)),
          options_(detail::checked(options)) {}

    [[nodiscard]] const hedge_options& hedging() const noexcept { return options_; }

private:
    hedge_options options_;
};

/// Wraps the operation of an asynchronous loop so that slow attempts are hedged. Loops throw
/// `invalid_settings` for a hedged operation whose call is not marked as
/// `repeatability::repeatable`. Throws `invalid_settings` for options that `check` refuses.
///
/// All attempts of a hedge must have ended before the loop goes on, since they may use what the
/// caller owns. The losers are canceled, so operations should support cancellation. Attempts run at
/// the same time: give each its own buffers.
template <class Operation>
[[nodiscard]] auto hedged(const hedge_options& options, Operation&& operation) {
    return hedged_operation<std::decay_t<Operation>>(options, std::forward<Operation>(operation));
}
/// The same with a fixed delay.
template <class Operation>
[[nodiscard]] auto hedged(duration delay, Operation&& operation) {
    return hedged(hedge_options{.delay = delay}, std::forward<Operation>(operation));
}

namespace detail {

template <class Operation>
concept is_hedged = requires(const Operation& operation) {
    { operation.hedging() } -> std::same_as<const hedge_options&>;
};

/// Throws `invalid_settings` for a hedged call that may not be repeated for certain.
REPRISE_EXPORT void check_hedge(repeatability repeat);

}  // namespace detail

}  // namespace reprise
