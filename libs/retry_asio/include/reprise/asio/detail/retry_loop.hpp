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
///
/// A function that starts an inner operation passes ownership of the loop to it: on another thread
/// that operation may end, and the handler may run, before the function returns.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <reprise/asio/detail/async_limited.hpp>
#include <reprise/asio/detail/hedged_attempt.hpp>
#include <reprise/asio/detail/library.hpp>
#include <reprise/asio/error_facts.hpp>
#include <reprise/retry/blocking.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>

namespace reprise::detail::inline REPRISE_VARIANT {

/// `async_call_options`, as users call them.
using owned_options = driver::basic_call_options<driver::held_by_ownership>;

/// The same options for a loop that lives no longer than `own`. A member that is forgotten here
/// does not compile.
[[nodiscard]] inline call_options as_call_options(const owned_options& own) noexcept {
    const auto& [deadline, timeout, limit, repeat, stop, outer, history, name, clock, random] = own;
    return {deadline,    timeout,       limit, repeat,      stop,
            outer.get(), history.get(), name,  clock.get(), random.get()};
}

/// A parameter that is an `async_call_options` and records whether it was a temporary. Braced
/// initialisers work as well: they take the default argument. `call_options` are refused later,
/// with a readable error.
template <class Given>
concept call_options_argument = std::same_as<std::remove_cvref_t<Given>, owned_options> ||
                                std::same_as<std::remove_cvref_t<Given>, call_options>;

template <class Given>
constexpr void check_options_argument() noexcept {
    static_assert(
        !std::same_as<std::remove_cvref_t<Given>, call_options>,
        "call_options are for calls that block: what they point to could be gone when this one "
        "completes. Use reprise::async_call_options.");
}

/// An attempt that the loop has cut short counts as a timeout, whatever error it reports about it;
/// whether it reached the service is unknown unless the operation's own facts state it.
[[nodiscard]] inline attempt_failure after_limit(failure_facts facts, bool timed_out) noexcept {
    const bool is_assumed = timed_out && !facts.safety && facts.fault != failure_fault::client;
    facts.timeout = facts.timeout || timed_out;
    if (is_assumed) {
        facts.safety = retry_safety::maybe;
    }
    return {facts, is_assumed};
}

/// Completion arguments produced by the fallback.
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
        owned_options options, Initiate initiate)
        : strategy_(strategy),
          owned_(std::move(options)),
          options_(as_call_options(owned_)),
          clock_(driver::async_clock_of(options_.clock)),
          time_(options_),
          session_(strategy_.strategy, options_),
          io_work_(executor),
          handler_work_(asio::get_associated_executor(handler, executor)),
          initiate_(std::move(initiate)),
          handler_(std::move(handler)),
          // Accepts every kind of cancellation; each is passed on to the attempt unchanged.
          cancellation_(
              asio::get_associated_cancellation_slot(handler_), asio::enable_total_cancellation()) {
    }

    /// `is_canceled`: the caller asked to stop before the loop started.
    static void start(std::shared_ptr<retry_loop> self, bool is_canceled = false) {
        auto& session = self->session_;
        session.set_deadline(self->time_.deadline());
        const duration delay =
            session.on_start(self->time_.context_if(session.needs_start_time(), session));
        if (is_canceled || (delay > duration::zero() && self->is_canceled())) {
            // Nothing has been suspended yet, and a handler never runs inside its initiating call.
            post<&retry_loop::complete_canceled>(std::move(self));
        } else if (delay <= duration::zero()) {
            start_attempt(std::move(self));
        } else {
            const time_point now = self->time_.clock().now();
            const duration left = driver::time_left(now, session.deadline());
            pause(std::move(self), driver::add_saturated(now, std::min(delay, left)));
        }
    }

