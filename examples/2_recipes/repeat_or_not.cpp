/// The same failure, for a call that may be executed twice and for one that must not be.

#include <iostream>
#include <reprise/retry.hpp>

/// The connection breaks after the request was sent: the service may have acted, or not.
std::error_code send_and_lose_the_answer() {
    return make_error_code(std::errc::connection_reset);
}

int main() {
    using namespace std::chrono_literals;
    reprise::standard_strategy strategy({.attempts_max = 3, .backoff = {.base = 1ms}});
    reprise::retry_history reading;
    reprise::retry_history ordering;

    // [mark]
    using reprise::repeatability;
    const std::error_code read = reprise::retry(
        strategy, {.repeat = repeatability::repeatable, .history = &reading},
        send_and_lose_the_answer);
    const std::error_code order = reprise::retry(
        strategy, {.repeat = repeatability::not_repeatable, .history = &ordering},
        send_and_lose_the_answer);
    // [/mark]

    std::cout << "a read: " << read.message() << '\n'
              << reading << "an order: " << order.message() << '\n'
              << ordering;
    return reading.failed_attempts() == 3 && ordering.failed_attempts() == 1 ? 0 : 1;
}
