/// A strategy from a file: the settings can be changed without compiling the program, and the same
/// file can be simulated first (`reprise lab run outage --strategy retries.json`).

#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry_json/strategy_from_json.hpp>
#include <reprise/testing/virtual_clock.hpp>

// The settings of a gRPC client, as they are.
constexpr std::string_view text = R"({
    "retryPolicy": {
        "maxAttempts": 4,
        "initialBackoff": "0.1s",
        "maxBackoff": "1s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]
    },
    "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1},
    "timeout": "5s"
})";

int main() {
    // [load]
    const auto loaded = reprise::strategy_from_json(text);
    if (!loaded) {
        std::cerr << to_string(loaded.error()) << '\n';  // all problems, with their lines
        return 1;
    }
    for (const std::string& path : loaded->without_effect) {
        std::cout << path << " has no effect: facts decide what is retried\n";
    }
    // [/load]

    reprise::testing::virtual_clock clock;
    reprise::retry_history history;
    reprise::call_options options = loaded->call();  // its deadline
    options.history = &history;
    options.clock = &clock;
    static_cast<void>(reprise::retry(
        *loaded->strategy, options, [] { return make_error_code(std::errc::connection_refused); }));
    std::cout << history << '\n';

    // A misspelt member is an error that names its place and the name that was meant.
    const auto misspelt = reprise::strategy_from_json(R"({"attempt_max": 3})");
    std::cout << to_string(misspelt.error()) << '\n';
    return history.failed_attempts() == 4 && !misspelt ? 0 : 1;
}
