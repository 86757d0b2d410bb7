#include <reprise/engine/engine_options.hpp>

#include <cmath>
#include <string>
#include <utility>

// Validates everything that a user can set. Reports the first contradiction with the name of its
// field.

namespace reprise::engine {

namespace {

struct named_duration {
    const char* field;
    duration value;
};

struct named_count {
    const char* field;
    std::size_t value;
    std::size_t max;
};

constexpr std::size_t kv_connections_max = 64;
constexpr std::size_t http_connections_max = 1024;
constexpr std::size_t connecting_limit = 65536;
constexpr std::size_t pipeline_credit_max = 65536;
// Queues only use memory for what they contain. The limit keeps sums of counts far from overflow.
constexpr std::size_t queue_count_max = std::size_t{1} << 30;
constexpr std::size_t write_size_limit = std::size_t{1} << 30;
constexpr std::size_t agent_size_limit = 200;
constexpr std::uint32_t iterations_min = wire::scram_iterations_min;
constexpr std::uint32_t iterations_limit = wire::scram_iterations_limit;

[[nodiscard]] std::optional<settings_error> refuse_option(std::string field, std::string message) {
    return settings_error{std::move(field), std::move(message)};
}

[[nodiscard]] std::optional<settings_error> check_positive(std::string field, duration value) {
    if (value <= duration::zero()) {
        return refuse_option(std::move(field), "must be above zero");
    }
    if (value > duration_option_max) {
        return refuse_option(std::move(field), "must be at most 366 days");
    }
    return std::nullopt;
}

// The engine adds these durations to time points, so even "forever" must be a number that fits.
[[nodiscard]] std::optional<settings_error> check_durations(const engine_options& options) {
    const named_duration all[] = {
        {"kv_timeout", options.kv_timeout},
        {"kv_durable_timeout", options.kv_durable_timeout},
        {"connect_timeout", options.connect_timeout},
        {"bootstrap_timeout", options.bootstrap_timeout},
        {"reconnect_delay_min", options.reconnect_delay_min},
        {"reconnect_delay_max", options.reconnect_delay_max},
        {"config_poll_interval", options.config_poll_interval},
        {"internal_timeout", options.internal_timeout},
        {"probe_after", options.probe_after},
        {"probe_timeout", options.probe_timeout},
        {"seed_silence_max", options.seed_silence_max},
        {"http.idle_timeout", options.http.idle_timeout},
    };
    for (const named_duration& each : all) {
        if (auto refused = check_positive(each.field, each.value)) {
            return refused;
        }
    }
    for (const wire::service each : wire::list_services(wire::is_http_service)) {
        std::string field = "http." + std::string(wire::facts_of(each).timeout_name);
        if (auto refused = check_positive(std::move(field), options.http.timeout_of(each))) {
            return refused;
        }
    }
    const named_duration may_be_zero[] = {
        {"config_poll_floor", options.config_poll_floor},
        {"not_my_vbucket_delay", options.not_my_vbucket_delay.value_or(duration::zero())},
        {"revision_delay_max", options.revision_delay_max},
        {"missing_bucket_patience", options.missing_bucket_patience},
    };
    for (const named_duration& each : may_be_zero) {
        if (each.value < duration::zero()) {
            return refuse_option(each.field, "must not be negative");
        }
        if (each.value > duration_option_max) {
            return refuse_option(each.field, "must be at most 366 days");
        }
    }
    if (options.reconnect_delay_max < options.reconnect_delay_min) {
        return refuse_option("reconnect_delay_max", "is below reconnect_delay_min");
    }
    if (options.config_poll_interval < options.config_poll_floor) {
        const auto floor =
            std::chrono::duration_cast<std::chrono::milliseconds>(options.config_poll_floor);
        return refuse_option(
            "config_poll_interval",
            "is below config_poll_floor (" + std::to_string(floor.count()) + " ms)");
    }
    return std::nullopt;
}

[[nodiscard]] std::optional<settings_error> check_counts(const engine_options& options) {
    const named_count all[] = {
        {"kv_connections_per_node", options.kv_connections_per_node, kv_connections_max},
        {"connecting_count_max", options.connecting_count_max, connecting_limit},
        {"pipeline_credit", options.pipeline_credit, pipeline_credit_max},
        {"write_size_max_bytes", options.write_size_max_bytes, write_size_limit},
        {"parked_count_max", options.parked_count_max, queue_count_max},
        {"ready_count_max", options.ready_count_max, queue_count_max},
        {"http.connections_per_node_max", options.http.connections_per_node_max,
         http_connections_max},
    };
    for (const named_count& each : all) {
        if (each.value < 1 || each.value > each.max) {
            return refuse_option(each.field, "must be 1 to " + std::to_string(each.max));
        }
    }
    const std::uint32_t iterations = options.scram_iterations_max;
    if (iterations < iterations_min || iterations > iterations_limit) {
        return refuse_option(
            "scram_iterations_max", "must be " + std::to_string(iterations_min) + " to " +
                                        std::to_string(iterations_limit));
    }
    return std::nullopt;
}

[[nodiscard]] std::optional<settings_error> check_breaker(const circuit_breaker_options& breaker) {
    auto error = reprise::check(breaker);
    if (error) {
        error->field = "circuit_breaker." + error->field;
    }
    return error;
}

}  // namespace

std::optional<settings_error> check(const engine_options& options) {
    if (options.seeds.empty()) {
        return refuse_option("seeds", "must name at least one node");
    }
    if (options.network.empty()) {
        return refuse_option("network", "must not be empty: `auto` chooses by the seeds");
    }
    if (options.agent.size() > agent_size_limit) {
        return refuse_option("agent", "must be at most 200 bytes");
    }
    if (auto error = check_durations(options)) {
        return error;
    }
    if (auto error = check_counts(options)) {
        return error;
    }
    if (options.circuit_breaker) {
        if (auto error = check_breaker(*options.circuit_breaker)) {
            return error;
        }
    }
    const double ratio = options.compression.ratio_max;
    if (!std::isfinite(ratio) || ratio <= 0.0 || ratio > 1.0) {
        return refuse_option("compression.ratio_max", "must be above 0 and at most 1");
    }
    return std::nullopt;
}

}  // namespace reprise::engine
