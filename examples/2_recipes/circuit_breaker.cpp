/// A circuit breaker that two strategies share: while the service is down, calls end at once.

#include <cstdlib>
#include <iostream>
#include <memory>
#include <reprise/retry.hpp>
#include <stdexcept>
#include <thread>

using namespace std::chrono_literals;

int main() {
    // [breaker]
    const auto breaker = std::make_shared<reprise::circuit_breaker>(
        reprise::circuit_breaker::options{.volume_threshold = 4, .sleep_window = 50ms});
    const auto reads = reprise::attempts(3).every(1ms).breaker(breaker);
    reprise::standard_strategy writes({.breaker = breaker});
    // [/breaker]

    bool is_up = false;
    int calls = 0;
    const auto ask = [&] {
        ++calls;
        if (!is_up) {
            throw std::runtime_error("down");
        }
        return 21.0;
    };
    for (int index = 0; index < 10; ++index) {
        static_cast<void>(reprise::retry(reads, reprise::with_fallback(0.0, ask)));
    }
    const double written = reprise::retry(writes, reprise::with_fallback(0.0, ask));
    std::cout << calls << " calls reached the service; the breaker is "
              << to_string(breaker->state()) << '\n';

    is_up = true;
    std::this_thread::sleep_for(60ms);  // Longer than the sleep window: the next call is the probe.
    const double degrees = reprise::retry(reads, ask);
    std::cout << degrees << " degrees; the breaker is " << to_string(breaker->state()) << '\n';
    return calls == 5 && written < 1 && degrees > 20 ? EXIT_SUCCESS : EXIT_FAILURE;
}
