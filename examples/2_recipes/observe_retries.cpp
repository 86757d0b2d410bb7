/// Observing retries: with lambdas, and as metrics for Prometheus.

#include <cstdlib>
#include <iostream>
#include <memory>
#include <reprise/retry.hpp>
#include <stdexcept>

using namespace std::chrono_literals;

int main() {
    const auto metrics = std::make_shared<reprise::retry_metrics>();
    // [lambdas]
    const auto rule =
        reprise::attempts(3)
            .every(10ms)
            .observer(metrics)
            .on_decision([](const reprise::decision_event& event) { std::cout << event << "\n"; })
            .on_completion([](const reprise::call_summary& call) {
                std::cout << call.attempts << " attempts, " << call.total_time / 1ms << " ms\n";
            });
    // [/lambdas]

    unsigned calls = 0;
    const auto fetch = [&] {
        if (++calls < 3) {
            throw std::runtime_error("busy");
        }
        return calls;
    };
    static_cast<void>(reprise::retry(rule, fetch));
    std::cout << metrics->to_prometheus({.prefix = "shop", .labels = "service=\"prices\""});
    return metrics->attempts() == 3 && metrics->successes() == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
