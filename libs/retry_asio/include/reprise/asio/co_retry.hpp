#pragma once

/// The loop for operations that are coroutines.
///
///     const call_options options{.timeout = 2s};
///     price p = co_await async_retry(strategy, options, [&] { return fetch_price(sku); });

#include <type_traits>
#include <utility>

#include <reprise/asio/detail/retry_coroutine.hpp>
#include <reprise/retry/detail/co_await_arguments.hpp>

namespace reprise {

/// A callable that takes an `attempt` or nothing and returns `boost::asio::awaitable<R>`.
template <class Operation>
concept retry_coroutine =
    retry_operation<Operation> && requires { typename detail::awaited<Operation>::executor; };

/// Awaits `operation` until it succeeds or the strategy, the deadline or the caller ends the loop.
/// Returns its last result, or throws what it threw last, as the same object. Both kinds of failure
/// are retried: results that say so (`outcome_traits`) and exceptions with facts (`list`,
/// `failure_description`, `std::system_error`, `boost::system::system_error`).
///
/// Nothing happens before the returned awaitable is awaited; time is counted from then. `options`
/// and `operation` are moved into the coroutine; `strategy` and what `options` points to must
/// outlive it. The operation runs on the awaiting coroutine's executor.
///
/// At `attempt::deadline` the attempt is canceled and, if it then fails, counts as a timeout, as
/// described at the completion-token form. Only attempts with such a limit cost a coroutine of
/// their own.
///
/// Cancellation of the awaiting coroutine reaches the running attempt or ends the wait at once; the
/// last failure is then the result. `call_options::stop` ends waits only. Canceled before the first
/// attempt: throws `canceled_before_first_attempt`. Throws `std::invalid_argument` for a
/// `call_options::clock` that can only block.
///
/// With GCC 12, give the options and the operation names before the call (unless the operation is
/// trivially destructible): that compiler destroys such temporaries twice. What it would miscompile
/// is refused.
template <
    any_retry_strategy Strategy, class... Exceptions, class Operation,
    detail::call_options_argument Options = call_options>
    requires retry_coroutine<std::decay_t<Operation>>
[[nodiscard]] auto async_retry(
    Strategy& strategy, Options&& options, catching_t<Exceptions...> list, Operation&& operation) {
    using stored = std::decay_t<Operation>;
    using result = typename detail::awaited<stored>::stored;
    detail::check_co_await_arguments<true, Options, Operation>();
    detail::check_result_type<stored, result, true>();
    call_options own(std::forward<Options>(options));
    stored kept(std::forward<Operation>(operation));
    if constexpr (std::is_void_v<typename detail::awaited<stored>::result>) {
        return detail::run_void_coroutine(strategy, std::move(own), std::move(kept), list);
    } else {
        return detail::run_coroutine(strategy, std::move(own), std::move(kept), list);
    }
}

template <
    any_retry_strategy Strategy, class Operation,
    detail::call_options_argument Options = call_options>
    requires retry_coroutine<std::decay_t<Operation>>
[[nodiscard]] auto async_retry(Strategy& strategy, Options&& options, Operation&& operation) {
    return async_retry(
        strategy, std::forward<Options>(options), catching<>, std::forward<Operation>(operation));
}

template <any_retry_strategy Strategy, class Operation>
    requires retry_coroutine<std::decay_t<Operation>>
[[nodiscard]] auto async_retry(Strategy& strategy, Operation&& operation) {
    const call_options options;
    return async_retry(strategy, options, catching<>, std::forward<Operation>(operation));
}

}  // namespace reprise
