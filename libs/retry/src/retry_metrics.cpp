#include <cstdio>

#include <reprise/retry/retry_metrics.hpp>

namespace reprise {

namespace {

[[nodiscard]] failure_kind kind_of(const history_entry& entry) noexcept {
    if (entry.is_timeout()) {
        return failure_kind::timeout;
    }
    return entry.is_throttling() ? failure_kind::throttling : failure_kind::other;
}

[[nodiscard]] std::string number_text(double value) {
    std::array<char, 48> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.9g", value);
    return {text.data(), static_cast<std::size_t>(size)};
}

/// Writes samples of one registry.
class text_writer {
public:
    explicit text_writer(const prometheus_options& options) : options_(options) {}

    void family(std::string_view name, std::string_view type, std::string_view help) {
        text_ += "# HELP " + full(name) + " ";
        text_.append(help);
        text_ += "\n# TYPE " + full(name) + " ";
        text_.append(type);
        text_ += '\n';
    }
    void sample(std::string_view name, std::string_view label, const std::string& value) {
        std::string labels(options_.labels);
        labels += !labels.empty() && !label.empty() ? "," : "";
        labels.append(label);
        text_ += full(name) + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    [[nodiscard]] std::string full(std::string_view name) const {
        return std::string(options_.prefix) + "_" + std::string(name);
    }

    const prometheus_options& options_;
    std::string text_;
};

/// `reason="budget exhausted"`
[[nodiscard]] std::string label_of(std::string_view name, std::string_view value) {
    return std::string(name) + "=\"" + std::string(value) + "\"";
}

constexpr std::array bucket_limits_ms{1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000};

void write_histogram(text_writer& out, const latency_histogram& times) {
    out.family(
        "retry_call_duration_seconds", "histogram", "Time of a call with all attempts and waits.");
    for (const int limit : bucket_limits_ms) {
        const std::string label = label_of("le", number_text(limit / 1000.0));
        const std::uint64_t count = times.count_up_to(std::chrono::milliseconds{limit});
        out.sample("retry_call_duration_seconds_bucket", label, std::to_string(count));
    }
    const std::string total = std::to_string(times.count());
    out.sample("retry_call_duration_seconds_bucket", label_of("le", "+Inf"), total);
    out.sample(
        "retry_call_duration_seconds_sum", "",
        number_text(std::chrono::duration<double>(times.sum()).count()));
    out.sample("retry_call_duration_seconds_count", "", total);
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

void retry_metrics::on_decision(const history_entry& entry) noexcept {
    if (entry.is_hedge() && entry.refusal() == refusal_reason::none) {
        hedges_.fetch_add(1, std::memory_order_relaxed);
    } else if (entry.refusal() == refusal_reason::none) {
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
    text_writer out(options);
    out.family("retry_calls_total", "counter", "Calls that have ended.");
    out.sample("retry_calls_total", label_of("outcome", "success"), std::to_string(successes()));
    out.sample("retry_calls_total", label_of("outcome", "failure"), std::to_string(failures()));
    out.family("retry_attempts_total", "counter", "Attempts of calls that have ended.");
    out.sample("retry_attempts_total", "", std::to_string(attempts()));
    out.family("retry_hedges_total", "counter", "Attempts started beside a running one.");
    out.sample("retry_hedges_total", "", std::to_string(hedges()));
    out.family("retry_retries_total", "counter", "Retries, by the failure before them.");
    for (std::size_t index = 0; index < failure_kind_count; ++index) {
        const auto kind = static_cast<failure_kind>(index);
        const std::string label = label_of("reason", to_string(kind));
        out.sample("retry_retries_total", label, std::to_string(retries(kind)));
    }
    out.family("retry_refusals_total", "counter", "Retries that were refused, by reason.");
    for (std::size_t index = 0; index < refusals_.size(); ++index) {
        if (const std::uint64_t count = load(refusals_[index]); count != 0) {
            const auto reason = static_cast<refusal_reason>(index);
            const std::string label = label_of("reason", to_string(reason));
            out.sample("retry_refusals_total", label, std::to_string(count));
        }
    }
    write_histogram(out, call_times_);
    return out.take();
}

}  // namespace reprise
