#pragma once

/// One call of a retry loop, as all loops drive it: blocking, Asio, coroutine. It keeps what the
/// call needs between its attempts and lets `driver::orchestrator` decide; it has no clock, no
/// sleep, no thread.
///
///     on_start(at) -> wait -> try_start_attempt(at)                   false: finished, not
///     attempted
///                       -> [attempt] -+- on_success(at)            finished
///                                     +- on_failure(facts, at) -> step
///                                          step.is_retry:    wait step.wait, attempt again
///                                          step.is_deferred: wait for answer_stop(), on_answer(at)
///                                          otherwise:        finished, return the last error

#include <concepts>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/clock.hpp>
#include <reprise/retry/driver/orchestrator.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>

namespace reprise {

namespace detail {

/// Writes the decisions of a call into its history.
class history_recorder final : public driver::decision_recorder {
public:
    explicit history_recorder(retry_history& history) noexcept : history_(history) {}
    void record(
        retry_history::entry& entry, const driver::failed_attempt& failed,
        const driver::retry_step&) noexcept override {
        entry.set_category(history_.index_of(failed.facts.category));
        // A code whose category is kept needs no text of its own; the text of zero would be
        // "success".
        if (entry.category() == 0 || failed.facts.code == 0) {
            entry.set_text(detail::guarded(std::uint8_t{0}, [&] {
                return history_.index_of(
                    std::string_view(detail::text_of_failure(failed.failure, failed.facts)));
            }));
        }
        history_.record(entry);
    }

private:
    retry_history& history_;
};

}  // namespace detail

namespace driver {

/// A deferred strategy answer that a loop can wait for. Any clock that can be stopped can wait, and
/// the answer stops it. Shared by one loop and one `deferred_answer`.
class REPRISE_EXPORT late_answer final : public answer_channel {
public:
    /// The part that has arrived so far.
    struct result {
        bool is_there = false;
        std::optional<retry_action> action{};  ///< Absent although `is_there`: it failed.
    };

    /// A stop of `caller` ends the wait as well.
    explicit late_answer(const std::stop_token& caller);

    /// Stops when an answer is there, or when the caller asked to stop.
    [[nodiscard]] std::stop_token stop() const noexcept { return ended_.get_token(); }
    /// Returns what has arrived so far. A later answer has no effect.
    [[nodiscard]] result take() noexcept;

    void post(
        decision_ticket ticket, std::optional<retry_action> action,
        std::string cause) noexcept override;

private:
    struct stopper {
        std::stop_source* ended;
        void operator()() const noexcept { ended->request_stop(); }
    };

    std::mutex mutex_;
    result result_;
    bool is_taken_ = false;
    std::stop_source ended_;
    std::stop_callback<stopper> on_stop_;
};

/// Not thread-safe; used by one driver. `IsPlain` leaves out breakers, observers and tracers, for
/// calls that have none: the compiler can then keep the session in registers.
template <any_retry_strategy Strategy, bool IsPlain = false>
class retry_session {
public:
    /// `strategy`, `options` and what they point to must outlive the session. Most requests succeed
    /// at once, so nothing is prepared here that only a failure needs.
    retry_session(Strategy& strategy, const call_options& options) noexcept
        : retry_session(strategy, options, traits_of(strategy)) {}
    retry_session(Strategy& strategy, call_options&& options) = delete;
    retry_session(const retry_session&) = delete;
    retry_session& operator=(const retry_session&) = delete;

    /// True if `try_start_attempt` needs the real time.
    [[nodiscard]] bool needs_attempt_time() const noexcept {
        return strategy_needs_time_ ||
               (attached_ && (attached_->needs_start_time() || options_->history != nullptr));
    }
    /// True if `begin` needs it: offsets in a history count from the start.
    [[nodiscard]] bool needs_start_time() const noexcept {
        return needs_attempt_time() || options_->history != nullptr;
    }
    /// True if `on_success` needs it.
    [[nodiscard]] bool needs_success_time() const noexcept {
        return strategy_needs_time_ || attached_;
    }
    /// True if these three also need randomness.
    [[nodiscard]] bool needs_randomness() const noexcept { return strategy_needs_time_; }

