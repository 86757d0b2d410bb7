#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

using namespace std::chrono_literals;

namespace plugin_test {

/// A user's plug-in: two attempts, 10 ms apart. It throws in the calls that the test selects.
class two_attempts final : public driver::retry_strategy {
public:
    explicit two_attempts(bool throwing = false)
        : retry_strategy({.needs_time = true, .retries_max = 1}), throwing_(throwing) {}
    time_point begun{};
    int successes = 0;

    driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) override {
        token = {};
        begun = at.now;
        return {};
    }
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        if (throwing_) {
            throw std::logic_error("plug-in");
        }
        sink.answer(
            question.token.attempt == 2
                ? driver::retry_action::no(refusal_reason::attempts_exhausted)
                : driver::retry_action::after(10ms));
    }
    void on_success(const driver::token_state&, const driver::decision_context&) override {
        if (throwing_) {
            throw std::logic_error("plug-in");
        }
        ++successes;
    }

private:
    bool throwing_;
};

/// Changes one rule only: it retries conflicts, which the standard classification refuses.
struct also_conflicts : driver::stated_safety {
    [[nodiscard]] refusal_reason check(
        const failure_facts& facts, repeatability repeat) const noexcept {
        return facts.code == 409 ? refusal_reason::none
                                 : driver::stated_safety::check(facts, repeat);
    }
};

}  // namespace plugin_test

TEST(plugin, the_virtual_interface_drives_the_same_loop) {
    plugin_test::two_attempts strategy;
    testing::virtual_clock clock;
    clock.advance(5s);
    auto operation = testing::scripted_operation{testing::transient()}.fail_forever();
    driver::retry_strategy& plain = strategy;
    EXPECT_FALSE(retry(plain, {.clock = &clock}, operation).has_value());
    EXPECT_EQ(operation.calls(), 2U);
    EXPECT_EQ(clock.waits(), (std::vector<duration>{10ms}));
    EXPECT_EQ(strategy.begun, time_point{} + 5s) << "it asked for the time at the start";
}

TEST(plugin, SM_02_SM_03_the_virtual_interface_has_the_three_checked_calls) {
    plugin_test::two_attempts strategy;
    driver::token_result first = strategy.acquire_initial_token();
    ASSERT_TRUE(first);
    driver::token_result second = strategy.refresh_token(first.token, {});
    ASSERT_TRUE(second);
    EXPECT_EQ(second.token.delay(), 10ms);
    EXPECT_TRUE(strategy.refresh_token(first.token, {}).is_invalid_argument());
    EXPECT_EQ(strategy.successes, 0);
    EXPECT_EQ(strategy.record_success(second.token), std::errc{});
    EXPECT_EQ(strategy.successes, 1);
}

TEST(plugin, a_throwing_plug_in_is_a_refusal_and_breaks_nothing) {
    plugin_test::two_attempts strategy(true);
    testing::virtual_clock clock;
    retry_history trace;
    testing::scripted_operation operation{testing::transient()};
    driver::retry_strategy& plain = strategy;
    const auto result = retry(plain, {.history = &trace, .clock = &clock}, operation);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(trace.refusal(), refusal_reason::strategy_failed);
    EXPECT_EQ(retry(plain, {.clock = &clock}, [] { return 3U; }), 3U);
    driver::token_result token = strategy.acquire_initial_token();
    EXPECT_EQ(strategy.refresh_token(token.token, {}).why.refusal, refusal_reason::strategy_failed);
}

namespace plugin_test {

/// Gives no answer.
class forgetful final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink&) override {}
};

/// Cannot even begin.
class never_begins final : public driver::retry_strategy {
public:
    driver::decision on_start(driver::token_state&, const driver::decision_context&) override {
        throw std::logic_error("plug-in");
    }
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::after(0ms));
    }
};

}  // namespace plugin_test

TEST(plugin, one_that_gives_no_answer_has_failed_and_the_cause_states_that) {
    plugin_test::forgetful strategy;
    driver::retry_sink sink(nullptr, nullptr);
    strategy.ask({}, sink);
    EXPECT_EQ(sink.current(), driver::retry_sink::state::failed);
    EXPECT_EQ(sink.take_cause(), "returned without an answer");
}

TEST(plugin, one_that_throws_at_the_start_has_failed) {
    plugin_test::never_begins strategy;
    EXPECT_EQ(strategy.acquire_initial_token().why.refusal, refusal_reason::strategy_failed);
}

namespace plugin_test {

/// Answers in one of three ways, then throws.
class answers_and_throws final : public driver::retry_strategy {
public:
    explicit answers_and_throws(bool defers) : defers_(defers) {}
    driver::deferred_answer kept;

    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        if (defers_) {
            kept = sink.defer();
        } else {
            sink.answer(driver::retry_action::after(1s));
        }
        throw std::runtime_error("plug-in");
    }

private:
    bool defers_;
};

}  // namespace plugin_test

