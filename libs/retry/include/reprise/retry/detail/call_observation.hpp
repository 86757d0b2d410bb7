#pragma once

/// Everything that observes one call: the observers of the call and of its strategy, and the spans
/// of a tracer. Each of them is optional.

#include <cstdint>
#include <memory>
#include <string_view>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/retry_observer.hpp>
#include <reprise/retry/retry_tracer.hpp>

namespace reprise::detail {

class REPRISE_EXPORT call_observation {
public:
    call_observation(const call_options& options, retry_observer* of_strategy) noexcept
        : of_call_(options.observer),
          of_strategy_(of_strategy),
          tracer_(options.tracer),
          name_(options.name) {}

    [[nodiscard]] bool has_observers() const noexcept {
        return of_call_ != nullptr || of_strategy_ != nullptr;
    }

    void on_start(time_point now) noexcept;
    void on_attempt(std::uint32_t number) noexcept;
    /// Another attempt runs beside the one that has a span.
    void on_hedge() noexcept { ++attempts_; }
    /// `failure` is null after a success.
    void on_attempt_end(const failure_facts* failure) noexcept;
    void on_decision(const history_entry& entry) noexcept;
    /// Once for each call. `ended` says how; the rest is filled in here.
    void on_completion(call_summary ended, time_point now) noexcept;

private:
    retry_observer* of_call_;
    retry_observer* of_strategy_;
    retry_tracer* tracer_;
    std::string_view name_;
    std::unique_ptr<retry_span> call_span_;
    std::unique_ptr<retry_span> attempt_span_;
    time_point started_{};
    std::uint32_t attempts_ = 0;
    failure_facts last_failure_{};
};

/// What a call asks and informs beside its strategy. Most calls have none of it.
struct call_attachments {
    call_attachments(
        circuit_breaker* asked, const call_options& options, retry_observer* of_strategy) noexcept
        : breaker(asked), observation(options, of_strategy) {}

    circuit_breaker* breaker;  ///< Null: none.
    breaker_permit permit = breaker_permit::regular;
    call_observation observation;
    failure_view failure{};  ///< Of the attempt that failed last.

    void on_success(time_point now) noexcept {
        if (breaker != nullptr) {
            breaker->on_success(permit, now);
        }
        observation.on_attempt_end(nullptr);
        observation.on_completion({.is_success = true}, now);
    }
    void on_failure(const failure_facts& facts, const failure_view& view, time_point now) noexcept {
        failure = view;
        observation.on_attempt_end(&facts);
        if (breaker != nullptr) {
            breaker->on_failure(permit, facts, now);
        }
    }
};

}  // namespace reprise::detail
