#include "operations/retry_rules.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "engine_parts.hpp"
#include "operations/operation_retries.hpp"

// Tests the joint decision of the rules, a strategy and the orchestrator about a failed attempt.

namespace reprise::engine::testing::retry_rules_tests {

using namespace std::chrono_literals;

constexpr time_point first_moment{1h};

// Gives the answer that the test sets, and counts the questions.
class fixed_strategy final : public driver::retry_strategy {
public:
    explicit fixed_strategy(driver::retry_action given) : action(given) {}
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        ++asked;
        last = request_of(question);
        retry_attempts = question.retry_attempts;
        deadline = question.deadline;
        facts = question.facts;
        const auto* attached = question.at.user_data_as<std::string>();
        user_data = attached == nullptr ? std::string() : *attached;
        sink.answer(action);
    }
    driver::retry_action action;
    int asked = 0;
    request_snapshot last;
    std::uint32_t retry_attempts = 0;
    time_point deadline{};
    failure_facts facts;
    std::string user_data;
};

class throwing_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink&) override {
        throw std::runtime_error("out of ideas");
    }
};

class mute_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink&) override {}
};

class deferring_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        kept = sink.defer();
    }
    driver::deferred_answer kept;
};

struct any_operation : operation_base {
    any_operation() : operation_base(timer_kind::operation) {}
};

struct bench {
    engine_options options;
    retry_case failed;
    retry_subject subject;
    std::uint32_t retries = 0;  // before this failure
    std::size_t parked = 0;
    retry_reason_set reasons;

    bench(retry_reason reason, bool is_idempotent) {
        failed.reason = reason;
        failed.stage = attempt_stage::response;
        failed.own_error = errc::document_locked;
        subject.names.operation = "get";
        subject.names.is_idempotent = is_idempotent;
        subject.deadline = first_moment + 2500ms;
    }
    retry_outcome decide(time_point now = first_moment) {
        engine_parts parts(options);
        for (std::size_t count = 0; count < parked; ++count) {
            parts.client.waiting.take();
        }
        operation_retries decider(parts.context, parts.endpoints);
        any_operation operation;
        operation.reasons = reasons;
        subject.operation = &operation;
        driver::retry_progress progress(retries);
        progress.on_start({});
        subject.progress = &progress;
        if (subject.budget == nullptr && options.retry_budget) {
            subject.budget = &*options.retry_budget;
        }
        const retry_outcome decided = *decider.decide(failed, subject, now);
        decider.close_late_answers();
        return decided;
    }
};

TEST(retry_rules, RH_12_always_retry_reasons_never_ask_the_strategy) {
    bench with(retry_reason::kv_not_my_vbucket, false);
    const auto strategy = std::make_shared<fixed_strategy>(driver::retry_action::no());
    with.options.strategy = strategy;
    with.retries = 2;
    const retry_outcome decided = with.decide();
    EXPECT_TRUE(decided.is_retry);
    EXPECT_EQ(decided.delay, 50ms);
    EXPECT_EQ(strategy->asked, 0);
}

TEST(retry_rules, RH_35_a_busy_search_service_is_throttling) {
    for (const retry_reason reason :
         {retry_reason::search_too_many_requests, retry_reason::kv_locked}) {
        bench with(reason, true);
        const auto strategy = std::make_shared<fixed_strategy>(driver::retry_action::after(1ms));
        with.options.strategy = strategy;
        EXPECT_TRUE(with.decide().is_retry);
        EXPECT_EQ(strategy->facts.throttling, reason == retry_reason::search_too_many_requests);
        EXPECT_EQ(strategy->facts.fault, failure_fault::server);
    }
}

// The error of the operation makes no difference, because only a person can resolve the reason.
TEST(retry_rules, a_terminal_reason_is_the_clients_fault_but_a_strategy_may_wait) {
    failed_attempt failed;
    failed.reason = retry_reason::authentication_error;
    failed.own_error = errc::temporary_failure;
    const failure_facts facts = facts_of(failed);
    EXPECT_EQ(facts.fault, failure_fault::client);
    EXPECT_FALSE(facts.safety.has_value());
}

