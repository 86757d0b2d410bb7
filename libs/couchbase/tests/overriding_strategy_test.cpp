#include <reprise/couchbase/retry_strategy.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include <reprise/retry/retry_errc.hpp>

namespace reprise::couchbase::overriding_strategy_test {

using namespace std::chrono_literals;

struct strategy_answer {
    driver::retry_sink::state state = driver::retry_sink::state::open;
    std::optional<duration> delay;
    std::error_code error;
    friend bool operator==(const strategy_answer&, const strategy_answer&) = default;
};

strategy_answer ask(
    driver::retry_strategy& strategy, retry_reason reason, bool is_idempotent = true) {
    driver::retry_question question;
    question.reason = reason;
    question.repeat = is_idempotent ? repeatability::repeatable : repeatability::not_repeatable;
    question.retry_attempts = 3;
    driver::retry_sink sink(nullptr, nullptr);
    strategy.retry_after(question, sink);
    strategy_answer answer{sink.current(), {}, {}};
    if (sink.action()) {
        answer.delay = sink.action()->delay();
        answer.error = sink.action()->error();
    }
    return answer;
}

TEST(overriding_strategy, RH_36_overriding_one_reason_leaves_the_others_unchanged) {
    const std::shared_ptr<driver::retry_strategy> both[] = {
        std::make_shared<best_effort_strategy>(),
        std::make_shared<fail_fast_on_terminal_error_strategy>()};
    for (const auto& base : both) {
        const auto changed =
            overriding(base, {{retry_reason::kv_locked, driver::retry_action::after(77ms)}});
        for (const retry_reason_facts& facts : all_retry_reasons()) {
            for (const bool is_idempotent : {true, false}) {
                const strategy_answer answer = ask(*changed, facts.reason, is_idempotent);
                if (facts.reason == retry_reason::kv_locked) {
                    EXPECT_EQ(answer.delay, 77ms);
                } else {
                    EXPECT_EQ(answer, ask(*base, facts.reason, is_idempotent)) << facts.name;
                }
            }
        }
    }
}

TEST(overriding_strategy, RH_36_a_function_decides_with_the_request) {
    const auto changed = overriding(
        std::make_shared<fail_fast_on_terminal_error_strategy>(),
        {{retry_reason::kv_temporary_failure,
          [](const driver::retry_question& question) {
              return question.retry_attempts < 3
                         ? driver::retry_action::after(1ms)
                         : driver::retry_action::no(errc::temporary_failure);
          }},
         {retry_reason::collection_not_found, driver::retry_action::after(10ms)}});
    const strategy_answer last = ask(*changed, retry_reason::kv_temporary_failure);
    EXPECT_FALSE(last.delay);
    EXPECT_EQ(last.error, errc::temporary_failure);
    EXPECT_EQ(ask(*changed, retry_reason::collection_not_found).delay, 10ms);
    EXPECT_FALSE(ask(*changed, retry_reason::scope_not_found).delay);
}

class counting_strategy final : public best_effort_strategy {
public:
    int successes = 0;
    void on_success(const driver::token_state&, const driver::decision_context&) override {
        ++successes;
    }
    bool note_failure(const driver::retry_question&) override { return true; }
    std::optional<duration> minimum_wait(const driver::retry_question&) override { return 3s; }
};

TEST(overriding_strategy, successes_reach_the_wrapped_strategy) {
    const auto below = std::make_shared<counting_strategy>();
    const auto changed = overriding(below, {{retry_reason::kv_locked, driver::retry_action::no()}});
    changed->on_success({}, {});
    EXPECT_EQ(below->successes, 1);
}

TEST(overriding_strategy, failures_of_hedged_attempts_reach_the_wrapped_strategy) {
    const auto changed = overriding(
        std::make_shared<counting_strategy>(),
        {{retry_reason::kv_locked, driver::retry_action::after(1ms)}});
    driver::retry_question question;
    question.reason = retry_reason::kv_temporary_failure;
    EXPECT_TRUE(changed->note_failure(question));
    EXPECT_EQ(changed->minimum_wait(question), 3s);
    question.reason = retry_reason::kv_locked;
    question.facts.minimum_wait = 2s;
    EXPECT_FALSE(changed->note_failure(question));
    EXPECT_EQ(changed->minimum_wait(question), 2s);
}

TEST(overriding_strategy, overrides_without_an_effect_are_refused_by_name) {
    const auto base = std::make_shared<best_effort_strategy>();
    const auto refusal_of = [&](std::vector<reason_override> overrides) {
        try {
            (void)overriding(base, std::move(overrides));
        } catch (const invalid_settings& refused) {
            return refused.message();
        }
        return std::string();
    };
    const auto no = driver::retry_action::no();
    EXPECT_EQ(
        refusal_of({{retry_reason::kv_not_my_vbucket, no}}),
        "KV_NOT_MY_VBUCKET is always retried without asking a strategy");
    EXPECT_NE(refusal_of({{retry_reason::unknown, no}}), "");
    EXPECT_NE(refusal_of({{retry_reason::kv_locked, no}, {retry_reason::kv_locked, no}}), "");
    EXPECT_NE(refusal_of({{retry_reason::kv_locked, reason_override::function()}}), "");
    EXPECT_THROW((void)overriding(nullptr, {}), invalid_settings);
    EXPECT_EQ(refusal_of({}), "");
}

}  // namespace reprise::couchbase::overriding_strategy_test
