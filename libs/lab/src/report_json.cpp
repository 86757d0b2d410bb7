#include <algorithm>

#include <reprise/base/enum_table.hpp>
#include <reprise/json/write.hpp>
#include <reprise/lab/report.hpp>

#include "number_text.hpp"
#include "summary.hpp"

namespace reprise::lab {

namespace {

template <class Number>
void write_optional(json::writer& out, std::string_view name, const std::optional<Number>& value) {
    out.key(name);
    if (!value) {
        out.value(nullptr);
    } else if constexpr (std::is_same_v<Number, duration>) {
        out.value(to_seconds(*value));
    } else {
        out.value(*value);
    }
}

void write_model(json::writer& out, const model& asked) {
    out.begin_object()
        .member("seed", asked.seed)
        .member("length_s", to_seconds(asked.length))
        .member("clients", asked.clients.count);
    const bool is_open = asked.clients.arrivals == arrivals::open;
    write_optional(
        out, "requests_per_second",
        is_open ? std::optional(asked.clients.requests_per_second) : std::nullopt);
    write_optional(out, "attempt_timeout_s", asked.clients.retries.attempt_timeout);
    out.key("services").begin_array();
    for (const service_options& each : asked.services) {
        out.begin_object().member("name", each.name);
        write_optional(out, "capacity_per_second", each.capacity_per_second);
        out.end_object();
    }
    out.end_array().key("troubles").begin_array();
    for (const trouble& each : asked.troubles) {
        out.begin_object()
            .member("kind", to_string(each.kind))
            .member("service", each.service)
            .member("start_s", to_seconds(each.start))
            .member("end_s", to_seconds(each.start + each.length))
            .end_object();
    }
    out.end_array().end_object();
}

void write_totals(json::writer& out, const service_totals& totals) {
    out.begin_object()
        .member("calls", totals.calls)
        .member("succeeded", totals.succeeded)
        .member("failed", totals.failed)
        .member("unfinished", totals.unfinished)
        .member("sent", totals.sent)
        .member("arrived", totals.arrived)
        .member("done", totals.done)
        .member("wasted", totals.wasted)
        .member("rejected", totals.rejected)
        .member("dropped", totals.dropped)
        .member("hedges", totals.hedges)
        .member("waiting_max", totals.waiting_max)
        .key("refusals")
        .begin_object();
    for (std::size_t i = 0; i < totals.refusals.size(); ++i) {
        if (totals.refusals[i] > 0) {
            out.member(to_string(static_cast<refusal_reason>(i)), totals.refusals[i]);
        }
    }
    out.end_object().end_object();
}

template <class Number>
void write_series(
    json::writer& out, std::string_view name, const std::vector<slot>& steps,
    Number slot::* member) {
    out.key(name).begin_array();
    for (const slot& step : steps) {
        out.value(step.*member);
    }
    out.end_array();
}

void write_all_series(json::writer& out, const std::vector<slot>& steps, bool has_bucket) {
    out.begin_object();
    write_series(out, "offered", steps, &slot::offered);
    write_series(out, "attempts", steps, &slot::attempts);
    write_series(out, "useful", steps, &slot::useful);
    write_series(out, "wasted", steps, &slot::wasted);
    write_series(out, "errors", steps, &slot::errors);
    write_series(out, "failed", steps, &slot::failed);
    write_series(out, "waiting", steps, &slot::waiting);
    if (has_bucket) {
        write_series(out, "bucket_share", steps, &slot::bucket_share);
    }
    out.end_object();
}

[[nodiscard]] std::string_view outcome_name(recovery_outcome outcome) {
    return base::name_of(outcome);
}

void write_latency(json::writer& out, const latency_summary& latency) {
    out.begin_object().member("mean_of_successes_s", to_seconds(latency.mean));
    write_optional(out, "p50_s", latency.p50);
    write_optional(out, "p90_s", latency.p90);
    write_optional(out, "p99_s", latency.p99);
    write_optional(out, "p999_s", latency.p999);
    out.end_object();
}

void write_services(json::writer& out, const run_result& result, const model& used, duration step) {
    out.begin_array();
    for (std::size_t i = 0; i < result.services.size(); ++i) {
        const service_result& service = result.services[i];
        out.begin_object()
            .member("name", service.name)
            .member("amplification", result.amplification_at(i))
            .member("worst_amplification", result.worst_amplification_at(i))
            .member("wasted_share", result.wasted_share(i));
        write_totals(out.key("totals"), service.totals);
        // The level belongs to the callers; only the clients' is certain to be one layer's.
        const bool has_bucket =
            i == 0 && std::holds_alternative<bucket_options>(used.clients.retries.budget);
        write_all_series(
            out.key("series"),
            join_slots(service.slots, static_cast<std::size_t>(step / slot_length)), has_bucket);
        out.end_object();
    }
    out.end_array();
}

void write_latency_series(json::writer& out, const run_result& result) {
    for (const auto& [name, member] :
         {std::pair{"p50_s", &latency_second::p50}, std::pair{"p99_s", &latency_second::p99}}) {
        out.key(name).begin_array();
        for (const latency_second& each : result.latency_seconds) {
            const std::optional<duration>& value = each.*member;
            value ? out.value(to_seconds(*value)) : out.value(nullptr);
        }
        out.end_array();
    }
}

void write_result(json::writer& out, const comparison& compared, const strategy_result& each) {
    const run_result& result = each.result;
    const model used = with_strategy(compared.scenario, each.strategy);
    out.begin_object()
        .member("name", each.strategy.name)
        .member("settings", describe(each.strategy.retries))
        .member("is_complete", result.is_complete)
        .member("recovery", outcome_name(result.recovery.outcome))
        .key("recovery_s");
    if (result.recovery.has_recovered()) {
        out.value(to_seconds(result.recovery.after));
    } else {
        out.value(nullptr);
    }
    out.member("success_share", result.success_share())
        .member("attempts_per_success", result.attempts_per_success())
        .member("final_useful_per_second", result.final_useful_rate())
        .member("finished_s", to_seconds(result.finished_at));
    write_latency(out.key("latency"), result.latency);
    write_latency(out.key("latency_before_trouble"), result.latency_before);
    out.key("latency_by_second").begin_object();
    write_latency_series(out, result);
    out.end_object();
    write_services(out.key("services"), result, used, series_step(compared.scenario.model));
    out.end_object();
}

}  // namespace

std::string to_json(const comparison& compared, std::string_view command) {
    std::string text;
    json::writer out(text);
    const scenario& about = compared.scenario;
    out.begin_object()
        .member("scenario", about.name)
        .member("title", about.title)
        .member("description", describe(about.model))
        .member("command", command)
        .member("reading", to_reading(compared))
        .member(
            "is_complete",
            std::ranges::all_of(
                compared.results, [](const auto& each) { return each.result.is_complete; }))
        .member("step_s", to_seconds(series_step(about.model)));
    write_model(out.key("model"), about.model);
    out.key("strategies").begin_array();
    for (const strategy_result& each : compared.results) {
        write_result(out, compared, each);
    }
    out.end_array().end_object();
    return text;
}

std::string to_csv(const comparison& compared) {
    std::string text =
        "strategy,service,time_s,offered,attempts,useful,wasted,errors,failed,waiting,"
        "bucket_share\n";
    const duration step = series_step(compared.scenario.model);
    const auto field = [](const std::string& value) {
        if (value.find_first_of(",\"\r\n") == std::string::npos) {
            return value;
        }
        std::string escaped = "\"";
        for (const char c : value) {
            escaped += c == '"' ? "\"\"" : std::string(1, c);
        }
        return escaped + "\"";
    };
    for (const strategy_result& each : compared.results) {
        for (const service_result& service : each.result.services) {
            duration at{};
            for (const slot& one :
                 join_slots(service.slots, static_cast<std::size_t>(step / slot_length))) {
                text += field(each.strategy.name) + "," + field(service.name);
                for (const double number :
                     {to_seconds(at), double{1.0} * one.offered, double{1.0} * one.attempts,
                      double{1.0} * one.useful, double{1.0} * one.wasted, double{1.0} * one.errors,
                      double{1.0} * one.failed, double{1.0} * one.waiting, one.bucket_share}) {
                    std::string digits = number_text(number);
                    std::erase(digits, ',');
                    text += "," + digits;
                }
                text += "\n";
                at += step;
            }
        }
    }
    return text;
}

}  // namespace reprise::lab
