#include "explain/table.hpp"

#include <array>

namespace reprise::app {

namespace {

constexpr auto strategies = std::to_array<strategy_facts>({
    {"fail_fast_on_terminal_error_strategy",
     "The default. Retries what is safe to repeat until the timeout; fails at once with "
     "a clear error if only a person can help: wrong credentials, failed TLS, no access to "
     "the bucket, unknown scope or collection.",
     "1, 2, 4, ... 256, 500 ms",
     "Keep it unless you have a reason not to. Later versions may add terminal reasons: "
     "if you need fixed behaviour, copy the class; it uses only public headers."},
    {"best_effort_strategy",
     "Retries what is safe to repeat until the timeout, the five terminal reasons "
     "included.",
     "1, 2, 4, ... 256, 500 ms, or any calculator you pass to it",
     "For programs that must survive a wrong password or a bucket created later. Derive from "
     "it, handle your reasons, and call it for all others."},
    {"budgeted_strategy",
     "Like the default, but with full jitter, and a token bucket pays for retries.",
     "random, below 1, 2, 4, ... 256, 500 ms",
     "For a cluster that many processes share: during an outage their retries stay few, and "
     "they do not come at the same moments."},
    {"server_directed_strategy",
     "Like the default, but retries a status that only the server's error map explains at the "
     "times that the server specifies.",
     "the error map's rule (constant, linear or exponential); otherwise like the default",
     "For servers whose error maps carry rules that you trust."},
    {"virtual_strategy<standard_strategy>",
     "Uses any strategy of the retry library (budgets, jitter, limits on attempts) as the "
     "strategy of a client or of a call.",
     "exponential with jitter, by its own options",
     "For sharing one budget between the client and other calls of a program."},
});

}  // namespace

std::vector<couchbase::errc> all_errors() {
    std::vector<couchbase::errc> found;
    for (int number = 1; number < 1300; ++number) {
        const auto error = static_cast<couchbase::errc>(number);
        if (to_string(error) != "unknown_error") {
            found.push_back(error);
        }
    }
    return found;
}

std::span<const strategy_facts> all_strategies() noexcept {
    return strategies;
}

}  // namespace reprise::app
