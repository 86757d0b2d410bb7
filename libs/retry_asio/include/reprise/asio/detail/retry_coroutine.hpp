#pragma once

/// The coroutine form of `async_retry`: the completion-token loop (`retry_loop.hpp`), whose
/// operation starts a coroutine. What is written here is only what coroutines need: each attempt
/// becomes a coroutine of its own, what it returns or throws becomes the completion argument, and
/// the caller's coroutine turns that back into a result or an exception.

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <reprise/asio/detail/library.hpp>
#include <reprise/asio/detail/retry_loop.hpp>
#include <reprise/retry/detail/compiler.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// GCC 12 looks through Asio's operator new of coroutine frames, but not through its counterpart.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace reprise {

namespace detail::inline REPRISE_VARIANT {

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

/// A result whose moves may throw, in memory of its own. Handlers pass outcomes on by moving them,
/// and what a handler throws leaves through the executor instead of reaching the caller.
template <class Stored>
class boxed_result {
public:
    explicit boxed_result(Stored&& value) : value_(std::make_unique<Stored>(std::move(value))) {}
    [[nodiscard]] Stored& operator*() const noexcept { return *value_; }

private:
    std::unique_ptr<Stored> value_;
};

template <class Operation, class Stored>
[[nodiscard]] std::optional<failure_facts> failure_with_thrown(
    const Operation& operation, const boxed_result<Stored>& result) noexcept {
    return failure_with_thrown(operation, *result);
}
template <class Operation, class Stored>
[[nodiscard]] failure_view view_of(
    const Operation& operation, const boxed_result<Stored>& result) noexcept {
    return detail::view_of(operation, *result);
}

/// The completion of an attempt that is a coroutine.
template <class Stored>
struct coroutine_outcome {
    using kept = std::conditional_t<
        std::is_nothrow_move_constructible_v<Stored>, Stored, boxed_result<Stored>>;

    attempt_result<kept> attempt{};
    /// The fallback is a coroutine, and the caller's coroutine awaits it.
    bool is_recovered_later = false;
    bool was_attempted = true;
};

template <class Stored>
struct exception_as<coroutine_outcome<Stored>> {
    [[nodiscard]] static coroutine_outcome<Stored> make(std::exception_ptr thrown) {
        coroutine_outcome<Stored> made;
        made.attempt.thrown = std::move(thrown);
        return made;
    }
};

}  // namespace detail::inline REPRISE_VARIANT

/// Canceled: an exception. Refused by a circuit breaker: a result that can carry it, otherwise an
/// exception.
template <class Stored>
struct driver::unattempted_outcome<detail::coroutine_outcome<Stored>> {
    [[nodiscard]] static detail::coroutine_outcome<Stored> make(refusal_reason why) {
        detail::coroutine_outcome<Stored> made;
        if constexpr (detail::has_unattempted_outcome<Stored>) {
            if (why == refusal_reason::circuit_open) {
                made.attempt.value.emplace(driver::unattempted_outcome<Stored>::make(why));
                return made;
            }
        }
        made.attempt.thrown = driver::unattempted_outcome<std::exception_ptr>::make(why);
        return made;
    }
};

namespace detail::inline REPRISE_VARIANT {

/// A fallback that is a coroutine.
template <class Operation>
concept has_awaited_fallback = requires(Operation& operation, const failure_view& failure) {
    typename awaitable_traits<decltype(operation.recover(failure))>::result;
};

/// Passes what a coroutine of its own completes with on to the handler of an attempt.
template <class Stored, class Handler>
struct spawned_handler {
    using executor_type = asio::associated_executor_t<Handler>;
    using allocator_type = allocator_of<Handler>;
    using cancellation_slot_type = asio::associated_cancellation_slot_t<Handler>;

    Handler handler;

    [[nodiscard]] executor_type get_executor() const noexcept {
        return asio::get_associated_executor(handler);
    }
    [[nodiscard]] allocator_type get_allocator() const noexcept {
        return asio::get_associated_allocator(handler);
    }
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
        return asio::get_associated_cancellation_slot(handler);
    }
    void operator()(std::exception_ptr thrown, coroutine_outcome<Stored> outcome) {
        if (thrown != nullptr) {
            outcome.attempt.clear();
            outcome.attempt.thrown = std::move(thrown);
        }
        std::move(handler)(std::move(outcome));
    }
};

