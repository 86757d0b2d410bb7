#include <gtest/gtest.h>

#include <cmath>

#include "oracle_models.hpp"

/// Queues and hedges, compared with textbooks. See docs/design/lab_oracles.md.

namespace reprise::lab::oracles {

namespace {

constexpr double work_seconds = 0.001;

struct queue_estimates {
    estimate mean, p50, p90, p99;
};

/// Eight runs with different seeds. The sojourn time is wait and work together.
queue_estimates observe(double load, work_time work, duration length) {
    std::vector<double> mean;
    std::vector<double> p50;
    std::vector<double> p90;
    std::vector<double> p99;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const run_result result = run(textbook_queue(load, work, seed, length));
        mean.push_back(seconds_of(result.latency.mean));
        p50.push_back(seconds_of(result.latency.p50.value()));
        p90.push_back(seconds_of(result.latency.p90.value()));
        p99.push_back(seconds_of(result.latency.p99.value()));
    }
    return {estimate_of(mean), estimate_of(p50), estimate_of(p90), estimate_of(p99)};
}

/// Erlang's distribution of the wait in an M/D/1 queue, at `time` pieces of work.
double share_that_waits_at_most(double time, double load) {
    long double sum = 0.0L;
    long double factorial = 1.0L;
    for (int k = 0; k <= static_cast<int>(time); ++k) {
        factorial *= k == 0 ? 1.0L : k;
        const long double rest = load * (static_cast<long double>(time) - k);
        sum += std::pow(-rest, k) / factorial * std::exp(rest);
    }
    return static_cast<double>((1.0L - load) * sum);
}

/// The tail of the same distribution, where the series above loses its precision: P(W > t) tends to
/// (1 - load) / (load e^z - 1) e^(-z t), where load (e^z - 1) = z (Cramer and Lundberg).
double tail_percentile(double share, double load) {
    double low = 1e-9;
    double high = 10.0;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2.0;
        (load * std::expm1(middle) < middle ? low : high) = middle;
    }
    const double scale = (1.0 - load) / (load * std::exp(low) - 1.0);
    return std::log(scale / (1.0 - share)) / low;
}

double wait_percentile(double share, double load) {
    double low = 0.0;
    double high = 25.0;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2.0;
        (share_that_waits_at_most(middle, load) < share ? low : high) = middle;
    }
    return low;
}

}  // namespace

TEST(queue_oracle, a_server_with_exponential_work_is_an_m_m_1_queue) {
    for (const double load : {0.5, 0.8, 0.95}) {
        SCOPED_TRACE(load);
        const queue_estimates seen = observe(load, work_time::exponential, load > 0.9 ? 200s : 60s);
        // The sojourn time is exponentially distributed.
        const double expected = work_seconds / (1.0 - load);
        EXPECT_TRUE(seen.mean.agrees_with(expected)) << seen.mean.mean << " " << expected;
        EXPECT_TRUE(seen.p50.agrees_with(-std::log(0.5) * expected)) << seen.p50.mean;
        EXPECT_TRUE(seen.p90.agrees_with(-std::log(0.1) * expected)) << seen.p90.mean;
        EXPECT_TRUE(seen.p99.agrees_with(-std::log(0.01) * expected)) << seen.p99.mean;
    }
}

TEST(queue_oracle, a_server_with_constant_work_is_an_m_d_1_queue) {
    for (const double load : {0.5, 0.8, 0.95}) {
        SCOPED_TRACE(load);
        const queue_estimates seen = observe(load, work_time::fixed, load > 0.9 ? 200s : 60s);
        // Pollaczek and Khinchine.
        const double expected = work_seconds * (1.0 + load / (2.0 * (1.0 - load)));
        EXPECT_TRUE(seen.mean.agrees_with(expected)) << seen.mean.mean << " " << expected;
        const double p50 = work_seconds * (1.0 + wait_percentile(0.5, load));
        EXPECT_TRUE(seen.p50.agrees_with(p50)) << seen.p50.mean << " " << p50;
        const bool is_short = load < 0.9;
        const double p90 = work_seconds * (1.0 + (is_short ? wait_percentile(0.9, load)
                                                           : tail_percentile(0.9, load)));
        EXPECT_TRUE(seen.p90.agrees_with(p90)) << seen.p90.mean << " " << p90;
        const double p99 = work_seconds * (1.0 + tail_percentile(0.99, load));
        EXPECT_TRUE(seen.p99.agrees_with(p99)) << seen.p99.mean << " " << p99;
    }
}

