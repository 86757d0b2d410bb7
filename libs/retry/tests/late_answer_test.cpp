/// Strategies that answer later, in the blocking loop.

#include <gtest/gtest.h>

#include <thread>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

using namespace driver;  // NOLINT: tests of one namespace
namespace late_answer_test {

using namespace std::chrono_literals;

/// Keeps each question until the test answers it.
class thinking_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        kept = sink.defer();
        if (on_asked) {
            on_asked();
        }
    }
    driver::deferred_answer kept;
    std::function<void()> on_asked;
};

struct call {
    testing::virtual_clock clock;
    retry_history trace;
    std::stop_source stop;
    thinking_strategy strategy;
    testing::scripted_operation operation{testing::transient()};

    [[nodiscard]] bool run(std::optional<duration> timeout = std::nullopt) {
        call_options options;
        options.timeout = timeout;
        options.clock = &clock;
        options.history = &trace;
        options.stop = stop.get_token();
        driver::retry_strategy& plain = strategy;
        return retry(plain, options, operation).has_value();
    }
};

}  // namespace late_answer_test

using namespace late_answer_test;  // NOLINT: one name per test file keeps unity builds apart

TEST(late_answer, the_loop_waits_for_the_answer_and_then_for_its_delay) {
    call with;
    with.clock.at(
        time_point{} + 3s, [&] { with.strategy.kept.answer(driver::retry_action::after(2s)); });
    EXPECT_TRUE(with.run());
    EXPECT_EQ(with.operation.calls(), 2U);
    EXPECT_EQ(with.clock.elapsed(), 5s);
}

TEST(late_answer, an_answer_from_another_thread_wakes_the_loop) {
    thinking_strategy strategy;
    std::thread answering;
    strategy.on_asked = [&] {
        answering = std::thread([kept = std::move(strategy.kept)]() mutable {
            kept.answer(driver::retry_action::after(0ms));
        });
    };
    testing::scripted_operation operation{testing::transient()};
    driver::retry_strategy& plain = strategy;
    EXPECT_TRUE(retry(plain, {.timeout = 1min}, operation).has_value());
    answering.join();
}

TEST(late_answer, a_refusal_ends_the_request_with_its_own_error) {
    call with;
    with.clock.at(
        time_point{} + 1s, [&] { with.strategy.kept.answer(driver::retry_action::no()); });
    EXPECT_FALSE(with.run());
    EXPECT_EQ(with.trace.refusal(), refusal_reason::strategy_refused);
}

TEST(late_answer, a_dropped_question_is_a_failed_strategy) {
    call with;
    with.clock.at(time_point{} + 1s, [&] { with.strategy.kept = {}; });
    EXPECT_FALSE(with.run());
    EXPECT_EQ(with.trace.refusal(), refusal_reason::strategy_failed);
}

TEST(late_answer, the_deadline_ends_the_wait_and_a_later_answer_has_no_effect) {
    call with;
    EXPECT_FALSE(with.run(4s));
    EXPECT_EQ(with.trace.refusal(), refusal_reason::deadline);
    EXPECT_EQ(with.clock.elapsed(), 4s);
    with.strategy.kept.answer(driver::retry_action::after(0ms));
    EXPECT_EQ(with.operation.calls(), 1U);
}

TEST(late_answer, SM_19_a_stop_request_ends_the_wait) {
    call with;
    with.clock.at(time_point{} + 1s, [&] { with.stop.request_stop(); });
    EXPECT_FALSE(with.run());
    EXPECT_EQ(with.trace.refusal(), refusal_reason::canceled);
    EXPECT_EQ(with.clock.elapsed(), 1s);
}

TEST(late_answer, the_checked_calls_cannot_wait_and_report_it) {
    thinking_strategy strategy;
    driver::token_result first = strategy.acquire_initial_token();
    const driver::token_result second = strategy.refresh_token(first.token, {});
    EXPECT_FALSE(second);
    EXPECT_EQ(second.why.refusal, refusal_reason::strategy_failed);
}

}  // namespace reprise
