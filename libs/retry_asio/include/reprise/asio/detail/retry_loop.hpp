#pragma once

/// The completion-token loop behind `async_retry`. It decides nothing: `retry_session` does.
///
///     start -> [pause] -> start_attempt -> on_result -> settle -> follow -+-> complete
///                              ^                          |         ^     |
///                              |                          +-> [wait for   |
///                              |                               an answer] |
///                              +------------ on_paused <- pause <---------+
///
/// One inner operation is outstanding at any time (an attempt or a pause), and it owns the loop. So
/// a context that is destroyed destroys the loop and its handler.

#include <atomic>
#include <concepts>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <reprise/asio/detail/async_limited.hpp>
#include <reprise/asio/detail/async_pause.hpp>
#include <reprise/asio/detail/hedged_attempt.hpp>
#include <reprise/asio/detail/library.hpp>
#include <reprise/asio/error_facts.hpp>
#include <reprise/retry/blocking.hpp>

namespace reprise::detail {

/// A parameter that is a `call_options` and knows whether it is a temporary. Braced initialisers
/// work as well: they take the default argument.
template <class Given>
concept call_options_argument = std::same_as<std::remove_cvref_t<Given>, call_options>;

/// An attempt that the loop has cut short counts as a timeout, whatever error it reports about it;
/// whether it reached the service is unknown unless the operation says more.
[[nodiscard]] inline failure_facts after_limit(failure_facts facts, bool timed_out) noexcept {
    if (timed_out) {
        facts.timeout = true;
        if (!facts.safety) {
            facts.safety = retry_safety::maybe;
        }
    }
    return facts;
}

/// The completion arguments that a fallback stands for.
template <class First, class... Rest, class Initiate>
[[nodiscard]] std::tuple<First, Rest...> recovered_completion(
    Initiate& initiate, const failure_view& failure) {
    using given = decltype(initiate.recover(failure));
    if constexpr (std::is_convertible_v<given, std::tuple<First, Rest...>>) {
        return initiate.recover(failure);
    } else if constexpr (sizeof...(Rest) == 0 && !std::is_void_v<given>) {
        return {recovered<First>(initiate, failure)};
    } else if constexpr (sizeof...(Rest) == 0) {
        initiate.recover(failure);
        return {First{}};
    } else {
        static_assert(
            sizeof...(Rest) == 1,
            "with several completion arguments after the first, the fallback yields a std::tuple "
            "of all of them");
        return {First{}, recovered<Rest...>(initiate, failure)};
    }
}

/// `Kept` is the strategy by value or by reference (`kept_strategy`).
template <class Kept, class Initiate, class Handler, class IoExecutor, class First, class... Rest>
class retry_loop final : public std::enable_shared_from_this<
                             retry_loop<Kept, Initiate, Handler, IoExecutor, First, Rest...>> {
public:
    retry_loop(
        Handler handler, const IoExecutor& executor, const strategy_holder<Kept>& strategy,
        const call_options& options, Initiate initiate)
        : strategy_(strategy),
          options_(options),
          clock_(async_clock_of(options_.clock)),
          time_(options_),
          session_(strategy_.strategy, options_),
          io_work_(executor),
          handler_work_(asio::get_associated_executor(handler, executor)),
          initiate_(std::move(initiate)),
          handler_(std::move(handler)),
          // Every kind of cancellation is wanted here and passed on to the attempt unchanged.
          cancellation_(
              asio::get_associated_cancellation_slot(handler_), asio::enable_total_cancellation()) {
    }

    void start() {
        session_.set_deadline(time_.deadline());
        const duration delay = session_.begin(time_.context_if(session_.needs_time()));
        if (delay <= duration::zero()) {
            start_attempt();
        } else if (options_.stop.stop_requested()) {
            // Nothing has been suspended yet, and a handler never runs inside its initiating call.
            post([self = this->shared_from_this()]() mutable {
                complete_canceled(std::move(self));
            });
        } else {
            const time_point now = time_.clock().now();
            pause(add_saturated(now, std::min(delay, time_left(now, session_.deadline()))));
        }
    }

private:
    using executor_type = asio::associated_executor_t<Handler, IoExecutor>;
    using result_type = std::tuple<First, Rest...>;

    /// Whether the operation completes while it is still being started (it should not, but some
    /// do).
    enum class phase : std::uint8_t { starting, started, completed };

    /// Common to the handlers of attempts and pauses: where they run and what cancels them.
    struct inner_handler {
        using executor_type = retry_loop::executor_type;
        using allocator_type = allocator_of<Handler>;
        using cancellation_slot_type = asio::cancellation_slot;

        std::shared_ptr<retry_loop> loop;

        [[nodiscard]] executor_type get_executor() const noexcept { return loop->get_executor(); }
        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return asio::get_associated_allocator(loop->handler_);
        }
        [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
            return loop->cancellation_.slot();
        }
    };

