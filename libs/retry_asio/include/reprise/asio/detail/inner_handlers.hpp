#pragma once

/// Handlers of the operations that a loop waits for, and what these operations inherit from the
/// handler of the loop. The types of the inner handlers say where they run and what they
/// receive, but not which loop they belong to: so pauses, limits and the operations themselves are
/// compiled once per signature and executor, not once per call of `async_retry`.

#include <chrono>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include <reprise/asio/detail/library.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::detail::inline REPRISE_VARIANT {

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

/// Passes the signals of a handler's slot on to `state->on_signal(type)`, on the state's strand. In
/// the initiating call, so that no signal after it is missed.
template <class State, class Handler>
void connect_slot(const std::shared_ptr<State>& state, const Handler& handler) {
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
        slot.assign([weak = std::weak_ptr<State>(state)](asio::cancellation_type_t type) {
            if (auto self = weak.lock()) {
                auto& strand = self->strand();
                asio::dispatch(strand, [self = std::move(self), type] { self->on_signal(type); });
            }
        });
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

/// What happens next: a loop, kept alive, and one of its functions.
template <class... Args>
struct continuation {
    std::shared_ptr<void> owner;
    void (*resume)(std::shared_ptr<void> owner, Args... args);

    /// At most once: the owner is given away.
    void operator()(Args... args) { resume(std::move(owner), std::move(args)...); }
};

template <auto Function>
struct continue_with;

/// `continue_with<&loop::on_paused>::of(self)` continues with `on_paused(self, arguments...)`.
template <class Owner, class... Args, void (*Function)(std::shared_ptr<Owner>, Args...)>
struct continue_with<Function> {
    [[nodiscard]] static continuation<Args...> of(std::shared_ptr<Owner> owner) noexcept {
        return {std::move(owner), [](std::shared_ptr<void> self, Args... args) {
                    Function(std::static_pointer_cast<Owner>(std::move(self)), std::move(args)...);
                }};
    }
};

/// Where the inner operations of a call run, with which memory, and what cancels them.
template <class Executor, class Allocator>
struct call_place {
    using executor_type = Executor;
    using allocator_type = Allocator;
    using cancellation_slot_type = asio::cancellation_slot;

    Executor executor;
    [[no_unique_address]] Allocator allocator;
    asio::cancellation_slot slot;

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor; }
    [[nodiscard]] const allocator_type& get_allocator() const noexcept { return allocator; }
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
};

/// First completion argument of a limited attempt; a type of its own, so that it cannot be taken
/// for an argument of the attempt.
struct limit_result {
    bool timed_out = false;
};

/// Receives whether the pause lasted as long as it should.
template <class Place>
struct pause_handler : Place {
    continuation<bool> then;

    void operator()(bool reached) { then(reached); }
};

/// The completion arguments of an attempt.
template <class... Args>
struct attempt_end {
    std::uint64_t which;  ///< Which of the owner's attempts has ended.
    limit_result limit;
    std::tuple<Args...> result;
};

/// Receives what an attempt completes with, and continues on its executor: inline for operations
/// that keep to it, others are brought back.
template <class Place, class... Args>
struct attempt_handler : Place {
    continuation<attempt_end<Args...>> then;
    std::uint64_t which;

    void operator()(Args... args) { (*this)(limit_result{}, std::move(args)...); }
    void operator()(limit_result limit, Args... args) {
        if (then.owner == nullptr) {
            return;  // An operation that completes twice; the first result counts.
        }
        const auto where = this->executor;
        asio::dispatch(
            where, [next = std::move(then),
                    end = attempt_end<Args...>{
                        which, limit, std::tuple<Args...>(std::move(args)...)}]() mutable {
                next(std::move(end));
            });
    }
};

}  // namespace reprise::detail::inline REPRISE_VARIANT
