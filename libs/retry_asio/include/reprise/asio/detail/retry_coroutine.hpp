#pragma once

/// The coroutine loop behind `async_retry`. It decides nothing: `retry_session` does.
///
///     [pause] -> attempt (alone, or cut at its limit) -> classify -> ask the session -> [pause] ->
///     ...

#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <reprise/asio/detail/library.hpp>
#include <reprise/asio/detail/retry_loop.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// GCC 12 looks through Asio's operator new of coroutine frames, but not through its counterpart.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace reprise::detail {

template <class T>
struct awaitable_traits;

template <class R, class Executor>
struct awaitable_traits<asio::awaitable<R, Executor>> {
    using result = R;
    using executor = Executor;
    using stored = std::conditional_t<std::is_void_v<R>, no_value, R>;
};

template <class Operation>
using awaited = awaitable_traits<operation_result<Operation>>;

/// Runs one attempt and keeps what came of it; never throws. False: no limit was reached.
template <class Operation>
asio::awaitable<bool, typename awaited<Operation>::executor> keep_outcome(
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
    co_return false;
}

/// Starts an attempt of `owner` as a coroutine of its own. It runs on its handler's strand, from
/// which it is canceled: a context of several threads would otherwise run it on one of them while
/// it is canceled on another. An `awaitable` of a concrete executor type stays on that executor.
template <class Owner, class Handler>
void spawn_attempt(Owner& owner, const attempt& current, Handler handler) {
    if constexpr (std::is_same_v<typename Owner::executor_type, asio::any_io_executor>) {
        const asio::any_io_executor strand(asio::get_associated_executor(handler));
        asio::co_spawn(strand, owner.run(current), std::move(handler));
    } else {
        asio::co_spawn(owner.executor(), owner.run(current), std::move(handler));
    }
}

/// How an owner that lives in a coroutine's frame, and so outlives its attempts, starts one that
/// has a limit.
template <class Owner>
struct start_from_frame {
    std::shared_ptr<Owner> owner;

    explicit start_from_frame(Owner& frame) noexcept : owner(std::shared_ptr<void>(), &frame) {}
    template <class Handler>
    static void start(Owner& frame, const attempt& current, Handler handler) {
        spawn_attempt(frame, current, std::move(handler));
    }
};

/// An attempt as a coroutine of its own, which can be canceled while another one waits for it.
template <class Operation>
class separate_attempt {
public:
    using stored = typename awaited<Operation>::stored;
    using executor_type = typename awaited<Operation>::executor;

    separate_attempt(
        const executor_type& executor, Operation& operation, attempt_result<stored>& out)
        : executor_(executor), operation_(operation), out_(out) {}

    [[nodiscard]] const executor_type& executor() const noexcept { return executor_; }
    [[nodiscard]] asio::awaitable<void, executor_type> run(attempt current) {
        // The outer coroutine's filter has been applied already; pass on whatever it let through.
        const auto reset =
            asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        co_await reset;
        auto pending = keep_outcome(operation_, current, out_);
        co_await std::move(pending);
    }

private:
    executor_type executor_;
    Operation& operation_;
    attempt_result<stored>& out_;
};

