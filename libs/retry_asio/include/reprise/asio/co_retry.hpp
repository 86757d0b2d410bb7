#pragma once

/// The loop for operations that are coroutines.
/// ```
///     const reprise::call_options options{
///         .timeout = 10s, .attempt_timeout = 300ms, .history = &history};
///     co_return co_await reprise::async_retry(strategy, options, [service] { return ask(service);
///     });
/// ```

#include <type_traits>
#include <utility>

#include <reprise/asio/detail/retry_coroutine.hpp>
#include <reprise/retry/detail/co_await_arguments.hpp>
#include <reprise/retry/detail/compiler.hpp>

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
/// (`attempts(3)`); any other strategy and what `options` points to must outlive it. The operation
/// runs on the awaiting coroutine's executor.
///
/// At `attempt::deadline` the attempt is canceled and, if it then fails, counts as a timeout, as
/// described at the completion-token form. Each attempt is a coroutine of its own. With such a
/// limit, and in a hedge, it runs on a strand of the executor, so that it may be canceled on a
/// context of several threads. An `awaitable` of an executor type other than `any_io_executor` runs
/// on that executor: on several threads, use a strand.
///
/// Cancellation of the awaiting coroutine reaches the running attempt or ends the wait at once; the
/// last failure is then the result. `call_options::stop` ends waits only. Canceled before the first
/// attempt: throws a `retry_error` with `retry_errc::canceled`. Throws `invalid_settings` for a
/// `call_options::clock` that can only block.
///
/// A result that throws while the loop moves it repeats nothing. What it throws while Asio moves it
/// out of the operation's coroutine counts as thrown by the operation.
///
/// With GCC 12, give the options and the operation names before the call (unless the operation is
/// trivially destructible): that compiler destroys such temporaries twice. What it would miscompile
/// is refused.
template <
    driver::strategy_argument Strategy, class... Exceptions, class Operation,
    detail::call_options_argument Options = call_options>
    requires retry_coroutine<std::decay_t<Operation>>
[[nodiscard]] auto async_retry(
    Strategy&& strategy, Options&& options, detail::catching_t<Exceptions...> list,
    Operation&& operation) {
    using stored = std::decay_t<Operation>;
    using result = typename detail::awaited<stored>::stored;
    using kept_strategy = detail::kept_strategy<Strategy>;
    if constexpr (detail::is_hedged<stored>) {
        detail::check_hedge(static_cast<const call_options&>(options).repeat);
    }
    detail::check_co_await_arguments<true, Strategy, Options, Operation>();
    detail::check_result_type<std::remove_cvref_t<Strategy>, stored, result, true>();
    detail::strategy_holder<kept_strategy> held{std::forward<Strategy>(strategy)};
    call_options own(std::forward<Options>(options));
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
    detail::call_options_argument Options = call_options>
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
    const call_options options;
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
template <class Strategy, class Operation, detail::call_options_argument Options = call_options>
    requires(!driver::strategy_argument<Strategy> || !retry_coroutine<std::decay_t<Operation>>)
void async_retry(Strategy&&, Options&&, Operation&&) {
    detail::check_coroutine_arguments<Strategy, Operation>();
}

}  // namespace REPRISE_VARIANT

}  // namespace reprise
