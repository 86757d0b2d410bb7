#include <string>
#include <utility>

#include <reprise/retry/detail/call_observation.hpp>

namespace reprise {

retry_span::~retry_span() = default;
retry_tracer::~retry_tracer() = default;

namespace detail {

namespace {

/// Few different values, as OpenTelemetry asks: `_OTHER` is its name for what has no better one.
void set_error_type(retry_span& span, const failure_facts& facts) noexcept {
    if (facts.timeout) {
        span.set_attribute(trace_names::error_type, std::string_view("timeout"));
    } else if (facts.code != 0) {
        span.set_attribute(trace_names::error_type, std::string_view(std::to_string(facts.code)));
    } else {
        span.set_attribute(trace_names::error_type, std::string_view("_OTHER"));
    }
}

}  // namespace

void call_observation::on_start(time_point now) noexcept {
    started_ = now;
    if (tracer_ != nullptr) {
        call_span_ = tracer_->start_span(name_, nullptr);
    }
}

void call_observation::on_attempt(std::uint32_t number) noexcept {
    ++attempts_;
    if (call_span_ != nullptr) {
        attempt_span_ = tracer_->start_span(trace_names::attempt_span, call_span_.get());
    }
    if (attempt_span_ != nullptr) {
        attempt_span_->set_attribute(trace_names::attempt_number, std::int64_t{number});
    }
}

void call_observation::on_attempt_end(const failure_facts* failure) noexcept {
    if (failure != nullptr) {
        last_failure_ = *failure;
    }
    if (attempt_span_ != nullptr) {
        if (failure != nullptr) {
            set_error_type(*attempt_span_, *failure);
        }
        attempt_span_->end(failure != nullptr);
        attempt_span_.reset();
    }
}

void call_observation::on_decision(const history_entry& entry) noexcept {
    for (retry_observer* observer : {of_call_, of_strategy_}) {
        if (observer != nullptr) {
            observer->on_decision(entry);
        }
    }
}

void call_observation::on_completion(call_summary ended, time_point now) noexcept {
    ended.attempts = attempts_;
    ended.total_time = now - started_;
    ended.last_failure = last_failure_;
    for (retry_observer* observer : {of_call_, of_strategy_}) {
        if (observer != nullptr) {
            observer->on_completion(ended);
        }
    }
    if (call_span_ != nullptr) {
        call_span_->set_attribute(trace_names::attempt_count, std::int64_t{attempts_});
        if (!ended.is_success) {
            call_span_->set_attribute(trace_names::refusal, to_string(ended.refusal));
            set_error_type(*call_span_, last_failure_);
        }
        call_span_->end(!ended.is_success);
        call_span_.reset();
    }
}

}  // namespace detail

}  // namespace reprise
