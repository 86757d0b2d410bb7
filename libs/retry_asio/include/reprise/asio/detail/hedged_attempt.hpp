#pragma once

/// One attempt of a loop that may become several at the same time. It completes with the first good
/// result, or with the last failure, when everything that it started has ended.
///
///     start -> attempt 1 ------------------------------+- good: cancel the others
///           -> [delay] -> admitted? -> attempt 2 ------+- all failed: the last failure, or the
///                      -> [delay] -> ...                  first one that forbids a retry
///
/// After a failure that forbids a retry, or with which the service asks to wait, no attempt is
/// added.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <reprise/asio/detail/async_limited.hpp>
#include <reprise/asio/detail/library.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/blocking.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/detail/compiler.hpp>

namespace reprise::detail::inline REPRISE_VARIANT {

/// One of several attempts that ran at the same time.
struct ended_attempt {
    std::uint32_t number = 1;
    bool timed_out = false;
    bool is_lost = false;  ///< Another one was better.
};

/// The facts that a failed attempt states.
struct attempt_failure {
    failure_facts facts{};
    /// Their safety was assumed, because the loop has cut the attempt short.
    bool is_assumed = false;
    std::uint32_t number = 0;  ///< Of the attempt; 0: the one that started last.
};

/// The consequence of the end of one attempt for the others.
struct attempt_verdict {
    std::optional<attempt_failure> failure{};  ///< Absent: the attempt is good.
    /// The failure forbids a retry: it is the result unless another attempt succeeds.
    bool is_final = false;

    [[nodiscard]] bool is_good() const noexcept { return !failure; }
    /// No attempt is added, also if the service has named a minimum wait.
    [[nodiscard]] bool is_last() const noexcept {
        return is_good() || is_final || failure->facts.minimum_wait.has_value();
    }
};

/// The next attempt of a hedge, or nothing if it is refused.
template <class Session, class IsCanceled>
[[nodiscard]] std::optional<attempt> admit_one_more(
    Session& session, const call_options& options, call_time time,
    const IsCanceled& is_canceled) noexcept {
    const auto now = [&time] { return time.clock().now(); };
    if (is_canceled() || !session.admit_hedge(time.context(), is_canceled, now)) {
        return std::nullopt;
    }
    return make_attempt(session, options, time);
}

/// `Driver` knows the loop that the attempts belong to. It must outlive the group and has
///
/// ```
/// start_one(const attempt&, handler)   starts an attempt; handler: void(Args...)
/// on_one_ended(const ended_attempt&, const kept_result<Args...>&)   the `attempt_verdict`
/// on_group_ended(const std::optional<attempt_failure>&)   the outcome of the result that follows
/// admit_one()                          the next attempt, or nothing if it is refused
/// pause_until(time_point)              what the wait for the next attempt needs
/// now()
/// ```
///
/// Everything runs on the strand: attempts may end on one thread while the delay ends on another.
template <class Driver, class Handler, class IoExecutor, class... Args>
class hedge_group final : public linked_state<hedge_group<Driver, Handler, IoExecutor, Args...>> {
public:
    using strand_type = asio::strand<asio::associated_executor_t<Handler, IoExecutor>>;
    using io_executor_type = IoExecutor;

    hedge_group(
        Handler handler, const IoExecutor& executor, Driver& driver, const hedge_options& options)
        : strand_(asio::make_strand(asio::get_associated_executor(handler, executor))),
          io_executor_(executor),
          driver_(driver),
          options_(options),
          handler_(std::move(handler)) {}

    void connect_slot() { linked_state<hedge_group>::connect_slot(handler_); }
    static void on_signal(std::shared_ptr<hedge_group> self, asio::cancellation_type_t type) {
        run(std::move(self), [type](hedge_group& group) { group.cancel_all(type); });
    }

    static void start(std::shared_ptr<hedge_group> self, const attempt& first) {
        run(std::move(self), [&first](hedge_group& group) {
            group.launch(first);
            group.wait_for_next();
        });
    }

    [[nodiscard]] const strand_type& strand() const noexcept { return strand_; }
    [[nodiscard]] const IoExecutor& io_executor() const noexcept { return io_executor_; }

private:
    using place_type = call_place<strand_type, allocator_of<Handler>>;

    /// A running attempt.
    struct runner {
        asio::cancellation_signal signal;
        std::uint32_t number = 1;
        time_point started{};
        bool is_running = true;
        std::atomic<bool> has_completed{false};  // Its result may still be on its way.
    };

    /// Code that may end an attempt runs in this: initiating functions, cancellations, and calls of
    /// strategies and observers. The group ends when that has returned, because the loop, whose
    /// functions may be running, ends with it. By then nothing is left in the handler's memory.
    template <class Work>
    static void run(std::shared_ptr<hedge_group> self, Work work) {
        const bool is_outermost = !std::exchange(self->is_busy_, true);
        work(*self);
        if (!is_outermost) {
            return;
        }
        self->is_busy_ = false;
        if (self->running_ == 0 && !self->is_pausing_ && !std::exchange(self->has_ended_, true)) {
            finish(std::move(self));
        }
    }

    [[nodiscard]] place_type place(asio::cancellation_slot slot) const noexcept {
        return {strand_, asio::get_associated_allocator(handler_), slot};
    }

