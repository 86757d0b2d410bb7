/// Two clients of one service share one bucket: when the service is sick, they stop adding to its
/// load together, whoever spends first.

#include <iostream>
#include <reprise/retry/blocking.hpp>
#include <reprise/retry/standard_strategy.hpp>

int main() {
    using namespace std::chrono_literals;
    // [shared]
    const auto bucket = std::make_shared<reprise::token_bucket>(
        reprise::token_bucket_options{.capacity = 20});  // Four retries at 5 units each.
    reprise::standard_strategy reads({.backoff = {.base = 1ms}}, bucket);
    reprise::standard_strategy writes({.attempts_max = 3, .backoff = {.base = 1ms}}, bucket);
    // [/shared]

    int calls = 0;
    const auto sick = [&] {
        ++calls;
        return make_error_code(std::errc::connection_refused);
    };
    reprise::decision_trace trace;
    static_cast<void>(reprise::retry(reads, {.trace = &trace}, sick));
    std::cout << "reads:\n" << trace;
    static_cast<void>(reprise::retry(writes, {.trace = &trace}, sick));
    std::cout << "writes:\n" << trace;
    return calls == 6 && trace.refusal() == reprise::refusal_reason::budget_exhausted ? 0 : 1;
}