TEST(retry_rules, RH_10_unknown_is_never_retried_whatever_the_strategy_answers) {
    bench with(retry_reason::unknown, true);
    with.options.strategy = std::make_shared<fixed_strategy>(driver::retry_action::after(0ms));
    const retry_outcome decided = with.decide();
    EXPECT_FALSE(decided.is_retry);
    EXPECT_EQ(decided.error, errc::document_locked);
    EXPECT_EQ(decided.refusal, refusal_reason::unclassified);
}

TEST(retry_rules, RH_16_lost_in_flight_is_retried_only_if_idempotent) {
    bench write(retry_reason::socket_closed_while_in_flight, false);
    const auto strategy = std::make_shared<fixed_strategy>(driver::retry_action::after(1ms));
    write.options.strategy = strategy;
    const retry_outcome refused = write.decide();
    EXPECT_FALSE(refused.is_retry);
    EXPECT_TRUE(refused.is_ambiguous);
    EXPECT_EQ(refused.error, errc::request_canceled);
    EXPECT_EQ(strategy->asked, 0);
    bench read(retry_reason::socket_closed_while_in_flight, true);
    EXPECT_TRUE(read.decide().is_retry);
}

TEST(retry_rules, RH_42_what_may_have_been_applied_is_not_sent_again_by_any_strategy) {
    for (const retry_reason reason :
         {retry_reason::service_response_code_indicated, retry_reason::views_no_active_partition}) {
        bench write(reason, false);
        const auto strategy = std::make_shared<fixed_strategy>(driver::retry_action::after(1ms));
        write.options.strategy = strategy;
        write.failed.may_have_been_applied = true;
        const retry_outcome refused = write.decide();
        EXPECT_FALSE(refused.is_retry);
        EXPECT_TRUE(refused.is_ambiguous);
        EXPECT_EQ(refused.error, errc::document_locked) << "the error of the operation itself";
        EXPECT_EQ(refused.refusal, refusal_reason::not_repeatable);
        EXPECT_EQ(strategy->asked, 0);
        write.failed.may_have_been_applied = false;
        EXPECT_TRUE(write.decide().is_retry);
    }
}

TEST(retry_rules, RH_13_delays_are_capped_by_the_deadline_on_both_branches) {
    bench always(retry_reason::kv_not_my_vbucket, false);
    always.retries = 5;
    const retry_outcome ladder = always.decide(first_moment + 2000ms);
    EXPECT_TRUE(ladder.is_capped);
    EXPECT_EQ(ladder.delay, 500ms);
    bench asked(retry_reason::kv_locked, false);
    asked.options.strategy = std::make_shared<fixed_strategy>(driver::retry_action::after(1s));
    const retry_outcome capped = asked.decide(first_moment + 2000ms);
    EXPECT_TRUE(capped.is_retry);
    EXPECT_TRUE(capped.is_capped);
    EXPECT_EQ(capped.delay, 500ms);
    EXPECT_FALSE(asked.decide(first_moment + 1000ms).is_capped);
}

TEST(retry_rules, RH_32_a_full_queue_refuses_always_retry_reasons_too) {
    bench with(retry_reason::kv_not_my_vbucket, false);
    with.options.parked_count_max = 3;
    with.parked = 3;
    const retry_outcome decided = with.decide();
    EXPECT_FALSE(decided.is_retry);
    EXPECT_EQ(decided.error, errc::retry_queue_full);
    EXPECT_EQ(decided.refusal, refusal_reason::queue_full);
    with.parked = 2;
    EXPECT_TRUE(with.decide().is_retry);
}

TEST(retry_rules, RH_32_the_bound_holds_for_zero_delays_before_dispatch_and_for_late_answers) {
    bench with(retry_reason::node_not_available, true);
    with.options.parked_count_max = 1;
    with.parked = 1;
    with.options.strategy = std::make_shared<fixed_strategy>(driver::retry_action::after(0ms));
    EXPECT_TRUE(with.decide().is_retry);
    with.failed.stage = attempt_stage::dispatch;
    EXPECT_EQ(with.decide().error, errc::retry_queue_full);
    with.options.strategy = std::make_shared<deferring_strategy>();
    EXPECT_EQ(with.decide().error, errc::retry_queue_full);
}