/// `keep_outcome` under a time limit. True if the limit was reached.
template <class Operation>
asio::awaitable<bool, typename awaited<Operation>::executor> keep_limited_outcome(
    Operation& operation, const attempt& current, async_clock* clock,
    attempt_result<typename awaited<Operation>::stored>& out) {
    using executor_type = typename awaited<Operation>::executor;
    const executor_type executor = co_await asio::this_coro::executor;
    separate_attempt<Operation> separate(executor, operation, out);
    const limit_request request{current, clock};
    auto pending = async_limited<std::exception_ptr>(
        executor, request, start_from_frame(separate), asio::use_awaitable_t<executor_type>{});
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

/// Drives the attempts of a hedged coroutine (`hedged_attempt.hpp`). Each is a coroutine of its
/// own.
template <class Session, class Operation, class... Exceptions>
class coroutine_hedge {
public:
    using stored = typename awaited<Operation>::stored;
    using executor_type = typename awaited<Operation>::executor;

    coroutine_hedge(
        const executor_type& executor, Session& session, const call_options& options,
        Operation& operation)
        : executor_(executor),
          session_(session),
          options_(options),
          time_(options),
          clock_(async_clock_of(options.clock)),
          operation_(operation) {}

    [[nodiscard]] const executor_type& executor() const noexcept { return executor_; }
    [[nodiscard]] asio::awaitable<attempt_result<stored>, executor_type> run(attempt current) {
        const auto reset =
            asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        co_await reset;
        attempt_result<stored> out;
        auto pending = keep_outcome(operation_, current, out);
        co_await std::move(pending);
        co_return out;
    }
    template <class OneHandler>
    void start_one(const attempt& current, OneHandler handler) {
        if (current.deadline == no_deadline) {
            spawn_attempt(*this, current, std::move(handler));
            return;
        }
        async_limited<std::exception_ptr, attempt_result<stored>>(
            executor_, limit_request{current, clock_}, start_from_frame(*this), std::move(handler));
    }
    [[nodiscard]] bool on_one_ended(
        const ended_attempt& ended, const std::exception_ptr& thrown,
        const attempt_result<stored>& outcome) {
        const std::optional<failure_facts> failure =
            thrown != nullptr || outcome.is_empty()
                ? failure_facts{}
                : failure_of(outcome, operation_, ended.timed_out, catching<Exceptions...>);
        session_.on_one_ended(ended.number, failure, ended.is_lost);
        return !failure;
    }
    [[nodiscard]] std::optional<attempt> admit_one() noexcept {
        return admit_one_more(session_, options_, time_, options_.stop.stop_requested());
    }
    [[nodiscard]] pause_request pause_until(time_point until) const {
        return {until, options_.stop, clock_};
    }
    [[nodiscard]] time_point now() const noexcept { return time_.clock().now(); }

private:
    executor_type executor_;
    Session& session_;
    const call_options& options_;
    call_time time_;
    async_clock* clock_;
    Operation& operation_;
};

/// One attempt and those that hedge it. True if the limit was reached.
template <class Session, class Operation, class... Exceptions>
asio::awaitable<bool, typename awaited<Operation>::executor> keep_hedged_outcome(
    Session& session, const call_options& options, Operation& operation,
    catching_t<Exceptions...> /*list*/, const attempt& current,
    attempt_result<typename awaited<Operation>::stored>& out) {
    using driver_type = coroutine_hedge<Session, Operation, Exceptions...>;
    using executor_type = typename driver_type::executor_type;
    const executor_type executor = co_await asio::this_coro::executor;
    driver_type driver(executor, session, options, operation);
    auto pending = async_hedged<std::exception_ptr, attempt_result<typename driver_type::stored>>(
        executor, driver, operation.hedging(), current, asio::use_awaitable_t<executor_type>{});
    auto ended = co_await std::move(pending);
    auto& outcome = std::get<2>(ended);
    if (outcome.value) {
        out.value.emplace(std::move(*outcome.value));
    } else {
        out.thrown = outcome.thrown ? outcome.thrown : std::get<1>(ended);
    }
    co_return std::get<0>(ended).timed_out;
}

/// One attempt of the loop: alone, under a limit, or hedged. True if the limit was reached.
template <class Session, class Operation, class... Exceptions>
[[nodiscard]] asio::awaitable<bool, typename awaited<Operation>::executor> make_attempt(
    [[maybe_unused]] Session& session, const call_options& options, Operation& operation,
    [[maybe_unused]] catching_t<Exceptions...> list, const attempt& current,
    attempt_result<typename awaited<Operation>::stored>& out) {
    out.clear();
    if constexpr (is_hedged<Operation>) {
        return keep_hedged_outcome(session, options, operation, list, current, out);
    } else {
        return current.deadline == no_deadline
                   ? keep_outcome(operation, current, out)
                   : keep_limited_outcome(operation, current, async_clock_of(options.clock), out);
    }
}

[[nodiscard]] inline bool is_set(asio::cancellation_type_t type) noexcept {
    return type != asio::cancellation_type::none;
}

template <class Executor>
[[nodiscard]] auto pause_in_coroutine(
    const Executor& executor, const call_options& options, time_point until) {
    const pause_request request{until, options.stop, async_clock_of(options.clock)};
    return async_pause(executor, request, asio::use_awaitable_t<Executor>{});
}

/// Until the strategy's answer is there, the deadline has come or the caller asked to stop; then
/// the step that follows.
template <class Executor, class Session>
asio::awaitable<driver::retry_step, Executor> wait_for_late_step(
    const Executor& executor, const call_options& options, Session& session) {
    const pause_request request{
        session.deadline(), session.answer_stop(), async_clock_of(options.clock)};
    auto pause = async_pause(executor, request, asio::use_awaitable_t<Executor>{});
    static_cast<void>(co_await std::move(pause));
    const auto signals = co_await asio::this_coro::cancellation_state;
    const bool is_canceled = options.stop.stop_requested() || is_set(signals.cancelled());
    co_return session.on_answer(call_time(options).clock().now(), is_canceled);
}

/// Waits out the delay of the initial token; never beyond the deadline. True if the caller asked to
/// stop.
template <class Executor>
asio::awaitable<bool, Executor> wait_for_first_attempt(
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

/// Awaits a fallback that is a coroutine; not called for others, nor in a canceled coroutine, in
/// which every `co_await` throws.
template <class Stored, class Executor, class Operation>
asio::awaitable<Stored, Executor> await_fallback(
    [[maybe_unused]] Operation& operation, attempt_result<Stored>& outcome) {
    if constexpr (!has_awaited_fallback<Operation>) {
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

/// As `give_up` where no coroutine is awaited.
template <class Stored, class Operation>
[[nodiscard]] Stored give_up_at_once(
    Operation& operation, attempt_result<Stored> outcome, bool is_canceled) {
    if constexpr (has_awaited_fallback<Operation>) {
        return last_result(std::move(outcome));
    } else if (outcome.is_empty()) {
        return refused_by_breaker<Stored>(operation);
    } else {
        return give_up(operation, std::move(outcome), is_canceled);
    }
}

/// Everything lives in the coroutine's frame. Each awaitable has a name before it is awaited: GCC
/// 12 miscompiles some temporaries in `co_await` expressions.
template <class Kept, class Operation, class... Exceptions>
asio::awaitable<typename awaited<Operation>::stored, typename awaited<Operation>::executor>
run_coroutine(
    strategy_holder<Kept> kept, call_options options, Operation operation,
    catching_t<Exceptions...> list) {
    using stored = typename awaited<Operation>::stored;
    using executor_type = typename awaited<Operation>::executor;
    const executor_type executor = co_await asio::this_coro::executor;
    static_cast<void>(async_clock_of(options.clock));  // throws for one that can only block
    const call_time time(options);
    driver::retry_session<std::remove_reference_t<Kept>> session(kept.strategy, options);
    session.set_deadline(time.deadline());
    const duration delay = session.begin(time.start_context(session));
    const auto signals = co_await asio::this_coro::cancellation_state;
    bool canceled = is_set(signals.cancelled());
    if (delay > duration::zero() && !canceled) {
        auto start = wait_for_first_attempt(executor, options, session.deadline(), delay);
        canceled = co_await std::move(start);
    }
    if (canceled) {
        session.on_canceled_start(time.clock().now());
        throw canceled_before_first_attempt{};
    }
    attempt_result<stored> outcome;  // of the last attempt; empty before the first
    while (session.try_start_attempt(time.context_if(session.needs_time()))) {
        const attempt current = make_attempt(session, options, time);
        auto pending = make_attempt(session, options, operation, list, current, outcome);
        const bool timed_out = co_await std::move(pending);
        const std::optional<failure_facts> failure =
            failure_of(outcome, operation, timed_out, list);
        if (!failure) {
            session.on_success(time.context_if(session.needs_time()));
            co_return std::move(*outcome.value);
        }
        // Asked for again: the operation may have put another state in its place.
        const auto latest = co_await asio::this_coro::cancellation_state;
        canceled = options.stop.stop_requested() || is_set(latest.cancelled());
        const decision_context failed_at = time.context();
        driver::retry_step next =
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
            canceled = is_canceled_by_caller(next);
            break;
        }
    }
    if (has_awaited_fallback<Operation> && !canceled) {
        auto end = await_fallback<stored, executor_type>(operation, outcome);
        co_return co_await std::move(end);
    }
    co_return give_up_at_once(operation, std::move(outcome), canceled);
}

/// An operation that returns nothing: drops the placeholder.
template <class Kept, class Operation, class... Exceptions>
asio::awaitable<void, typename awaited<Operation>::executor> run_void_coroutine(
    strategy_holder<Kept> kept, call_options options, Operation operation,
    catching_t<Exceptions...> list) {
    auto pending = run_coroutine(std::move(kept), std::move(options), std::move(operation), list);
    co_await std::move(pending);
}

}  // namespace reprise::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
