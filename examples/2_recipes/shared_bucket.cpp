/// Two clients of one service share one bucket: when the service is sick, both stop adding to its
/// load, whichever of them has emptied the bucket.

#include <iostream>
#include <reprise/retry.hpp>

int main() {
    using namespace std::chrono_literals;
    // [shared]
    const auto bucket = std::make_shared<reprise::token_bucket>(
        reprise::token_bucket::options{.capacity = 20});  // Four retries at 5 units each.
    reprise::standard_strategy reads({.backoff = {.base = 1ms}}, bucket);
    reprise::standard_strategy writes({.attempts_max = 3, .backoff = {.base = 1ms}}, bucket);
    // [/shared]

    int calls = 0;
    const auto sick = [&] {
        ++calls;
        return make_error_code(std::errc::connection_refused);
    };
    reprise::retry_history history;
    static_cast<void>(reprise::retry(reads, {.history = &history}, sick));
    std::cout << "reads:\n" << history;
    static_cast<void>(reprise::retry(writes, {.history = &history}, sick));
    std::cout << "writes:\n" << history;
    return calls == 6 && history.refusal() == reprise::refusal_reason::budget_exhausted ? 0 : 1;
}
