#pragma once

/// One attempt with a time limit: at the limit the attempt is canceled through the slot of the
/// handler it was given. The limit does not end the wait for the attempt: it completes when the
/// operation has really ended, because until then the operation may use the caller's buffers.

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <reprise/asio/detail/library.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/clock.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/async_clock.hpp>
#include <reprise/retry/time.hpp>

/// Handlers of the operations that a loop waits for, and what these operations inherit from the
/// handler of the loop. The types of the inner handlers depend on where they run and what they
/// receive, but not on the loop they belong to: so pauses, limits and the operations themselves are
/// compiled once per signature and executor, not once per call of `async_retry`.

namespace reprise::detail::inline REPRISE_VARIANT {

/// The next step: a loop, kept alive, and one of its functions.
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

/// The executor, allocator and cancellation of the inner operations of a call.
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

/// The completion arguments of an attempt, or what one of them threw while it was moved here. They
/// are moved once, by `of`: arguments whose moves may throw have memory of their own from then on.
/// So other code need not care, and a lost success is never treated as a failure that may be
/// repeated.
template <class... Args>
class kept_result {
public:
    using tuple_type = std::tuple<Args...>;
    static constexpr bool is_in_place = std::is_nothrow_move_constructible_v<tuple_type>;

    kept_result() noexcept = default;
    kept_result(kept_result&&) noexcept = default;
    /// Arguments need not be assignable.
    kept_result& operator=(kept_result&& other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~kept_result() = default;

    template <class... Given>
    [[nodiscard]] static kept_result of(Given&&... given) noexcept {
        kept_result made;
        try {
            if constexpr (is_in_place) {
                made.arguments_.emplace(std::forward<Given>(given)...);
            } else {
                made.arguments_ = std::make_unique<tuple_type>(std::forward<Given>(given)...);
            }
        } catch (...) {
            made.lost_ = std::current_exception();
        }
        return made;
    }

    [[nodiscard]] bool is_empty() const noexcept { return !arguments_ && lost_ == nullptr; }
    /// The exception that was thrown instead; null if the arguments are here.
    [[nodiscard]] const std::exception_ptr& lost() const noexcept { return lost_; }
    [[nodiscard]] tuple_type& operator*() noexcept { return *arguments_; }
    [[nodiscard]] const tuple_type& operator*() const noexcept { return *arguments_; }

private:
    std::conditional_t<is_in_place, std::optional<tuple_type>, std::unique_ptr<tuple_type>>
        arguments_{};
    std::exception_ptr lost_{};
};

/// A handler's functions that take completion arguments. They call `take(kept_result)`.
template <class Handler, class... Args>
struct completion_taker {
    void operator()(Args... args)
        requires(kept_result<Args...>::is_in_place)
    {
        self().take(kept_result<Args...>::of(std::move(args)...));
    }
    /// By reference: what the arguments throw while they are moved must be caught here.
    template <class... Given>
        requires(
            !kept_result<Args...>::is_in_place &&
            std::is_constructible_v<std::tuple<Args...>, Given...>)
    void operator()(Given&&... given) {
        self().take(kept_result<Args...>::of(std::forward<Given>(given)...));
    }

private:
    [[nodiscard]] Handler& self() noexcept { return static_cast<Handler&>(*this); }
};

/// Receives whether the pause lasted as long as it should.
template <class Place>
struct pause_handler : Place {
    continuation<bool> then;

    void operator()(bool reached) { then(reached); }
};

/// The end of an attempt.
template <class... Args>
struct attempt_end {
    std::uint64_t which;  ///< Which of the owner's attempts has ended.
    limit_result limit;
    kept_result<Args...> result;
};

/// Receives what an attempt completes with, and continues on its executor: inline for operations
/// that keep to it, others are brought back. Move-only: a copy would keep the loop alive.
template <class Place, class... Args>
struct attempt_handler : Place, completion_taker<attempt_handler<Place, Args...>, Args...> {
    continuation<attempt_end<Args...>> then;
    std::uint64_t which;
    /// Of the owner: the operation has completed, and signals must not reach it any more.
    std::atomic<bool>* has_completed = nullptr;

    attempt_handler(
        Place place, continuation<attempt_end<Args...>> next, std::uint64_t number) noexcept
        : Place(std::move(place)), then(std::move(next)), which(number) {}
    attempt_handler(attempt_handler&&) noexcept = default;
    attempt_handler& operator=(attempt_handler&&) noexcept = default;

    /// Not connected after the first call: by a second one, the slot may be gone.
    [[nodiscard]] asio::cancellation_slot get_cancellation_slot() const noexcept {
        return then.owner != nullptr ? this->slot : asio::cancellation_slot();
    }

