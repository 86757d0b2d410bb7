#pragma once

/// Options of one call, and what the loop passes to each attempt. What belongs to a service is set
/// on its strategy (budget, breaker, observer, tracer); what belongs to the operation wraps it
/// (`fails_if`, `with_fallback`, `hedged`).

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/retry/clock.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise {

namespace driver {

/// Options of calls that block hold what they refer to by pointer, because the caller waits.
struct held_by_pointer {
    template <class T>
    using reference = T*;
    using text = std::string_view;
};

/// Options of calls that may outlive the function that starts them own what they refer to.
struct held_by_ownership {
    template <class T>
    using reference = std::shared_ptr<T>;
    using text = std::string;
};

/// The options of all forms; `Holding` is the difference.
template <class Holding>
struct basic_call_options {
    template <class T>
    using reference = typename Holding::template reference<T>;

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
    reference<retry_allowance> outer_allowance{};
    /// Receives what happened on each attempt of this call. The call clears it first. A call inside
    /// this one needs its own.
    reference<retry_history> history{};
    /// A name for the call, for logs and spans: "fetch price".
    typename Holding::text name = "retry";
    /// Null: the real clock.
    reference<retry_clock> clock{};
    /// Null: a generator per thread.
    reference<random_source> random{};
};

/// A pointer that the caller keeps valid until the call has completed; may be null. It does
/// not convert from a plain pointer.
template <class T>
class borrowed_pointer {
public:
    constexpr borrowed_pointer() noexcept = default;
    constexpr borrowed_pointer(std::nullptr_t) noexcept {}
    constexpr explicit borrowed_pointer(T* lasting) noexcept : lasting_(lasting) {}

    [[nodiscard]] constexpr T* get() const noexcept { return lasting_; }
    /// Owns nothing and allocates nothing.
    template <class Base>
        requires std::convertible_to<T*, Base*>
    operator std::shared_ptr<Base>() const noexcept {
        return {std::shared_ptr<void>{}, lasting_};
    }

private:
    T* lasting_ = nullptr;
};

}  // namespace driver

/// States that what is pointed to lives until the call that is given it has completed. Null is
/// allowed.
template <class T>
[[nodiscard]] constexpr driver::borrowed_pointer<T> borrowed(T* lasting) noexcept {
    return driver::borrowed_pointer<T>(lasting);
}

/// Options of a call that blocks. What they point to must outlive the call. Everything is optional:
/// `{}` retries until the strategy ends it. Calls that do not block take `async_call_options`
/// (`reprise/asio/async_retry.hpp`).
using call_options = driver::basic_call_options<driver::held_by_pointer>;

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
    /// The rest of the attempt's time, for one of several steps; `duration::max()` if there is
    /// no limit.
    [[nodiscard]] duration time_left() const noexcept {
        return std::min(timeout, driver::time_left(now(), deadline));
    }
    /// The calendar time of `now`, e.g. for `http_facts`.
    [[nodiscard]] std::chrono::sys_seconds calendar_time() const noexcept {
        return clock_or_real().calendar_time();
    }
    /// The statement of an operation about itself, or else the call's mark. For adapters.
    [[nodiscard]] repeatability stated_or_mark(repeatability stated) const noexcept {
        return stated != repeatability::unspecified ? stated : repeat;
    }
    [[nodiscard]] retry_clock& clock_or_real() const noexcept {
        return clock != nullptr ? *clock : retry_clock::real();
    }
};

}  // namespace reprise
