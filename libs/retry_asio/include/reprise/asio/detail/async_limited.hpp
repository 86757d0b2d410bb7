#pragma once

/// One attempt with a time limit: at the limit the attempt is canceled through the slot of the
/// handler it was given. The limit does not end the wait for the attempt: it completes when the
/// operation has really ended, because until then the operation may use the caller's buffers.

#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <reprise/asio/async_clock.hpp>
#include <reprise/asio/detail/inner_handlers.hpp>
#include <reprise/asio/detail/library.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/detail/compiler.hpp>

namespace reprise::detail::inline REPRISE_VARIANT {

struct limit_request {
    attempt current;               ///< With its deadline.
    async_clock* clock = nullptr;  ///< Null: real time.
};

/// How an exception becomes a first completion argument: `make(std::exception_ptr)`. Only for types
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

/// The completion arguments of an attempt that could not be started.
template <class First, class... Rest>
[[nodiscard]] std::tuple<First, Rest...> failed_to_start(std::exception_ptr thrown) {
    return {exception_as<First>::make(std::move(thrown)), Rest{}...};
}

/// Everything but `wake` runs on the strand: the attempt may end on one thread while the limit is
/// reached on another.
template <class Handler, class IoExecutor, class... Args>
class limited_state final
    : public wake_target,
      public std::enable_shared_from_this<limited_state<Handler, IoExecutor, Args...>> {
public:
    using strand_type = asio::strand<asio::associated_executor_t<Handler, IoExecutor>>;

    limited_state(Handler handler, const IoExecutor& executor)
        : strand_(asio::make_strand(asio::get_associated_executor(handler, executor))),
          timer_(executor),
          handler_(std::move(handler)) {}

    /// What the attempt gets: runs on the strand, is canceled at the limit or by the caller.
    struct attempt_handler {
        using executor_type = strand_type;
        using allocator_type = allocator_of<Handler>;
        using cancellation_slot_type = asio::cancellation_slot;

        std::shared_ptr<limited_state> state;  // Null after the first call.

        [[nodiscard]] executor_type get_executor() const noexcept { return state->strand_; }
        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return asio::get_associated_allocator(state->handler_);
        }
        [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
            return state->signal_.slot();
        }
        void operator()(Args... args) {
            if (state == nullptr) {
                return;  // An operation that completes twice; the first result counts.
            }
            auto& strand = state->strand_;
            asio::dispatch(
                strand, [self = std::move(state),
                         result = std::tuple<Args...>(std::move(args)...)]() mutable {
                    finish(std::move(self), std::move(result));
                });
        }
    };

    void connect_slot() { detail::connect_slot(this->shared_from_this(), handler_); }
    void on_signal(asio::cancellation_type_t type) {
        if (!finished_) {
            signal_.emit(type);
        }
    }
    [[nodiscard]] const strand_type& strand() const noexcept { return strand_; }

    /// How the attempt is started, without the type of the loop that it belongs to.
    struct starter {
        std::shared_ptr<void> owner;
        void (*start)(void* owner, const attempt& current, attempt_handler handler);
    };

    void launch(const limit_request& request, starter how) {
        asio::dispatch(strand_, [self = this->shared_from_this(), request, how = std::move(how)] {
            self->start(request, how);
        });
    }

    void wake() noexcept override {
        post_on_strand([self = this->shared_from_this()] { self->timer_.cancel(); });
    }

private:
    void start(const limit_request& request, const starter& how) {
        try {
            how.start(how.owner.get(), request.current, attempt_handler{this->shared_from_this()});
        } catch (...) {
            if constexpr (carries_exception<Args...>) {
                post_on_strand(
                    [self = this->shared_from_this(), thrown = std::current_exception()]() mutable {
                        finish(std::move(self), failed_to_start<Args...>(std::move(thrown)));
                    });
                return;
            } else {
                throw;
            }
        }
        if (!finished_) {
            arm(request);
        }
    }

    void arm(const limit_request& request) {
        if (request.clock != nullptr) {
            timer_.expires_at(std::chrono::steady_clock::time_point::max());
            request.clock->arm(request.current.deadline, this->weak_from_this());
        } else {
            timer_.expires_at(request.current.deadline);
        }
        // The timer must not keep the attempt's state alive: an operation that drops its handler
        // would otherwise be noticed only at the limit.
        auto on_limit = [weak = this->weak_from_this()](const asio_error_code&) {
            if (const auto self = weak.lock(); self != nullptr && !self->finished_) {
                self->timed_out_ = true;
                self->signal_.emit(asio::cancellation_type::all);
            }
        };
        timer_.async_wait(bound_on_strand(std::move(on_limit)));
    }

    template <class Function>
    [[nodiscard]] auto bound_on_strand(Function function) const {
        return bound_function<Function, strand_type, allocator_of<Handler>>{
            std::move(function), strand_, asio::get_associated_allocator(handler_)};
    }

    /// By way of the I/O executor; see `pause_state::wake`.
    template <class Function>
    void post_on_strand(Function function) {
        asio::post(timer_.get_executor(), bound_on_strand(std::move(function)));
    }

    static void finish(std::shared_ptr<limited_state> self, std::tuple<Args...> result) {
        if (std::exchange(self->finished_, true)) {
            return;  // An operation that both threw and completed, or completed twice.
        }
        self->timer_.cancel();
        clear_slot(self->handler_);
        const limit_result limit{self->timed_out_};
        Handler handler(std::move(self->handler_));
        self.reset();
        std::apply([&](Args&... args) { std::move(handler)(limit, std::move(args)...); }, result);
    }

    strand_type strand_;
    steady_timer_on<IoExecutor> timer_;
    Handler handler_;
    asio::cancellation_signal signal_;
    bool finished_ = false;
    bool timed_out_ = false;
};

/// Starts the attempt with `Start::start(*how.owner, attempt, handler)`, on the executor and
/// possibly later; the handler takes `Args...`. Completes with `void(limit_result, Args...)`.
template <class... Args, class IoExecutor, class Start, class Token>
auto async_limited(
    const IoExecutor& executor, const limit_request& request, Start how, Token&& token) {
    return asio::async_initiate<Token, void(limit_result, Args...)>(
        [executor](auto handler, const limit_request& wanted, Start given) {
            using state = limited_state<decltype(handler), IoExecutor, Args...>;
            using owner_type = typename decltype(given.owner)::element_type;
            auto shared = allocate_state<state>(handler, std::move(handler), executor);
            shared->connect_slot();
            shared->launch(
                wanted,
                {std::move(given.owner),
                 [](void* owner, const attempt& current, typename state::attempt_handler limited) {
                     Start::start(*static_cast<owner_type*>(owner), current, std::move(limited));
                 }});
        },
        token, request, std::move(how));
}

}  // namespace reprise::detail::inline REPRISE_VARIANT
