#include <gtest/gtest.h>

#include <stdexcept>

#include <reprise/retry/standard_strategy.hpp>

#include "engine_driver.hpp"

// Strategies of the retry library inside the client.

namespace reprise::engine::testing::library_strategies_tests {

// Retries five times after 3 ms each, and records its calls.
class diary_strategy final : public driver::retry_strategy {
public:
    std::string diary;
    driver::retry_question last;
    driver::token_state succeeded;
    std::string failures;

    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) override {
        diary += "b";
        token.memory = 100;
        return {};
    }
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        diary += "r";
        last = question;
        if (const auto* request = question.failure.get_if<request_snapshot>()) {
            failures += std::string(request->operation) + " " + request->error.message() + "; ";
        }
        const driver::token_state& token = question.token;
        sink.answer(
            token.attempt > 5 ? driver::retry_action::no(refusal_reason::attempts_exhausted)
                              : driver::retry_action::after(3ms).remembering(token.memory + 1));
    }
    void on_success(const driver::token_state& token, const driver::decision_context&) override {
        diary += "s";
        succeeded = token;
    }
};

class broken_strategy final : public driver::retry_strategy {
    void retry_after(const driver::retry_question&, driver::retry_sink&) override {
        throw std::runtime_error("broken");
    }
};

struct bench {
    scripted_cluster cluster{1};
    std::shared_ptr<diary_strategy> inner = std::make_shared<diary_strategy>();
    engine_driver driver{cluster, options(inner)};

    static engine_options options(std::shared_ptr<driver::retry_strategy> strategy) {
        engine_options made;
        made.strategy = std::move(strategy);
        return made;
    }
};

TEST(library_strategies, one_token_serves_all_attempts_of_a_request) {
    bench with;
    with.driver.connect();
    with.cluster.refuse(opcode::set, status::locked, 3);
    const auto stored = with.driver.after(100ms, with.driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(with.inner->diary, "brrrs");
    EXPECT_EQ(with.inner->succeeded.attempt, 4U);
    EXPECT_EQ(with.inner->succeeded.memory, 103U);
    EXPECT_EQ(with.inner->succeeded.delay, 3ms);
    const auto sent = with.cluster.all(opcode::set);
    ASSERT_EQ(sent.size(), 4U);
    EXPECT_EQ(sent[3].at - sent[0].at, 9ms);
    EXPECT_EQ(with.inner->last.facts.code, static_cast<std::uint32_t>(status::locked));
    EXPECT_EQ(with.inner->last.facts.safety, retry_safety::yes);
    EXPECT_EQ(with.inner->last.repeat, repeatability::not_repeatable);
    const std::string once = "upsert " + make_error_code(errc::document_locked).message() + "; ";
    EXPECT_EQ(with.inner->failures, once + once + once) << "it sees the failure itself";
}

TEST(library_strategies, a_success_without_retries_is_reported_and_an_error_is_not) {
    bench with;
    with.driver.connect();
    with.driver.upsert("k", "v");
    with.driver.settle();
    EXPECT_EQ(with.inner->diary, "bs");
    EXPECT_EQ(with.inner->succeeded.attempt, 1U);
    const auto missing = with.driver.settled(with.driver.get("nothing"));
    EXPECT_EQ(missing->result.ec, errc::document_not_found);
    EXPECT_EQ(with.inner->diary, "bsb") << "each request gets its token before its first attempt";
}

TEST(library_strategies, RH_12_always_retry_reasons_bypass_it) {
    bench with;
    with.driver.connect();
    with.cluster.refuse(opcode::set, status::not_my_vbucket, 2);
    const auto stored = with.driver.after(100ms, with.driver.upsert("k", "v"));
    EXPECT_TRUE(stored->result.has_value());
    EXPECT_EQ(with.inner->diary, "bs");
    EXPECT_EQ(with.inner->succeeded.attempt, 1U);
}

TEST(library_strategies, its_refusal_ends_the_request_with_the_operations_own_error) {
    bench with;
    with.driver.connect();
    with.cluster.refuse(opcode::set, status::locked, 100);
    const auto stored = with.driver.after(100ms, with.driver.upsert("k", "v"));
    EXPECT_EQ(stored->code(), errc::document_locked);
    EXPECT_EQ(with.inner->diary, "brrrrrr");
    EXPECT_EQ(stored->result.retry_attempts, 5U);
}

TEST(library_strategies, RH_08_terminal_reasons_are_reported_as_never_safe) {
    bench with;
    with.cluster.nodes[0].sasl_status = status::auth_error;
    auto standard = std::make_shared<driver::virtual_strategy<standard_strategy>>();
    engine_driver driver(with.cluster, bench::options(standard));
    const auto read = driver.after(500ms, driver.get("k"));
    EXPECT_EQ(read->code(), errc::authentication_failure);
}

TEST(library_strategies, RH_02_an_inner_strategy_that_throws_fails_the_request) {
    scripted_cluster cluster(1);
    connected_driver driver(cluster, bench::options(std::make_shared<broken_strategy>()));
    cluster.refuse(opcode::set, status::locked, 1);
    const auto stored = driver.settled(driver.upsert("k", "v"));
    EXPECT_EQ(stored->code(), errc::strategy_failure);
}

TEST(library_strategies, the_standard_strategy_pays_for_retries_and_gets_its_last_price_back) {
    scripted_cluster cluster(1);
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 100});
    standard_strategy::options quick;
    quick.backoff.base = 1ms;
    quick.backoff.cap = 10ms;
    quick.prices.refund_last_cost = true;
    auto standard = std::make_shared<driver::virtual_strategy<standard_strategy>>(quick, bucket);
    connected_driver driver(cluster, bench::options(standard));
    cluster.refuse(opcode::set, status::etmpfail, 2);
    const auto stored = driver.after(100ms, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
    // Two retries at 5 units each. The price of the last one is returned.
    EXPECT_EQ(bucket->milli_level(), 95'000);
}

TEST(library_strategies, RH_33_a_strategy_with_its_own_budget_does_not_charge_the_clients) {
    scripted_cluster cluster(1);
    const auto own = std::make_shared<token_bucket>(token_bucket::options{.capacity = 100});
    const auto shared = std::make_shared<token_bucket>(token_bucket::options{.capacity = 100});
    standard_strategy::options quick;
    quick.backoff.base = 1ms;
    quick.backoff.cap = 10ms;
    engine_options options =
        bench::options(std::make_shared<driver::virtual_strategy<standard_strategy>>(quick, own));
    options.retry_budget = driver::token_bucket_budget(shared);
    connected_driver driver(cluster, options);
    cluster.refuse(opcode::set, status::etmpfail, 2);
    const auto stored = driver.after(100ms, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(own->milli_level(), 91'000) << "two retries at 5 units, one unit returned";
    EXPECT_EQ(shared->milli_level(), 100'000);
}

}  // namespace reprise::engine::testing::library_strategies_tests
