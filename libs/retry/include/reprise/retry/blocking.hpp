#pragma once

/// The blocking loop: `reprise::retry(strategy, operation)`.
///
/// Returns what the operation returns, with the operation's own types and its own last error. An
/// operation may also throw; the caller gets its last exception, as the same object. `outcome.hpp`
/// defines which results are failures.

#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_session.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/fallback.hpp>
#include <reprise/retry/outcome.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

namespace detail {

template <class Operation>
concept takes_attempt = std::invocable<Operation&, const attempt&> &&
                        !ignores_arguments<std::remove_cvref_t<Operation>>;

/// Callable with an `attempt`, or with nothing.
template <class Operation>
concept retry_operation = takes_attempt<Operation> || std::invocable<Operation&>;

inline namespace REPRISE_VARIANT {

/// In place of an `attempt`, for operations that do not take one.
struct no_attempt_argument {};

template <class Operation, class Attempt>
decltype(auto) invoke_operation(Operation& operation, [[maybe_unused]] const Attempt& current) {
    if constexpr (takes_attempt<Operation>) {
        return std::invoke(operation, current);
    } else {
        return std::invoke(operation);
    }
}

template <class Operation>
using operation_result =
    decltype(invoke_operation(std::declval<Operation&>(), std::declval<const attempt&>()));

/// Stands for the value of operations that return nothing.
struct no_value {};

/// The time of one blocking call. Reads the clock only if the time is needed.
class call_time {
public:
    explicit call_time(const call_options& options) noexcept : options_(&options) {}

    [[nodiscard]] driver::decision_context context() const noexcept {
        return {clock().now(), random_bits()};
    }
    /// The context of an event that is no failure. Zeros if nothing looks at the time: a first
    /// attempt that succeeds reads no clock. Only strategies look at the randomness.
    template <class Session>
    [[nodiscard]] driver::decision_context context_if(
        bool is_needed, const Session& session) const noexcept {
        if (is_needed) [[unlikely]] {
            return {clock().now(), session.needs_randomness() ? random_bits() : 0};
        }
        return {};
    }
    /// The call's deadline; reads the clock only for a relative one.
    [[nodiscard]] time_point deadline() const noexcept {
        time_point earliest = options_->deadline.value_or(driver::no_deadline);
        if (options_->timeout) {
            earliest = std::min(
                earliest,
                driver::add_saturated(clock().now(), driver::at_least_zero(*options_->timeout)));
        }
        return earliest;
    }
    /// Fills in the attempt's own limits.
    void limit(attempt& current, time_point call_deadline) const noexcept {
        if (!options_->deadline && !options_->timeout && !options_->attempt_timeout) {
            return;
        }
        const time_point now = clock().now();
        current.deadline = call_deadline;
        if (options_->attempt_timeout) {
            current.deadline = std::min(
                call_deadline,
                driver::add_saturated(now, driver::at_least_zero(*options_->attempt_timeout)));
        }
        current.timeout = driver::time_left(now, current.deadline);
    }
    /// False when stopped. Zero waits do not touch the clock.
    [[nodiscard]] bool wait(duration length, time_point from) const {
        if (options_->stop.stop_requested()) {
            return false;
        }
        return length <= duration::zero() ||
               clock().wait_until(driver::add_saturated(from, length), options_->stop);
    }
    [[nodiscard]] retry_clock& clock() const noexcept {
        return options_->clock != nullptr ? *options_->clock : retry_clock::real();
    }

private:
    [[nodiscard]] std::uint64_t random_bits() const noexcept {
        return options_->random != nullptr ? options_->random->next() : thread_random();
    }

    const call_options* options_;
};

/// One attempt: its value, or what it threw.
template <class Result>
struct attempt_result {
    std::optional<Result> value{};
    std::exception_ptr thrown{};
    /// The operation has returned, but its result threw while it was moved. A success may be lost
    /// with it, so there is no retry.
    bool is_lost = false;

    [[nodiscard]] bool is_empty() const noexcept { return !value && !thrown; }
    void clear() noexcept {
        value.reset();
        thrown = nullptr;
        is_lost = false;
    }
    /// Keeps what the operation returned.
    template <class Returned>
    void keep(Returned& returned) {
        is_lost = true;
        value.emplace(std::move(returned));
        is_lost = false;
    }
};

template <class Result, class Operation, class Attempt>
[[nodiscard]] attempt_result<Result> run_attempt(Operation& operation, const Attempt& current) {
    attempt_result<Result> out;
    const auto run = [&] {
        if constexpr (std::is_same_v<Result, no_value>) {
            invoke_operation(operation, current);
            out.value.emplace();
        } else if constexpr (std::is_nothrow_move_constructible_v<Result>) {
            out.value.emplace(invoke_operation(operation, current));
        } else {
            Result returned = invoke_operation(operation, current);
            out.keep(returned);
        }
    };
#if defined(__cpp_exceptions)
    try {
        run();
    } catch (...) {
        out.thrown = std::current_exception();
        if (out.thrown == nullptr) {
            throw;  // Not a C++ exception, e.g. a thread is being canceled.
        }
    }
#else
    run();
#endif
    return out;
}

/// The result of a loop that gives up: the last result, or the last exception.
template <class Result>
[[nodiscard]] Result last_result(attempt_result<Result>&& outcome) {
    if (outcome.thrown) {
        std::rethrow_exception(outcome.thrown);
    }
    return std::move(*outcome.value);
}

/// The facts of an attempt that failed; absent after a success.
template <class Result, class Operation, class... Exceptions>
[[nodiscard]] std::optional<failure_facts> failure_of(
    const attempt_result<Result>& outcome, const Operation& operation,
    detail::catching_t<Exceptions...> list) noexcept {
    if constexpr (!std::is_nothrow_move_constructible_v<Result>) {
        if (outcome.is_lost) {
            return failure_facts{.safety = retry_safety::no};
        }
    }
    return outcome.thrown ? describe_exception(outcome.thrown, list)
                          : failure_in(operation, *outcome.value);
}

/// A failed attempt as a strategy sees it; nothing before the first.
template <class Result, class Operation>
[[nodiscard]] failure_view view_of_attempt(
    const attempt_result<Result>& outcome, const Operation& operation) noexcept {
    if (outcome.is_empty()) {
        return {};
    }
    return outcome.thrown ? failure_view::of(outcome.thrown) : view_of(operation, *outcome.value);
}

/// The end of a loop that gives up: the fallback's value if there is one, otherwise the last result
/// or exception.
template <class Result, class Operation>
[[nodiscard]] Result give_up(
    [[maybe_unused]] Operation& operation, attempt_result<Result>&& outcome,
    [[maybe_unused]] bool is_canceled) {
    if constexpr (has_fallback<Operation>) {
        if (!is_canceled) {
            return recovered<Result>(operation, view_of_attempt(outcome, operation));
        }
    }
    return last_result(std::move(outcome));
}

/// False: a call cannot end before its first attempt, unless it has a fallback.
template <class Result>
inline constexpr bool can_end_unattempted = can_throw || has_unattempted_outcome<Result>;

/// False: there is no way to return without an attempt, so the first one is made even if a circuit
/// breaker is open. Only possible without exceptions.
template <class Result, class Operation>
inline constexpr bool can_be_refused = has_fallback<Operation> || can_end_unattempted<Result>;

/// The result of a loop whose first attempt a circuit breaker refuses.
template <class Result, class Operation>
[[nodiscard]] Result refused_by_breaker(
    [[maybe_unused]] Operation& operation, [[maybe_unused]] bool is_canceled) {
    if constexpr (has_fallback<Operation>) {
        if (!is_canceled || !can_end_unattempted<Result>) {
            return recovered<Result>(operation, failure_view{});
        }
    }
    if constexpr (has_unattempted_outcome<Result>) {
        return driver::unattempted_outcome<Result>::make(refusal_reason::circuit_open);
    } else {
        throw_circuit_open();
    }
}

/// Waits out the delay of the initial token, if it has one; never beyond the deadline. False: the
/// caller has asked to stop.
template <class Session>
[[nodiscard]] bool wait_for_first_attempt(Session& session, call_time time, duration delay) {
    const time_point now = time.clock().now();
    return time.wait(std::min(delay, driver::time_left(now, session.deadline())), now);
}

template <class Result>
[[nodiscard]] Result canceled_at_start() {
#if defined(__cpp_exceptions)
    throw retry_error(retry_errc::canceled);
#else
    return driver::unattempted_outcome<Result>::make(refusal_reason::canceled);
#endif
}

/// Waits for a deferred strategy answer: until it is there, the deadline has come or the caller
/// asked to stop. Returns the time.
template <class Session>
[[nodiscard]] time_point wait_for_answer(Session& session, call_time time) {
    static_cast<void>(time.clock().wait_until(session.deadline(), session.answer_stop()));
    return time.clock().now();
}

/// The description of the attempt that starts now, for its operation.
template <class Session>
[[nodiscard]] attempt make_attempt(
    Session& session, const call_options& options, call_time time) noexcept {
    attempt next{
        .number = session.attempt_number(),
        .allowance = &session.allowance(),
        .stop = options.stop,
        .clock = &time.clock(),
        .repeat = options.repeat};
    time.limit(next, session.deadline());
    return next;
}

/// The same if `Operation` takes it.
template <class Operation, class Session>
[[nodiscard]] auto next_attempt(
    Session& session, const call_options& options, call_time time) noexcept {
    if constexpr (takes_attempt<Operation>) {
        return make_attempt(session, options, time);
    } else {
        return no_attempt_argument{};
    }
}

/// After a failed attempt: decides and waits. False: the call gives up.
template <class Session>
[[nodiscard]] bool wait_for_retry(
    Session& session, const call_options& options, const failure_facts& failure,
    const failure_view& view) {
    const call_time time(options);
    const driver::decision_context failed_at = time.context();
    driver::retry_step next =
        session.on_failure(failure, failed_at, options.stop.stop_requested(), view);
    time_point decided_at = failed_at.now;
    if (next.is_deferred) {
        decided_at = wait_for_answer(session, time);
        next = session.on_answer(decided_at, options.stop.stop_requested());
    }
    if (!next.is_retry) {
        return false;
    }
    if (!time.wait(next.wait, decided_at)) {
        session.on_canceled_wait(time.clock().now());
        return false;
    }
    // The wait may have taken longer than planned.
    const bool is_in_time =
        session.deadline() == driver::no_deadline || session.may_start_retry(time.clock().now());
    return is_in_time &&
           session.try_start_attempt(time.context_if(session.needs_attempt_time(), session));
}

template <class Result, bool IsPlain, class Strategy, class Operation, class... Exceptions>
Result run_loop(
    Strategy& strategy, const call_options& options, Operation& operation,
    detail::catching_t<Exceptions...> list) {
    const call_time time(options);
    driver::retry_session<Strategy, IsPlain> session(strategy, options);
    if (options.deadline || options.timeout) [[unlikely]] {
        session.set_deadline(time.deadline());
    }
    driver::decision_context at = time.context_if(session.needs_start_time(), session);
    if (const duration delay = session.on_start(at); delay > duration::zero()) [[unlikely]] {
        [[maybe_unused]] const bool is_reached = wait_for_first_attempt(session, time, delay);
        if constexpr (can_end_unattempted<Result>) {
            if (!is_reached) {
                session.on_canceled_start(time.clock().now());
                return canceled_at_start<Result>();
            }
        }
        at = time.context_if(session.needs_attempt_time(), session);
    }
    if constexpr (can_be_refused<Result, Operation>) {
        if (!session.try_start_attempt(at)) [[unlikely]] {
            return refused_by_breaker<Result>(operation, options.stop.stop_requested());
        }
    } else {
        session.start_attempt(at);
    }
    for (;;) {
        const auto current = next_attempt<Operation>(session, options, time);
        attempt_result<Result> outcome = run_attempt<Result>(operation, current);
        const std::optional<failure_facts> failure = failure_of(outcome, operation, list);
        if (!failure) {
            if (session.needs_success_time()) [[unlikely]] {
                at = time.context_if(true, session);
            }
            session.on_success(at);
            return std::move(*outcome.value);
        }
        if (!wait_for_retry(session, options, *failure, view_of_attempt(outcome, operation))) {
            return give_up(operation, std::move(outcome), options.stop.stop_requested());
        }
    }
}

/// Calls without breaker, observer and tracer have a loop of their own, which is several times
/// faster when the first attempt succeeds.
template <class Result, class Strategy, class Operation, class... Exceptions>
Result run_blocking(
    Strategy& strategy, const call_options& options, Operation& operation,
    detail::catching_t<Exceptions...> list) {
    if (driver::traits_of(strategy).has_attachments()) [[unlikely]] {
        return run_loop<Result, false>(strategy, options, operation, list);
    }
    return run_loop<Result, true>(strategy, options, operation, list);
}

/// In place of options that were not given. Setting up options takes longer than the rest of a call
/// that succeeds.
inline const call_options default_call_options{};

}  // namespace REPRISE_VARIANT

}  // namespace detail

