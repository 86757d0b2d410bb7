#pragma once

/// Which Asio the loops use: Boost's, or the standalone one if `REPRISE_STANDALONE_ASIO` is defined
/// (the target `reprise::retry_asio_standalone` defines it). Each source uses one of the two; those
/// of a program may differ. Also what the loops use Asio for in several places.

#include <chrono>
#include <memory>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/outcome.hpp>

#if defined(REPRISE_STANDALONE_ASIO)

#include <system_error>

#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/cancellation_state.hpp>
#include <asio/co_spawn.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/execution/executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/is_executor.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/version.hpp>
#if ASIO_VERSION >= 102400
#include <asio/deferred.hpp>
#endif
#if !defined(ASIO_HAS_CO_AWAIT)
#error "This Asio does not know the compiler's coroutines: define ASIO_HAS_CO_AWAIT for all sources"
#endif

namespace reprise::detail::inline REPRISE_VARIANT {

namespace asio = ::asio;
using asio_error_code = std::error_code;

}  // namespace reprise::detail::inline REPRISE_VARIANT

#else

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/is_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace reprise::detail::inline REPRISE_VARIANT {

namespace asio = boost::asio;
using asio_error_code = boost::system::error_code;

}  // namespace reprise::detail::inline REPRISE_VARIANT

#endif

namespace reprise::detail::inline REPRISE_VARIANT {

// Asio before 1.24 has no deferred results that a coroutine could await.
#if !defined(REPRISE_STANDALONE_ASIO) || ASIO_VERSION >= 102400
using awaited_later_t = asio::deferred_t;
template <class Result>
inline constexpr bool is_deferred = asio::is_deferred<Result>::value;
#else
using awaited_later_t = asio::use_awaitable_t<>;
template <class Result>
inline constexpr bool is_deferred = false;
#endif

template <class Executor>
using steady_timer_on = asio::basic_waitable_timer<
    std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;

/// The handler's allocator, for everything the loop allocates in its name.
template <class Handler>
using allocator_of = asio::associated_allocator_t<Handler>;

/// A state shared by the pieces of one operation, in memory of the handler's allocator.
template <class State, class Handler, class... Args>
[[nodiscard]] std::shared_ptr<State> allocate_state(const Handler& handler, Args&&... args) {
    using allocator =
        typename std::allocator_traits<allocator_of<Handler>>::template rebind_alloc<State>;
    return std::allocate_shared<State>(
        allocator(asio::get_associated_allocator(handler)), std::forward<Args>(args)...);
}

/// Passes the signals of a handler's slot on to `State::on_signal(state, type)`, on its strand. In
/// the initiating call, so that no signal after it is missed.
template <class State, class Handler>
void connect_slot(const std::shared_ptr<State>& state, const Handler& handler) {
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
        slot.assign([weak = std::weak_ptr<State>(state)](asio::cancellation_type_t type) {
            if (auto self = weak.lock()) {
                auto& strand = self->strand();
                asio::dispatch(strand, [self = std::move(self), type]() mutable {
                    State::on_signal(std::move(self), type);
                });
            }
        });
    }
}

/// Clears a handler's slot at the end of an operation: a later signal must find no operation.
template <class Handler>
void clear_slot(const Handler& handler) noexcept {
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
        slot.clear();
    }
}

}  // namespace reprise::detail::inline REPRISE_VARIANT

namespace reprise::detail {

template <class R>
    requires is_deferred<R>
inline constexpr bool is_not_started<R> = true;

}  // namespace reprise::detail
