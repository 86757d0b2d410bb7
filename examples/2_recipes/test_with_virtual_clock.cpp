/// Testing code that retries: a minute of waiting in no time, and the same result every time.

#include <cstdlib>
#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

using namespace std::chrono_literals;

void check(bool condition, const char* what) {
    std::cout << (condition ? "ok: " : "FAILED: ") << what << '\n';
    if (!condition) {
        std::exit(1);
    }
}

void waits_as_long_as_the_service_asks() {
    // [test]
    reprise::testing::virtual_clock clock;
    reprise::testing::scripted_random random{reprise::testing::scripted_random::half};
    reprise::testing::scripted_operation service{
        reprise::testing::transient(), reprise::testing::throttled(30s)};
    reprise::standard_strategy strategy;

    const auto result = reprise::retry(strategy, {.clock = &clock, .random = &random}, service);

    check(result.has_value(), "the third attempt succeeds");
    check(clock.waits() == std::vector<reprise::duration>{500ms, 30s}, "half of 1 s, then 30 s");
    // [/test]
}

void gives_up_when_asked_to_stop() {
    reprise::testing::virtual_clock clock;
    std::stop_source stop;
    clock.after(10s, [&] { stop.request_stop(); });  // In the middle of a wait.
    reprise::testing::scripted_operation service{reprise::testing::throttled(60s)};
    reprise::standard_strategy strategy;
    reprise::retry_history history;

    const auto result = reprise::retry(
        strategy, {.stop = stop.get_token(), .history = &history, .clock = &clock}, service);

    check(!result.has_value(), "the last failure is the result");
    check(clock.elapsed() == 10s, "the wait ended at once");
    check(history.refusal() == reprise::refusal_reason::canceled, "the history says why");
}

int main() {
    waits_as_long_as_the_service_asks();
    gives_up_when_asked_to_stop();
}
