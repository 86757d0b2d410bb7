/// The core in a program built with -fno-exceptions: results report failures, nothing is thrown.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>

#include <reprise/retry.hpp>
#include <reprise/retry/retry_metrics.hpp>

#if defined(__cpp_exceptions)
#error "this program shows the core without exceptions"
#endif

namespace {

using namespace std::chrono_literals;

void check(bool condition, const char* what) {
    if (!condition) {
        std::fprintf(stderr, "FAILED: %s\n", what);
        std::exit(1);
    }
}

/// An error of this program, without facts.
struct order_error {
    int code = 0;
};

/// Like `std::expected`, which C++20 has not.
struct order_result {
    std::optional<int> value;
    order_error failure;
    [[nodiscard]] bool has_value() const { return value.has_value(); }
    [[nodiscard]] const order_error& error() const { return failure; }
};

void retries_results_in_one_line() {
    int calls = 0;
    const order_result placed = reprise::retry(
        reprise::attempts(3).every(1ms).when([](const order_error& e) { return e.code == 429; }),
        [&] { return ++calls < 3 ? order_result{{}, {429}} : order_result{calls, {}}; });
    check(placed.has_value() && calls == 3, "the third attempt succeeds");
}

void returns_the_last_error_and_its_history() {
    reprise::standard_strategy strategy({.attempts_max = 2, .backoff = {.base = 1ms}});
    reprise::retry_history history;
    const std::error_code code = reprise::retry(strategy, {.history = &history}, [] {
        return std::make_error_code(std::errc::connection_refused);
    });
    check(code == std::errc::connection_refused, "the operation's own error");
    check(
        history.refusal() == reprise::refusal_reason::attempts_exhausted,
        "the history has the reason");
}

void has_fallbacks_breakers_and_metrics() {
    const auto breaker = std::make_shared<reprise::circuit_breaker>(
        reprise::circuit_breaker::options{.volume_threshold = 2});
    const auto metrics = std::make_shared<reprise::retry_metrics>();
    const auto rule = reprise::attempts(2).every(1ms).breaker(breaker).observer(metrics);
    const auto find = reprise::fails_if(std::logical_not<>{}, [] { return std::optional<int>(); });
    check(*reprise::retry(rule, reprise::with_fallback(42, find)) == 42, "the fallback");
    const std::error_code refused = reprise::retry(rule, [] { return std::error_code(); });
    check(refused == reprise::retry_errc::circuit_open, "the breaker is open");
    check(metrics->failures() == 2, "both calls failed");
}

/// An `order_result` cannot say that the circuit is open, and there is no fallback: the call makes
/// its first attempt, and no other.
void makes_one_attempt_if_there_is_no_other_way_to_return() {
    const auto breaker = std::make_shared<reprise::circuit_breaker>(
        reprise::circuit_breaker::options{.volume_threshold = 1});
    const auto metrics = std::make_shared<reprise::retry_metrics>();
    const auto rule = reprise::attempts(3).every(1ms).breaker(breaker).observer(metrics).when(
        [](const order_error& e) { return e.code == 429; });
    int calls = 0;
    const auto place = [&] { return ++calls, order_result{{}, {429}}; };
    check(!reprise::retry(rule, place).has_value(), "the first call fails");
    check(breaker->state() == reprise::circuit_state::open, "its failures open the breaker");
    const int calls_before = std::exchange(calls, 0);
    check(!reprise::retry(rule, place).has_value(), "the second call fails");
    check(calls_before == 1 && calls == 1, "with an open breaker a call makes one attempt");
    check(metrics->failures() == 2, "each call completes once");
}

class still_clock final : public reprise::retry_clock {
public:
    reprise::time_point time{1h};
    [[nodiscard]] reprise::time_point now() noexcept override { return time; }
    [[nodiscard]] bool wait_until(reprise::time_point, const std::stop_token&) noexcept override {
        return true;
    }
};

/// The only way to return without an attempt is the fallback, also for a caller that stopped.
void falls_back_if_there_is_no_other_way_to_return() {
    const auto breaker = std::make_shared<reprise::circuit_breaker>(
        reprise::circuit_breaker::options{.volume_threshold = 1});
    const auto rule = reprise::attempts(1).breaker(breaker).when(
        [](const order_error& e) { return e.code == 429; });
    int calls = 0;
    auto place = reprise::with_fallback(
        order_result{42, {}}, [&] { return ++calls, order_result{{}, {429}}; });
    check(reprise::retry(rule, place).value == 42, "instead of the last failure");
    check(breaker->state() == reprise::circuit_state::open, "the failure opens the breaker");
    check(reprise::retry(rule, place).value == 42 && calls == 1, "instead of an attempt");
    std::stop_source stop;
    stop.request_stop();
    const reprise::call_options stopped{.stop = stop.get_token()};
    check(reprise::retry(rule, stopped, place).value == 42 && calls == 1, "there is nothing else");
}

/// A call that cannot be refused must still be able to close the breaker again.
void closes_the_breaker_again_if_there_is_no_other_way_to_return() {
    still_clock clock;
    const auto breaker = std::make_shared<reprise::circuit_breaker>(
        reprise::circuit_breaker::options{.volume_threshold = 1, .sleep_window = 1s});
    const auto rule = reprise::attempts(1).breaker(breaker).when(
        [](const order_error& e) { return e.code == 429; });
    const reprise::call_options options{.clock = &clock};
    bool is_down = true;
    const auto place = [&] { return is_down ? order_result{{}, {429}} : order_result{7, {}}; };
    check(!reprise::retry(rule, options, place).has_value(), "the service is down");
    check(breaker->state() == reprise::circuit_state::open, "the breaker opens");
    is_down = false;
    clock.time += 10s;
    check(reprise::retry(rule, options, place).has_value(), "the service is up again");
    check(breaker->state() == reprise::circuit_state::closed, "the call was the probe");
}

class delayed_start final : public reprise::driver::retry_strategy {
    void retry_after(
        const reprise::driver::retry_question&, reprise::driver::retry_sink& sink) override {
        sink.answer(reprise::driver::retry_action::no(reprise::refusal_reason::attempts_exhausted));
    }
    reprise::driver::decision on_start(
        reprise::driver::token_state& token, const reprise::driver::decision_context& at) override {
        const reprise::driver::decision granted = retry_strategy::on_start(token, at);
        token.delay = 1h;
        return granted;
    }
};

/// The attempt was made although the caller had asked to stop and the result can report that.
void makes_no_attempt_for_a_caller_that_stops_during_the_first_delay() {
    delayed_start strategy;
    reprise::retry_history history;
    std::stop_source stop;
    stop.request_stop();
    const reprise::call_options stopped{.stop = stop.get_token(), .history = &history};
    int calls = 0;
    const std::error_code code =
        reprise::retry(strategy, stopped, [&] { return ++calls, std::error_code(); });
    check(code == reprise::retry_errc::canceled && calls == 0, "no attempt is made");
    check(history.refusal() == reprise::refusal_reason::canceled, "the history has the reason");
}

/// The clock is used first in main(), so it was destroyed before this object, whose call then ended
/// the program.
class flushed_at_exit {
public:
    flushed_at_exit() = default;
    flushed_at_exit(const flushed_at_exit&) = delete;
    flushed_at_exit& operator=(const flushed_at_exit&) = delete;
    ~flushed_at_exit() {
        int calls = 0;
        const std::error_code code = reprise::retry(reprise::attempts(2).every(1ms), [&] {
            return ++calls < 2 ? std::make_error_code(std::errc::connection_refused)
                               : std::error_code();
        });
        if (code || calls != 2) {
            std::_Exit(1);
        }
    }
} retries_in_its_destructor;

}  // namespace

int main() {
    retries_results_in_one_line();
    returns_the_last_error_and_its_history();
    has_fallbacks_breakers_and_metrics();
    makes_one_attempt_if_there_is_no_other_way_to_return();
    falls_back_if_there_is_no_other_way_to_return();
    closes_the_breaker_again_if_there_is_no_other_way_to_return();
    makes_no_attempt_for_a_caller_that_stops_during_the_first_delay();
    std::puts("ok");
}