    struct attempt_handler : inner_handler {
        std::uint64_t started_as;

        void operator()(First first, Rest... rest) {
            (*this)(limit_result{}, std::move(first), std::move(rest)...);
        }
        void operator()(limit_result limit, First first, Rest... rest) {
            // Inline for operations that keep to the handler's executor; others are brought back.
            const auto executor = this->get_executor();
            asio::dispatch(
                executor, [self = std::move(this->loop), which = started_as, limit,
                           result = result_type(std::move(first), std::move(rest)...)]() mutable {
                    on_result(std::move(self), which, limit, std::move(result));
                });
        }
    };

    struct pause_handler : inner_handler {
        void operator()(bool reached) { on_paused(std::move(this->loop), reached); }
    };

    struct answer_handler : inner_handler {
        void operator()(bool) { on_answered(std::move(this->loop)); }
    };

    [[nodiscard]] executor_type get_executor() const noexcept {
        return handler_work_.get_executor();
    }
    /// To the handler's executor, by way of the I/O executor (see `pause_state::wake`).
    template <class Function>
    void post(Function function) {
        asio::post(
            io_work_.get_executor(),
            bound_function<Function, executor_type, allocator_of<Handler>>{
                std::move(function), get_executor(), asio::get_associated_allocator(handler_)});
    }
    [[nodiscard]] bool is_canceled() const noexcept {
        return cancellation_.cancelled() != asio::cancellation_type::none ||
               options_.stop.stop_requested();
    }

    void start_attempt() {
        if (!session_.try_start_attempt(time_.context_if(session_.needs_time()))) {
            // Possibly inside the initiating call, where a handler never runs.
            post([self = this->shared_from_this()]() mutable { refuse(std::move(self)); });
            return;
        }
        const attempt current = make_attempt(session_, options_, time_);
        phase_.store(phase::starting, std::memory_order_relaxed);
        result_.reset();
        attempt_handler handler{{this->shared_from_this()}, ++attempts_started_};
        const auto self = this->shared_from_this();  // The attempt may end before this returns.
        try {
            initiate(current, std::move(handler));
        } catch (...) {
            if constexpr (carries_exception<First, Rest...>) {
                on_result(
                    self, attempts_started_, limit_result{},
                    failed_to_start<First, Rest...>(std::current_exception()));
            } else {
                throw;
            }
        }
        if (phase_.exchange(phase::started, std::memory_order_acq_rel) == phase::completed) {
            post([loop = self]() mutable { settle(std::move(loop)); });
        }
    }

    void initiate(const attempt& current, attempt_handler handler) {
        if constexpr (is_hedged<Initiate>) {
            async_hedged<First, Rest...>(
                io_work_.get_executor(), *this, initiate_.hedging(), current, std::move(handler));
        } else {
            start_one(current, std::move(handler));
        }
    }

public:  // What a group of hedged attempts asks its driver.
    template <class OneHandler>
    void start_one(const attempt& current, OneHandler handler) {
        if (current.deadline == no_deadline) {
            initiate_(current, std::move(handler));
            return;
        }
        // The limited attempt may start later, on the executor: it takes a copy of what it needs.
        async_limited<First, Rest...>(
            io_work_.get_executor(), limit_request{current.deadline, clock_},
            [self = this->shared_from_this(), current](auto limited) {
                self->initiate_(current, std::move(limited));
            },
            std::move(handler));
    }

    [[nodiscard]] bool is_good(const First& first, const Rest&...) const noexcept {
        return !failure_in(initiate_, first);
    }
    [[nodiscard]] std::optional<attempt> admit_one() noexcept {
        if (is_canceled() || !session_.admit_hedge(time_.context())) {
            return std::nullopt;
        }
        return make_attempt(session_, options_, time_);
    }
    [[nodiscard]] pause_request pause_for(duration delay) const {
        return {add_saturated(now(), delay), options_.stop, clock_};
    }
    [[nodiscard]] time_point now() const noexcept { return time_.clock().now(); }

private:
    static void on_result(
        std::shared_ptr<retry_loop> self, std::uint64_t which, limit_result limit,
        result_type result) {
        if (which != self->attempts_started_ || self->result_) {
            return;  // An operation that completes twice; the first result counts.
        }
        self->result_.emplace(std::move(result));
        self->timed_out_ = limit.timed_out;
        if (self->phase_.exchange(phase::completed, std::memory_order_acq_rel) == phase::started) {
            settle(std::move(self));
        }
    }

