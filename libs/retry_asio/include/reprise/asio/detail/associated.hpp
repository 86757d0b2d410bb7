#pragma once

/// What inner operations inherit from the handler of the outer one.

#include <chrono>
#include <memory>

#include <reprise/asio/detail/library.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::detail {

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

/// Clears a handler's slot at the end of an operation: a later signal must find no operation.
template <class Handler>
void clear_slot(const Handler& handler) noexcept {
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
        slot.clear();
    }
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

}  // namespace reprise::detail