    using completion_taker<attempt_handler, Args...>::operator();
    void operator()(limit_result limit, kept_result<Args...> result) {
        if (then.owner == nullptr) {
            return;  // An operation that completes twice; the first result counts.
        }
        if (has_completed != nullptr) {
            has_completed->store(true, std::memory_order_release);
        }
        const auto where = this->executor;
        asio::dispatch(
            where, [next = std::move(then),
                    end = attempt_end<Args...>{which, limit, std::move(result)}]() mutable {
                next(std::move(end));
            });
    }
    void take(kept_result<Args...> result) { (*this)(limit_result{}, std::move(result)); }
};

/// The executor and the clock of waits.
struct pause_request {
    time_point until{};
    std::stop_token stop{};
    driver::async_clock* clock = nullptr;  ///< Null: real time.
};

/// One wait between two attempts: ends when the time comes, or at once on a cancellation signal or
/// a stop request of the caller.
///
/// Whatever ends it, the completion comes from one Asio timer, which owns the handler: so a context
/// that is destroyed during the wait destroys the handler with it. With a virtual clock that timer
/// is set to "never" and the clock's wake-up cancels it.
///
/// Everything runs on the strand, so that a stop request, a signal and the timer may come from
/// different threads.
template <class Handler, class IoExecutor>
class pause_state final : public linked_state<pause_state<Handler, IoExecutor>> {
public:
    using strand_type = asio::strand<asio::associated_executor_t<Handler, IoExecutor>>;
    using io_executor_type = IoExecutor;

    pause_state(Handler handler, const IoExecutor& executor)
        : strand_(asio::make_strand(asio::get_associated_executor(handler, executor))),
          timer_(executor),
          handler_(std::move(handler)) {}

    void connect_slot() { linked_state<pause_state>::connect_slot(handler_); }

    void start(const pause_request& request) {
        if (request.clock != nullptr) {
            timer_.expires_at(std::chrono::steady_clock::time_point::max());
            request.clock->arm(request.until, this->link());
        } else {
            timer_.expires_at(request.until);
        }
        timer_.async_wait(
            bound_on_strand([self = this->shared_from_this()](const asio_error_code&) mutable {
                finish(std::move(self));
            }));
        if (request.stop.stop_possible()) {
            on_stop_.emplace(request.stop, stop_request{this->link()});
        }
    }

    static void on_signal(const std::shared_ptr<pause_state>& self, asio::cancellation_type_t) {
        on_stop(self);
    }
    static void on_stop(const std::shared_ptr<pause_state>& self) {
        self->canceled_ = true;
        self->timer_.cancel();
    }
    static void on_wake(const std::shared_ptr<pause_state>& self) { self->timer_.cancel(); }

    [[nodiscard]] const strand_type& strand() const noexcept { return strand_; }
    [[nodiscard]] IoExecutor io_executor() noexcept { return timer_.get_executor(); }

private:
    struct stop_request {
        std::shared_ptr<state_link<pause_state>> link;
        void operator()() const noexcept { link->template post<&pause_state::on_stop>(); }
    };

    template <class Function>
    [[nodiscard]] auto bound_on_strand(Function function) const {
        return bound_function<Function, strand_type, allocator_of<Handler>>{
            std::move(function), strand_, asio::get_associated_allocator(handler_)};
    }

    static void finish(std::shared_ptr<pause_state> self) {
        self->on_stop_.reset();
        clear_slot(self->handler_);
        const bool reached = !self->canceled_;
        Handler handler(std::move(self->handler_));
        self.reset();
        std::move(handler)(reached);
    }