private:
    using executor_type = asio::associated_executor_t<Handler, IoExecutor>;
    using result_type = kept_result<First, Rest...>;
    using place_type = call_place<executor_type, allocator_of<Handler>>;
    using attempt_handler_type = attempt_handler<place_type, First, Rest...>;

    /// Whether the operation completes while it is still being started: inside its initiating
    /// function (it should not, but some do) or on another thread. Not in the handler's memory: the
    /// function that starts an attempt needs it after it has given the loop away.
    class start_state {
    public:
        void begin() noexcept { phase_.store(phase::starting, std::memory_order_relaxed); }
        /// The attempt has been started. Its loop, if it has ended by now.
        [[nodiscard]] std::shared_ptr<retry_loop> leave() noexcept {
            const phase before = phase_.exchange(phase::started, std::memory_order_acq_rel);
            return before == phase::completed ? std::move(ended_) : nullptr;
        }
        /// The attempt has ended. Its loop, unless `leave` returns it.
        [[nodiscard]] std::shared_ptr<retry_loop> end(std::shared_ptr<retry_loop> loop) noexcept {
            phase before = phase_.load(std::memory_order_acquire);
            if (before == phase::starting) {
                ended_ = std::move(loop);
                before = phase_.exchange(phase::completed, std::memory_order_acq_rel);
                return before == phase::started ? std::move(ended_) : nullptr;
            }
            phase_.store(phase::completed, std::memory_order_relaxed);
            return before == phase::started ? std::move(loop) : nullptr;
        }

    private:
        enum class phase : std::uint8_t { starting, started, completed };

        std::atomic<phase> phase_{phase::started};
        std::shared_ptr<retry_loop> ended_;
    };

    [[nodiscard]] executor_type get_executor() const noexcept {
        return handler_work_.get_executor();
    }
    /// The executor of attempts and pauses, and their cancellation.
    [[nodiscard]] place_type place() const noexcept {
        return {get_executor(), asio::get_associated_allocator(handler_), cancellation_.slot()};
    }
    /// To the handler's executor, by way of the I/O executor (see `state_link::post`).
    template <auto Function>
    static void post(std::shared_ptr<retry_loop> self) {
        const IoExecutor io = self->io_work_.get_executor();
        const executor_type where = self->get_executor();
        const allocator_of<Handler> memory = asio::get_associated_allocator(self->handler_);
        auto next = continue_with<Function>::of(std::move(self));
        asio::post(
            io, bound_function<decltype(next), executor_type, allocator_of<Handler>>{
                    std::move(next), where, memory});
    }
    [[nodiscard]] bool is_canceled() const noexcept {
        return cancellation_.cancelled() != asio::cancellation_type::none ||
               options_.stop.stop_requested();
    }

    static void start_attempt(std::shared_ptr<retry_loop> self) {
        auto& session = self->session_;
        if (!session.try_start_attempt(
                self->time_.context_if(session.needs_attempt_time(), session))) {
            // Possibly inside the initiating call, where a handler never runs.
            post<&retry_loop::refuse>(std::move(self));
            return;
        }
        const std::shared_ptr<start_state> starting = self->starting_;
        starting->begin();
        try {
            self->make_attempt_now();
        } catch (...) {
            self.reset();
            static_cast<void>(starting->leave());  // If it has ended nevertheless, nothing follows.
            throw;
        }
        self.reset();
        if (auto ended = starting->leave()) {
            post<&retry_loop::settle>(std::move(ended));
        }
    }

    void make_attempt_now() {
        const attempt current = make_attempt(session_, options_, time_);
        result_ = {};
        hedged_outcome_.reset();
        longest_wait_.reset();
        attempt_handler_type handler{
            place(), continue_with<&retry_loop::on_result>::of(this->shared_from_this()),
            ++attempts_started_};
        try {
            initiate(current, std::move(handler));
        } catch (...) {
            if constexpr (carries_exception<First, Rest...>) {
                on_result(
                    this->shared_from_this(),
                    {attempts_started_, limit_result{},
                     failed_to_start<First, Rest...>(std::current_exception())});
            } else {
                throw;
            }
        }
    }

    void initiate(const attempt& current, attempt_handler_type handler) {
        if constexpr (is_hedged<Initiate>) {
            async_hedged<First, Rest...>(
                io_work_.get_executor(), *this, initiate_.hedging(), current, std::move(handler));
        } else {
            start_one(current, std::move(handler));
        }
    }

    /// Starts an attempt that has a limit.
    struct limited_start {
        std::shared_ptr<retry_loop> owner;

        template <class LimitedHandler>
        static void start(retry_loop& loop, const attempt& current, LimitedHandler handler) {
            loop.call_initiate(current, std::move(handler));
        }
    };

    /// An exception of the initiating function ends the call if no result can carry it. Observers
    /// and the circuit breaker are notified here, because nothing else follows.
    template <class OneHandler>
    void call_initiate(const attempt& current, OneHandler handler) {
        if constexpr (carries_exception<First, Rest...>) {
            initiate_(current, std::move(handler));
        } else {
            try {
                initiate_(current, std::move(handler));
            } catch (...) {
                abandon(std::current_exception());
                throw;
            }
        }
    }

    void abandon(const std::exception_ptr& thrown) noexcept {
        if (std::exchange(has_ended_, true)) {
            return;
        }
        const driver::decision_context at = time_.context();
        const driver::retry_step step = session_.on_failure(
            {.safety = retry_safety::no}, at, is_canceled(), failure_view::of(thrown));
        if (step.is_deferred) {
            static_cast<void>(session_.on_answer(at.now, true));
        }
    }

