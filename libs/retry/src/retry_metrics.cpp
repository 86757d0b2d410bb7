#include <optional>
#include <utility>

#include <reprise/retry/retry_metrics.hpp>

namespace reprise {

namespace {

[[nodiscard]] retry_metrics::failure_kind kind_of(const retry_history::entry& entry) noexcept {
    if (entry.is_timeout()) {
        return retry_metrics::failure_kind::timeout;
    }
    return entry.is_throttling() ? retry_metrics::failure_kind::throttling
                                 : retry_metrics::failure_kind::other;
}

}  // namespace

std::string_view to_string(retry_metrics::failure_kind kind) noexcept {
    switch (kind) {
        case retry_metrics::failure_kind::timeout:
            return "timeout";
        case retry_metrics::failure_kind::throttling:
            return "throttling";
        case retry_metrics::failure_kind::other:
            return "other";
    }
    return "unknown";
}

void retry_metrics::on_decision(const decision_event& event) noexcept {
    const retry_history::entry& entry = event.entry;
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

namespace {

using text = driver::prometheus_text;

/// Calls `write(service)` for each service that has `Part`, under its labels. The lines of the
/// family come first, once.
template <auto Part, class Write>
void write_family(
    text& out, std::span<const retry_metrics::service> services,
    std::array<std::string_view, 3> family, Write&& write) {
    bool is_open = false;
    for (const retry_metrics::service& service : services) {
        if (service.*Part == nullptr) {
            continue;
        }
        if (!std::exchange(is_open, true)) {
            out.family(family[0], family[1], family[2]);
        }
        out.set_labels(service.labels);
        write(*(service.*Part));
    }
}

void write_counts(text& out, std::span<const retry_metrics::service> services) {
    constexpr auto metrics = &retry_metrics::service::metrics;
    write_family<metrics>(
        out, services, {"retry_calls_total", "counter", "Calls that have ended."},
        [&](const retry_metrics& of) {
            out.sample("retry_calls_total", text::label_of("outcome", "success"), of.successes());
            out.sample("retry_calls_total", text::label_of("outcome", "failure"), of.failures());
        });
    write_family<metrics>(
        out, services, {"retry_attempts_total", "counter", "Attempts of calls that have ended."},
        [&](const retry_metrics& of) { out.sample("retry_attempts_total", "", of.attempts()); });
    write_family<metrics>(
        out, services,
        {"retry_hedges_total", "counter", "Attempts wanted in addition to a running one."},
        [&](const retry_metrics& of) {
            out.sample("retry_hedges_total", text::label_of("outcome", "started"), of.hedges());
            out.sample(
                "retry_hedges_total", text::label_of("outcome", "refused"), of.refused_hedges());
        });
    write_family<metrics>(
        out, services, {"retry_retries_total", "counter", "Retries, by the failure before them."},
        [&](const retry_metrics& of) {
            for (std::size_t index = 0; index < retry_metrics::failure_kind_count; ++index) {
                const auto kind = static_cast<retry_metrics::failure_kind>(index);
                out.sample(
                    "retry_retries_total", text::word_label_of("reason", to_string(kind)),
                    of.retries(kind));
            }
        });
}

void write_refusals(text& out, const retry_metrics& of) {
    for (std::size_t index = 0; index < retry_metrics::refusal_count; ++index) {
        const auto reason = static_cast<refusal_reason>(index);
        if (const std::uint64_t count = of.refusals(reason); count != 0) {
            out.sample(
                "retry_refusals_total", text::word_label_of("reason", to_string(reason)), count);
        }
    }
}

[[nodiscard]] std::optional<driver::budget_gauge> gauge_of(const retry_metrics::service& service) {
    const auto* const bucket = std::get_if<const token_bucket*>(&service.budget);
    if (bucket != nullptr && *bucket != nullptr) {
        return driver::budget_gauge{(*bucket)->available(), (*bucket)->capacity()};
    }
    const auto* const budget = std::get_if<const driver::retry_budget*>(&service.budget);
    if (budget == nullptr || *budget == nullptr) {
        return std::nullopt;
    }
    retry_clock& clock = service.clock != nullptr ? *service.clock : retry_clock::real();
    return (*budget)->gauge(clock.now());
}

void write_budgets(
    text& out, std::span<const retry_metrics::service> services,
    double driver::budget_gauge::* part, std::array<std::string_view, 2> family) {
    bool is_open = false;
    for (const retry_metrics::service& service : services) {
        if (const auto gauge = gauge_of(service)) {
            if (!std::exchange(is_open, true)) {
                out.family(family[0], "gauge", family[1]);
            }
            out.set_labels(service.labels);
            out.sample(family[0], "", (*gauge).*part);
        }
    }
}

void write_state(text& out, const circuit_breaker& of) {
    const circuit_state current = of.state();  // read once: another thread may change it
    for (const circuit_state state :
         {circuit_state::closed, circuit_state::open, circuit_state::half_open}) {
        out.sample(
            "retry_breaker_state", text::word_label_of("state", to_string(state)),
            std::uint64_t{current == state ? 1U : 0U});
    }
}

}  // namespace

std::string retry_metrics::to_prometheus(
    std::span<const retry_metrics::service> services, std::string_view prefix) {
    const driver::prometheus_options options{.prefix = prefix};
    text out(options);
    constexpr auto metrics = &retry_metrics::service::metrics;
    write_counts(out, services);
    write_family<metrics>(
        out, services, {"retry_refusals_total", "counter", "Retries that were refused, by reason."},
        [&](const retry_metrics& of) { write_refusals(out, of); });
    write_budgets(
        out, services, &driver::budget_gauge::level,
        {"retry_budget_level", "Units left in the retry budget."});
    write_budgets(
        out, services, &driver::budget_gauge::capacity,
        {"retry_budget_capacity", "Units that the retry budget returns to without traffic."});
    write_family<&retry_metrics::service::breaker>(
        out, services,
        {"retry_breaker_state", "gauge", "1 for the state of the circuit breaker, else 0."},
        [&](const circuit_breaker& of) { write_state(out, of); });
    write_family<metrics>(
        out, services,
        {"retry_call_duration_seconds", "histogram", "Time of a call with all attempts and waits."},
        [&](const retry_metrics& of) {
            out.histogram("retry_call_duration_seconds", "", of.call_times());
        });
    return out.take();
}

std::string retry_metrics::to_prometheus(const driver::prometheus_options& options) const {
    const std::array<retry_metrics::service, 1> alone{
        {{.labels = options.labels, .metrics = this}}};
    return to_prometheus(alone, options.prefix);
}

}  // namespace reprise
