/// The first retry: a function that fails now and then, called until it succeeds.

// [readme]
#include <iostream>
#include <reprise/retry/blocking.hpp>
#include <reprise/retry/standard_strategy.hpp>

// Any function that reports failure; this one says "connection refused" twice.
int read_thermometer() {
    static int calls = 0;
    if (++calls < 3) {
        throw std::system_error(make_error_code(std::errc::connection_refused));
    }
    return 21;
}

int main() {
    using namespace std::chrono_literals;
    reprise::standard_strategy strategy({.backoff = {.base = 20ms}});  // One for the whole program.
    reprise::retry_history history;
    const int degrees =
        reprise::retry(strategy, {.timeout = 5s, .history = &history}, read_thermometer);
    std::cout << degrees << " degrees, after:\n" << history;
}
// [/readme]