    /// Sets the time after which no retry may start. Before `on_failure`.
    void set_deadline(time_point deadline) noexcept { deadline_ = deadline; }
    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }

    /// Asks for the initial token and returns the delay before the first attempt. Without a token
    /// there is no delay and there will be no retry.
    [[nodiscard]] duration on_start(const decision_context& at) noexcept {
        started_ = at.now;
        return core().on_start(at);
    }

    /// Before each attempt. False: the strategy's circuit breaker is open, and the attempt must not
    /// be made.
    [[nodiscard]] bool try_start_attempt(const decision_context& at) noexcept {
        if (core().try_start_attempt(at.now)) [[likely]] {
            return true;
        }
        end_unattempted(refusal_reason::circuit_open, at.now);
        return false;
    }
    /// Instead of `try_start_attempt`, for a driver that could not return without an attempt:
    /// bypasses the circuit breaker but still reports the outcome to it.
    void start_attempt(const decision_context& at) noexcept { core().start_attempt(at.now); }

    /// The running attempt succeeded. At most once.
    void on_success(const decision_context& at) noexcept { core().on_success(at); }

    /// The running attempt failed. `is_canceled`: the caller has asked to stop; `failure`
    /// is shown to the strategy and to observers, and must live until the next attempt starts.
    [[nodiscard]] retry_step on_failure(
        const failure_facts& facts, const decision_context& at, bool is_canceled = false,
        failure_view failure = {}) noexcept {
        return on_failed_attempt(
            {.facts = facts, .failure = failure, .is_canceled = is_canceled}, at);
    }
    /// The same with all that a driver can pass on.
    [[nodiscard]] retry_step on_failed_attempt(
        const failed_attempt& failed, const decision_context& at) noexcept {
        const retry_step step = decided(
            at.now, [&](request_terms& terms) { return core().on_failure(failed, terms, at); });
        if constexpr (can_defer) {
            if (step.is_deferred) {
                deferred_->failed = failed;
            } else {
                deferred_.reset();  // a strategy can answer at once although it took a channel
            }
        }
        return step;
    }

    /// After a deferred step: stops when the answer is there, or when the caller asked to stop.
    [[nodiscard]] std::stop_token answer_stop() const noexcept { return deferred_->answer->stop(); }
    /// The wait for a late answer is over, whatever ended it.
    [[nodiscard]] retry_step on_answer(time_point now, bool is_canceled) noexcept {
        const late_answer::result answer = deferred_->answer->take();
        failed_attempt& failed = deferred_->failed;
        failed.is_canceled = is_canceled;
        return decided(now, [&](request_terms& terms) {
            return answer.is_there || is_canceled
                       ? core().on_answer(answer.action, failed, terms, now)
                       : core().on_no_answer(failed, terms, now);
        });
    }

    /// The running attempt takes long, and the driver asks for another one in parallel (hedging).
    /// Admitted, counted and paid for like a retry. True: start attempt `attempt_number()`; what is
    /// reported afterwards is the outcome of all that run. `is_canceled` and `clock`, which returns
    /// the time, are asked again after observers of the admission were notified.
    template <class IsCanceled, class Clock>
    [[nodiscard]] bool admit_hedge(
        const decision_context& at, const IsCanceled& is_canceled, const Clock& clock) noexcept {
        return with_terms([&](request_terms& terms) {
            return core().admit_hedge(terms, at.now, is_canceled, clock);
        });
    }
    /// The same for a driver whose time stands still while it decides.
    template <class IsCanceled>
    [[nodiscard]] bool admit_hedge(
        const decision_context& at, const IsCanceled& is_canceled) noexcept {
        return admit_hedge(at, is_canceled, [&at] { return at.now; });
    }
    /// One of several attempts that run at the same time has failed. `is_lost`: another one was
    /// better. True if the failure forbids a retry.
    [[nodiscard]] bool on_one_failed(
        const failed_attempt& failed, bool is_lost, const decision_context& at) noexcept {
        return with_terms(
            [&](request_terms& terms) { return core().on_one_failed(failed, is_lost, terms, at); });
    }
    /// The pause that such a failure asks for, as its strategy or its facts state.
    [[nodiscard]] std::optional<duration> minimum_wait(
        const failed_attempt& failed, const decision_context& at) noexcept {
        return with_terms(
            [&](request_terms& terms) { return core().minimum_wait(failed, terms, at); });
    }
    /// One of them has succeeded, for observers.
    void on_one_succeeded(std::uint32_t number) noexcept { core().on_one_succeeded(number); }

