/// A strategy for calls that a person waits for, and the library's figures about its settings.

#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/lint.hpp>

using namespace std::chrono_literals;

int main() {
    // [strategy]
    const reprise::standard_strategy::options options{
        .attempts_max = 4, .backoff = {.base = 50ms, .cap = 1s}, .bucket = {.capacity = 100}};
    reprise::standard_strategy strategy(options);  // One for each service.
    // [/strategy]
    const unsigned price = reprise::retry(strategy, {.timeout = 2s}, [] { return 40U; });

    const reprise::lint_context service{.service_capacity = 1000, .load = 400};
    const reprise::settings_figures figures = reprise::figures(options, service);
    std::cout << "a call waits for " << figures.give_up_after / 1ms << " ms at most\n"
              << "attempts per request in an outage: " << figures.worst_amplification << ", later "
              << figures.lasting_amplification << '\n'
              << "recovers without a budget below " << figures.recovery_load << " requests/s\n";
    for (const reprise::settings_warning& warning : reprise::lint(options, service)) {
        std::cout << warning.field << ": " << warning.message << '\n';
    }
    return price == 40 && figures.worst_amplification > figures.lasting_amplification ? 0 : 1;
}
