#include <reprise/lab/report.hpp>

#include "json_text.hpp"
#include "summary.hpp"

namespace reprise::lab {

std::string json_string(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || c == '<') {
            quoted += "\\u00";
            quoted += hex[byte >> 4U];
            quoted += hex[byte & 15U];
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

json_object& json_object::add_raw(std::string_view name, std::string_view json) {
    if (!members_.empty()) {
        members_ += ',';
    }
    members_.append(json_string(name)).append(":").append(json);
    return *this;
}

namespace {

[[nodiscard]] std::string options_json(const storm_options& options) {
    json_object object;
    object.add("seed", options.seed)
        .add("clients", std::uint64_t{options.clients})
        .add("requests_per_second", options.requests_per_second)
        .add("capacity_per_second", options.capacity_per_second)
        .add(
            "service_time",
            std::string_view(options.service_time == service_time::fixed ? "fixed" : "exponential"))
        .add("queue_limit", std::uint64_t{options.queue_limit})
        .add("fault_share", options.fault_share)
        .add("network_delay_s", to_seconds(options.network_delay))
        .add("attempt_timeout_s", to_seconds(options.attempt_timeout))
        .add(
            "outage",
            std::string_view(options.outage == outage_kind::stalled ? "stalled" : "refusing"))
        .add("outage_start_s", to_seconds(options.outage_start))
        .add("outage_length_s", to_seconds(options.outage_length))
        .add("length_s", to_seconds(options.length))
        .add("attempts_max", std::uint64_t{options.attempts_max})
        .add("backoff_base_s", to_seconds(options.standard.backoff.base))
        .add("backoff_cap_s", to_seconds(options.standard.backoff.cap))
        .add("bucket_capacity", options.standard.bucket.capacity)
        .add("price_retry", options.standard.prices.retry)
        .add("price_timeout", options.standard.prices.timeout)
        .add("refund", options.standard.prices.refund);
    return object.str();
}

[[nodiscard]] std::string totals_json(const storm_totals& totals) {
    json_object object;
    object.add("requests", totals.requests)
        .add("succeeded", totals.succeeded)
        .add("failed", totals.failed)
        .add("unfinished", totals.unfinished)
        .add("attempts_sent", totals.attempts_sent)
        .add("attempts_arrived", totals.attempts_arrived)
        .add("on_the_way", totals.on_the_way)
        .add("work_done", totals.work_done)
        .add("wasted", totals.wasted)
        .add("faults", totals.faults)
        .add("answers_on_the_way", totals.answers_on_the_way)
        .add("errors", totals.errors)
        .add("waiting_max", std::uint64_t{totals.waiting_max})
        .add("latency_sum_s", to_seconds(totals.latency_sum));
    return object.str();
}

[[nodiscard]] std::string series_json(const storm_result& result) {
    const auto seconds = join_slots(result.slots, std::chrono::seconds{1} / slot_length);
    const auto counts = [&](std::uint32_t slot::* member) {
        return json_array(seconds, [&](const slot& s) { return std::to_string(s.*member); });
    };
    json_object object;
    object.add_raw("offered", counts(&slot::offered))
        .add_raw("attempts", counts(&slot::attempts))
        .add_raw("useful", counts(&slot::useful))
        .add_raw("wasted", counts(&slot::wasted))
        .add_raw("errors", counts(&slot::errors))
        .add_raw("failed", counts(&slot::failed))
        .add_raw("waiting", counts(&slot::waiting))
        .add_raw("bucket_share", json_array(seconds, [](const slot& s) {
                     return json_number(s.bucket_share);
                 }));
    return object.str();
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

[[nodiscard]] std::string result_json(const storm_result& result) {
    const bool recovered = result.recovery.outcome == recovery_outcome::recovered;
    json_object object;
    object.add("policy", to_string(result.policy))
        .add("recovery", outcome_name(result.recovery.outcome))
        .add_raw("recovery_s", recovered ? json_number(to_seconds(result.recovery.after)) : "null")
        .add("success_share", result.success_share())
        .add("amplification", result.amplification())
        .add("worst_amplification", result.worst_amplification)
        .add("wasted_share", result.wasted_share())
        .add_raw("totals", totals_json(result.totals))
        .add_raw("series", series_json(result));
    return object.str();
}

}  // namespace

std::string to_json(const comparison& compared, const report_heading& heading) {
    json_object object;
    object.add("scenario", heading.name)
        .add("title", heading.title)
        .add("command", heading.command)
        .add("reading", to_reading(compared))
        .add_raw("options", options_json(compared.options))
        .add_raw("policies", json_array(compared.results, result_json));
    return object.str();
}

}  // namespace reprise::lab
