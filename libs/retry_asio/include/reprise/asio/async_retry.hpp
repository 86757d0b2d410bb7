#pragma once

/// The loop for asynchronous operations, with any Asio completion token.
/// ```
///     const reprise::async_call_options options{.timeout = 5s};
///     const auto read = [&](const reprise::attempt&, auto handler) {
///         socket.async_read_some(buffer, std::move(handler));
///     };
///     co_await reprise::async_retry<void(boost::system::error_code, std::size_t)>(
///         socket, strategy, options, read, boost::asio::use_awaitable);
/// ```
/// Without a token the default of the executor's type is used, or Asio's `deferred` if it has
/// none: the loop starts when its result is awaited or given a token. A standalone Asio before 1.24
/// lacks `deferred`; `use_awaitable` takes its place.
///
/// The form for operations that are coroutines themselves is at the end of this header.

#include <concepts>
#include <type_traits>
#include <utility>

#include <reprise/asio/detail/library.hpp>
#include <reprise/asio/detail/retry_coroutine.hpp>
#include <reprise/asio/detail/retry_loop.hpp>
#include <reprise/retry/detail/compiler.hpp>

namespace reprise {

/// @cond
namespace detail::inline REPRISE_VARIANT {

template <class T>
concept asio_executor = asio::execution::is_executor<T>::value || asio::is_executor<T>::value;

/// The executor of an I/O object or a context, or the executor itself.
template <class Source>
[[nodiscard]] auto executor_of(Source& source) {
    if constexpr (asio_executor<std::remove_const_t<Source>>) {
        return source;
    } else {
        return source.get_executor();
    }
}

/// Results of an initiating function that are meant for a `co_await` expression.
template <class Result>
inline constexpr bool is_awaited =
    requires(const Result& result) { result.await_ready(); } || is_deferred<Result>;

/// The default token of the executor's type, as Asio's own operations have it.
template <class Source>
struct default_token {
    using executor = decltype(executor_of(std::declval<std::remove_reference_t<Source>&>()));
    using chosen = asio::default_completion_token_t<executor>;
    using type = std::conditional_t<std::is_void_v<chosen>, awaited_later_t, chosen>;
};
template <class Source>
using default_token_t = typename default_token<Source>::type;

template <class Signature>
struct retry_signature;

template <class First, class... Rest>
struct retry_signature<void(First, Rest...)> {
    static_assert(
        !std::is_reference_v<First> && (!std::is_reference_v<Rest> && ...),
        "completion arguments are kept until the next attempt: take them by value");
    static_assert(
        (std::is_default_constructible_v<Rest> && ...),
        "completion arguments after the first need a default constructor");
    static_assert(
        has_unattempted_outcome<First>,
        "specialise reprise::driver::unattempted_outcome for the first completion argument");

    /// The loop sees completion arguments only: a first argument that cannot report a failure does
    /// not compile.
    template <class Strategy, class Initiate>
    static constexpr void check_first_argument() noexcept {
        check_result_type<Strategy, Initiate, First, false>();
    }

