/// A value for the case that all attempts fail, and the cooperative way to limit a blocking
/// attempt.

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <reprise/retry.hpp>
#include <stdexcept>

using namespace std::chrono_literals;

double fetch_price() {
    throw std::runtime_error("the exchange does not answer");
}

/// A blocking operation cannot be interrupted: it passes the time it has to whatever it waits for.
bool wait_for_quote(const reprise::attempt& current) {
    std::mutex mutex;
    std::condition_variable quote_came;  // It never does.
    std::unique_lock lock(mutex);
    return quote_came.wait_for(lock, current.timeout) == std::cv_status::no_timeout;
}

int main() {
    const double last_known_price = 17.5;
    // [fallback]
    const double price = reprise::retry(
        reprise::attempts(3).every(10ms), reprise::with_fallback(last_known_price, fetch_price));
    // [/fallback]

    const bool has_quote = reprise::retry(
        reprise::attempts(2).every(1ms), {.attempt_timeout = 20ms},
        reprise::fails_if(std::logical_not<>{}, wait_for_quote));
    std::cout << "price " << price << (has_quote ? ", live\n" : ", no live quote\n");
    return price == last_known_price && !has_quote ? EXIT_SUCCESS : EXIT_FAILURE;
}
