/// The retry settings of AWS SDKs and gRPC, as strategies of this library.

#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/presets.hpp>
#include <reprise/testing/virtual_clock.hpp>

using namespace std::chrono_literals;

int main() {
    // AWS_RETRY_MODE=standard, AWS_MAX_ATTEMPTS=4, before and after the update of 2026.
    reprise::standard_strategy::options options = reprise::presets::aws_standard_options();
    options.attempts_max = 4;
    reprise::standard_strategy aws_before(options);
    reprise::presets::aws_2_1_strategy aws_after = reprise::presets::aws_2_1();

    // [grpc]
    // "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s",
    //                 "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}
    // "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}
    reprise::presets::grpc_a6_strategy grpc =
        reprise::presets::grpc_a6({.units_max = 10, .ratio = 0.1});
    // [/grpc]

    const auto broken = [] { return make_error_code(std::errc::connection_refused); };
    const auto attempts_of = [&](auto& strategy) {
        reprise::testing::virtual_clock clock;
        reprise::retry_history history;
        static_cast<void>(reprise::retry(strategy, {.history = &history, .clock = &clock}, broken));
        std::cout << history << '\n';
        return history.failed_attempts();
    };
    return attempts_of(aws_before) == 4 && attempts_of(aws_after) == 3 && attempts_of(grpc) == 4
               ? 0
               : 1;
}