namespace detail {

inline namespace REPRISE_VARIANT {

/// Fails to compile, with a readable error, unless a loop can call `Operation`.
template <class Operation>
constexpr bool check_operation() noexcept {
    static_assert(
        detail::retry_operation<Operation>,
        "the operation must be callable with a const reprise::attempt& or with nothing");
    if constexpr (detail::retry_operation<Operation>) {
        static_assert(
            !std::is_reference_v<operation_result<Operation>>,
            "an operation must return a value: a reference could outlive its attempt");
        static_assert(
            !requires(const std::remove_reference_t<Operation>& given) { given.hedging(); },
            "a hedged operation needs a loop that can run two attempts: reprise::async_retry");
    }
    return detail::retry_operation<Operation>;
}

/// Throws `invalid_settings` for an option that `Operation` cannot follow: nothing else in a
/// blocking loop could keep the attempt's time limit.
template <class Operation>
void check_options(const call_options& options) {
    if constexpr (!takes_attempt<Operation>) {
        if (options.attempt_timeout) [[unlikely]] {
            if (options.history != nullptr) {
                options.history->clear();  // of the call before
            }
            throw_unseen_attempt_timeout();
        }
    }
}

/// A constant operation that `fails_if` or the like has made is copied, as in the Asio forms:
/// calling it may change what is in it.
template <class Strategy, class... Exceptions, class Operation>
auto check_and_run(
    Strategy&& strategy, const call_options& options, detail::catching_t<Exceptions...> list,
    Operation& operation) {
    if constexpr (
        std::is_const_v<Operation> && std::derived_from<Operation, operation_wrapper> &&
        std::copy_constructible<std::remove_const_t<Operation>>) {
        std::remove_const_t<Operation> own(operation);
        return check_and_run(std::forward<Strategy>(strategy), options, list, own);
    } else if constexpr (check_strategy<Strategy>() && check_operation<Operation>()) {
        using result = operation_result<Operation>;
        using stored = std::conditional_t<std::is_void_v<result>, no_value, result>;
        check_result_type<
            std::remove_cvref_t<Strategy>, std::remove_cvref_t<Operation>, stored, can_throw>();
        check_options<Operation>(options);
        kept_strategy<Strategy> kept(std::forward<Strategy>(strategy));
        if constexpr (std::is_void_v<result>) {
            run_blocking<stored>(kept, options, operation, list);
        } else {
            return run_blocking<stored>(kept, options, operation, list);
        }
    }
}

}  // namespace REPRISE_VARIANT

}  // namespace detail

