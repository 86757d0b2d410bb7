#pragma once

/// Which Asio the loops use: Boost's, or the standalone one if `REPRISE_STANDALONE_ASIO` is defined
/// (the target `reprise::retry_asio_standalone` defines it). Each source uses one of the two; those
/// of a program may differ. Also what the loops use Asio for in several places.

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/async_clock.hpp>
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
#error \
    "This Asio does not detect the compiler's coroutines: define ASIO_HAS_CO_AWAIT for all sources"
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

/// The handler's allocator, for everything the loop allocates on its behalf.
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

/// A function object that carries an executor and an allocator.
template <class Function, class Executor, class Allocator>
struct bound_function {
    using executor_type = Executor;
    using allocator_type = Allocator;

    Function function;
    Executor executor;
    Allocator allocator;

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor; }
    [[nodiscard]] const allocator_type& get_allocator() const noexcept { return allocator; }
    template <class... Args>
    void operator()(Args&&... args) {
        function(std::forward<Args>(args)...);
    }
};

/// Leads to the state of an operation for events that may arrive after it has ended: signals, stop
/// requests, timers and wake-ups of a clock. It is not in the handler's memory, and a function on
/// its way to the state owns nothing but the link: a handler that runs must find all of its memory
/// returned.
template <class State>
class state_link final : public driver::wake_target,
                         public std::enable_shared_from_this<state_link<State>> {
public:
    explicit state_link(const std::shared_ptr<State>& state)
        : strand_(state->strand()), io_executor_(state->io_executor()), state_(state) {}

    /// Calls `Function(state, args...)` on the strand, unless the operation has ended by then.
    template <auto Function>
    [[nodiscard]] auto on_strand() {
        auto call = [self = this->shared_from_this()](const auto&... args) {
            if (auto state = self->state()) {
                Function(std::move(state), args...);
            }
        };
        return bound_function<decltype(call), strand_type, std::allocator<void>>{call, strand_, {}};
    }
    /// By way of the I/O executor: a handler's own executor may be the system's thread pool (that
    /// of `use_future` is), on which nothing should run that was not started there.
    template <auto Function>
    void post() {
        asio::post(io_executor_, on_strand<Function>());
    }
    void dispatch_signal(asio::cancellation_type_t type) {
        asio::dispatch(
            strand_, [call = on_strand<&State::on_signal>(), type]() mutable { call(type); });
    }
    void wake() noexcept override {
        if constexpr (requires { &State::on_wake; }) {
            post<&State::on_wake>();
        }
    }
    /// The state is gone, and its memory with it.
    void cut() noexcept {
        const std::lock_guard lock(mutex_);
        state_.reset();
    }

private:
    using strand_type = typename State::strand_type;
    using io_executor_type = typename State::io_executor_type;

    [[nodiscard]] std::shared_ptr<State> state() noexcept {
        const std::lock_guard lock(mutex_);
        return state_.lock();
    }

    strand_type strand_;
    io_executor_type io_executor_;
    std::mutex mutex_;  // A state that nobody needs any more may end on any thread.
    std::weak_ptr<State> state_;
};

/// The base of a state with a link. `State` has `strand()` and `io_executor()`.
template <class State>
class linked_state : public std::enable_shared_from_this<State> {
public:
    linked_state(const linked_state&) = delete;
    linked_state& operator=(const linked_state&) = delete;

    /// Passes the signals of a handler's slot on to `State::on_signal(state, type)`, on its strand.
    /// In the initiating call, so that no signal after it is missed.
    template <class Handler>
    void connect_slot(const Handler& handler) {
        if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
            // The slot may outlive the executors in the link.
            slot.assign([weak = std::weak_ptr(link())](asio::cancellation_type_t type) {
                if (const auto linked = weak.lock()) {
                    linked->dispatch_signal(type);
                }
            });
        }
    }

protected:
    linked_state() = default;
    ~linked_state() {
        if (link_ != nullptr) {
            link_->cut();
        }
    }

    /// Created on first use.
    [[nodiscard]] const std::shared_ptr<state_link<State>>& link() {
        if (link_ == nullptr) {
            link_ = std::make_shared<state_link<State>>(this->shared_from_this());
        }
        return link_;
    }

private:
    std::shared_ptr<state_link<State>> link_;
};

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