TEST(retry_rules, RH_33_an_empty_budget_refuses_with_the_operations_own_error) {
    bench with(retry_reason::kv_locked, true);
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 10});
    with.options.retry_budget = driver::token_bucket_budget(bucket);
    EXPECT_TRUE(with.decide().is_retry);
    EXPECT_TRUE(with.decide().is_retry);
    const retry_outcome decided = with.decide();
    EXPECT_FALSE(decided.is_retry);
    EXPECT_EQ(decided.error, errc::document_locked);
    EXPECT_EQ(decided.refusal, refusal_reason::budget_exhausted);
    with.failed.reason = retry_reason::kv_not_my_vbucket;
    EXPECT_TRUE(with.decide().is_retry);
    engine_parts parts(with.options);
    operation_retries decider(parts.context, parts.endpoints);
    driver::retry_progress progress(1);
    progress.on_start({});
    with.subject.progress = &progress;
    decider.on_end(with.subject, {}, first_moment);
    EXPECT_EQ(bucket->milli_level(), 1000);
}

TEST(retry_rules, RH_33_reasons_that_are_always_retried_cost_nothing) {
    bench with(retry_reason::kv_not_my_vbucket, true);
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 10});
    with.options.retry_budget = driver::token_bucket_budget(bucket);
    EXPECT_TRUE(with.decide().is_retry);
    EXPECT_EQ(bucket->milli_level(), bucket->milli_capacity());
}

TEST(retry_rules, RH_33_a_service_with_its_own_budget_does_not_charge_the_clients) {
    bench with(retry_reason::kv_locked, true);
    const auto shared = std::make_shared<token_bucket>(token_bucket::options{.capacity = 20});
    const auto own = std::make_shared<token_bucket>(token_bucket::options{.capacity = 10});
    with.options.retry_budget = driver::token_bucket_budget(shared);
    driver::token_bucket_budget of_service(own);
    with.subject.budget = &of_service;
    EXPECT_TRUE(with.decide().is_retry);
    EXPECT_TRUE(with.decide().is_retry);
    EXPECT_EQ(with.decide().refusal, refusal_reason::budget_exhausted);
    EXPECT_EQ(shared->milli_level(), 20000) << "untouched";
    with.subject.budget = nullptr;
    EXPECT_TRUE(with.decide().is_retry);
    EXPECT_EQ(shared->milli_level(), 15000);
}

TEST(retry_rules, RH_02_a_strategy_that_throws_or_gives_no_answer_fails_the_request) {
    bench with(retry_reason::kv_locked, true);
    with.options.strategy = std::make_shared<throwing_strategy>();
    const retry_outcome thrown = with.decide();
    EXPECT_EQ(thrown.error, errc::strategy_failure);
    EXPECT_EQ(thrown.cause, "out of ideas");
    with.options.strategy = std::make_shared<mute_strategy>();
    const retry_outcome mute = with.decide();
    EXPECT_EQ(mute.error, errc::strategy_failure);
    EXPECT_EQ(mute.refusal, refusal_reason::strategy_failed);
}

TEST(retry_rules, RH_03_zero_retries_now_and_no_does_not_retry) {
    bench with(retry_reason::kv_locked, true);
    const auto now = std::make_shared<fixed_strategy>(driver::retry_action::after(-3ms));
    with.options.strategy = now;
    EXPECT_TRUE(with.decide().is_retry);
    EXPECT_EQ(with.decide().delay, duration::zero());
    EXPECT_FALSE(with.decide().is_capped);
    now->action = driver::retry_action::no();
    EXPECT_FALSE(with.decide().is_retry);
    EXPECT_EQ(with.decide().error, errc::document_locked);
}

TEST(retry_rules, RH_03_a_no_may_name_the_error_for_the_user) {
    bench with(retry_reason::kv_locked, true);
    with.options.strategy = std::make_shared<fixed_strategy>(driver::retry_action::no());
    EXPECT_EQ(with.decide().error, errc::document_locked);
    with.options.strategy =
        std::make_shared<fixed_strategy>(driver::retry_action::no(errc::temporary_failure));
    EXPECT_EQ(with.decide().error, errc::temporary_failure);
}