    strand_type strand_;
    steady_timer_on<IoExecutor> timer_;
    Handler handler_;
    std::optional<std::stop_callback<stop_request>> on_stop_;
    bool canceled_ = false;
};

/// Completes with `void(bool reached)`; false if the wait was ended early.
template <class IoExecutor, class Token>
auto async_pause(const IoExecutor& executor, const pause_request& request, Token&& token) {
    return asio::async_initiate<Token, void(bool)>(
        [executor](auto handler, const pause_request& wanted) {
            using state = pause_state<decltype(handler), IoExecutor>;
            auto shared = allocate_state<state>(handler, std::move(handler), executor);
            shared->connect_slot();
            const auto strand = shared->strand();
            asio::dispatch(
                strand, [self = std::move(shared), wanted]() mutable { self->start(wanted); });
        },
        token, request);
}

struct limit_request {
    attempt current;                       ///< With its deadline.
    driver::async_clock* clock = nullptr;  ///< Null: real time.
};

/// Turns an exception into a first completion argument: `make(std::exception_ptr)`. Only for types
/// that can carry one.
template <class First>
struct exception_as;

template <>
struct exception_as<std::exception_ptr> {
    [[nodiscard]] static std::exception_ptr make(std::exception_ptr thrown) noexcept {
        return thrown;
    }
};

/// True if an exception thrown by an initiating function can be passed on as a result.
template <class First, class... Rest>
inline constexpr bool carries_exception = requires(std::exception_ptr thrown) {
    exception_as<First>::make(std::move(thrown));
} && (std::is_default_constructible_v<Rest> && ...);

/// Completion arguments of which only the first has a meaning. The others are made in place if
/// their moves may throw.
template <class First, class... Rest, class Given>
[[nodiscard]] kept_result<First, Rest...> result_of_first(Given&& first) {
    using kept = kept_result<First, Rest...>;
    if constexpr (
        !kept::is_in_place && sizeof...(Rest) > 0 && std::is_default_constructible_v<First> &&
        std::is_nothrow_assignable_v<First&, Given>) {
        kept made = kept::of();
        if (made.lost() == nullptr) {
            std::get<0>(*made) = std::forward<Given>(first);
        }
        return made;
    } else {
        return kept::of(std::forward<Given>(first), Rest{}...);
    }
}

/// The completion arguments of an attempt that could not be started.
template <class First, class... Rest>
[[nodiscard]] kept_result<First, Rest...> failed_to_start(std::exception_ptr thrown) {
    return result_of_first<First, Rest...>(exception_as<First>::make(std::move(thrown)));
}

/// Everything runs on the strand: the attempt may end on one thread while the limit is reached on
/// another.
template <class Handler, class IoExecutor, class... Args>
class limited_state final : public linked_state<limited_state<Handler, IoExecutor, Args...>> {
public:
    using strand_type = asio::strand<asio::associated_executor_t<Handler, IoExecutor>>;
    using io_executor_type = IoExecutor;
    using place_type = call_place<strand_type, allocator_of<Handler>>;

    limited_state(Handler handler, const IoExecutor& executor)
        : strand_(asio::make_strand(asio::get_associated_executor(handler, executor))),
          io_executor_(executor),
          handler_(std::move(handler)) {}

    /// The handler that the attempt gets: runs on the strand, is canceled at the limit or by the
    /// caller. Inherited members outlive the first call: an operation may complete twice.
    struct attempt_handler : place_type, completion_taker<attempt_handler, Args...> {
        std::shared_ptr<limited_state> state;  // Null after the first call.

        explicit attempt_handler(std::shared_ptr<limited_state> owner) noexcept
            : place_type(owner->place()), state(std::move(owner)) {}
        attempt_handler(attempt_handler&&) noexcept = default;
        attempt_handler& operator=(attempt_handler&&) noexcept = default;

        [[nodiscard]] asio::cancellation_slot get_cancellation_slot() const noexcept {
            return state != nullptr ? this->slot : asio::cancellation_slot();
        }
        void take(kept_result<Args...> result) {
            if (state == nullptr) {
                return;  // An operation that completes twice; the first result counts.
            }
            state->has_completed_.store(true, std::memory_order_release);
            auto& strand = state->strand_;
            asio::dispatch(strand, [self = std::move(state), kept = std::move(result)]() mutable {
                on_result(std::move(self), std::move(kept));
            });
        }
    };

    void connect_slot() { linked_state<limited_state>::connect_slot(handler_); }
    static void on_signal(std::shared_ptr<limited_state> self, asio::cancellation_type_t type) {
        run(std::move(self), [type](limited_state& state) { state.cancel(type); });
    }
    static void on_wake(std::shared_ptr<limited_state> self) {
        run(std::move(self), [](limited_state& state) { state.cut_short(); });
    }
    static void on_timer(std::shared_ptr<limited_state> self, const asio_error_code&) {
        on_wake(std::move(self));
    }
    [[nodiscard]] const strand_type& strand() const noexcept { return strand_; }
    [[nodiscard]] const IoExecutor& io_executor() const noexcept { return io_executor_; }
    /// The executor of the attempt, and its cancellation.
    [[nodiscard]] place_type place() noexcept {
        return {strand_, asio::get_associated_allocator(handler_), signal_.slot()};
    }

    /// Starts the attempt, without the type of the loop that it belongs to.
    struct starter {
        std::shared_ptr<void> owner;
        void (*start)(void* owner, const attempt& current, attempt_handler handler);
    };

