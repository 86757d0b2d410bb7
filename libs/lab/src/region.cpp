#include <reprise/lab/region.hpp>

#include <algorithm>
#include <cmath>

#include <reprise/base/enum_table.hpp>
#include <settings_text.hpp>

#include "number_text.hpp"

namespace reprise::lab {

namespace {

constexpr double precision = 0.01;

[[nodiscard]] model with_value(model asked, region_axis axis, double value) {
    retry_options& retries = asked.clients.retries;
    switch (axis) {
        case region_axis::attempts:
            retries.attempts_max = static_cast<std::uint32_t>(std::lround(value));
            break;
        case region_axis::timeout:
            retries.attempt_timeout = duration{std::llround(value * 1e9)};
            break;
        case region_axis::bucket:
            if (auto* bucket = std::get_if<bucket_options>(&retries.budget)) {
                bucket->bucket.capacity = value;
                if (bucket->bucket.initial) {
                    bucket->bucket.initial = std::min(*bucket->bucket.initial, value);
                }
            }
            break;
    }
    return asked;
}

[[nodiscard]] double load_max_of(const model& asked) {
    return asked.services.front().capacity_per_second.value_or(0.0);
}

}  // namespace

std::string_view to_string(region_axis axis) noexcept {
    return base::name_of(axis);
}

std::vector<double> usual_values(const model& asked, region_axis axis) {
    const retry_options& retries = asked.clients.retries;
    std::vector<double> values;
    switch (axis) {
        case region_axis::attempts:
            return {1, 2, 3, 4, 5, 7, 10};
        case region_axis::timeout: {
            const double own =
                to_seconds(retries.attempt_timeout.value_or(std::chrono::seconds{1}));
            for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
                values.push_back(own * factor);
            }
            return values;
        }
        case region_axis::bucket:
            if (const auto* bucket = std::get_if<bucket_options>(&retries.budget)) {
                const double least = std::max(bucket->prices.retry, bucket->prices.timeout);
                for (const double each : {10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0}) {
                    if (each >= least) {
                        values.push_back(each);
                    }
                }
            }
            return values;
    }
    return values;
}

std::optional<driver::settings_error> check_region(
    const model& asked, region_axis axis, double value) {
    if (asked.clients.arrivals != arrivals::open) {
        return retry_json::detail::refuse("clients.arrivals", "a region needs open arrivals");
    }
    if (!asked.services.front().capacity_per_second) {
        return retry_json::detail::refuse(
            "services[0].capacity_per_second", "a region needs the capacity of the first service");
    }
    if (asked.troubles.empty()) {
        return retry_json::detail::refuse("troubles", "a region needs trouble to recover from");
    }
    const bool has_bucket = std::holds_alternative<bucket_options>(asked.clients.retries.budget);
    if (axis == region_axis::bucket && !has_bucket) {
        return retry_json::detail::refuse("budget", "the strategy has no bucket");
    }
    if (!std::isfinite(value) || value < 0.0 || value > 1e9) {
        return retry_json::detail::refuse("values", "must be between 0 and 1,000,000,000");
    }
    model highest = with_value(asked, axis, value);
    highest.clients.requests_per_second = load_max_of(asked);
    return check(highest);
}

std::optional<region_point> find_edge(
    const model& asked, region_axis axis, double value, const run_monitor& monitor) {
    model tried = with_value(asked, axis, value);
    const double load_max = load_max_of(asked);
    region_point point{value, 0.0, std::nullopt, 0};
    bool is_stopped = false;
    const auto recovers = [&](double load) {
        tried.clients.requests_per_second = load;
        ++point.runs;
        const run_result result = run(tried, monitor);
        is_stopped |= !result.is_complete;
        return result.recovery.has_recovered();
    };
    if (recovers(load_max)) {
        point.recovers_up_to = load_max;
        return is_stopped ? std::nullopt : std::optional(point);
    }
    double down = load_max;
    double up = 0.0;
    while (!is_stopped && down - up > precision * load_max) {
        const double middle = (down + up) / 2.0;
        (recovers(middle) ? up : down) = middle;
    }
    point.recovers_up_to = up;
    point.stays_down_from = down;
    return is_stopped ? std::nullopt : std::optional(point);
}

}  // namespace reprise::lab
