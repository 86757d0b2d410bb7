#include "span_recorder.hpp"

#include <algorithm>
#include <utility>

namespace reprise::feature_pairs {

class span_recorder::handle final : public span {
public:
    handle(recorded_span& record, const reporter& report) : record_(record), report_(report) {}

    [[nodiscard]] const recorded_span& record() const { return record_; }

    void set_attribute(std::string_view name, std::int64_t value) noexcept override {
        check_open();
        if (name == trace_names::attempt_number || name == trace_names::attempt_count) {
            record_.number = value;
        } else if (name == trace_names::hedge) {
            record_.is_hedge = value == 1;
        } else if (name == trace_names::canceled) {
            record_.is_lost = value == 1;
        }
    }
    void set_attribute(std::string_view name, std::string_view value) noexcept override {
        check_open();
        record_.has_error_type |= name == trace_names::error_type && !value.empty();
        record_.has_refusal |= name == trace_names::refusal && !value.empty();
    }
    void end(bool is_error) noexcept override {
        check_open();
        record_.is_error = is_error;
        ++record_.ends;
    }

private:
    void check_open() const {
        if (record_.ends != 0) {
            report_("a span is used after its end");
        }
        if (record_.call != nullptr && record_.call->ends != 0) {
            report_("the span of a call ends before that of an attempt");
        }
    }

    recorded_span& record_;
    const reporter& report_;
};

std::unique_ptr<retry_tracer::span> span_recorder::start_span(
    std::string_view name, span* parent) noexcept {
    ++asked_;
    if (untraced_ != 0 && asked_ % untraced_ == 0) {
        return nullptr;
    }
    recorded_span& added = spans_.emplace_back();
    if (parent != nullptr) {
        added.call = &static_cast<handle*>(parent)->record();
    }
    if ((name == trace_names::attempt_span) != (parent != nullptr)) {
        report_("a span has the name of another kind of span");
    }
    return std::make_unique<handle>(added, report_);
}

void span_recorder::verify_each() const {
    for (const recorded_span& each : spans_) {
        if (each.ends != 1) {
            report_("a span ends " + std::to_string(each.ends) + " times");
        }
        if (each.is_error != each.has_error_type) {
            report_("a span has the type of an error but not its status, or the reverse");
        }
        if (each.call == nullptr && each.is_error != each.has_refusal) {
            report_("the span of a call that failed does not name the refusal");
        }
        if (each.is_lost && each.is_error) {
            report_("an attempt that was canceled for a better one counts as an error");
        }
    }
}

void span_recorder::verify(const totals& known) const {
    verify_each();
    if (untraced_ != 0) {
        return;
    }
    const auto is_call = [](const recorded_span& each) { return each.call == nullptr; };
    const auto calls = static_cast<std::size_t>(std::ranges::count_if(spans_, is_call));
    if (calls != known.calls || spans_.size() - calls != known.attempts) {
        report_("a call or an attempt has no span of its own");
    }
    std::size_t failed_calls = 0;
    std::size_t failed_attempts = 0;
    std::size_t hedges = 0;
    for (const recorded_span& each : spans_) {
        (is_call(each) ? failed_calls : failed_attempts) += each.is_error || each.is_lost ? 1U : 0U;
        hedges += each.is_hedge ? 1U : 0U;
        const auto made = std::ranges::count(spans_, &each, &recorded_span::call);
        if (is_call(each) && each.number != made) {
            report_("the span of a call names another number of attempts");
        }
    }
    if (failed_calls != known.failed_calls) {
        report_("the span of a call shows another result");
    }
    if (failed_attempts != known.failed_attempts && !known.is_abandoned) {
        report_("the span of an attempt shows another result");
    }
    if (hedges != 0 && !known.is_hedged) {
        report_("an attempt counts as a hedge that is none");
    }
}

}  // namespace reprise::feature_pairs