    static void launch(
        std::shared_ptr<limited_state> self, const limit_request& request, starter how) {
        const strand_type strand = self->strand_;
        asio::dispatch(strand, [self = std::move(self), request, how = std::move(how)]() mutable {
            run(std::move(self), [&](limited_state& state) {
                const starter used = std::move(how);  // Destroyed before the end is reported.
                state.start(request, used);
            });
        });
    }

private:
    /// Code that may end the attempt runs in this: its initiating function and its cancellation.
    /// The end is reported when that has returned: the next attempt and the caller's handler must
    /// not run inside it, and by then nothing is left in the handler's memory.
    template <class Work>
    static void run(std::shared_ptr<limited_state> self, Work work) {
        if (self->is_finished_) {
            return;
        }
        const bool is_outermost = !std::exchange(self->is_running_, true);
        work(*self);
        if (is_outermost) {
            self->is_running_ = false;
            if (!self->result_.is_empty()) {
                finish(std::move(self));
            }
        }
    }

    void start(const limit_request& request, const starter& how) {
        const auto self = this->shared_from_this();
        try {
            how.start(how.owner.get(), request.current, attempt_handler(self));
        } catch (...) {
            if constexpr (carries_exception<Args...>) {
                on_result(self, failed_to_start<Args...>(std::current_exception()));
            } else {
                throw;
            }
        }
        if (!result_.is_empty()) {
            return;
        }
        try {
            start_timer(request);
        } catch (...) {  // No memory for the limit: better cut short than without a limit.
            cut_short();
        }
    }

    /// The wait of a timer that is canceled ends later: it is not in the handler's memory. It does
    /// not keep the attempt alive either: one that drops its handler would be noticed only at the
    /// limit.
    void start_timer(const limit_request& request) {
        if (request.clock != nullptr) {
            request.clock->arm(request.current.deadline, this->link());
            return;
        }
        timer_.emplace(io_executor_, request.current.deadline);
        timer_->async_wait(this->link()->template on_strand<&limited_state::on_timer>());
    }

    void cut_short() {
        timed_out_ = true;
        cancel(asio::cancellation_type::all);
    }

    /// An operation that has completed may be gone although its result is still on its way.
    void cancel(asio::cancellation_type_t type) {
        if (!has_completed_.load(std::memory_order_acquire)) {
            signal_.emit(type);
        }
    }

    static void on_result(std::shared_ptr<limited_state> self, kept_result<Args...> result) {
        run(std::move(self), [&result](limited_state& state) {
            if (state.result_.is_empty()) {  // Not if an operation both threw and completed.
                state.result_ = std::move(result);
            }
        });
    }

    static void finish(std::shared_ptr<limited_state> self) {
        self->is_finished_ = true;
        self->timer_.reset();  // An operation may keep its handler.
        clear_slot(self->handler_);
        const limit_result limit{self->timed_out_};
        kept_result<Args...> result(std::move(self->result_));
        Handler handler(std::move(self->handler_));
        self.reset();
        std::move(handler)(limit, std::move(result));
    }

    strand_type strand_;
    IoExecutor io_executor_;
    std::optional<steady_timer_on<IoExecutor>> timer_;  // Of the limit, in real time.
    Handler handler_;
    asio::cancellation_signal signal_;
    std::atomic<bool> has_completed_{false};
    kept_result<Args...> result_;
    bool is_running_ = false;  // Something that may end the attempt.
    bool is_finished_ = false;
    bool timed_out_ = false;
};

/// Starts the attempt with `Start::start(*how.owner, attempt, handler)`, on the executor and
/// possibly later; the handler takes `Args...`. Completes with
/// `void(limit_result, kept_result<Args...>)`.
template <class... Args, class IoExecutor, class Start, class Token>
auto async_limited(
    const IoExecutor& executor, const limit_request& request, Start how, Token&& token) {
    return asio::async_initiate<Token, void(limit_result, kept_result<Args...>)>(
        [executor](auto handler, const limit_request& wanted, Start given) {
            using state = limited_state<decltype(handler), IoExecutor, Args...>;
            using owner_type = typename decltype(given.owner)::element_type;
            auto shared = allocate_state<state>(handler, std::move(handler), executor);
            shared->connect_slot();
            state::launch(
                std::move(shared), wanted,
                {std::move(given.owner),
                 [](void* owner, const attempt& current, typename state::attempt_handler limited) {
                     Start::start(*static_cast<owner_type*>(owner), current, std::move(limited));
                 }});
        },
        token, request, std::move(how));
}

}  // namespace reprise::detail::inline REPRISE_VARIANT
