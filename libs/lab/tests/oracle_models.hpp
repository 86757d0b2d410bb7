#pragma once

/// Models whose results are known without running them, and statistics over seeds.

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <reprise/lab/run.hpp>

namespace reprise::lab::oracles {

using namespace std::chrono_literals;

/// Attempts without a pause, paid for by nothing.
inline retry_options free_attempts(std::uint32_t attempts) {
    retry_options options;
    options.attempts_max = attempts;
    options.backoff = {0ms, 2.0, 0ms, jitter::none, std::nullopt};
    return options;
}

/// Attempts paid for by one bucket that all clients share and that starts empty.
inline retry_options paid_attempts(std::uint32_t attempts, const driver::retry_prices& prices) {
    retry_options options = free_attempts(attempts);
    options.budget = bucket_options{{.capacity = 500.0, .initial = 0.0}, prices};
    options.budget_sharing = sharing::shared;
    return options;
}

/// A service that answers at once and fails this share of its requests.
inline service_options failing_service(double share) {
    service_options service;
    service.failure_share = share;
    return service;
}

/// 2,000 requests per second against a service that fails a share of them.
inline model failing_model(double share, const retry_options& retries) {
    model result;
    result.length = 100s;
    result.clients.requests_per_second = 2000.0;
    result.clients.retries = retries;
    result.services = {failing_service(share)};
    return result;
}

/// A chain of `layers` services, each with the same retries, of which the last one always fails.
/// Each of 100 clients sends `requests` requests.
inline model failing_chain(
    std::uint32_t layers, const retry_options& retries, std::uint32_t requests) {
    model result;
    result.length = 60s;
    result.clients.count = 100;
    result.clients.arrivals = arrivals::closed;
    result.clients.requests_each = requests;
    result.clients.retries = retries;
    result.services.clear();
    for (std::uint32_t i = 0; i < layers; ++i) {
        service_options service = failing_service(i + 1 == layers ? 1.0 : 0.0);
        service.name = "layer " + std::to_string(i + 1);
        service.retries = retries;
        if (i + 1 < layers) {
            service.calls = {{"layer " + std::to_string(i + 2), 1}};
        }
        result.services.push_back(service);
    }
    return result;
}

/// One patient server with a queue without limit, at a share of its 1,000 requests per second.
inline model textbook_queue(double load, work_time work, std::uint64_t seed, duration length) {
    model result;
    result.seed = seed;
    result.length = length;
    result.clients.requests_per_second = 1000.0 * load;
    result.clients.retries = free_attempts(1);
    service_options server;
    server.capacity_per_second = 1000.0;
    server.work = work;
    server.network_delay = 0ms;
    result.services = {server};
    return result;
}

/// The mean of some runs, and half of the width of its 95 % interval.
struct estimate {
    double mean = 0.0;
    double half_width = 0.0;

    /// Whether `expected` is within 2 % of the mean, or within its 95 % interval.
    [[nodiscard]] bool agrees_with(double expected) const {
        return std::abs(mean - expected) <= std::max(0.02 * expected, half_width);
    }
};

inline estimate estimate_of(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0.0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    constexpr double student_95 = 2.36;  // For eight runs.
    return {mean, student_95 * std::sqrt(squares / (count - 1.0) / count)};
}

inline double seconds_of(duration value) {
    return std::chrono::duration<double>(value).count();
}

}  // namespace reprise::lab::oracles
