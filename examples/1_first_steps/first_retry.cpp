/// The first retry: a call that fails twice, repeated until it succeeds, and what happened.

// [readme]
#include <iostream>
#include <reprise/retry.hpp>

int main() {
    reprise::standard_strategy strategy({.backoff = {.base = std::chrono::milliseconds{20}}});
    reprise::retry_history history;
    const double degrees = reprise::retry(strategy, {.history = &history}, [calls = 0]() mutable {
        return ++calls < 3 ? throw std::system_error(make_error_code(std::errc::connection_refused))
                           : 21.0;
    });
    std::cout << degrees << " degrees, after:\n" << history;
}
// [/readme]