    /// The caller asked to stop during the delay before the first attempt, which is not made.
    void on_canceled_start(time_point now) noexcept {
        end_unattempted(refusal_reason::canceled, now);
    }

    /// The wait before the next attempt was interrupted by the caller: that attempt is not made.
    void on_canceled_wait(time_point now) noexcept {
        end_unattempted(refusal_reason::canceled, now);
    }

    /// After a wait before a retry, which may have taken longer than planned. False if the deadline
    /// has passed: the attempt is not made.
    [[nodiscard]] bool may_start_retry(time_point now) noexcept {
        if (now < deadline_) {
            return true;
        }
        end_unattempted(refusal_reason::deadline, now);
        return false;
    }

    /// The number of the attempt to make now; the first is 1.
    [[nodiscard]] std::uint32_t attempt_number() const noexcept { return progress_.retries() + 1; }
    [[nodiscard]] retry_allowance& allowance() noexcept { return allowance_; }

private:
    static constexpr bool can_defer = std::derived_from<Strategy, driver::retry_strategy>;

    /// A late answer, and the attempt that it is about.
    struct deferral {
        std::shared_ptr<late_answer> answer;
        failed_attempt failed;
    };

    using attachments_pointer =
        std::conditional_t<IsPlain, detail::no_attachments, detail::call_attachments*>;
    using owned_attachments = std::conditional_t<
        IsPlain, detail::no_attachments, std::optional<detail::call_attachments>>;
    using core_type = orchestrator<Strategy, attachments_pointer>;

    retry_session(
        Strategy& strategy, const call_options& options, const strategy_traits& traits) noexcept
        : strategy_(&strategy),
          options_(&options),
          strategy_needs_time_(traits.needs_time),
          allowance_(traits.retries_max, options.outer_allowance) {
        if (options.history != nullptr) {
            options.history->clear();
        }
        if constexpr (!IsPlain) {
            if (traits.has_attachments()) [[unlikely]] {
                attached_ = &attachments_.emplace(traits, options.name);
            }
        }
    }

    [[nodiscard]] core_type core() noexcept { return core_type(*strategy_, progress_, attached_); }

    static std::shared_ptr<answer_channel> make_late_answer(void* session) {
        auto* const self = static_cast<retry_session*>(session);
        self->deferred_.emplace().answer = std::make_shared<late_answer>(self->options_->stop);
        return self->deferred_->answer;
    }

    /// Calls `use` with the terms of the call, which nothing but failures and hedges need.
    template <class Use>
    decltype(auto) with_terms(Use&& use) noexcept {
        request_terms terms;
        terms.started = started_;
        terms.repeat = options_->repeat;
        terms.limits.deadline = deadline_;
        terms.limits.allowance = &allowance_;
        terms.answers = {&retry_session::make_late_answer, this};
        if (options_->history == nullptr) {
            return use(terms);
        }
        detail::history_recorder recorder(*options_->history);
        terms.recorder = &recorder;
        return use(terms);
    }

    /// The step that `decide` returns; without a retry the call ends with it.
    template <class Decide>
    [[nodiscard]] retry_step decided(time_point now, Decide&& decide) noexcept {
        const retry_step step = with_terms(decide);
        if (!step.is_retry && !step.is_deferred) {
            core().on_end(step.refusal, now);
        }
        return step;
    }

    /// The call ends with an attempt that is not made.
    void end_unattempted(refusal_reason why, time_point now) noexcept {
        with_terms([&](request_terms& terms) { core().on_not_attempted(why, terms, now); });
        core().on_end(why, now);
    }

    Strategy* strategy_;
    const call_options* options_;
    bool strategy_needs_time_;
    time_point started_{};
    time_point deadline_ = driver::no_deadline;
    retry_progress progress_{};
    retry_allowance allowance_;
    std::optional<deferral> deferred_;
    [[no_unique_address]] attachments_pointer attached_{};  // null for most calls
    [[no_unique_address]] owned_attachments attachments_{};
};

}  // namespace driver

}  // namespace reprise