TEST(retry_rules, RH_01_the_strategy_sees_whether_a_request_is_idempotent) {
    for (const bool is_idempotent : {true, false}) {
        bench with(retry_reason::kv_locked, is_idempotent);
        fixed_strategy strategy(driver::retry_action::no());
        with.subject.strategy = &strategy;
        with.failed.status = 9;
        static_cast<void>(with.decide());
        EXPECT_EQ(strategy.last.is_idempotent, is_idempotent);
        EXPECT_EQ(strategy.last.status, 9);
        EXPECT_EQ(strategy.last.error, errc::document_locked);
    }
}

TEST(retry_rules, each_reason_before_sending_has_the_error_of_a_request_that_is_given_up) {
    for (const couchbase::retry_reason_facts& facts : couchbase::all_retry_reasons()) {
        errc expected = errc::request_canceled;
        if (facts.reason == retry_reason::service_not_available) {
            expected = errc::service_not_available;
        } else if (const auto terminal = facts.terminal_error) {
            expected = *terminal;
        }
        EXPECT_EQ(own_error_of(facts.reason), expected) << facts.name;
    }
}

TEST(retry_rules, RH_01_RH_17_the_calls_own_strategy_is_asked_with_the_whole_request) {
    bench with(retry_reason::kv_locked, false);
    const auto of_client = std::make_shared<fixed_strategy>(driver::retry_action::no());
    fixed_strategy of_call(driver::retry_action::after(4ms));
    with.options.strategy = of_client;
    with.subject.strategy = &of_call;
    with.retries = 3;
    with.reasons.insert(retry_reason::kv_temporary_failure);
    const std::any attached = std::string("robot");
    with.subject.user_data = &attached;
    ASSERT_EQ(with.decide().delay, 4ms);
    EXPECT_EQ(of_client->asked, 0);
    EXPECT_EQ(of_call.last.operation, "get");
    EXPECT_FALSE(of_call.last.is_idempotent);
    EXPECT_EQ(of_call.retry_attempts, 3U);
    EXPECT_TRUE(of_call.last.retry_reasons.contains(retry_reason::kv_temporary_failure));
    EXPECT_EQ(of_call.deadline, first_moment + 2500ms);
    EXPECT_EQ(of_call.user_data, "robot");
    EXPECT_EQ(of_call.last.strategy, &of_call);
}

TEST(retry_rules, RH_17_the_clients_strategy_is_asked_for_calls_without_one) {
    bench with(retry_reason::kv_locked, false);
    const auto of_client = std::make_shared<fixed_strategy>(driver::retry_action::after(7ms));
    with.options.strategy = of_client;
    EXPECT_EQ(with.decide().delay, 7ms);
    EXPECT_EQ(of_client->asked, 1);
}

TEST(retry_rules, VB_05_a_fixed_interval_replaces_the_ladder_for_not_my_vbucket) {
    bench with(retry_reason::kv_not_my_vbucket, true);
    EXPECT_EQ(with.decide().delay, 1ms) << "the controlled backoff is the default";
    with.options.not_my_vbucket_delay = 100ms;
    EXPECT_EQ(with.decide().delay, 100ms);
    with.failed.reason = retry_reason::kv_collection_outdated;
    EXPECT_EQ(with.decide().delay, 1ms);
}

TEST(retry_rules, VB_02_VB_06_a_known_route_shortens_the_wait_and_never_prolongs_it) {
    bench with(retry_reason::kv_not_my_vbucket, true);
    with.failed.delay_max = 0ms;
    EXPECT_EQ(with.decide().delay, 0ms);
    with.failed.delay_max = 100ms;
    EXPECT_EQ(with.decide().delay, 1ms);
    with.retries = 5;
    EXPECT_EQ(with.decide().delay, 100ms);
}

TEST(retry_rules, an_outer_allowance_is_used_and_refuses_when_empty) {
    bench with(retry_reason::kv_locked, true);
    driver::retry_allowance allowance(1);
    with.subject.allowance = &allowance;
    EXPECT_TRUE(with.decide().is_retry);
    const retry_outcome decided = with.decide();
    EXPECT_EQ(decided.refusal, refusal_reason::outer_allowance);
    EXPECT_EQ(decided.error, errc::document_locked);
    with.failed.reason = retry_reason::kv_not_my_vbucket;
    EXPECT_TRUE(with.decide().is_retry);
}

}  // namespace reprise::engine::testing::retry_rules_tests