    /// The attempt has ended: asks the session what to do and does it.
    static void settle(std::shared_ptr<retry_loop> self) {
        if (auto slot = self->cancellation_.slot(); slot.is_connected()) {
            slot.clear();  // The attempt's; a late signal must not reach a finished operation.
        }
        const First& first = std::get<0>(*self->result_);
        auto& session = self->session_;
        const std::optional<failure_facts> failure = failure_in(self->initiate_, first);
        if (!failure) {
            session.on_success(self->time_.context_if(session.needs_time()));
            complete(std::move(self));
            return;
        }
        const decision_context failed_at = self->time_.context();
        const retry_step next = session.on_failure(
            after_limit(*failure, self->timed_out_), failed_at, self->is_canceled(),
            view_of(self->initiate_, first));
        if (next.is_deferred) {
            self->wait_for_answer();
        } else {
            follow(std::move(self), next, failed_at.now);
        }
    }

    /// Does what the session decided.
    static void follow(
        std::shared_ptr<retry_loop> self, const retry_step& next, time_point decided_at) {
        if (!next.is_retry) {
            if (next.refusal != refusal_reason::canceled) {
                self->recover(view_of(self->initiate_, std::get<0>(*self->result_)));
            }
            complete(std::move(self));
        } else if (next.wait <= duration::zero()) {
            on_paused(std::move(self), true);
        } else {
            self->pause(add_saturated(decided_at, next.wait));
        }
    }

    void pause(time_point until) {
        pause_handler handler{{this->shared_from_this()}};
        const pause_request request{until, options_.stop, clock_};
        async_pause(io_work_.get_executor(), request, std::move(handler));
    }

    /// A pause that the answer of the strategy ends.
    void wait_for_answer() {
        answer_handler handler{{this->shared_from_this()}};
        const pause_request request{session_.deadline(), session_.answer_stop(), clock_};
        async_pause(io_work_.get_executor(), request, std::move(handler));
    }

    static void on_answered(std::shared_ptr<retry_loop> self) {
        const time_point now = self->time_.clock().now();
        const retry_step next = self->session_.on_answer(now, self->is_canceled());
        follow(std::move(self), next, now);
    }

    static void on_paused(std::shared_ptr<retry_loop> self, bool reached) {
        if (reached && !self->is_canceled()) {
            self->start_attempt();
        } else if (self->result_) {
            self->session_.on_canceled_wait(self->time_.clock().now());
            complete(std::move(self));
        } else {
            complete_canceled(std::move(self));
        }
    }

    /// Puts the fallback's value in place of the last failure.
    void recover([[maybe_unused]] const failure_view& failure) {
        if constexpr (has_fallback<Initiate>) {
            result_.emplace(recovered_completion<First, Rest...>(initiate_, failure));
        }
    }

    static void complete_canceled(std::shared_ptr<retry_loop> self) {
        self->session_.on_canceled_start(self->time_.clock().now());
        self->result_.emplace(
            unattempted_outcome<First>::make(refusal_reason::canceled), Rest{}...);
        complete(std::move(self));
    }

    /// A circuit breaker has refused the next attempt.
    static void refuse(std::shared_ptr<retry_loop> self) {
        if (self->result_) {
            self->recover(view_of(self->initiate_, std::get<0>(*self->result_)));
        } else {
            self->result_.emplace(
                unattempted_outcome<First>::make(refusal_reason::circuit_open), Rest{}...);
            self->recover(failure_view{});
        }
        complete(std::move(self));
    }

    /// The loop's memory is given back before the handler runs, which may start the next one in it.
    static void complete(std::shared_ptr<retry_loop> self) {
        clear_slot(self->handler_);
        result_type result(std::move(*self->result_));
        Handler handler(std::move(self->handler_));
        self.reset();
        std::apply(std::move(handler), std::move(result));
    }

    strategy_holder<Kept> strategy_;
    const call_options options_;
    async_clock* clock_;
    const call_time time_;
    retry_session<std::remove_reference_t<Kept>> session_;
    asio::executor_work_guard<IoExecutor> io_work_;
    asio::executor_work_guard<executor_type> handler_work_;
    Initiate initiate_;
    Handler handler_;
    asio::cancellation_state cancellation_;
    std::optional<result_type> result_;
    std::uint64_t attempts_started_ = 0;
    std::atomic<phase> phase_{phase::started};
    bool timed_out_ = false;
};

}  // namespace reprise::detail
