#pragma once

/// The coroutine loop behind `async_retry`. It decides nothing: `retry_session` does.
///
///     [pause] -> attempt (alone, or cut at its limit) -> classify -> ask the session -> [pause] ->
///     ...

#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <reprise/asio/detail/retry_loop.hpp>

namespace reprise::detail {

template <class T>
struct awaitable_traits;

template <class R, class Executor>
struct awaitable_traits<boost::asio::awaitable<R, Executor>> {
    using result = R;
    using executor = Executor;
    using stored = std::conditional_t<std::is_void_v<R>, no_value, R>;
};

template <class Operation>
using awaited = awaitable_traits<operation_result<Operation>>;

/// Runs one attempt and keeps what came of it; never throws.
template <class Operation>
boost::asio::awaitable<void, typename awaited<Operation>::executor> keep_outcome(
    Operation& operation, const attempt& current,
    attempt_result<typename awaited<Operation>::stored>& out) {
    try {
        auto pending = invoke_operation(operation, current);
        if constexpr (std::is_void_v<typename awaited<Operation>::result>) {
            co_await std::move(pending);
            out.value.emplace();
        } else {
            out.value.emplace(co_await std::move(pending));
        }
    } catch (...) {
        out.thrown = std::current_exception();
    }
}

/// The same under a time limit: the attempt becomes a coroutine of its own, which can be canceled
/// while this one waits for it. True if the limit was reached.
template <class Operation>
boost::asio::awaitable<bool, typename awaited<Operation>::executor> keep_limited_outcome(
    Operation& operation, const attempt& current, async_clock* clock,
    attempt_result<typename awaited<Operation>::stored>& out) {
    using executor_type = typename awaited<Operation>::executor;
    const executor_type executor = co_await boost::asio::this_coro::executor;
    auto body = [&]() -> boost::asio::awaitable<void, executor_type> {
        // The outer coroutine's filter has been applied already; pass on whatever it let through.
        const auto reset = boost::asio::this_coro::reset_cancellation_state(
            boost::asio::enable_total_cancellation());
        co_await reset;
        auto pending = keep_outcome(operation, current, out);
        co_await std::move(pending);
    };
    auto initiate = [&executor, &body](auto handler) {
        boost::asio::co_spawn(executor, body, std::move(handler));
    };
    const limit_request request{current.deadline, clock};
    auto pending = async_limited<std::exception_ptr>(
        executor, request, initiate, boost::asio::use_awaitable_t<executor_type>{});
    const std::tuple<limit_result, std::exception_ptr> ended = co_await std::move(pending);
    if (std::get<1>(ended) != nullptr && !out.value && !out.thrown) {
        out.thrown = std::get<1>(ended);
    }
    co_return std::get<0>(ended).timed_out;
}

/// The facts of an attempt that failed; absent after a success.
template <class Stored, class Operation, class... Exceptions>
[[nodiscard]] std::optional<failure_facts> failure_of(
    const attempt_result<Stored>& outcome, const Operation& operation, bool timed_out,
    catching_t<Exceptions...> list) {
    std::optional<failure_facts> failure = outcome.thrown ? describe_thrown(outcome.thrown, list)
                                                          : failure_in(operation, *outcome.value);
    if (failure) {
        failure = after_limit(*failure, timed_out);
    }
    return failure;
}

[[nodiscard]] inline bool is_set(boost::asio::cancellation_type_t type) noexcept {
    return type != boost::asio::cancellation_type::none;
}

template <class Executor>
[[nodiscard]] auto pause_in_coroutine(
    const Executor& executor, const call_options& options, time_point until) {
    const pause_request request{until, options.stop, async_clock_of(options.clock)};
    return async_pause(executor, request, boost::asio::use_awaitable_t<Executor>{});
}

/// Until the strategy's answer is there, the deadline has come or the caller asked to stop; then
/// the step that follows.
template <class Executor, class Session>
boost::asio::awaitable<retry_step, Executor> wait_for_late_step(
    const Executor& executor, const call_options& options, Session& session) {
    const pause_request request{
        session.deadline(), session.answer_stop(), async_clock_of(options.clock)};
    auto pause = async_pause(executor, request, boost::asio::use_awaitable_t<Executor>{});
    static_cast<void>(co_await std::move(pause));
    const auto signals = co_await boost::asio::this_coro::cancellation_state;
    const bool is_canceled = options.stop.stop_requested() || is_set(signals.cancelled());
    co_return session.on_answer(call_time(options).clock().now(), is_canceled);
}

/// Waits out the delay of the initial token; never beyond the deadline. True if the caller asked to
/// stop.
template <class Executor>
boost::asio::awaitable<bool, Executor> wait_for_first_attempt(
    const Executor& executor, const call_options& options, time_point deadline, duration delay) {
    if (options.stop.stop_requested()) {
        co_return true;
    }
    const time_point now = call_time(options).clock().now();
    const duration first = std::min(delay, time_left(now, deadline));
    auto pause = pause_in_coroutine(executor, options, add_saturated(now, first));
    co_return !co_await std::move(pause);
}

/// A fallback that is a coroutine.
template <class Operation>
concept has_awaited_fallback = requires(Operation& operation, const failure_view& failure) {
    typename awaitable_traits<decltype(operation.recover(failure))>::result;
};

/// As `give_up`, and a fallback may be a coroutine.
template <class Stored, class Executor, class Operation>
boost::asio::awaitable<Stored, Executor> give_up_in_coroutine(
    Operation& operation, attempt_result<Stored> outcome, bool is_canceled) {
    if constexpr (!has_awaited_fallback<Operation>) {
        co_return give_up(operation, std::move(outcome), is_canceled);
    } else if (is_canceled) {
        co_return last_result(std::move(outcome));
    } else {
        auto pending = operation.recover(view_of_attempt(outcome, operation));
        if constexpr (std::is_same_v<Stored, no_value>) {
            co_await std::move(pending);
            co_return Stored{};
        } else {
            co_return co_await std::move(pending);
        }
    }
}

/// Everything lives in the coroutine's frame. Each awaitable has a name before it is awaited: GCC
/// 12 miscompiles some temporaries in `co_await` expressions.
template <class Kept, class Operation, class... Exceptions>
boost::asio::awaitable<typename awaited<Operation>::stored, typename awaited<Operation>::executor>
run_coroutine(
    strategy_holder<Kept> kept, call_options options, Operation operation,
    catching_t<Exceptions...> list) {
    using stored = typename awaited<Operation>::stored;
    using executor_type = typename awaited<Operation>::executor;
    const executor_type executor = co_await boost::asio::this_coro::executor;
    async_clock* const clock = async_clock_of(options.clock);  // throws for one that can only block
    const call_time time(options);
    retry_session<std::remove_reference_t<Kept>> session(kept.strategy, options);
    session.set_deadline(time.deadline());
    const duration delay = session.begin(time.context_if(session.needs_time()));
    const auto signals = co_await boost::asio::this_coro::cancellation_state;
    bool canceled = is_set(signals.cancelled());
    if (delay > duration::zero() && !canceled) {
        auto start = wait_for_first_attempt(executor, options, session.deadline(), delay);
        canceled = co_await std::move(start);
    }
    if (canceled) {
        throw canceled_before_first_attempt{};
    }
    for (;;) {
        attempt current{
            session.attempt_number(), no_deadline, duration::max(), &session.allowance(),
            options.stop};
        time.limit(current, session.deadline());
        attempt_result<stored> outcome;
        bool timed_out = false;
        if (current.deadline == no_deadline) {
            auto pending = keep_outcome(operation, current, outcome);
            co_await std::move(pending);
        } else {
            auto pending = keep_limited_outcome(operation, current, clock, outcome);
            timed_out = co_await std::move(pending);
        }
        const std::optional<failure_facts> failure =
            failure_of(outcome, operation, timed_out, list);
        if (!failure) {
            session.on_success(time.context_if(session.needs_time()));
            co_return std::move(*outcome.value);
        }
        // Asked for again: the operation may have put another state in its place.
        const auto latest = co_await boost::asio::this_coro::cancellation_state;
        canceled = options.stop.stop_requested() || is_set(latest.cancelled());
        const decision_context failed_at = time.context();
        retry_step next =
            session.on_failure(*failure, failed_at, canceled, view_of_attempt(outcome, operation));
        time_point decided_at = failed_at.now;
        if (next.is_deferred) {
            auto answer = wait_for_late_step(executor, options, session);
            next = co_await std::move(answer);
            decided_at = time.clock().now();
        }
        bool go_on = next.is_retry;
        if (next.is_retry && next.wait > duration::zero()) {
            const time_point until = add_saturated(decided_at, next.wait);
            auto pause = pause_in_coroutine(executor, options, until);
            go_on = co_await std::move(pause);
        }
        if (next.is_retry && !go_on) {
            session.on_canceled_wait(time.clock().now());
        }
        if (!go_on) {
            auto end = give_up_in_coroutine<stored, executor_type>(
                operation, std::move(outcome), is_canceled_by_caller(next));
            co_return co_await std::move(end);
        }
    }
}

/// An operation that returns nothing: drops the placeholder.
template <class Kept, class Operation, class... Exceptions>
boost::asio::awaitable<void, typename awaited<Operation>::executor> run_void_coroutine(
    strategy_holder<Kept> kept, call_options options, Operation operation,
    catching_t<Exceptions...> list) {
    auto pending = run_coroutine(std::move(kept), std::move(options), std::move(operation), list);
    co_await std::move(pending);
}

}  // namespace reprise::detail