    void launch(const attempt& next) {
        runner& added = runners_.emplace_back();
        added.number = next.number;
        added.started = driver_.now();
        ++running_;
        const std::uint64_t which = runners_.size() - 1;
        attempt_handler<place_type, Args...> handler{
            place(added.signal.slot()),
            continue_with<&hedge_group::on_ended>::of(this->shared_from_this()), which};
        handler.has_completed = &added.has_completed;
        try {
            driver_.start_one(next, std::move(handler));
        } catch (...) {
            if constexpr (carries_exception<Args...>) {
                on_ended(
                    this->shared_from_this(),
                    {which, limit_result{}, failed_to_start<Args...>(std::current_exception())});
            } else {
                throw;
            }
        }
    }

    void wait_for_next() {
        if (!may_add_ || running_ == 0 || runners_.size() >= options_.attempts_max) {
            return;
        }
        is_pausing_ = true;
        try {
            async_pause(
                io_executor_,
                driver_.pause_until(driver::add_saturated(driver_.now(), options_.current_delay())),
                pause_handler<place_type>{
                    place(pause_signal_.slot()),
                    continue_with<&hedge_group::on_paused>::of(this->shared_from_this())});
        } catch (...) {  // No memory for the wait: the running attempts remain the only ones.
            is_pausing_ = false;
            may_add_ = false;
        }
    }

    static void on_paused(std::shared_ptr<hedge_group> self, bool reached) {
        run(std::move(self), [reached](hedge_group& group) {
            group.is_pausing_ = false;
            if (!reached || !group.may_add_ || group.running_ == 0) {
                return;
            }
            if (const std::optional<attempt> next = group.driver_.admit_one()) {
                group.launch(*next);
                group.wait_for_next();
            }
        });
    }

    static void on_ended(std::shared_ptr<hedge_group> self, attempt_end<Args...> end) {
        run(std::move(self), [&end](hedge_group& group) { group.take(std::move(end)); });
    }

    void take(attempt_end<Args...> end) {
        runner& ended = runners_[end.which];
        if (!std::exchange(ended.is_running, false)) {
            return;  // An operation that completes twice; the first result counts.
        }
        --running_;
        const attempt_verdict verdict =
            driver_.on_one_ended({ended.number, end.limit.timed_out, is_decided_}, end.result);
        if (!is_decided_) {
            record_first(ended, verdict.is_good(), end.limit.timed_out);
            keep(std::move(end), verdict);
        }
        if (running_ == 0 && is_pausing_) {
            pause_signal_.emit(asio::cancellation_type::all);
        }
    }

    void keep(attempt_end<Args...> end, const attempt_verdict& verdict) {
        if (verdict.is_good() || !is_final_) {
            last_.emplace(std::move(end));
            outcome_ = verdict.failure;
        }
        is_decided_ = verdict.is_good();
        is_final_ = is_final_ || verdict.is_final;
        if (verdict.is_last()) {
            may_add_ = false;
        }
        if (verdict.is_good()) {
            cancel_all(asio::cancellation_type::all);
        }
    }

    /// Records the first attempt when it has ended, or when another one wins and it is canceled
    /// next. An early failure is no evidence of how long a good attempt takes.
    void record_first(const runner& ended, bool is_good, bool timed_out) {
        if (options_.seen == nullptr) {
            return;
        }
        const runner& first = runners_.front();
        const bool is_first = &ended == &first;
        if (is_first && is_good) {
            options_.seen->record(driver::time_between(first.started, driver_.now()));
        } else if (is_first ? timed_out : is_good && first.is_running) {
            options_.seen->record_unfinished();
        }
        options_.seen->bound(options_.seen_max);
    }

    void cancel_all(asio::cancellation_type_t type) {
        for (runner& each : runners_) {
            if (each.is_running && !each.has_completed.load(std::memory_order_acquire)) {
                each.signal.emit(type);
            }
        }
        if (is_pausing_) {
            pause_signal_.emit(asio::cancellation_type::all);
        }
    }

    static void finish(std::shared_ptr<hedge_group> self) {
        clear_slot(self->handler_);
        self->driver_.on_group_ended(self->outcome_);
        attempt_end<Args...> last(std::move(*self->last_));
        Handler handler(std::move(self->handler_));
        self.reset();
        std::move(handler)(last.limit, std::move(last.result));
    }

    strand_type strand_;
    IoExecutor io_executor_;
    Driver& driver_;
    hedge_options options_;
    Handler handler_;
    std::deque<runner> runners_;  // Stays in place: handlers have slots of it.
    asio::cancellation_signal pause_signal_;
    std::optional<attempt_end<Args...>> last_;  // The result of the group so far.
    std::optional<attempt_failure> outcome_;    // Of `last_`; absent if it is good.
    std::size_t running_ = 0;
    bool is_pausing_ = false;
    bool is_busy_ = false;     // With something that may end an attempt.
    bool is_decided_ = false;  // An attempt has succeeded.
    bool is_final_ = false;    // An attempt has failed in a way that forbids a retry.
    bool may_add_ = true;
    bool has_ended_ = false;
};

/// Completes with `void(limit_result, kept_result<Args...>)`.
template <class... Args, class IoExecutor, class Driver, class Token>
auto async_hedged(
    const IoExecutor& executor, Driver& driver, const hedge_options& options, const attempt& first,
    Token&& token) {
    return asio::async_initiate<Token, void(limit_result, kept_result<Args...>)>(
        [executor, target = &driver](
            auto handler, const hedge_options& wanted, const attempt& current) {
            using group = hedge_group<Driver, decltype(handler), IoExecutor, Args...>;
            auto shared =
                allocate_state<group>(handler, std::move(handler), executor, *target, wanted);
            shared->connect_slot();
            const auto strand = shared->strand();
            asio::dispatch(strand, [self = std::move(shared), current]() mutable {
                group::start(std::move(self), current);
            });
        },
        token, options, first);
}

}  // namespace reprise::detail::inline REPRISE_VARIANT
