/// A time limit for each attempt of a blocking call. The loop cannot interrupt the call, so the
/// call takes its limit from the attempt.

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <reprise/retry.hpp>
#include <system_error>

using namespace std::chrono_literals;

/// Waits until there is something to read, but no longer than the attempt may take.
std::error_code wait_for_answer(int descriptor, const reprise::attempt& current) {
    const auto limit = std::min<reprise::duration>(current.timeout, 1h);  // There may be none.
    pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
    const int ready = poll(&waited, 1, static_cast<int>(ms));
    return ready > 0 ? std::error_code{} : std::make_error_code(std::errc::timed_out);
}

int main() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        return 1;
    }
    const auto ask = [&](const reprise::attempt& current) {
        if (current.number == 3) {  // The service does not answer the first two requests.
            static_cast<void>(!write(ends[1], "!", 1));
        }
        return wait_for_answer(ends[0], current);
    };
    reprise::standard_strategy strategy({.backoff = {.base = 1ms}});
    reprise::retry_history history;
    const reprise::call_options options{
        .timeout = 5s, .attempt_timeout = 20ms, .history = &history};
    const std::error_code failure = reprise::retry(strategy, options, ask);
    std::cout << (failure ? "no answer" : "an answer") << ", after:\n" << history;
    return failure ? 1 : 0;
}
