#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

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

void set_error_type(retry_tracer::span& span, const failure_facts& facts) noexcept {
    // Also `_OTHER` if there is no memory for the type. The name fits into a string without any.
    const std::string type = guarded(std::string("_OTHER"), [&] { return error_type_of(facts); });
    span.set_attribute(trace_names::error_type, std::string_view(type));
}

void end_span(retry_tracer::span& span, const failure_facts* failure) noexcept {
    if (failure != nullptr) {
        set_error_type(span, *failure);
    }
    span.end(failure != nullptr);
}

}  // namespace

struct call_observation::call_spans {
    struct attempt {
        std::uint32_t number = 0;
        std::unique_ptr<retry_tracer::span> span;
    };

    std::unique_ptr<retry_tracer::span> call;
    std::vector<attempt> attempts;
};

void call_observation::deleter::operator()(call_spans* spans) const noexcept {
    delete spans;
}

void call_observation::start_call_span() noexcept {
    auto span = tracer_->start_span(name_, nullptr);
    if (span == nullptr) {
        return;
    }
    spans_.reset(new (std::nothrow) call_spans);
    if (spans_ == nullptr) {
        span->end(false);
        return;
    }
    spans_->call = std::move(span);
}

void call_observation::start_attempt_span(std::uint32_t number, bool is_hedge) noexcept {
    auto span = tracer_->start_span(trace_names::attempt_span, spans_->call.get());
    if (span == nullptr) {
        return;
    }
    span->set_attribute(trace_names::attempt_number, std::int64_t{number});
    if (is_hedge) {
        span->set_attribute(trace_names::hedge, std::int64_t{1});
    }
    auto& attempts = spans_->attempts;
    const bool has_room = guarded(false, [&] {
        attempts.reserve(attempts.size() + 1);
        return true;
    });
    if (!has_room) {
        span->end(false);
        return;
    }
    attempts.emplace_back(number, std::move(span));
}

void call_observation::on_one_ended(
    std::uint32_t number, const failure_facts* failure, bool is_lost) noexcept {
    if (failure != nullptr && !is_lost) {
        summary_.last_failure = *failure;
    }
    if (spans_ == nullptr) {
        return;
    }
    const auto found = std::ranges::find(spans_->attempts, number, &call_spans::attempt::number);
    if (found == spans_->attempts.end()) {
        return;
    }
    if (is_lost && failure != nullptr) {
        // Canceled because another attempt was better: no error.
        found->span->set_attribute(trace_names::canceled, std::int64_t{1});
        failure = nullptr;
    }
    end_span(*found->span, failure);
    spans_->attempts.erase(found);
}

void call_observation::end_attempt_spans(const failure_facts* failure) noexcept {
    for (const call_spans::attempt& each : spans_->attempts) {
        end_span(*each.span, failure);
    }
    spans_->attempts.clear();
}

void call_observation::on_decision(
    const retry_history::entry& entry, const failure_facts& facts, const failure_view& failure,
    const driver::failure_reason& reason) noexcept {
    const decision_event event{name_, entry, facts, failure, reason};
    observer_->on_decision(event);
}

void call_observation::end_call_span() noexcept {
    retry_tracer::span& call = *spans_->call;
    call.set_attribute(trace_names::attempt_count, std::int64_t{summary_.attempts});
    if (!summary_.is_success) {
        const std::string_view refusal = to_string(summary_.refusal);
        call.set_attribute(trace_names::refusal, refusal);
        if (summary_.attempts == 0) {
            call.set_attribute(trace_names::error_type, refusal);
        } else {
            set_error_type(call, summary_.last_failure);
        }
    }
    call.end(!summary_.is_success);
    spans_.reset();
}

}  // namespace detail

}  // namespace reprise