/// The initiating function of the loop. The operation lives in the caller's coroutine, which
/// outlives the loop.
template <class Operation, class... Exceptions>
class coroutine_initiation {
public:
    using stored = typename awaited<Operation>::stored;
    using executor_type = typename awaited<Operation>::executor;
    using outcome_type = coroutine_outcome<stored>;

    coroutine_initiation(
        Operation& operation, const executor_type& executor, bool throws_if_canceled)
        : operation_(&operation), executor_(executor), throws_if_canceled_(throws_if_canceled) {}

    /// The coroutine runs where its handler runs, since it is canceled from there: under a limit
    /// and in a hedge that is a strand. An `awaitable` of a concrete executor type stays on that
    /// executor.
    template <class Handler>
    void operator()(const attempt& current, Handler handler) {
        spawned_handler<stored, Handler> done{std::move(handler)};
        if constexpr (std::is_same_v<executor_type, asio::any_io_executor>) {
            const asio::any_io_executor where(done.get_executor());
            asio::co_spawn(where, run(operation_, current, throws_if_canceled_), std::move(done));
        } else {
            asio::co_spawn(
                executor_, run(operation_, current, throws_if_canceled_), std::move(done));
        }
    }

    [[nodiscard]] std::optional<failure_facts> judge(const outcome_type& outcome) const noexcept {
        const auto& [value, thrown, is_lost] = outcome.attempt;
        if (is_lost) {
            return failure_facts{.safety = retry_safety::no};
        }
        return thrown ? describe_thrown(thrown, catching<Exceptions...>)
                      : failure_with_thrown(*operation_, *value);
    }
    [[nodiscard]] failure_view view(const outcome_type& outcome) const noexcept {
        return view_of_attempt(outcome.attempt, *operation_);
    }
    [[nodiscard]] const hedge_options& hedging() const noexcept
        requires is_hedged<Operation>
    {
        return operation_->hedging();
    }
    [[nodiscard]] outcome_type recover(const failure_view& failure)
        requires(has_fallback<Operation> && !has_awaited_fallback<Operation>)
    {
        outcome_type made;
        made.attempt.value.emplace(recovered<stored>(*operation_, failure));
        return made;
    }
    void recover_later(outcome_type& last, const failure_view& failure) const noexcept
        requires has_awaited_fallback<Operation>
    {
        last.is_recovered_later = true;
        last.was_attempted = static_cast<bool>(failure);
    }

private:
    /// Each awaitable has a name before it is awaited: GCC 12 miscompiles some temporaries in
    /// `co_await` expressions.
    static asio::awaitable<outcome_type, executor_type> run(
        Operation* operation, attempt current, bool throws_if_canceled) {
        // The filter of the caller's coroutine has been applied already.
        const auto reset =
            asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        co_await reset;
        const auto inherit = asio::this_coro::throw_if_cancelled(throws_if_canceled);
        co_await inherit;
        outcome_type made;
        try {
            auto pending = invoke_operation(*operation, current);
            if constexpr (std::is_void_v<typename awaited<Operation>::result>) {
                co_await std::move(pending);
                made.attempt.value.emplace();
            } else if constexpr (std::is_nothrow_move_constructible_v<stored>) {
                made.attempt.value.emplace(co_await std::move(pending));
            } else {
                stored returned = co_await std::move(pending);
                made.attempt.keep(returned);
            }
        } catch (...) {
            made.attempt.thrown = std::current_exception();
        }
        // Asio suspends a coroutine that was never suspended before it passes the result on. In a
        // canceled coroutine that would throw, and the result would be lost.
        const auto keep_quiet = asio::this_coro::throw_if_cancelled(false);
        co_await keep_quiet;
        co_return made;
    }

    Operation* operation_;
    executor_type executor_;
    bool throws_if_canceled_;
};