public:  // The interface of a group of hedged attempts to its driver.
    template <class OneHandler>
    void start_one(const attempt& current, OneHandler handler) {
        if (current.deadline == driver::no_deadline) {
            call_initiate(current, std::move(handler));
            return;
        }
        async_limited<First, Rest...>(
            io_work_.get_executor(), limit_request{current, clock_},
            limited_start{this->shared_from_this()}, std::move(handler));
    }

    [[nodiscard]] attempt_verdict on_one_ended(
        const ended_attempt& ended, const result_type& result) noexcept {
        attempt_verdict verdict{.failure = failure_of(result, ended.timed_out)};
        if (!verdict.failure) {
            session_.on_one_succeeded(ended.number);
            return verdict;
        }
        verdict.failure->number = ended.number;
        const driver::failed_attempt failed{
            .facts = verdict.failure->facts,
            .failure = view_of_result(result),
            .is_canceled = is_canceled(),
            .is_assumed = verdict.failure->is_assumed,
            .reached_limit = ended.timed_out,
            .number = ended.number};
        const driver::decision_context at = time_.context();
        verdict.failure->facts.minimum_wait = session_.minimum_wait(failed, at);
        longest_wait_ = std::max(longest_wait_, verdict.failure->facts.minimum_wait);
        verdict.is_final = session_.on_one_failed(failed, ended.is_lost, at);
        return verdict;
    }
    /// The group completes next, with a result of this outcome.
    void on_group_ended(const std::optional<attempt_failure>& failure) noexcept {
        hedged_outcome_.emplace(failure);
    }
    [[nodiscard]] std::optional<attempt> admit_one() noexcept {
        return admit_one_more(session_, options_, time_, [this] { return is_canceled(); });
    }
    [[nodiscard]] pause_request pause_until(time_point until) const {
        return {until, options_.stop, clock_};
    }
    [[nodiscard]] time_point now() const noexcept { return time_.clock().now(); }