inline namespace REPRISE_VARIANT {

/// Runs `operation` until it succeeds or the strategy, the deadline or the stop token ends the
/// loop. `list` names exception types whose facts come from `facts_of`.
///
/// Does not compile for results that could hide a failure (`bool`, `std::optional`, an error
/// without facts): see `outcome.hpp`. Throws `invalid_settings` for
/// an `attempt_timeout` if the operation takes no `attempt`: it could not keep the limit.
template <class Strategy, class... Exceptions, class Operation>
[[nodiscard]] auto retry(
    Strategy&& strategy, const call_options& options, detail::catching_t<Exceptions...> list,
    Operation&& operation) {
    return detail::check_and_run(std::forward<Strategy>(strategy), options, list, operation);
}

/// The same without a list of exceptions.
template <class Strategy, class Operation>
[[nodiscard]] auto retry(Strategy&& strategy, const call_options& options, Operation&& operation) {
    return retry(
        std::forward<Strategy>(strategy), options, catching<>, std::forward<Operation>(operation));
}

/// The same with default options.
template <class Strategy, class Operation>
[[nodiscard]] auto retry(Strategy&& strategy, Operation&& operation) {
    return detail::check_and_run(
        std::forward<Strategy>(strategy), detail::default_call_options, catching<>, operation);
}

}  // namespace REPRISE_VARIANT

}  // namespace reprise
