#pragma once

/// Everything that observes one call: the observer of its strategy, and the spans of a tracer. Both
/// are optional.

#include <cstdint>
#include <memory>
#include <string_view>

#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/strategy_calls.hpp>
#include <reprise/retry/retry_observer.hpp>

namespace reprise::detail {

class REPRISE_EXPORT call_observation {
public:
    call_observation(const driver::strategy_traits& traits, std::string_view name) noexcept
        : observer_(traits.observer), tracer_(traits.tracer), name_(name) {}

    [[nodiscard]] bool has_observer() const noexcept { return observer_ != nullptr; }
    /// True if anyone needs the duration of the call. Tracers have their own clock.
    [[nodiscard]] bool needs_start_time() const noexcept { return has_observer(); }

    void on_start(time_point now) noexcept {
        started_ = now;
        if (tracer_ != nullptr) {
            start_call_span();
        }
    }
    void on_attempt(std::uint32_t number) noexcept {
        ++summary_.attempts;
        if (spans_ != nullptr) {
            start_attempt_span(number, false);
        }
    }
    /// A hedge starts.
    void on_hedge(std::uint32_t number) noexcept {
        ++summary_.attempts;
        if (spans_ != nullptr) {
            start_attempt_span(number, true);
        }
    }
    /// One of several attempts that run at the same time has ended. `is_lost`: another one
    /// was better; `failure` is null after a success.
    void on_one_ended(std::uint32_t number, const failure_facts* failure, bool is_lost) noexcept;
    /// All running attempts have failed. `failure` must live until the next one starts or the call
    /// ends.
    void on_failure(const failure_facts& facts, const failure_view& failure) noexcept {
        summary_.last_failure = facts;
        summary_.last_error = failure;
        if (spans_ != nullptr) {
            end_attempt_spans(&facts);
        }
    }
    void on_decision(
        const retry_history::entry& entry, const failure_facts& facts, const failure_view& failure,
        const driver::failure_reason& reason) noexcept;
    /// The call has ended with a success, and with it all attempts. This or `on_end`, once.
    void on_success(time_point now) noexcept {
        summary_.is_success = true;
        summary_.last_error = {};
        if (spans_ != nullptr) {
            end_attempt_spans(nullptr);
        }
        complete(now);
    }
    /// The call has ended without a success.
    void on_end(refusal_reason why, time_point now) noexcept {
        summary_.refusal = why;
        complete(now);
    }

private:
    /// The span of the call, and those of the attempts that run.
    struct call_spans;
    struct deleter {
        REPRISE_EXPORT void operator()(call_spans* spans) const noexcept;
    };

    void start_call_span() noexcept;
    void start_attempt_span(std::uint32_t number, bool is_hedge) noexcept;
    void end_attempt_spans(const failure_facts* failure) noexcept;
    void end_call_span() noexcept;
    void complete(time_point now) noexcept {
        if (observer_ != nullptr) {
            summary_.total_time = driver::time_between(started_, now);
            observer_->on_completion(summary_);
        }
        if (spans_ != nullptr) {
            end_call_span();
        }
    }

    retry_observer* observer_;
    retry_tracer* tracer_;
    std::string_view name_;
    std::unique_ptr<call_spans, deleter> spans_;  // null for calls that are not traced
    time_point started_{};
    call_summary summary_{};  // of the attempts so far
};

/// Optional per-request hooks: circuit breaker, observer, tracer.
class call_attachments {
public:
    /// `name` is that of the call and must outlive it.
    call_attachments(const driver::strategy_traits& traits, std::string_view name) noexcept
        : observation(traits, name), breaker_(traits.circuit) {}

    call_observation observation;

    /// False if an attempt can start without the time: only observers and a breaker that is not
    /// closed need it.
    [[nodiscard]] bool needs_start_time() const noexcept {
        return observation.needs_start_time() ||
               (breaker_ != nullptr && breaker_->state() != circuit_state::closed);
    }
    /// False if the breaker refuses the attempt.
    [[nodiscard]] bool try_start_attempt(std::uint32_t number, time_point now) noexcept {
        if (breaker_ != nullptr) {
            permit_ = breaker_->try_acquire(now);
        }
        if (permit_.is_refused()) {
            return false;
        }
        begin_attempt(number);
        return true;
    }
    /// Even if the breaker refuses it. It may still be the probe that closes the breaker again.
    void start_attempt(std::uint32_t number, time_point now) noexcept {
        if (!try_start_attempt(number, now)) {
            permit_ = driver::breaker_permit::regular();
            begin_attempt(number);
        }
    }
    /// The breaker is closed (`allows_hedge`), so all that run are regular attempts now, also one
    /// that started as a probe.
    void start_hedge(std::uint32_t number) noexcept {
        permit_ = driver::breaker_permit::regular();
        observation.on_hedge(number);
    }
    void on_success(time_point now) noexcept {
        pause(now);
        observation.on_success(now);
    }
    /// The running attempt was answered so far and waits for something that is not the service: its
    /// next request, or its reader. The breaker gets the attempt's success now, and only once.
    void pause(time_point now) noexcept {
        if (breaker_ != nullptr && is_running_ && !is_answered_) {
            breaker_->on_success(permit_, now);
        }
        is_answered_ = true;
        is_running_ = false;
    }
    /// The attempt goes on after a pause. Without one nothing changes.
    void resume() noexcept {
        if (!is_running_) {
            permit_ = driver::breaker_permit::regular();
            is_running_ = true;
        }
    }
    /// `view` must live until the next attempt starts or the request ends.
    void on_failure(const failure_facts& facts, const failure_view& view) noexcept {
        is_running_ = false;
        observation.on_failure(facts, view);
    }
    /// For the breaker, once for each attempt that failed. Before `on_failure`.
    void count_failure(const failure_facts& facts, bool is_canceled, time_point now) noexcept {
        if (breaker_ == nullptr || !is_running_) {
            return;
        }
        if (is_canceled) {
            breaker_->on_canceled(permit_, now);
        } else {
            breaker_->on_failure(permit_, facts, now);
        }
    }
    void on_end(refusal_reason why, time_point now) noexcept { observation.on_end(why, now); }

    /// False if the breaker would refuse an attempt after `delay`.
    [[nodiscard]] bool would_allow(time_point now, duration delay) const noexcept {
        return breaker_ == nullptr || breaker_->would_allow(driver::add_saturated(now, delay));
    }
    /// A hedge is no probe: it needs a closed breaker.
    [[nodiscard]] bool allows_hedge() const noexcept {
        return breaker_ == nullptr || breaker_->state() == circuit_state::closed;
    }

private:
    void begin_attempt(std::uint32_t number) noexcept {
        is_running_ = true;
        is_answered_ = false;
        observation.on_attempt(number);
    }

    circuit_breaker* breaker_;  // null: none
    driver::breaker_permit permit_ = driver::breaker_permit::regular();
    bool is_running_ = false;
    bool is_answered_ = false;  // the breaker has its success
};

/// In place of a pointer to them, where a call is known to have none.
struct no_attachments {
    constexpr explicit operator bool() const noexcept { return false; }
    constexpr call_attachments* operator->() const noexcept { return nullptr; }
};

}  // namespace reprise::detail
