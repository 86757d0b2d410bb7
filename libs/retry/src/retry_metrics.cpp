#include <reprise/retry/retry_metrics.hpp>

namespace reprise {

namespace {

[[nodiscard]] failure_kind kind_of(const history_entry& entry) noexcept {
    if (entry.is_timeout()) {
        return failure_kind::timeout;
    }
    return entry.is_throttling() ? failure_kind::throttling : failure_kind::other;
}

}  // namespace

std::string_view to_string(failure_kind kind) noexcept {
    switch (kind) {
        case failure_kind::timeout:
            return "timeout";
        case failure_kind::throttling:
            return "throttling";
        case failure_kind::other:
            return "other";
    }
    return "unknown";
}

void retry_metrics::on_decision(const decision_event& event) noexcept {
    const history_entry& entry = event.entry;
    const bool is_refused = entry.refusal() != refusal_reason::none;
    if (entry.is_hedge()) {
        (is_refused ? refused_hedges_ : hedges_).fetch_add(1, std::memory_order_relaxed);
    } else if (!is_refused) {
        const auto kind = static_cast<std::size_t>(kind_of(entry));
        retries_[kind].fetch_add(1, std::memory_order_relaxed);
    } else {
        const auto reason = static_cast<std::size_t>(entry.refusal()) % refusals_.size();
        refusals_[reason].fetch_add(1, std::memory_order_relaxed);
    }
}

void retry_metrics::on_completion(const call_summary& summary) noexcept {
    (summary.is_success ? successes_ : failures_).fetch_add(1, std::memory_order_relaxed);
    attempts_.fetch_add(summary.attempts, std::memory_order_relaxed);
    call_times_.record(summary.total_time);
}

std::uint64_t retry_metrics::refusals(refusal_reason reason) const noexcept {
    return load(refusals_[static_cast<std::size_t>(reason) % refusals_.size()]);
}

std::string retry_metrics::to_prometheus(const prometheus_options& options) const {
    using text = detail::prometheus_text;
    text out(options);
    out.family("retry_calls_total", "counter", "Calls that have ended.");
    out.sample("retry_calls_total", text::label_of("outcome", "success"), successes());
    out.sample("retry_calls_total", text::label_of("outcome", "failure"), failures());
    out.family("retry_attempts_total", "counter", "Attempts of calls that have ended.");
    out.sample("retry_attempts_total", "", attempts());
    out.family("retry_hedges_total", "counter", "Attempts wanted beside a running one.");
    out.sample("retry_hedges_total", text::label_of("outcome", "started"), hedges());
    out.sample("retry_hedges_total", text::label_of("outcome", "refused"), refused_hedges());
    out.family("retry_retries_total", "counter", "Retries, by the failure before them.");
    for (std::size_t index = 0; index < failure_kind_count; ++index) {
        const auto kind = static_cast<failure_kind>(index);
        out.sample("retry_retries_total", text::label_of("reason", to_string(kind)), retries(kind));
    }
    out.family("retry_refusals_total", "counter", "Retries that were refused, by reason.");
    for (std::size_t index = 0; index < refusals_.size(); ++index) {
        if (const std::uint64_t count = load(refusals_[index]); count != 0) {
            const auto reason = static_cast<refusal_reason>(index);
            out.sample("retry_refusals_total", text::label_of("reason", to_string(reason)), count);
        }
    }
    out.family(
        "retry_call_duration_seconds", "histogram", "Time of a call with all attempts and waits.");
    out.histogram("retry_call_duration_seconds", "", call_times_);
    return out.take();
}

}  // namespace reprise