/// Starts the loop, which takes the options and refers to the strategy: a copy that threw here, in
/// an initiating function, would reach no coroutine. Completes with the outcome of its last
/// attempt.
template <class Strategy, class Initiation, class Executor>
[[nodiscard]] auto start_coroutine_loop(
    Strategy& strategy, owned_options& options, Initiation initiation, const Executor& executor,
    bool is_canceled) {
    using outcome = typename Initiation::outcome_type;
    asio::use_awaitable_t<Executor> token;
    return asio::async_initiate<asio::use_awaitable_t<Executor>, void(outcome)>(
        [executor, is_canceled, used = strategy_holder<Strategy&>{strategy}](
            auto handler, owned_options* wanted, Initiation call) {
            using loop = retry_loop<Strategy&, Initiation, decltype(handler), Executor, outcome>;
            auto shared = allocate_state<loop>(
                handler, std::move(handler), executor, used, std::move(*wanted), std::move(call));
            loop::start(std::move(shared), is_canceled);
        },
        token, &options, std::move(initiation));
}

/// Everything that the loop refers to lives in this coroutine's frame. A coroutine that is canceled
/// already cannot await anything without an exception, so that is switched off for the loop, which
/// finds out by itself.
template <class Kept, class Operation, class... Exceptions>
asio::awaitable<typename awaited<Operation>::stored, typename awaited<Operation>::executor>
run_coroutine(
    strategy_holder<Kept> kept, owned_options options, Operation operation,
    detail::catching_t<Exceptions...> /*list*/) {
    using initiation_type = coroutine_initiation<Operation, Exceptions...>;
    using stored = typename initiation_type::stored;
    using executor_type = typename initiation_type::executor_type;
    // Throws for a clock that can only block.
    static_cast<void>(driver::async_clock_of(options.clock.get()));
    const executor_type executor = co_await asio::this_coro::executor;
    const auto signals = co_await asio::this_coro::cancellation_state;
    const bool throws_if_canceled = co_await asio::this_coro::throw_if_cancelled();
    const bool is_canceled = signals.cancelled() != asio::cancellation_type::none;
    auto pending = start_coroutine_loop(
        kept.strategy, options, initiation_type(operation, executor, throws_if_canceled), executor,
        is_canceled);
    // After what may throw: the switch belongs to the caller, who would keep it.
    const auto keep_quiet = asio::this_coro::throw_if_cancelled(false);
    co_await keep_quiet;
    coroutine_outcome<stored> last = co_await std::move(pending);
    const auto restore = asio::this_coro::throw_if_cancelled(throws_if_canceled);
    co_await restore;
    if constexpr (has_awaited_fallback<Operation>) {
        // In a coroutine that was canceled by then, the fallback could only fail.
        const auto state = co_await asio::this_coro::cancellation_state;
        if (last.is_recovered_later && state.cancelled() == asio::cancellation_type::none) {
            // The fallback may refer to it until it has ended.
            const failure_view failure =
                last.was_attempted ? view_of_attempt(last.attempt, operation) : failure_view{};
            auto fallback = operation.recover(failure);
            if constexpr (std::is_same_v<stored, no_value>) {
                co_await std::move(fallback);
                co_return stored{};
            } else {
                co_return co_await std::move(fallback);
            }
        }
    }
    if constexpr (std::is_nothrow_move_constructible_v<stored>) {
        co_return last_result(std::move(last.attempt));
    } else {
        const boxed_result<stored> boxed = last_result(std::move(last.attempt));
        co_return std::move(*boxed);
    }
}

/// An operation that returns nothing: drops the placeholder.
template <class Kept, class Operation, class... Exceptions>
asio::awaitable<void, typename awaited<Operation>::executor> run_void_coroutine(
    strategy_holder<Kept> kept, owned_options options, Operation operation,
    detail::catching_t<Exceptions...> list) {
    auto pending = run_coroutine(std::move(kept), std::move(options), std::move(operation), list);
    co_await std::move(pending);
}

}  // namespace detail::inline REPRISE_VARIANT

}  // namespace reprise

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
