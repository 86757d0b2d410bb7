#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise::fallback_test {

using namespace std::chrono_literals;

struct gone : std::runtime_error {
    gone() : std::runtime_error("gone") {}
};

double fetch_price() {
    throw gone();
}

struct scale {
    testing::virtual_clock clock;
    retry_history history;
    call_options options{.history = &history, .clock = &clock};
    driver::simple_strategy<> rule = attempts(3).every(1s);
};

TEST(fallback, a_value_replaces_the_last_error_after_all_attempts) {
    scale s;
    EXPECT_EQ(retry(s.rule, s.options, with_fallback(42, fetch_price)), 42);
    EXPECT_EQ(s.history.failed_attempts(), 3U);
}

TEST(fallback, is_not_used_when_an_attempt_succeeds) {
    scale s;
    testing::scripted_operation service{testing::transient()};
    const auto never = []() -> testing::scripted_result { throw gone(); };
    EXPECT_EQ(retry(s.rule, s.options, with_fallback(never, std::ref(service))).value(), 2);
}

TEST(fallback, a_function_sees_the_last_failure) {
    scale s;
    const auto explain = [](const failure_view& failure) {
        const auto* error = failure.get_if<gone>();
        return error != nullptr ? -1.0 : 0.0;
    };
    EXPECT_EQ(retry(s.rule, s.options, with_fallback(explain, fetch_price)), -1);
}

TEST(fallback, a_function_may_fail_with_an_error_of_its_own) {
    scale s;
    const auto fail = []() -> int { throw std::logic_error("no price at all"); };
    EXPECT_THROW(
        static_cast<void>(retry(s.rule, s.options, with_fallback(fail, fetch_price))),
        std::logic_error);
}

TEST(fallback, replaces_results_that_a_predicate_calls_failures) {
    scale s;
    const auto find = fails_if(std::logical_not<>{}, [] { return std::optional<std::string>(); });
    const std::optional<std::string> found =
        retry(s.rule, s.options, with_fallback("nobody", find));
    EXPECT_EQ(found, "nobody");
    EXPECT_EQ(s.history.failed_attempts(), 3U);
}

// An operation with a fallback may have a name and be used again. Once, the first call moved the
// value out of it, and later calls returned what was left: an empty string.
TEST(fallback, a_value_serves_every_call_of_an_operation_with_a_name) {
    scale s;
    const auto fetch_name = []() -> std::string { throw gone(); };
    auto named = with_fallback(std::string("a name too long for the small buffer"), fetch_name);
    const std::string first = retry(s.rule, s.options, named);
    EXPECT_EQ(retry(s.rule, s.options, named), first);
    auto owned =
        with_fallback(std::make_unique<int>(7), []() -> std::unique_ptr<int> { throw gone(); });
    EXPECT_EQ(*retry(s.rule, s.options, owned), 7) << "what cannot be copied is moved";
}

// It did not compile, although the Asio forms took it.
TEST(fallback, of_a_constant_operation_serves_every_call) {
    scale s;
    const auto constant = with_fallback(
        [calls = 0]() mutable { return ++calls; },
        fails_if(std::logical_not<>{}, [] { return 0; }));
    EXPECT_EQ(retry(s.rule, s.options, constant), 1);
    EXPECT_EQ(retry(s.rule, s.options, constant), 1);
}

TEST(fallback, is_found_inside_of_a_predicate_as_well) {
    scale s;
    const auto find = with_fallback("nobody", [] { return std::optional<std::string>(); });
    EXPECT_EQ(retry(s.rule, s.options, fails_if(std::logical_not<>{}, find)), "nobody");
}

TEST(fallback, an_operation_without_a_result_takes_a_function) {
    scale s;
    bool is_noted = false;
    retry(s.rule, s.options, with_fallback([&] { is_noted = true; }, [] { throw gone(); }));
    EXPECT_TRUE(is_noted);
}

TEST(fallback, is_not_used_when_the_caller_asked_to_stop) {
    scale s;
    std::stop_source stop;
    s.options.stop = stop.get_token();
    s.clock.after(500ms, [&] { stop.request_stop(); });
    EXPECT_THROW(static_cast<void>(retry(s.rule, s.options, with_fallback(42, fetch_price))), gone);
    EXPECT_THROW(static_cast<void>(retry(s.rule, s.options, with_fallback(42, fetch_price))), gone);
    EXPECT_EQ(s.history.refusal(), refusal_reason::canceled);
}

// The failed result was moved once more before the fallback was asked.
TEST(fallback, stands_in_for_a_result_that_throws_when_it_is_moved_again) {
    struct ticket {
        explicit ticket(int* shared) : moves(shared) {}
        ticket(ticket&& other) : moves(other.moves) {
            if (++*moves > 1) {
                throw std::runtime_error("moved");
            }
        }
        ticket& operator=(ticket&&) = delete;
        ~ticket() = default;

        int* moves;
    };
    int moves = 0;
    int fresh = -9;
    auto operation = with_fallback(
        [&](const failure_view&) { return ticket(&fresh); },
        fails_if([](const ticket&) { return true; }, [&] { return ticket(&moves); }));
    const ticket result = retry(attempts(1), operation);
    EXPECT_EQ(result.moves, &fresh);
}

// "A caller that asked to stop gets the last error, never the fallback": also if a breaker is open,
// and if the stop comes with the last decision.
TEST(fallback, a_caller_that_stopped_gets_none_from_an_open_breaker_either) {
    scale s;
    const auto breaker =
        std::make_shared<circuit_breaker>(circuit_breaker::options{.volume_threshold = 1});
    breaker->on_failure(driver::breaker_permit::regular(), {}, s.clock.now());
    std::stop_source stop;
    stop.request_stop();
    s.options.stop = stop.get_token();
    EXPECT_THROW(
        static_cast<void>(
            retry(attempts(3).breaker(breaker), s.options, with_fallback(42, fetch_price))),
        retry_error);
}

TEST(fallback, a_caller_that_stops_while_the_last_failure_is_decided_gets_none) {
    scale s;
    std::stop_source stop;
    s.options.stop = stop.get_token();
    const auto rule = attempts(1).on_decision([&](const decision_event&) { stop.request_stop(); });
    EXPECT_THROW(static_cast<void>(retry(rule, s.options, with_fallback(42, fetch_price))), gone);
}

}  // namespace reprise::fallback_test