    template <class Kept, class Initiate, class Handler, class IoExecutor>
    using loop = retry_loop<Kept, Initiate, Handler, IoExecutor, First, Rest...>;
};

}  // namespace detail::inline REPRISE_VARIANT
/// @endcond

/// `call_options` for calls that do not block. The name is copied. Everything that would be a
/// pointer there is owned here: a `std::shared_ptr`, or `borrowed(&history)`, which states that it
/// lives until the call has completed.
using async_call_options = driver::basic_call_options<driver::held_by_ownership>;

/// Uses the options of a blocking call for one that does not block: states that everything they
/// point to lives until the call has completed.
[[nodiscard]] inline async_call_options borrowed(const call_options& all) {
    const auto& [deadline, timeout, limit, repeat, stop, outer, history, name, clock, random] = all;
    return {deadline,
            timeout,
            limit,
            repeat,
            stop,
            borrowed(outer),
            borrowed(history),
            std::string(name),
            borrowed(clock),
            borrowed(random)};
}

inline namespace REPRISE_VARIANT {

/// Runs an asynchronous operation until it succeeds or the strategy, deadline or caller ends the
/// loop, then completes with the arguments of the last attempt, unchanged and exactly once.
///
/// `source` is an executor, an `io_context` or an I/O object; its timers wait. `Signature` is
/// `void(First, Rest...)`; `First` decides: an error code, a `std::exception_ptr`, something like
/// `std::expected`, or your own type (`outcome_traits`, and `driver::unattempted_outcome` for the
/// case described there). For other types wrap the initiating function: `fails_if(predicate,
/// initiate)`.
///
/// `initiate(const attempt&, handler)` is called once per attempt and starts the operation with the
/// move-only `handler`. The first call is made inside `async_retry` unless the attempt has a limit
/// or is hedged, and all others on the handler's executor. The handler carries the executor and
/// allocator of the token and a cancellation slot. It may be called from any thread, also before
/// `initiate` returns; a second call is ignored. If `initiate` throws and `First` is
/// `std::exception_ptr`, that is a failed attempt. Otherwise the exception leaves through the
/// function that runs the loop at that moment and the handler is destroyed without being called.
///
/// Limits: at `attempt::deadline` (the earlier of the call's deadline and the attempt's timeout)
/// the attempt is canceled through its slot. If it then fails, the failure counts as a timeout of
/// safety `maybe` unless its own facts state more. An operation that ignores its slot is waited
/// for.
///
/// Cancellation: a signal on the token's slot ends a wait at once, is passed on to a running
/// attempt with its type unchanged, and allows no further attempt. The stop token may be requested
/// from any thread; it ends waits and allows no further attempt, but leaves a running one alone.
///
/// Slow attempts can be hedged: `hedged(50ms, initiate)` (`hedge.hpp`).
///
/// `strategy` is copied if it is a value (`attempts(3)`); any other strategy must live until
/// completion. `options` own what they refer to, or state that it is `borrowed`. Signals must be
/// emitted where the handler runs (as always in Asio); otherwise the executor may be run by several
/// threads, with or without a strand; an operation that uses its slot then completes through the
/// handler's executor.
///
/// With GCC 12 and a token whose result is awaited, give `options` and `initiate` names before the
/// call, as in the form for coroutines.
template <
    class Signature, class Source, driver::strategy_argument Strategy, class Initiate,
    class Token = detail::default_token_t<Source>,
    detail::call_options_argument Options = async_call_options>
[[nodiscard]] auto async_retry(
    Source&& source, Strategy&& strategy, Options&& options, Initiate&& initiate,
    Token&& token = detail::default_token_t<Source>{}) {
    using kept = detail::kept_strategy<Strategy>;
    detail::check_options_argument<Options>();
    detail::retry_signature<Signature>::template check_first_argument<
        std::remove_cvref_t<Strategy>, std::decay_t<Initiate>>();
    if constexpr (detail::is_hedged<std::decay_t<Initiate>>) {
        detail::check_hedge(options.repeat);
    }
    // Here, and not when the loop starts: what an initiation throws reaches no coroutine.
    static_cast<void>(driver::async_clock_of(options.clock.get()));
    auto executor = detail::executor_of(source);
    auto start = [executor, target = detail::strategy_holder<kept>{strategy}](
                     auto handler, async_call_options wanted, auto call) {
        using loop = typename detail::retry_signature<Signature>::template loop<
            kept, decltype(call), decltype(handler), decltype(executor)>;
        auto shared = detail::allocate_state<loop>(
            handler, std::move(handler), executor, target, std::move(wanted), std::move(call));
        loop::start(std::move(shared));
    };
    using result = decltype(detail::asio::async_initiate<Token, Signature>(
        std::move(start), token, options, std::forward<Initiate>(initiate)));
    detail::check_co_await_arguments<detail::is_awaited<result>, Strategy, Options, Initiate>();
    return detail::asio::async_initiate<Token, Signature>(
        std::move(start), token, options, std::forward<Initiate>(initiate));
}

}  // namespace REPRISE_VARIANT

}  // namespace reprise

/// The loop for operations that are coroutines.
/// ```
///     const reprise::async_call_options options{
///         .timeout = 10s, .attempt_timeout = 300ms, .history = reprise::borrowed(&history)};
///     co_return co_await reprise::async_retry(strategy, options, [service] { return ask(service);
///     });
/// ```