TEST(queue_oracle, several_workers_are_an_m_m_c_queue) {
    constexpr int workers = 4;
    for (const double load : {0.5, 0.8}) {
        SCOPED_TRACE(load);
        model asked = textbook_queue(load, work_time::exponential, 1, 400s);
        asked.services.front().concurrency = workers;
        // Erlang's formula for the share that waits.
        const double offered = workers * load;
        double term = 1.0;
        double sum = 1.0;
        for (int k = 1; k < workers; ++k) {
            sum += term *= offered / k;
        }
        const double last = term * offered / workers / (1.0 - load);
        const double waits = last / (sum + last);
        const double expected = workers * work_seconds + waits * work_seconds / (1.0 - load);
        EXPECT_NEAR(seconds_of(run(asked).latency.mean), expected, 0.02 * expected);
    }
}

TEST(queue_oracle, a_bounded_queue_rejects_the_share_of_an_m_m_1_k_queue) {
    for (const double load : {0.8, 1.2}) {
        SCOPED_TRACE(load);
        model asked = textbook_queue(load, work_time::exponential, 1, 400s);
        asked.services.front().queue_limit = 4;  // And one at work: K = 5.
        const service_totals totals = run(asked).totals();
        const double expected = (1.0 - load) * std::pow(load, 5) / (1.0 - std::pow(load, 6));
        const double share =
            static_cast<double>(totals.rejected) / static_cast<double>(totals.arrived);
        EXPECT_NEAR(share, expected, 0.02 * expected);
    }
}

TEST(queue_oracle, a_hedge_at_a_percentile_follows_the_closed_form) {
    // Answers are independent and exponential with mean 10 ms. After a delay d that a share q of
    // them exceeds, P(T > t) is exp(-t/m) up to d, and exp(-(2t - d)/m) from then on.
    constexpr double mean = 0.010;
    for (const double share : {0.05, 0.2}) {
        SCOPED_TRACE(share);
        const double delay = -mean * std::log(share);
        model asked = failing_model(0.0, free_attempts(2));
        asked.services.front().work_mean = 10ms;
        asked.services.front().network_delay = 0ms;
        asked.clients.retries.hedge = hedge_options{
            .delay = duration{static_cast<std::int64_t>(delay * 1e9)}, .percentile = std::nullopt};
        const run_result result = run(asked);
        const auto requests = static_cast<double>(result.totals().calls);
        EXPECT_NEAR(static_cast<double>(result.totals().hedges) / requests, share, 0.02 * share);
        const auto percentile = [&](double tail) {
            return tail > share ? -mean * std::log(tail) : (delay - mean * std::log(tail)) / 2.0;
        };
        EXPECT_NEAR(seconds_of(*result.latency.p50), percentile(0.5), 0.02 * percentile(0.5));
        EXPECT_NEAR(seconds_of(*result.latency.p90), percentile(0.1), 0.02 * percentile(0.1));
        EXPECT_NEAR(seconds_of(*result.latency.p99), percentile(0.01), 0.02 * percentile(0.01));
        EXPECT_NEAR(seconds_of(result.latency.mean), mean * (1.0 - share / 2.0), 0.02 * mean);
    }
}

TEST(queue_oracle, a_hedge_that_follows_a_percentile_hedges_that_share) {
    model asked = failing_model(0.0, free_attempts(2));
    asked.services.front().work_mean = 10ms;
    asked.clients.retries.hedge = hedge_options{.delay = 50ms, .percentile = 90.0};
    const run_result result = run(asked);
    const auto requests = static_cast<double>(result.totals().calls);
    // The library's histogram is precise to an eighth: at most 10 % are hedged, and at
    // least the share that is an eighth further out.
    const double share = static_cast<double>(result.totals().hedges) / requests;
    EXPECT_LE(share, 0.102);
    EXPECT_GE(share, std::pow(0.1, 1.0 + 1.0 / 8.0) * 0.98);
}

}  // namespace reprise::lab::oracles
