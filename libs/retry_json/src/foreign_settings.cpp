/// Settings in the formats of gRPC and Envoy, read as they are. Members that list the errors to
/// retry are accepted and have no effect: the facts of a failure decide that (`failure_facts`).

#include <algorithm>

#include "settings_reader.hpp"

namespace reprise::retry_json::detail {

namespace {

using namespace std::chrono_literals;

/// gRPC treats larger values of maxAttempts as 5.
constexpr std::uint32_t grpc_attempts_max = 5;
/// One less than the largest `retry_options::attempts_max`.
constexpr std::uint32_t envoy_retries_max = 999;

[[nodiscard]] bool has_any(
    const json::value& content, std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(
        names, [&](std::string_view name) { return content.find(name) != nullptr; });
}

/// Reports what a `check` refuses under the document's name for it.
void report_refused(
    const json::object_reader& in, const std::optional<driver::settings_error>& refused,
    std::initializer_list<std::pair<std::string_view, std::string_view>> names) {
    if (!refused || in.has_failed()) {
        return;  // What was read wrong may be why.
    }
    for (const auto& [own, theirs] : names) {
        if (refused->field == own) {
            in.fail(theirs, refused->message);
        }
    }
}

void read_timeout(
    json::object_reader& in, std::string_view name, std::optional<duration>& timeout) {
    if (in.has(name)) {
        in.read(name, timeout);
        retry_options only;
        only.deadline = timeout;
        report_refused(in, check(only), {{"deadline", name}});
    } else {
        in.accept(name);
    }
}

void read_grpc_attempts(json::object_reader& in, retry_options& into) {
    std::uint32_t attempts = 2;
    in.require("maxAttempts");
    in.read("maxAttempts", attempts);
    if (attempts < 2) {
        in.fail("maxAttempts", "must be a whole number above 1");
    }
    into.attempts_max = std::min(attempts, grpc_attempts_max);
}

void read_retry_policy(
    const json::value& content, json::value_path path, json::reading_report& report,
    retry_options& into) {
    json::object_reader in(content, std::move(path), report);
    read_grpc_attempts(in, into);
    in.require("initialBackoff");
    in.require("maxBackoff");
    in.require("backoffMultiplier");
    into.backoff = {100ms, 2.0, 1s, jitter::full, std::nullopt};
    in.read("initialBackoff", into.backoff.base);
    in.read("maxBackoff", into.backoff.cap);
    in.read("backoffMultiplier", into.backoff.factor);
    if (into.backoff.base > into.backoff.cap) {
        into.backoff.base = into.backoff.cap;  // gRPC takes the smaller one.
    }
    report_refused(
        in, check(into.backoff),
        {{"base", "initialBackoff"}, {"factor", "backoffMultiplier"}, {"cap", "maxBackoff"}});
    in.ignore("retryableStatusCodes");
    in.ignore("perAttemptRecvTimeout");
    in.finish();
}

void read_hedging_policy(
    const json::value& content, const json::value_path& path, json::reading_report& report,
    retry_options& into) {
    json::object_reader in(content, path, report);
    read_grpc_attempts(in, into);
    // A failed attempt is followed by the next one at once.
    into.backoff.base = into.backoff.cap = duration::zero();
    into.backoff.jitter = jitter::none;
    duration delay{};
    // A strategy does not hedge.
    report.add_unused(in.has("hedgingDelay") ? in.path_of("hedgingDelay") : path);
    in.read("hedgingDelay", delay);
    into.hedge = hedge_options{.delay = std::max<duration>(delay, 1us), .percentile = {}};
    in.ignore("nonFatalStatusCodes");
    in.finish();
}

void read_method(json::object_reader& in, retry_options& into) {
    into.attempts_max = 1;
    if (in.has("retryPolicy") && in.has("hedgingPolicy")) {
        in.fail("hedgingPolicy", "excludes 'retryPolicy'");
    }
    if (const json::value* policy = in.take("retryPolicy")) {
        read_retry_policy(*policy, in.path_of("retryPolicy"), in.report(), into);
    }
    if (const json::value* policy = in.take("hedgingPolicy")) {
        read_hedging_policy(*policy, in.path_of("hedgingPolicy"), in.report(), into);
    }
    read_timeout(in, "timeout", into.deadline);
}

void read_methods(json::object_reader& from, retry_options& into) {
    const json::value* methods = from.take("methodConfig");
    if (methods == nullptr) {
        return;
    }
    if (methods->as_array() == nullptr) {
        from.fail("methodConfig", "must be a list");
        return;
    }
    bool is_found = from.has("retryPolicy") || from.has("hedgingPolicy");
    for (std::size_t i = 0; i < methods->as_array()->size(); ++i) {
        json::value_path path = from.path_of("methodConfig");
        path.push_back(std::to_string(i));
        const json::value& each = *methods->at(i);
        json::object_reader in(each, path, from.report());
        const bool has_policy = has_any(each, {"retryPolicy", "hedgingPolicy"});
        if (has_policy && std::exchange(is_found, true)) {
            in.fail({}, "is the second method with a policy; keep the one to use");
        }
        if (!has_policy) {
            in.ignore("timeout");      // Of other methods.
            in.accept("retryPolicy");  // A misspelt one gets a suggestion.
            in.accept("hedgingPolicy");
        } else if (into.deadline && in.has("timeout")) {
            in.fail("timeout", "is the second timeout; keep the one to use");
        }
        for (const std::string_view name :
             {"name", "waitForReady", "maxRequestMessageBytes", "maxResponseMessageBytes"}) {
            in.ignore(name);
        }
        if (has_policy) {
            retry_options read;
            read.deadline = into.deadline;
            read_method(in, read);
            into = read;
        }
        in.finish();
    }
}

/// Zero means none, as in Envoy.
void read_envoy_timeout(
    json::object_reader& in, const char* name, std::optional<duration>& timeout) {
    std::optional<duration> read;
    in.read(name, read);
    if (read && *read != duration::zero()) {
        read_timeout(in, name, timeout);
    }
}

[[nodiscard]] retry_options read_envoy_policy(
    const json::value& content, const json::value_path& path, json::reading_report& report) {
    json::object_reader in(content, path, report);
    retry_options options = find_retry_preset("envoy")->options;
    std::uint32_t retries = 1;
    in.read("num_retries", retries);
    if (retries > envoy_retries_max) {
        in.fail("num_retries", "must be at most " + std::to_string(envoy_retries_max));
    }
    options.attempts_max = std::min(retries, envoy_retries_max) + 1;
    read_envoy_timeout(in, "per_try_timeout", options.attempt_timeout);
    if (const json::value* backoff = in.take("retry_back_off")) {
        json::object_reader fields(*backoff, in.path_of("retry_back_off"), report);
        fields.require("base_interval");
        fields.read("base_interval", options.backoff.base);
        options.backoff.cap = 10 * options.backoff.base;
        fields.read("max_interval", options.backoff.cap);
        report_refused(
            fields, check(options.backoff), {{"base", "base_interval"}, {"cap", "max_interval"}});
        fields.finish();
    }
    for (const std::string_view name :
         {"retry_on", "retry_priority", "retry_host_predicate", "retry_options_predicates",
          "host_selection_retry_max_attempts", "retriable_status_codes", "retriable_headers",
          "retriable_request_headers", "per_try_idle_timeout", "rate_limited_retry_back_off"}) {
        in.ignore(name);
    }
    in.finish();
    return options;
}

}  // namespace

bool is_grpc_config(const json::value& content) {
    return has_any(content, {"methodConfig", "retryPolicy", "hedgingPolicy", "retryThrottling"});
}

retry_options read_grpc_config(
    const json::value& content, const json::value_path& path, json::reading_report& report) {
    json::object_reader in(content, path, report);
    retry_options options;
    read_method(in, options);
    read_methods(in, options);
    if (const json::value* throttling = in.take("retryThrottling")) {
        failure_throttle_options throttle;
        json::object_reader fields(*throttling, in.path_of("retryThrottling"), report);
        fields.require("maxTokens");
        fields.require("tokenRatio");
        fields.read("maxTokens", throttle.units_max);
        fields.read("tokenRatio", throttle.ratio);
        report_refused(
            fields, check(throttle), {{"units_max", "maxTokens"}, {"ratio", "tokenRatio"}});
        fields.finish();
        options.budget = throttle;
    }
    for (const std::string_view name :
         {"loadBalancingPolicy", "loadBalancingConfig", "healthCheckConfig"}) {
        in.ignore(name);
    }
    in.finish();
    return options;
}

bool is_envoy_config(const json::value& content) {
    return has_any(content, {"retry_policy", "num_retries", "retry_on", "retry_back_off"});
}

retry_options read_envoy_config(
    const json::value& content, const json::value_path& path, json::reading_report& report) {
    const json::value* policy = content.find("retry_policy");
    if (policy == nullptr) {
        return read_envoy_policy(content, path, report);
    }
    json::object_reader in(content, path, report);
    in.accept("retry_policy");
    retry_options options = read_envoy_policy(*policy, in.path_of("retry_policy"), report);
    read_envoy_timeout(in, "timeout", options.deadline);
    in.finish();
    return options;
}

}  // namespace reprise::retry_json::detail