namespace reprise {

/// A callable that takes an `attempt` or nothing and returns `boost::asio::awaitable<R>`.
template <class Operation>
concept retry_coroutine = detail::retry_operation<Operation> &&
                          requires { typename detail::awaited<Operation>::executor; };

/// @cond
namespace detail::inline REPRISE_VARIANT {

template <class Strategy, class Operation>
constexpr void check_coroutine_arguments() noexcept {
    check_strategy<Strategy>();
    static_assert(
        retry_coroutine<std::decay_t<Operation>>,
        "the operation must be callable with a const reprise::attempt& or with nothing, and must "
        "return an asio::awaitable<R>");
}

}  // namespace detail::inline REPRISE_VARIANT
/// @endcond

inline namespace REPRISE_VARIANT {

/// Awaits `operation` until it succeeds or the strategy, the deadline or the caller ends the loop.
/// Returns its last result, or throws what it threw last, as the same object. Both kinds of failure
/// are retried: failed results (`outcome_traits`) and exceptions with facts (`list`,
/// `failure_description`, `std::system_error`, `boost::system::system_error`).
///
/// Nothing happens before the returned awaitable is awaited; time is counted from then. `options`
/// and `operation` are moved into the coroutine, and so is a strategy that is a value
/// (`attempts(3)`); any other strategy must outlive it. The operation runs on the awaiting
/// coroutine's executor.
///
/// At `attempt::deadline` the attempt is canceled and, if it then fails, counts as a timeout, as
/// described at the completion-token form. Each attempt is a coroutine of its own. With such a
/// limit, and in a hedge, it runs on a strand of the executor, so that it may be canceled on a
/// context of several threads. An `awaitable` of an executor type other than `any_io_executor` runs
/// on that executor: on several threads, use a strand.
///
/// Cancellation of the awaiting coroutine reaches the running attempt or ends the wait at once; the
/// last failure is then the result. The stop token ends waits only. Canceled before the first
/// attempt: throws a `retry_error` with `retry_errc::canceled`. Throws `invalid_settings` for a
/// clock that can only block.
///
/// A result that throws while the loop moves it repeats nothing. What it throws while Asio moves it
/// out of the operation's coroutine counts as thrown by the operation.
///
/// With GCC 12, give the options and the operation names before the call (unless the operation is
/// trivially destructible): that compiler destroys such temporaries twice. What it would miscompile
/// is refused.
template <
    driver::strategy_argument Strategy, class... Exceptions, class Operation,
    detail::call_options_argument Options = async_call_options>
    requires retry_coroutine<std::decay_t<Operation>>
[[nodiscard]] auto async_retry(
    Strategy&& strategy, Options&& options, detail::catching_t<Exceptions...> list,
    Operation&& operation) {
    using stored = std::decay_t<Operation>;
    using result = typename detail::awaited<stored>::stored;
    using kept_strategy = detail::kept_strategy<Strategy>;
    if constexpr (detail::is_hedged<stored>) {
        detail::check_hedge(options.repeat);
    }
    detail::check_options_argument<Options>();
    detail::check_co_await_arguments<true, Strategy, Options, Operation>();
    detail::check_result_type<std::remove_cvref_t<Strategy>, stored, result, true>();
    detail::strategy_holder<kept_strategy> held{std::forward<Strategy>(strategy)};
    async_call_options own(std::forward<Options>(options));
    stored kept(std::forward<Operation>(operation));
    if constexpr (std::is_void_v<typename detail::awaited<stored>::result>) {
        return detail::run_void_coroutine(std::move(held), std::move(own), std::move(kept), list);
    } else {
        return detail::run_coroutine(std::move(held), std::move(own), std::move(kept), list);
    }
}

/// The same without a list of exceptions.
template <
    driver::strategy_argument Strategy, class Operation,
    detail::call_options_argument Options = async_call_options>
    requires retry_coroutine<std::decay_t<Operation>>
[[nodiscard]] auto async_retry(Strategy&& strategy, Options&& options, Operation&& operation) {
    return async_retry(
        std::forward<Strategy>(strategy), std::forward<Options>(options), catching<>,
        std::forward<Operation>(operation));
}

/// The same with default options.
template <driver::strategy_argument Strategy, class Operation>
    requires retry_coroutine<std::decay_t<Operation>>
[[nodiscard]] auto async_retry(Strategy&& strategy, Operation&& operation) {
    const async_call_options options;
    return async_retry(
        std::forward<Strategy>(strategy), options, catching<>, std::forward<Operation>(operation));
}

/// Catch-all overload that produces a readable error.
template <class Strategy, class Operation>
    requires(!driver::strategy_argument<Strategy> || !retry_coroutine<std::decay_t<Operation>>)
void async_retry(Strategy&&, Operation&&) {
    detail::check_coroutine_arguments<Strategy, Operation>();
}
/// The same with options.
template <
    class Strategy, class Operation, detail::call_options_argument Options = async_call_options>
    requires(!driver::strategy_argument<Strategy> || !retry_coroutine<std::decay_t<Operation>>)
void async_retry(Strategy&&, Options&&, Operation&&) {
    detail::check_coroutine_arguments<Strategy, Operation>();
}

}  // namespace REPRISE_VARIANT

}  // namespace reprise
