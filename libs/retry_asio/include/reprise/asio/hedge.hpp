#pragma once

/// Hedging: when an attempt takes unusually long, a second one starts beside it. The first good
/// answer wins, and the others are canceled.
///
///     const reprise::call_options options{.repeat = reprise::repeatability::repeatable};
///     auto read = reprise::hedged(50ms, [&] { return read_replica(key); });
///     row r = co_await reprise::async_retry(strategy, options, read);
///
/// Only for calls marked as `repeatable`: the service may execute all attempts. A hedge is admitted
/// like a retry: it counts as one, and the same budget pays for it.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <reprise/retry/decision.hpp>
#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/fails_if.hpp>
#include <reprise/retry/latency_histogram.hpp>
#include <reprise/retry/settings.hpp>

namespace reprise {

/// When a slow attempt gets another one beside it.
struct hedge_options {
    /// An attempt that has not ended after this time gets another one beside it. Not negative.
    duration delay = std::chrono::milliseconds{50};
    /// Attempts that may run at the same time, the first included; 1 to 16.
    std::uint32_t attempts_max = 2;
    /// What good attempts have taken lately, and those that were canceled for them until then. If
    /// it is set, loops record into it, and once it holds `seen_min` records its percentile takes
    /// the place of `delay`. Share one per service, and with nothing else: it forgets.
    std::shared_ptr<latency_histogram> seen{};
    double percentile = 0.95;     ///< 0 to 1.
    std::uint64_t seen_min = 20;  ///< Records before the percentile counts.
    /// With this many records, loops halve the counts, so that the percentile follows a service
    /// that becomes faster or slower. At least twice `seen_min`.
    std::uint64_t seen_max = 1000;

    /// The delay as things are now.
    [[nodiscard]] duration current_delay() const noexcept {
        const bool is_known = seen != nullptr && seen->count() >= seen_min;
        return is_known ? seen->percentile(percentile) : delay;
    }
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(const hedge_options& options);

/// An operation whose attempts are hedged. Made by `hedged`.
template <class Operation>
class hedged_operation : public detail::wrapped_operation<Operation> {
public:
    hedged_operation(const hedge_options& options, Operation operation)
        : detail::wrapped_operation<Operation>(std::move(operation)), options_(checked(options)) {}

    [[nodiscard]] const hedge_options& hedging() const noexcept { return options_; }

private:
    hedge_options options_;
};

/// Wraps the operation of an asynchronous loop so that slow attempts are hedged. Loops throw
/// `std::invalid_argument` for a hedged operation whose call is not marked as
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

/// Throws `std::invalid_argument` for a hedged call that may not be repeated for certain.
REPRISE_EXPORT void check_hedge(repeatability repeat);

}  // namespace detail

}  // namespace reprise
