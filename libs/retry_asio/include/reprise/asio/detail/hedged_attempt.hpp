#pragma once

/// One attempt of a loop that may become several at the same time. It completes with the first good
/// result, or with the last failure, when everything that it started has ended.
///
///     start -> attempt 1 ------------------------------+- good: cancel the others
///           -> [delay] -> admitted? -> attempt 2 ------+- all failed: the last failure
///                      -> [delay] -> ...

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <reprise/asio/detail/async_limited.hpp>
#include <reprise/asio/detail/async_pause.hpp>
#include <reprise/asio/detail/library.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/call_options.hpp>

namespace reprise::detail {

/// `Driver` knows the loop that the attempts belong to. It must outlive the group and has
///
/// ```
/// start_one(const attempt&, handler)   starts an attempt; handler: void(limit_result, Args...)
/// is_good(const Args&...)              whether the attempt succeeded
/// admit_one()                          the next attempt, or nothing if it is refused
/// pause_until(duration)                what the wait for the next attempt needs
/// now()
/// ```
///
/// Everything runs on the strand: attempts may end on one thread while the delay ends on another.
template <class Driver, class Handler, class IoExecutor, class... Args>
class hedge_group final
    : public std::enable_shared_from_this<hedge_group<Driver, Handler, IoExecutor, Args...>> {
public:
    using strand_type = asio::strand<asio::associated_executor_t<Handler, IoExecutor>>;

    hedge_group(
        Handler handler, const IoExecutor& executor, Driver& driver, const hedge_options& options)
        : strand_(asio::make_strand(asio::get_associated_executor(handler, executor))),
          io_executor_(executor),
          driver_(driver),
          options_(options),
          handler_(std::move(handler)) {}

    /// Before `start`, in the initiating call: no signal after that call is missed.
    void connect_slot() {
        auto slot = asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected()) {
            slot.assign([weak = this->weak_from_this()](asio::cancellation_type_t type) {
                if (auto self = weak.lock()) {
                    auto& strand = self->strand_;
                    asio::dispatch(
                        strand, [self = std::move(self), type] { self->cancel_all(type); });
                }
            });
        }
    }

    void start(const attempt& first) {
        launch(first);
        wait_for_next();
    }

    [[nodiscard]] const strand_type& strand() const noexcept { return strand_; }

private:
    using result_type = std::tuple<limit_result, Args...>;

    /// A running attempt.
    struct runner {
        asio::cancellation_signal signal;
        time_point started{};
        bool is_running = true;
    };

    /// Common to the handlers of attempts and pauses: where they run and with which memory.
    struct inner_handler {
        using executor_type = strand_type;
        using allocator_type = allocator_of<Handler>;

        std::shared_ptr<hedge_group> group;

        [[nodiscard]] executor_type get_executor() const noexcept { return group->strand_; }
        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return asio::get_associated_allocator(group->handler_);
        }
    };

    struct attempt_handler : inner_handler {
        using cancellation_slot_type = asio::cancellation_slot;
        std::size_t which;

        [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
            return this->group->runners_[which].signal.slot();
        }
        void operator()(Args... args) { (*this)(limit_result{}, std::move(args)...); }
        void operator()(limit_result limit, Args... args) {
            const auto strand = this->group->strand_;
            asio::dispatch(
                strand, [self = std::move(this->group), index = which,
                         result = result_type(limit, std::move(args)...)]() mutable {
                    self->on_ended(index, std::move(result));
                });
        }
    };

    struct pause_handler : inner_handler {
        using cancellation_slot_type = asio::cancellation_slot;

        [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
            return this->group->pause_signal_.slot();
        }
        void operator()(bool reached) { this->group->on_paused(reached); }
    };

    void launch(const attempt& next) {
        runners_.emplace_back().started = driver_.now();
        ++running_;
        driver_.start_one(next, attempt_handler{{this->shared_from_this()}, runners_.size() - 1});
    }

    void wait_for_next() {
        if (is_decided_ || running_ == 0 || runners_.size() >= options_.attempts_max) {
            return;
        }
        is_pausing_ = true;
        async_pause(
            io_executor_, driver_.pause_for(options_.current_delay()),
            pause_handler{{this->shared_from_this()}});
    }

    void on_paused(bool reached) {
        is_pausing_ = false;
        if (reached && !is_decided_ && running_ != 0) {
            if (const std::optional<attempt> next = driver_.admit_one()) {
                launch(*next);
                wait_for_next();
            }
        }
        finish_if_over();
    }

    void on_ended(std::size_t which, result_type result) {
        if (!std::exchange(runners_[which].is_running, false)) {
            return;  // An operation that completes twice; the first result counts.
        }
        --running_;
        const auto self = this->shared_from_this();  // A canceled attempt may end the group inline.
        if (!is_decided_) {
            is_decided_ = std::apply(
                [this](const limit_result&, const Args&... args) {
                    return driver_.is_good(args...);
                },
                result);
            result_.emplace(std::move(result));
            if (is_decided_) {
                if (options_.seen != nullptr) {
                    options_.seen->record(driver_.now() - runners_[which].started);
                }
                cancel_all(asio::cancellation_type::all);
            }
        }
        if (running_ == 0 && is_pausing_) {
            pause_signal_.emit(asio::cancellation_type::all);
        }
        finish_if_over();
    }

    void cancel_all(asio::cancellation_type_t type) {
        for (std::size_t index = 0; index < runners_.size(); ++index) {
            if (runners_[index].is_running) {
                runners_[index].signal.emit(type);
            }
        }
        if (is_pausing_) {
            pause_signal_.emit(asio::cancellation_type::all);
        }
    }

    void finish_if_over() {
        if (running_ != 0 || is_pausing_ || is_over_) {
            return;
        }
        is_over_ = true;
        clear_slot(handler_);
        result_type result(std::move(*result_));
        Handler handler(std::move(handler_));
        std::apply(
            [&](limit_result limit, Args&... args) {
                std::move(handler)(limit, std::move(args)...);
            },
            result);
    }

    strand_type strand_;
    IoExecutor io_executor_;
    Driver& driver_;
    hedge_options options_;
    Handler handler_;
    std::deque<runner> runners_;  // Stays in place: handlers have slots of it.
    asio::cancellation_signal pause_signal_;
    std::optional<result_type> result_;
    std::size_t running_ = 0;
    bool is_pausing_ = false;
    bool is_decided_ = false;
    bool is_over_ = false;
};

/// Completes with `void(limit_result, Args...)`.
template <class... Args, class IoExecutor, class Driver, class Token>
auto async_hedged(
    const IoExecutor& executor, Driver& driver, const hedge_options& options, const attempt& first,
    Token&& token) {
    return asio::async_initiate<Token, void(limit_result, Args...)>(
        [executor, target = &driver](
            auto handler, const hedge_options& wanted, const attempt& current) {
            using group = hedge_group<Driver, decltype(handler), IoExecutor, Args...>;
            auto shared =
                allocate_state<group>(handler, std::move(handler), executor, *target, wanted);
            shared->connect_slot();
            asio::dispatch(shared->strand(), [shared, current] { shared->start(current); });
        },
        token, options, first);
}

}  // namespace reprise::detail
