#pragma once

/// One wait between two attempts: ends when the time comes, or at once when the caller's
/// cancellation slot or stop token says so.
///
/// Whatever ends it, the completion comes from one Asio timer, which owns the handler: so a context
/// that is destroyed during the wait destroys the handler with it. With a virtual clock that timer
/// is set to "never" and the clock's wake-up cancels it.

#include <memory>
#include <optional>
#include <utility>

#include <reprise/asio/async_clock.hpp>
#include <reprise/asio/detail/inner_handlers.hpp>
#include <reprise/asio/detail/library.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/detail/stop_token.hpp>

namespace reprise::detail::inline REPRISE_VARIANT {

/// Where and how to wait.
struct pause_request {
    time_point until{};
    std::stop_token stop{};
    async_clock* clock = nullptr;  ///< Null: real time.
};

/// All members but `wake` and the stop callback run on the strand, so that a stop request, a signal
/// and the timer may come from different threads.
template <class Handler, class IoExecutor>
class pause_state final : public wake_target,
                          public std::enable_shared_from_this<pause_state<Handler, IoExecutor>> {
public:
    pause_state(Handler handler, const IoExecutor& executor)
        : strand_(asio::make_strand(asio::get_associated_executor(handler, executor))),
          timer_(executor),
          handler_(std::move(handler)) {}

    void connect_slot() { detail::connect_slot(this->shared_from_this(), handler_); }
    void on_signal(asio::cancellation_type_t) { cancel(); }

    void start(const pause_request& request) {
        if (request.clock != nullptr) {
            timer_.expires_at(std::chrono::steady_clock::time_point::max());
            request.clock->arm(request.until, this->weak_from_this());
        } else {
            timer_.expires_at(request.until);
        }
        timer_.async_wait(
            bound_on_strand([self = this->shared_from_this()](const asio_error_code&) mutable {
                finish(std::move(self));
            }));
        if (request.stop.stop_possible()) {
            on_stop_.emplace(request.stop, stop_request{this->weak_from_this()});
        }
    }

    void wake() noexcept override {
        // By way of the I/O executor: a handler's own executor may be the system's thread pool
        // (that of `use_future` is), on which nothing should run that was not started there.
        asio::post(timer_.get_executor(), bound_on_strand([self = this->shared_from_this()] {
                       self->timer_.cancel();
                   }));
    }

    [[nodiscard]] const auto& strand() const noexcept { return strand_; }

private:
    using executor_type = asio::associated_executor_t<Handler, IoExecutor>;
    using strand_type = asio::strand<executor_type>;

    struct stop_request {
        std::weak_ptr<pause_state> state;
        void operator()() const noexcept {
            if (auto self = state.lock()) {
                self->post_cancel();
            }
        }
    };

    template <class Function>
    [[nodiscard]] auto bound_on_strand(Function function) const {
        return bound_function<Function, strand_type, allocator_of<Handler>>{
            std::move(function), strand_, asio::get_associated_allocator(handler_)};
    }

    void post_cancel() {
        asio::post(timer_.get_executor(), bound_on_strand([self = this->shared_from_this()] {
                       self->cancel();
                   }));
    }

    void cancel() {
        canceled_ = true;
        timer_.cancel();
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
            asio::dispatch(shared->strand(), [shared, wanted] { shared->start(wanted); });
        },
        token, request);
}

}  // namespace reprise::detail::inline REPRISE_VARIANT
