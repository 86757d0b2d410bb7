#pragma once

/// Options of one call, and what the loop passes to each attempt. What belongs to a service is set
/// on its strategy (budget, breaker, observer, tracer); what belongs to the operation wraps it
/// (`fails_if`, `with_fallback`, `hedged`).

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/retry/clock.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise {

/// Everything is optional: `{}` retries until the strategy ends it.
struct call_options {
    /// No retry starts after this; the first attempt is made in any case. The Asio forms also
    /// cancel an attempt that is still running then.
    std::optional<time_point> deadline{};
    /// The same as a duration from the start of the call; the earlier of both applies. Negative is
    /// zero.
    std::optional<duration> timeout{};
    /// Time for one attempt. Blocking operations get it in `attempt::timeout` and must keep it
    /// themselves, so one that takes no `attempt` is refused with `invalid_settings`. The Asio
    /// forms cancel the attempt.
    std::optional<duration> attempt_timeout{};
    /// Whether the operation may be executed twice.
    repeatability repeat = repeatability::unspecified;
    /// Ends waits at once and allows no further retry. A running attempt is not interrupted.
    std::stop_token stop{};
    /// The allowance of an enclosing loop (`attempt::allowance`). Retries are taken from it.
    driver::retry_allowance* outer_allowance = nullptr;
    /// Receives what happened on each attempt of this call, which clears it first. A call inside
    /// this one needs its own.
    retry_history* history = nullptr;
    /// What the call does, for logs and spans: "fetch price". Must outlive the call.
    std::string_view name = "retry";
    /// Null: the real clock.
    retry_clock* clock = nullptr;
    /// Empty: a generator per thread.
    driver::random_source random{};
};

/// The current attempt, as its operation sees it.
struct attempt {
    std::uint32_t number = 1;  ///< The first attempt is 1.
    /// The call's deadline or this attempt's timeout, whichever is earlier; `driver::no_deadline`
    /// if neither.
    time_point deadline = driver::no_deadline;
    /// The same as a duration from the start of the attempt; `duration::max()` if neither.
    duration timeout = duration::max();
    /// Give it to retry loops inside the operation (`call_options::outer_allowance`).
    driver::retry_allowance* allowance = nullptr;
    /// The call's stop token.
    std::stop_token stop{};
    /// The call's clock; null outside of a loop, which means the real clock.
    retry_clock* clock = nullptr;
    /// The call's mark, for operations that could send something twice by themselves.
    repeatability repeat = repeatability::unspecified;

    /// The time on the call's clock.
    [[nodiscard]] time_point now() const noexcept { return clock_or_real().now(); }
    /// The date that corresponds to it, e.g. for `http_facts`.
    [[nodiscard]] std::chrono::sys_seconds calendar_time() const noexcept {
        return clock_or_real().calendar_time();
    }
    [[nodiscard]] retry_clock& clock_or_real() const noexcept {
        return clock != nullptr ? *clock : retry_clock::real();
    }
};

}  // namespace reprise