// The call waited until its deadline for an answer that a broken strategy had promised.
TEST(plugin, one_that_throws_has_failed_whatever_it_answered_before) {
    for (const bool defers : {false, true}) {
        plugin_test::answers_and_throws strategy(defers);
        testing::virtual_clock clock;
        retry_history trace;
        auto operation = testing::scripted_operation{testing::transient()}.fail_forever();
        const call_options options{.timeout = 5s, .history = &trace, .clock = &clock};
        EXPECT_FALSE(retry(strategy, options, std::ref(operation)).has_value());
        EXPECT_EQ(operation.calls(), 1U);
        EXPECT_EQ(trace.refusal(), refusal_reason::strategy_failed);
        EXPECT_EQ(clock.elapsed(), 0s);
        strategy.kept.answer(driver::retry_action::after(0ms));
        EXPECT_EQ(operation.calls(), 1U);
    }
}

namespace plugin_test {

/// Retries everything and looks at nothing.
class blind final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        sink.answer(
            question.token.attempt == 3 ? driver::retry_action::no()
                                        : driver::retry_action::after(0ms));
    }
};

}  // namespace plugin_test

TEST(plugin, SM_10_no_strategy_repeats_a_call_that_is_marked_against_it) {
    plugin_test::blind strategy;
    const auto calls = [&](const failure_facts& facts, repeatability repeat) {
        testing::virtual_clock clock;
        auto operation = testing::scripted_operation{facts}.fail_forever();
        const call_options options{.repeat = repeat, .clock = &clock};
        EXPECT_FALSE(retry(strategy, options, std::ref(operation)).has_value());
        return operation.calls();
    };
    const failure_facts unknown;
    EXPECT_EQ(calls(testing::timed_out(), repeatability::unspecified), 3U);
    EXPECT_EQ(calls(testing::timed_out(), repeatability::not_repeatable), 1U);
    EXPECT_EQ(calls(unknown, repeatability::not_repeatable), 1U);
    EXPECT_EQ(calls(testing::transient(), repeatability::not_repeatable), 3U)
        << "certain: nothing happened";
    EXPECT_EQ(calls(testing::permanent(), repeatability::repeatable), 1U);
}

TEST(plugin, SM_18_the_converter_decides_as_the_strategy_inside) {
    const auto run = [](auto& strategy) {
        testing::virtual_clock clock;
        testing::scripted_random random{0x1111'2222'3333'4444U, 0xdddd'0000'0000'0001U};
        auto operation =
            testing::scripted_operation{testing::transient(), testing::timed_out()}.fail_forever();
        static_cast<void>(retry(strategy, {.clock = &clock, .random = &random}, operation));
        return clock.waits();
    };
    standard_strategy inlined;
    std::unique_ptr<driver::retry_strategy> converted =
        std::make_unique<driver::virtual_strategy<standard_strategy>>(standard_strategy::options{});
    EXPECT_EQ(run(inlined), run(*converted));
    EXPECT_EQ(converted->traits().retries_max, 4U);
}

namespace plugin_test {

struct throwing_check : driver::stated_safety {
    [[nodiscard]] refusal_reason check(const driver::retry_question&) const {
        throw std::logic_error("policy");
    }
};

struct throwing_hint : driver::stated_safety {
    [[nodiscard]] std::optional<duration> minimum_wait(const driver::retry_question&) const {
        throw std::logic_error("policy");
    }
};

struct throwing_wait {
    [[nodiscard]] duration wait(driver::token_state&, const driver::retry_question&) const {
        throw std::logic_error("policy");
    }
};

}  // namespace plugin_test

// It ended the program.
TEST(plugin, a_policy_that_throws_is_a_refusal) {
    const auto run = [](auto& strategy) {
        testing::virtual_clock clock;
        retry_history trace;
        auto operation = testing::scripted_operation{testing::transient()}.fail_forever();
        static_cast<void>(retry(strategy, {.history = &trace, .clock = &clock}, operation));
        EXPECT_EQ(operation.calls(), 1U);
        EXPECT_EQ(trace.refusal(), refusal_reason::strategy_failed);
    };
    driver::composed_strategy asked(
        driver::attempt_limits{3}, plugin_test::throwing_check{}, driver::exponential_backoff{},
        driver::no_budget{});
    driver::composed_strategy waiting(
        driver::attempt_limits{3}, driver::stated_safety{}, plugin_test::throwing_wait{},
        driver::no_budget{});
    driver::composed_strategy hinting(
        driver::attempt_limits{3}, plugin_test::throwing_hint{}, driver::exponential_backoff{},
        driver::no_budget{});
    run(asked);
    run(waiting);
    run(hinting);
    EXPECT_TRUE(detail::note_failure(asked, {})) << "of a hedge";
    driver::retry_question paused;
    paused.facts.minimum_wait = 2s;
    EXPECT_EQ(detail::minimum_wait_of(hinting, paused), 2s) << "of a hedge";
}

TEST(plugin, composition_changes_one_question_and_leaves_the_others) {
    driver::composed_strategy strategy(
        driver::attempt_limits{3}, plugin_test::also_conflicts{}, driver::exponential_backoff{},
        driver::no_budget{});
    testing::virtual_clock clock;
    const failure_facts conflict{.fault = failure_fault::client, .code = 409};
    auto operation = testing::scripted_operation{conflict}.fail_forever();
    EXPECT_FALSE(retry(strategy, {.clock = &clock}, operation).has_value());
    EXPECT_EQ(operation.calls(), 3U);
    testing::scripted_operation permanent{testing::permanent()};
    EXPECT_FALSE(retry(strategy, {.clock = &clock}, permanent).has_value());
    EXPECT_EQ(permanent.calls(), 1U);
}

}  // namespace reprise
