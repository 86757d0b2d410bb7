#include <algorithm>
#include <string>
#include <utility>

#include <reprise/retry/detail/call_observation.hpp>

#include "failure_line.hpp"

namespace reprise {

retry_tracer::span::~span() = default;
retry_tracer::~retry_tracer() = default;

namespace detail {

namespace {

/// Few different values, as OpenTelemetry asks: "timeout", "503", "system:111". `_OTHER` is its
/// name for what has no better one.
[[nodiscard]] std::string error_type_of(const failure_facts& facts) {
    if (facts.timeout) {
        return "timeout";
    }
    if (facts.code == 0) {
        return "_OTHER";
    }
    const std::string code = code_text(facts.code, facts.category != nullptr);
    return facts.category == nullptr ? code : std::string(facts.category->name()) + ":" + code;
}

void end_span(retry_tracer::span& span, const failure_facts* failure) noexcept {
    if (failure != nullptr) {
        const std::string type = error_type_of(*failure);
        span.set_attribute(trace_names::error_type, std::string_view(type));
    }
    span.end(failure != nullptr);
}

}  // namespace

void call_observation::on_start(time_point now) noexcept {
    started_ = now;
    if (tracer_ != nullptr) {
        call_span_ = tracer_->start_span(name_, nullptr);
    }
}

retry_tracer::span* call_observation::start_attempt_span(std::uint32_t number) noexcept {
    if (call_span_ == nullptr) {
        return nullptr;
    }
    auto span = tracer_->start_span(trace_names::attempt_span, call_span_.get());
    if (span == nullptr) {
        return nullptr;
    }
    span->set_attribute(trace_names::attempt_number, std::int64_t{number});
    return attempt_spans_.emplace_back(number, std::move(span)).span.get();
}

void call_observation::on_attempt(std::uint32_t number) noexcept {
    ++attempts_;
    static_cast<void>(start_attempt_span(number));
}

void call_observation::on_hedge(std::uint32_t number) noexcept {
    ++attempts_;
    if (retry_tracer::span* const span = start_attempt_span(number)) {
        span->set_attribute(trace_names::hedge, std::int64_t{1});
    }
}

void call_observation::on_one_ended(
    std::uint32_t number, const failure_facts* failure, bool is_lost) noexcept {
    if (failure != nullptr && !is_lost) {
        last_failure_ = *failure;
    }
    const auto found = std::ranges::find(attempt_spans_, number, &attempt_span::number);
    if (found == attempt_spans_.end()) {
        return;
    }
    if (is_lost && failure != nullptr) {
        // Canceled because another attempt was better: no error.
        found->span->set_attribute(trace_names::canceled, std::int64_t{1});
        failure = nullptr;
    }
    end_span(*found->span, failure);
    attempt_spans_.erase(found);
}

void call_observation::on_attempt_end(const failure_facts* failure) noexcept {
    if (failure != nullptr) {
        last_failure_ = *failure;
    }
    for (const attempt_span& each : attempt_spans_) {
        end_span(*each.span, failure);
    }
    attempt_spans_.clear();
}

void call_observation::on_decision(
    const retry_history::entry& entry, const failure_facts& facts, const failure_view& failure,
    const driver::failure_reason& reason) noexcept {
    const decision_event event{name_, entry, facts, failure, reason};
    observer_->on_decision(event);
}

void call_observation::on_completion(call_summary ended, time_point now) noexcept {
    ended.attempts = attempts_;
    ended.total_time = driver::time_between(started_, now);
    ended.last_failure = last_failure_;
    if (observer_ != nullptr) {
        observer_->on_completion(ended);
    }
    if (call_span_ != nullptr) {
        call_span_->set_attribute(trace_names::attempt_count, std::int64_t{attempts_});
        if (!ended.is_success) {
            const std::string_view refusal = to_string(ended.refusal);
            const std::string type =
                attempts_ == 0 ? std::string(refusal) : error_type_of(last_failure_);
            call_span_->set_attribute(trace_names::refusal, refusal);
            call_span_->set_attribute(trace_names::error_type, std::string_view(type));
        }
        call_span_->end(!ended.is_success);
        call_span_.reset();
    }
}

}  // namespace detail

}  // namespace reprise