private:
    static void on_result(std::shared_ptr<retry_loop> self, attempt_end<First, Rest...> end) {
        if (self->has_ended_ || end.which != self->attempts_started_ || !self->result_.is_empty()) {
            return;  // An operation that completes twice; the first result counts.
        }
        self->clear_attempt_slot();
        self->result_ = std::move(end.result);
        self->timed_out_ = end.limit.timed_out;
        start_state& starting = *self->starting_;
        if (auto ended = starting.end(std::move(self))) {
            settle(std::move(ended));
        }
    }

    /// A late signal must not reach an operation that has ended.
    void clear_attempt_slot() noexcept {
        if (auto slot = cancellation_.slot(); slot.is_connected()) {
            slot.clear();
        }
    }

    /// The attempt has ended: the session decides what to do next.
    static void settle(std::shared_ptr<retry_loop> self) {
        self->clear_attempt_slot();  // An operation may have filled it after its start.
        auto& session = self->session_;
        const std::optional<attempt_failure> failure =
            self->hedged_outcome_ ? *self->hedged_outcome_
                                  : self->failure_of(self->result_, self->timed_out_);
        if (!failure) {
            session.on_success(self->time_.context_if(session.needs_success_time(), session));
            complete(std::move(self));
            return;
        }
        const driver::decision_context failed_at = self->time_.context();
        driver::failed_attempt failed{
            .facts = failure->facts,
            .failure = self->view(),
            .is_canceled = self->is_canceled(),
            .is_noted = self->hedged_outcome_.has_value(),
            .is_assumed = failure->is_assumed,
            .reached_limit = self->timed_out_ && !self->hedged_outcome_,
            .number = failure->number};
        failed.facts.minimum_wait = std::max(failed.facts.minimum_wait, self->longest_wait_);
        const driver::retry_step next = session.on_failed_attempt(failed, failed_at);
        if (!next.is_deferred) {
            follow(std::move(self), next, failed_at.now);
        } else if (self->is_canceled()) {
            on_answered(std::move(self), false);  // By the strategy, before it deferred.
        } else {
            wait_for_answer(std::move(self));
        }
    }

    /// Does what the session decided.
    static void follow(
        std::shared_ptr<retry_loop> self, const driver::retry_step& next, time_point decided_at) {
        if (!next.is_retry) {
            give_up(std::move(self));
        } else if (next.wait <= duration::zero() || self->is_canceled()) {
            // Canceled during the decision: that signal would not end a pause that starts now.
            on_paused(std::move(self), true);
        } else {
            pause(std::move(self), driver::add_saturated(decided_at, next.wait));
        }
    }

    static void pause(std::shared_ptr<retry_loop> self, time_point until) {
        const pause_request wanted = self->pause_until(until);
        wait<&retry_loop::on_paused>(std::move(self), wanted);
    }

    /// A pause that the answer of the strategy ends.
    static void wait_for_answer(std::shared_ptr<retry_loop> self) {
        auto& session = self->session_;
        const pause_request wanted{session.deadline(), session.answer_stop(), self->clock_};
        wait<&retry_loop::on_answered>(std::move(self), wanted);
    }

    template <auto Function>
    static void wait(std::shared_ptr<retry_loop> self, const pause_request& wanted) {
        const IoExecutor io = self->io_work_.get_executor();
        const place_type where = self->place();
        async_pause(
            io, wanted,
            pause_handler<place_type>{where, continue_with<Function>::of(std::move(self))});
    }

    static void on_answered(std::shared_ptr<retry_loop> self, bool) {
        const time_point now = self->time_.clock().now();
        const driver::retry_step next = self->session_.on_answer(now, self->is_canceled());
        follow(std::move(self), next, now);
    }

    static void on_paused(std::shared_ptr<retry_loop> self, bool reached) {
        const bool is_retry = !self->result_.is_empty();
        if (reached && is_retry && !self->is_canceled() &&
            self->session_.deadline() != driver::no_deadline &&
            !self->session_.may_start_retry(self->time_.clock().now())) {
            give_up(std::move(self));  // The pause or the decision took longer than planned.
        } else {
            start_retry(std::move(self), reached);
        }
    }

    /// The next attempt, unless the caller has canceled it.
    static void start_retry(std::shared_ptr<retry_loop> self, bool reached) {
        if (reached && !self->is_canceled()) {
            start_attempt(std::move(self));
        } else if (!self->result_.is_empty()) {
            self->session_.on_canceled_wait(self->time_.clock().now());
            complete(std::move(self));
        } else {
            complete_canceled(std::move(self));
        }
    }

    /// Completes with the last failure, or the fallback's value in its place. A caller that has
    /// asked to stop gets no fallback.
    static void give_up(std::shared_ptr<retry_loop> self) {
        if (!self->is_canceled()) {
            self->recover(self->view());
        }
        complete(std::move(self));
    }

    /// The last failure, for strategies and fallbacks.
    [[nodiscard]] failure_view view() const noexcept { return view_of_result(result_); }

    /// The facts of an attempt that failed; absent after a success. A result that threw while it
    /// was moved may have been a success, so it is final.
    [[nodiscard]] std::optional<attempt_failure> failure_of(
        const result_type& result, bool timed_out) const noexcept {
        if (result.lost() != nullptr) {
            return attempt_failure{{.safety = retry_safety::no}};
        }
        const std::optional<failure_facts> facts =
            failure_with_thrown(initiate_, std::get<0>(*result));
        return facts ? std::optional(after_limit(*facts, timed_out)) : std::nullopt;
    }
    [[nodiscard]] failure_view view_of_result(const result_type& result) const noexcept {
        if (result.lost() != nullptr) {
            return failure_view::of(result.lost());
        }
        const First& first = std::get<0>(*result);
        if constexpr (requires { initiate_.view(first); }) {
            return initiate_.view(first);
        } else {
            return view_of(initiate_, first);
        }
    }

    /// Puts the fallback's value in place of the last failure.
    void recover([[maybe_unused]] const failure_view& failure) {
        if constexpr (requires { initiate_.recover_later(std::get<0>(*result_), failure); }) {
            initiate_.recover_later(std::get<0>(*result_), failure);
        } else if constexpr (has_fallback<Initiate>) {
            try {
                auto made = recovered_completion<First, Rest...>(initiate_, failure);
                result_ = std::apply(
                    [](auto&... each) { return result_type::of(std::move(each)...); }, made);
            } catch (...) {
                if constexpr (carries_exception<First, Rest...>) {
                    result_ = failed_to_start<First, Rest...>(std::current_exception());
                } else {
                    throw;
                }
            }
        }
    }

    static void complete_canceled(std::shared_ptr<retry_loop> self) {
        self->session_.on_canceled_start(self->time_.clock().now());
        if constexpr (std::is_same_v<First, asio_error_code>) {
            // As Asio's own operations end; its category is not always that of `std::errc`.
            self->result_ =
                result_of_first<First, Rest...>(asio_error_code(asio::error::operation_aborted));
        } else {
            self->result_ = unattempted(refusal_reason::canceled);
        }
        complete(std::move(self));
    }

    /// A circuit breaker has refused the next attempt.
    static void refuse(std::shared_ptr<retry_loop> self) {
        if (!self->result_.is_empty()) {
            give_up(std::move(self));
            return;
        }
        self->result_ = unattempted(refusal_reason::circuit_open);
        if (!self->is_canceled()) {
            self->recover(failure_view{});
        }
        complete(std::move(self));
    }
    [[nodiscard]] static result_type unattempted(refusal_reason why) {
        return result_of_first<First, Rest...>(driver::unattempted_outcome<First>::make(why));
    }

    /// The loop's memory is given back before the handler runs, which may start the next one in it.
    static void complete(std::shared_ptr<retry_loop> self) {
        self->has_ended_ = true;
        clear_slot(self->handler_);
        result_type result(std::move(self->result_));
        Handler handler(std::move(self->handler_));
        self.reset();
        if constexpr (carries_exception<First, Rest...>) {
            if (result.lost() != nullptr) {
                result = failed_to_start<First, Rest...>(result.lost());
            }
        }
        if (result.lost() != nullptr) {
            std::rethrow_exception(result.lost());
        }
        std::apply(std::move(handler), std::move(*result));
    }

    strategy_holder<Kept> strategy_;
    const owned_options owned_;
    const call_options options_;  // Refers to the former.
    driver::async_clock* clock_;
    const call_time time_;
    driver::retry_session<std::remove_reference_t<Kept>> session_;
    asio::executor_work_guard<IoExecutor> io_work_;
    asio::executor_work_guard<executor_type> handler_work_;
    Initiate initiate_;
    Handler handler_;
    asio::cancellation_state cancellation_;
    result_type result_;
    /// Of attempts run together: the failure that they end with, or none if one succeeded.
    std::optional<std::optional<attempt_failure>> hedged_outcome_;
    std::optional<duration> longest_wait_;  // that a service asked for, of attempts run together
    std::uint64_t attempts_started_ = 0;
    const std::shared_ptr<start_state> starting_ = std::make_shared<start_state>();
    bool timed_out_ = false;
    /// The call has completed, or cannot complete: its initiating function threw what no result can
    /// carry. An operation that was given up may still report its end.
    bool has_ended_ = false;
};

}  // namespace reprise::detail::inline REPRISE_VARIANT
