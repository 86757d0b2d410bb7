#include <reprise/lab/scenario.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "settings_problem.hpp"

namespace reprise::lab {

namespace {

using detail::refuse;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint32_t clients_max = 1'000'000;
constexpr double rate_max = 10'000'000.0;
constexpr std::size_t queue_max = 10'000'000;
constexpr std::uint32_t attempts_limit = 100;

[[nodiscard]] storm_options outage_options() {
    storm_options options;
    options.requests_per_second = 400.0;
    options.outage = outage_kind::refusing;
    options.length = std::chrono::seconds{60};
    return options;
}

[[nodiscard]] storm_options metastable_options() {
    storm_options options;
    options.requests_per_second = 750.0;
    options.outage = outage_kind::stalled;
    options.length = std::chrono::seconds{90};
    return options;
}

[[nodiscard]] storm_options hedging_options() {
    storm_options options;
    options.requests_per_second = 400.0;
    options.slow_share = 0.02;
    options.hedge_delay = milliseconds{20};
    options.outage = outage_kind::stalled;
    options.length = std::chrono::seconds{60};
    return options;
}

[[nodiscard]] std::optional<settings_error> check_rate(const char* field, double value) {
    if (!std::isfinite(value) || value <= 0.0 || value > rate_max) {
        return refuse(field, "must be above 0 and at most 10,000,000 per second");
    }
    return std::nullopt;
}

[[nodiscard]] std::optional<settings_error> check_times(const storm_options& options) {
    if (options.network_delay < duration::zero() ||
        options.network_delay > std::chrono::seconds{10}) {
        return refuse("network_delay", "must be between 0 and 10 s");
    }
    if (options.attempt_timeout < microseconds{1} || options.attempt_timeout > hours{1}) {
        return refuse("attempt_timeout", "must be between 1 us and 1 h");
    }
    if (options.slow_delay < duration::zero() || options.slow_delay > hours{1}) {
        return refuse("slow_delay", "must be between 0 and 1 h");
    }
    if (options.hedge_delay &&
        (*options.hedge_delay < microseconds{1} || *options.hedge_delay > hours{1})) {
        return refuse("hedge_delay", "must be between 1 us and 1 h");
    }
    if (options.outage_length < duration::zero() || options.outage_length > hours{24}) {
        return refuse("outage_length", "must be between 0 and 1 day");
    }
    if (options.length <= duration::zero() || options.length > hours{24} ||
        options.length % slot_length != duration::zero()) {
        return refuse("length", "must be a multiple of 100 ms, above 0 and at most 1 day");
    }
    if (options.outage_start < std::chrono::seconds{2} || options.outage_start > hours{24}) {
        return refuse("outage_start", "must be between 2 s and 1 day");
    }
    if (options.outage_length > duration::zero() &&
        options.outage_start + options.outage_length + std::chrono::seconds{5} > options.length) {
        return refuse("length", "must leave at least 5 s after the end of the outage");
    }
    return std::nullopt;
}

}  // namespace

std::optional<settings_error> check(const storm_options& options) {
    if (options.clients == 0 || options.clients > clients_max) {
        return refuse("clients", "must be between 1 and 1,000,000");
    }
    if (auto error = check_rate("requests_per_second", options.requests_per_second)) {
        return error;
    }
    if (auto error = check_rate("capacity_per_second", options.capacity_per_second)) {
        return error;
    }
    if (options.queue_limit > queue_max) {
        return refuse("queue_limit", "must be at most 10,000,000");
    }
    if (!(options.fault_share >= 0.0 && options.fault_share <= 1.0)) {
        return refuse("fault_share", "must be between 0 and 1");
    }
    if (!(options.slow_share >= 0.0 && options.slow_share <= 1.0)) {
        return refuse("slow_share", "must be between 0 and 1");
    }
    if (options.attempts_max == 0 || options.attempts_max > attempts_limit) {
        return refuse("attempts_max", "must be between 1 and 100");
    }
    if (auto error = check_times(options)) {
        return error;
    }
    const double requests =
        options.requests_per_second * std::chrono::duration<double>(options.length).count();
    if (requests > requests_max) {
        return refuse(
            "requests_per_second", "times the length of the run must be at most 20 million");
    }
    if (auto error = check(options.standard)) {
        error->field = "standard." + error->field;
        return error;
    }
    return std::nullopt;
}

std::span<const scenario> scenarios() {
    static const std::array all{
        scenario{
            "outage", "A server with spare capacity is down for a while",
            "The server refuses everything during the outage. All policies recover immediately "
            "when "
            "it is back. Look at the load during the outage: naive retries multiply it and help no "
            "request.",
            outage_options()},
        scenario{
            "metastable", "A busy server stalls for a while, and a retry storm follows",
            "Requests pile up during the outage. Afterwards the queue is longer than clients "
            "wait. Look at the useful work: with naive retries it never recovers, although the "
            "cause is long gone; the standard strategy's bucket lets the queue drain.",
            metastable_options()},
        scenario{
            "hedging", "Some answers are slow, and the standard strategy hedges",
            "2 % of the answers arrive 300 ms late. The standard strategy sends a second attempt "
            "after 20 ms and takes the first good answer; the others wait. Look at the slowest 1 % "
            "of the answers, and at the outage: hedges are paid from the same budget as retries, "
            "so they do not multiply the load for long.",
            hedging_options()},
    };
    return all;
}

const scenario* find_scenario(std::string_view name) {
    const auto all = scenarios();
    const auto found = std::ranges::find(all, name, &scenario::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace reprise::lab
