// A user's first program: an operation that fails twice and then succeeds, with the standard
// strategy and short delays. Exits with 0 if it took exactly three attempts.

#include <chrono>
#include <iostream>
#include <system_error>

#include <reprise/retry.hpp>

#if defined(BOOST_VERSION) || __cplusplus < 202002L || __cplusplus > 202002L
#error "the retry library is meant to be used with C++20 and without Boost"
#endif

int main() {
    reprise::standard_strategy::options options;
    options.backoff.base = std::chrono::milliseconds{1};
    options.backoff.cap = std::chrono::milliseconds{2};
    reprise::standard_strategy strategy{options};

    int attempts = 0;
    const std::error_code result = reprise::retry(strategy, [&attempts] {
        ++attempts;
        return attempts < 3 ? std::make_error_code(std::errc::connection_refused)
                            : std::error_code{};
    });
    std::cout << "attempts: " << attempts << ", result: " << result.message() << '\n';
    return attempts == 3 && !result ? 0 : 1;
}
