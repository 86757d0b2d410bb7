#pragma once

/// Everything that observes one call: the observer of its strategy, and the spans of a tracer. Both
/// are optional.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

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

    void on_start(time_point now) noexcept;
    void on_attempt(std::uint32_t number) noexcept;
    /// A hedge starts.
    void on_hedge(std::uint32_t number) noexcept;
    /// One of several attempts that run at the same time has ended. `is_lost`: another one
    /// was better; `failure` is null after a success.
    void on_one_ended(std::uint32_t number, const failure_facts* failure, bool is_lost) noexcept;
    /// All running attempts have ended. `failure` is null after a success.
    void on_attempt_end(const failure_facts* failure) noexcept;
    void on_decision(
        const retry_history::entry& entry, const failure_facts& facts, const failure_view& failure,
        const driver::failure_reason& reason) noexcept;
    /// Once for each call. `ended` has its outcome; the rest is filled in here.
    void on_completion(call_summary ended, time_point now) noexcept;

private:
    struct attempt_span {
        std::uint32_t number = 0;
        std::unique_ptr<retry_tracer::span> span;
    };
    [[nodiscard]] retry_tracer::span* start_attempt_span(std::uint32_t number) noexcept;

    retry_observer* observer_;
    retry_tracer* tracer_;
    std::string_view name_;
    std::unique_ptr<retry_tracer::span> call_span_;
    std::vector<attempt_span> attempt_spans_;  // of the attempts that run
    time_point started_{};
    std::uint32_t attempts_ = 0;
    failure_facts last_failure_{};
};

/// Optional per-request hooks: circuit breaker, observer, tracer.
class call_attachments {
public:
    /// `name` is that of the call and must outlive it.
    call_attachments(const driver::strategy_traits& traits, std::string_view name) noexcept
        : observation(traits, name), breaker_(traits.circuit) {}

    call_observation observation;

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
        if (breaker_ != nullptr && is_running_) {
            breaker_->on_success(permit_, now);
        }
        is_running_ = false;
        observation.on_attempt_end(nullptr);
        observation.on_completion({.is_success = true}, now);
    }
    /// `view` must live until the next attempt starts or the request ends.
    void on_failure(const failure_facts& facts, const failure_view& view) noexcept {
        failure_ = view;
        is_running_ = false;
        observation.on_attempt_end(&facts);
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
    void on_end(refusal_reason why, time_point now) noexcept {
        observation.on_completion({.refusal = why, .last_error = failure_}, now);
    }

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
        observation.on_attempt(number);
    }

    circuit_breaker* breaker_;  // null: none
    driver::breaker_permit permit_ = driver::breaker_permit::regular();
    bool is_running_ = false;
    failure_view failure_{};  // of the attempt that failed last
};

/// In place of a pointer to them, where a call is known to have none.
struct no_attachments {
    constexpr explicit operator bool() const noexcept { return false; }
    constexpr call_attachments* operator->() const noexcept { return nullptr; }
};

}  // namespace reprise::detail
