/// Settings as short texts for titles and tables.

#include <reprise/lab/report.hpp>

#include "number_text.hpp"

namespace reprise::lab {

namespace {

/// "500 ms", "2.5 s"
[[nodiscard]] std::string time_text(const std::optional<duration>& value) {
    const duration time = value.value_or(duration::zero());
    return time > duration::zero() && time < std::chrono::seconds{1}
               ? number_text(to_seconds(time) * 1000.0) + " ms"
               : seconds_text(time);
}

[[nodiscard]] std::string_view jitter_text(jitter kind) {
    switch (kind) {
        case jitter::full:
            return "full jitter";
        case jitter::equal:
            return "equal jitter";
        case jitter::decorrelated:
            return "decorrelated jitter";
        case jitter::none:
            break;
    }
    return "no jitter";
}

[[nodiscard]] std::string describe_backoff(const retry_options& retries) {
    if (!retries.delays.empty()) {
        std::string text = "delays";
        for (const duration each : retries.delays) {
            text += (text == "delays" ? " " : ", ") + time_text(each);
        }
        return text;
    }
    const driver::backoff_options& backoff = retries.backoff;
    if (backoff.base == duration::zero() && backoff.step == duration::zero()) {
        return "no delay";
    }
    return time_text(backoff.base) + " x " + number_text(backoff.factor) + " up to " +
           time_text(backoff.cap) + ", " + std::string(jitter_text(backoff.jitter));
}

[[nodiscard]] std::string describe_budget(const retry_options& retries) {
    const std::string whose = retries.budget_sharing == sharing::shared ? "shared " : std::string();
    if (const auto* bucket = std::get_if<bucket_options>(&retries.budget)) {
        std::string text = whose + "bucket of " + number_text(bucket->bucket.capacity);
        if (bucket->bucket.initial) {
            text += " (starts with " + number_text(*bucket->bucket.initial) + ")";
        }
        text += ", a retry costs " + number_text(bucket->prices.retry);
        if (bucket->prices.timeout != bucket->prices.retry) {
            text += ", after a timeout " + number_text(bucket->prices.timeout);
        }
        return text + ", a success returns " + number_text(bucket->prices.refund);
    }
    if (const auto* throttle = std::get_if<failure_throttle_options>(&retries.budget)) {
        return whose + "throttle of " + number_text(throttle->units_max) + ", ratio " +
               number_text(throttle->ratio);
    }
    if (const auto* window = std::get_if<windowed_budget_options>(&retries.budget)) {
        return whose + "budget of " + number_text(window->percent) + " % of requests plus " +
               rate_text(window->minimum_per_second);
    }
    return "no budget";
}

[[nodiscard]] std::string describe_extras(const retry_options& retries) {
    std::string text;
    if (retries.hedge) {
        text += "; hedge after " +
                (retries.hedge->percentile
                     ? "the " + number_text(*retries.hedge->percentile) + "th percentile"
                     : time_text(retries.hedge->delay));
    }
    text += retries.breaker ? "; circuit breaker" : "";
    if (retries.wake) {
        text += retries.wake->per_second ? "; woken at " + rate_text(*retries.wake->per_second)
                                         : "; woken at once";
    }
    if (retries.attempt_timeout) {
        text += "; timeout " + time_text(retries.attempt_timeout);
    }
    if (retries.deadline) {
        text += "; deadline " + time_text(retries.deadline);
    }
    text += retries.propagates_deadline ? ", propagated" : "";
    return text + (retries.passes_allowance ? "; passes its allowance on" : "");
}

[[nodiscard]] std::string describe_service(const service_options& service) {
    std::string text = service.name;
    if (service.capacity_per_second) {
        text += " " + rate_text(*service.capacity_per_second);
    }
    if (service.nodes > 1) {
        text += " on " + grouped(service.nodes) + " nodes";
    }
    if (service.queue_limit) {
        text += ", queue of " + grouped(*service.queue_limit);
    }
    text += service.drops_expired ? ", drops expired work" : "";
    text += service.failure_share > 0.0 ? ", " + percent(service.failure_share) + " fail" : "";
    text += service.slow_share > 0.0
                ? ", " + percent(service.slow_share) + " late by " + time_text(service.slow_delay)
                : "";
    return text;
}

[[nodiscard]] std::string describe_trouble(const trouble& what, const model& in) {
    std::string kind(to_string(what.kind));
    for (char& c : kind) {
        c = c == '_' ? ' ' : c;
    }
    if (in.services.size() > 1 && !what.service.empty()) {
        kind += " of " + what.service;
    }
    return kind + " from " + seconds_text(what.start) + " to " +
           seconds_text(what.start + what.length);
}

}  // namespace

std::string describe(const retry_options& retries) {
    if (retries.attempts_max == 1U) {
        return "1 attempt" + describe_extras(retries);
    }
    const std::string attempts = retries.attempts_max
                                     ? std::to_string(*retries.attempts_max) + " attempts"
                                     : std::string("unlimited attempts");
    return attempts + "; " + describe_backoff(retries) + "; " + describe_budget(retries) +
           describe_extras(retries);
}

std::string describe(const model& asked) {
    const client_options& clients = asked.clients;
    std::string text = grouped(clients.count) + (clients.count == 1 ? " client, " : " clients, ");
    if (clients.arrivals == arrivals::open) {
        text += number_text(clients.requests_per_second) + " requests/s";
    } else {
        text += "pause " + time_text(clients.think_time);
        if (clients.requests_each) {
            text += ", " + grouped(*clients.requests_each) + " requests each";
        }
    }
    if (clients.retries.attempt_timeout) {
        text += ", timeout " + time_text(clients.retries.attempt_timeout);
    }
    for (const service_options& service : asked.services) {
        text += "; " + describe_service(service);
    }
    for (const trouble& what : asked.troubles) {
        text += "; " + describe_trouble(what, asked);
    }
    return text + "; seed " + std::to_string(asked.seed);
}

}  // namespace reprise::lab
