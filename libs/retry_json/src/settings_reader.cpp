#include "settings_reader.hpp"

#include "settings_text.hpp"

namespace reprise::retry_json::detail {

namespace {

constexpr std::pair<std::string_view, jitter> jitter_names[] = {
    {"full", jitter::full},
    {"equal", jitter::equal},
    {"decorrelated", jitter::decorrelated},
    {"none", jitter::none},
};
constexpr std::pair<std::string_view, sharing> sharing_names[] = {
    {"per_client", sharing::per_client},
    {"shared", sharing::shared},
};

[[nodiscard]] retry_options read_preset(
    std::string_view name, const json::value_path& path, json::reading_report& report) {
    if (const retry_preset* found = find_retry_preset(name)) {
        return found->options;
    }
    std::vector<std::string_view> names;
    for (const retry_preset& each : retry_presets()) {
        names.push_back(each.name);
    }
    report.add(path, "there is no preset '" + std::string(name) + "'" + json::suggest(name, names));
    return {};
}

void read_backoff(json::object_reader& from, std::string_view name, driver::backoff_options& into) {
    if (const json::value* found = from.take(name)) {
        json::object_reader in(*found, from.path_of(name), from.report());
        in.read("base", into.base);
        in.read("factor", into.factor);
        in.read("cap", into.cap);
        in.read<jitter>("jitter", into.jitter, jitter_names);
        in.read("hint_excess_max", into.hint_excess_max);
        in.read("step", into.step);
        in.finish();
    }
}

/// Where a budget starts: absent members keep the values of the preset, if its budget is of this
/// kind.
template <class Kind>
[[nodiscard]] Kind start_from(const budget_options& preset) {
    const auto* same = std::get_if<Kind>(&preset);
    return same != nullptr ? *same : Kind{};
}

/// Prices alone do not replace a throttle or a window by a bucket.
[[nodiscard]] bool has_no_bucket(const json::object_reader& in, const budget_options& preset) {
    return !in.has("bucket") && !std::holds_alternative<bucket_options>(preset) &&
           !std::holds_alternative<std::monostate>(preset);
}

void read_bucket(json::object_reader& in, budget_options& into) {
    if (has_no_bucket(in, into)) {
        in.accept("prices");
        const bool is_throttle = std::holds_alternative<failure_throttle_options>(into);
        return in.fail(
            "prices", std::string("are those of a bucket, and the budget of the preset is a ") +
                          (is_throttle ? "throttle" : "window") +
                          "; name a bucket as well to replace it");
    }
    bucket_options bucket = start_from<bucket_options>(into);
    if (const json::value* found = in.take("bucket")) {
        json::object_reader size(*found, in.path_of("bucket"), in.report());
        size.read("capacity", bucket.bucket.capacity);
        size.read("initial", bucket.bucket.initial);
        size.finish();
    }
    if (const json::value* found = in.take("prices")) {
        json::object_reader prices(*found, in.path_of("prices"), in.report());
        prices.read("retry", bucket.prices.retry);
        prices.read("timeout", bucket.prices.timeout);
        prices.read("throttling", bucket.prices.throttling);
        prices.read("refund", bucket.prices.refund);
        prices.read("refund_last_cost", bucket.prices.refund_last_cost);
        prices.finish();
    }
    into = bucket;
}

void read_budget(json::object_reader& from, budget_options& into) {
    const json::value* found = from.take("budget");
    if (found == nullptr) {
        return;
    }
    if (found->as_string() == "none") {
        into = std::monostate{};
        return;
    }
    if (found->as_object() == nullptr) {
        from.fail("budget", "must be \"none\" or an object with bucket, throttle or window");
        return;
    }
    if (found->as_object()->empty()) {
        from.fail(
            "budget",
            "must not be empty: name bucket, prices, throttle or window; leave it out to keep the "
            "preset's budget, or write \"none\" to have none");
        return;
    }
    json::object_reader in(*found, from.path_of("budget"), from.report());
    if (in.has("throttle") + in.has("window") + (in.has("bucket") || in.has("prices")) > 1) {
        return in.fail({}, "must be one of bucket (with prices), throttle and window");
    }
    for (const std::string_view name : {"bucket", "prices", "throttle", "window"}) {
        in.accept(name);
    }
    if (const json::value* throttle = in.take("throttle")) {
        auto options = start_from<failure_throttle_options>(into);
        json::object_reader fields(*throttle, in.path_of("throttle"), in.report());
        fields.read("units_max", options.units_max);
        fields.read("ratio", options.ratio);
        fields.finish();
        into = options;
    } else if (const json::value* window = in.take("window")) {
        auto options = start_from<windowed_budget_options>(into);
        json::object_reader fields(*window, in.path_of("window"), in.report());
        fields.read("percent", options.percent);
        fields.read("minimum_per_second", options.minimum_per_second);
        fields.read("window", options.window);
        fields.finish();
        into = options;
    } else if (in.has("bucket") || in.has("prices")) {
        read_bucket(in, into);
    }
    in.finish();
}

void read_breaker(json::object_reader& from, std::optional<driver::circuit_breaker_options>& into) {
    if (const json::value* found = from.take("breaker")) {
        into.emplace();
        json::object_reader in(*found, from.path_of("breaker"), from.report());
        in.read("volume_threshold", into->volume_threshold);
        in.read("error_threshold_percent", into->error_threshold_percent);
        in.read("rolling_window", into->rolling_window);
        in.read("sleep_window", into->sleep_window);
        in.read("probe_timeout", into->probe_timeout);
        in.finish();
    }
}

void read_parallel_attempts(json::object_reader& from, retry_options& into) {
    if (const json::value* found = from.take("hedge")) {
        into.hedge.emplace();
        json::object_reader in(*found, from.path_of("hedge"), from.report());
        in.read("delay", into.hedge->delay);
        in.read("percentile", into.hedge->percentile);
        in.finish();
    }
    if (const json::value* found = from.take("wake")) {
        into.wake.emplace();
        json::object_reader in(*found, from.path_of("wake"), from.report());
        in.read("per_second", into.wake->per_second);
        in.finish();
    }
}

void read_attempts(json::object_reader& from, retry_options& into) {
    const json::value* found = from.take("attempts_max");
    if (found != nullptr && found->as_string() == "unlimited") {
        into.attempts_max.reset();
    } else if (found != nullptr) {
        const auto number = found->as_uint64();
        if (!number || *number == 0 || *number > 1000) {
            from.fail("attempts_max", "must be a whole number from 1 to 1000, or \"unlimited\"");
            return;
        }
        into.attempts_max = static_cast<std::uint32_t>(*number);
    }
    if (const json::value* delays = from.take("delays")) {
        into.delays.clear();
        if (delays->as_array() == nullptr) {
            from.fail("delays", "must be a list of times");
            return;
        }
        for (const json::value& each : *delays->as_array()) {
            into.delays.push_back(json::read_duration(each, from.path_of("delays"), from.report()));
        }
    }
}

/// A list of delays replaces the backoffs, except for their limits on hints of services.
void report_replaced_backoffs(const json::value& content, const json::object_reader& in) {
    for (const std::string_view backoff : {"backoff", "throttling_backoff"}) {
        const json::value* found = content.find(backoff);
        const json::object* members = found != nullptr ? found->as_object() : nullptr;
        if (members == nullptr) {
            continue;
        }
        for (const json::member& each : *members) {
            if (backoff != "backoff" || each.name != "hint_excess_max") {
                json::value_path path = in.path_of(backoff);
                path.emplace_back(each.name);
                in.report().add_unused(std::move(path));
            }
        }
    }
}

[[nodiscard]] retry_options read_own(
    const json::value& content, const json::value_path& path, json::reading_report& report) {
    json::object_reader in(content, path, report);
    retry_options options;
    std::string preset;
    const std::size_t problems = report.problems().size();
    in.read("preset", preset);
    if (in.has("preset") && report.problems().size() == problems) {
        options = read_preset(preset, in.path_of("preset"), report);
    }
    read_attempts(in, options);
    read_backoff(in, "backoff", options.backoff);
    if (in.has("throttling_backoff")) {
        options.throttling_backoff = options.throttling_backoff.value_or(options.backoff);
        read_backoff(in, "throttling_backoff", *options.throttling_backoff);
    }
    read_budget(in, options.budget);
    in.read<sharing>("budget_sharing", options.budget_sharing, sharing_names);
    read_breaker(in, options.breaker);
    in.read<sharing>("breaker_sharing", options.breaker_sharing, sharing_names);
    read_parallel_attempts(in, options);
    in.read("attempt_timeout", options.attempt_timeout);
    in.read("deadline", options.deadline);
    in.read("propagates_deadline", options.propagates_deadline);
    in.read("passes_allowance", options.passes_allowance);
    in.accept("throttling_backoff");
    in.finish();
    if (!options.delays.empty()) {
        report_replaced_backoffs(content, in);
    }
    return options;
}

}  // namespace

retry_options read_retries(
    const json::value& content, const json::value_path& path, json::reading_report& report) {
    if (const auto name = content.as_string()) {
        return read_preset(*name, path, report);
    }
    if (content.as_object() == nullptr) {
        report.add(path, "must be the name of a preset, or an object with retry settings");
        return {};
    }
    const std::size_t problems = report.problems().size();
    const retry_options options = is_grpc_config(content) ? read_grpc_config(content, path, report)
                                  : is_envoy_config(content)
                                      ? read_envoy_config(content, path, report)
                                      : read_own(content, path, report);
    if (report.problems().size() > problems) {
        return options;
    }
    if (const auto error = check(options)) {
        json::value_path place = path;
        for (std::string& step : json::parse_path(error->field)) {
            place.push_back(std::move(step));
        }
        report.add(std::move(place), error->message);
    }
    return options;
}

}  // namespace reprise::retry_json::detail
