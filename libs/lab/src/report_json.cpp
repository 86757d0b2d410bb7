#include <reprise/lab/report.hpp>

#include <reprise/json/write.hpp>

#include "number_text.hpp"
#include "summary.hpp"

namespace reprise::lab {

namespace {

void write_options(json::writer& out, const storm_options& options) {
    out.begin_object()
        .member("seed", options.seed)
        .member("clients", options.clients)
        .member("requests_per_second", options.requests_per_second)
        .member("capacity_per_second", options.capacity_per_second)
        .member(
            "service_time",
            std::string_view(options.service_time == service_time::fixed ? "fixed" : "exponential"))
        .member("queue_limit", options.queue_limit)
        .member("fault_share", options.fault_share)
        .member("slow_share", options.slow_share)
        .member("slow_delay_s", to_seconds(options.slow_delay))
        .member("hedge_delay_s", to_seconds(options.hedge_delay.value_or(duration::zero())))
        .member("network_delay_s", to_seconds(options.network_delay))
        .member("attempt_timeout_s", to_seconds(options.attempt_timeout))
        .member(
            "outage",
            std::string_view(options.outage == outage_kind::stalled ? "stalled" : "refusing"))
        .member("outage_start_s", to_seconds(options.outage_start))
        .member("outage_length_s", to_seconds(options.outage_length))
        .member("length_s", to_seconds(options.length))
        .member("attempts_max", options.attempts_max)
        .member("backoff_base_s", to_seconds(options.standard.backoff.base))
        .member("backoff_cap_s", to_seconds(options.standard.backoff.cap))
        .member("bucket_capacity", options.standard.bucket.capacity)
        .member("price_retry", options.standard.prices.retry)
        .member("price_timeout", options.standard.prices.timeout)
        .member("refund", options.standard.prices.refund)
        .end_object();
}

void write_totals(json::writer& out, const storm_totals& totals) {
    out.begin_object()
        .member("requests", totals.requests)
        .member("succeeded", totals.succeeded)
        .member("failed", totals.failed)
        .member("unfinished", totals.unfinished)
        .member("attempts_sent", totals.attempts_sent)
        .member("attempts_arrived", totals.attempts_arrived)
        .member("on_the_way", totals.on_the_way)
        .member("work_done", totals.work_done)
        .member("wasted", totals.wasted)
        .member("faults", totals.faults)
        .member("answers_on_the_way", totals.answers_on_the_way)
        .member("errors", totals.errors)
        .member("waiting_max", totals.waiting_max)
        .member("latency_sum_s", to_seconds(totals.latency_sum))
        .member("latency_p99_s", to_seconds(totals.latency_p99))
        .member("hedges", totals.hedges)
        .end_object();
}

template <class Number>
void write_series(
    json::writer& out, std::string_view name, const std::vector<slot>& seconds,
    Number slot::* member) {
    out.key(name).begin_array();
    for (const slot& second : seconds) {
        out.value(second.*member);
    }
    out.end_array();
}

void write_all_series(json::writer& out, const storm_result& result) {
    const auto seconds = join_slots(result.slots, std::chrono::seconds{1} / slot_length);
    out.begin_object();
    write_series(out, "offered", seconds, &slot::offered);
    write_series(out, "attempts", seconds, &slot::attempts);
    write_series(out, "useful", seconds, &slot::useful);
    write_series(out, "wasted", seconds, &slot::wasted);
    write_series(out, "errors", seconds, &slot::errors);
    write_series(out, "failed", seconds, &slot::failed);
    write_series(out, "waiting", seconds, &slot::waiting);
    write_series(out, "bucket_share", seconds, &slot::bucket_share);
    out.end_object();
}

[[nodiscard]] std::string_view outcome_name(recovery_outcome outcome) {
    switch (outcome) {
        case recovery_outcome::recovered:
            return "recovered";
        case recovery_outcome::never:
            return "never";
        case recovery_outcome::not_healthy_before:
            return "not_healthy_before";
        case recovery_outcome::no_outage:
            break;
    }
    return "no_outage";
}

void write_result(json::writer& out, const storm_result& result) {
    out.begin_object()
        .member("policy", to_string(result.policy))
        .member("recovery", outcome_name(result.recovery.outcome))
        .key("recovery_s");
    if (result.recovery.outcome == recovery_outcome::recovered) {
        out.value(to_seconds(result.recovery.after));
    } else {
        out.value(nullptr);
    }
    out.member("success_share", result.success_share())
        .member("amplification", result.amplification())
        .member("worst_amplification", result.worst_amplification)
        .member("wasted_share", result.wasted_share());
    write_totals(out.key("totals"), result.totals);
    write_all_series(out.key("series"), result);
    out.end_object();
}

}  // namespace

std::string to_json(const comparison& compared, const report_heading& heading) {
    std::string text;
    json::writer out(text);
    out.begin_object()
        .member("scenario", heading.name)
        .member("title", heading.title)
        .member("command", heading.command)
        .member("reading", to_reading(compared));
    write_options(out.key("options"), compared.options);
    out.key("policies").begin_array();
    for (const storm_result& result : compared.results) {
        write_result(out, result);
    }
    out.end_array().end_object();
    return text;
}

}  // namespace reprise::lab
