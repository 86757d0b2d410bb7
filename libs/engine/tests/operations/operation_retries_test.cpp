#include "operations/operation_retries.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing::operation_retries_tests {

struct any_request {
    std::shared_ptr<const std::any> user_data;
    std::shared_ptr<driver::retry_strategy> strategy;
    driver::retry_allowance* outer_allowance = nullptr;

    [[nodiscard]] driver::retry_strategy* own_strategy() const { return strategy.get(); }
    [[nodiscard]] const std::any* own_user_data() const { return user_data.get(); }
};

struct any_operation : operation_base {
    any_operation() : operation_base(timer_kind::operation) {}
    any_request request;
};

operation_names names_of(const any_operation&) noexcept {
    return {"get", true, wire::service::key_value, operation_id{5}, "a key"};
}

struct deciding {
    explicit deciding(engine_options options = {}) : parts(options) {}
    engine_parts parts;
    operation_retries all{parts.context, parts.endpoints};
    any_operation operation;

    void fill_places() {
        while (parts.client.waiting.has_place()) {
            parts.client.waiting.take();
        }
    }
    std::optional<retry_outcome> decide(retry_reason reason, attempt_stage stage) {
        retry_case failed;
        failed.reason = reason;
        failed.stage = stage;
        operation_retries::note_failure(operation, failed);
        operation.deadline = parts.now + 1s;
        if (!operation.progress.is_started()) {
            static_cast<void>(all.begin(operation, parts.now));
        }
        return all.decide(failed, all.subject_of(operation), parts.now);
    }
};

TEST(operation_retries, note_each_retry_in_the_history_and_count_it) {
    deciding with;
    const auto outcome = with.decide(retry_reason::kv_not_my_vbucket, attempt_stage::response);
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->is_retry);
    EXPECT_FALSE(with.operation.history.empty());
    EXPECT_TRUE(with.operation.reasons.contains(retry_reason::kv_not_my_vbucket));
    EXPECT_EQ(with.operation.last_reason, retry_reason::kv_not_my_vbucket);
    EXPECT_EQ(with.parts.context.counters.retries, 1U);
}

TEST(operation_retries, number_the_questions_about_an_operation) {
    deciding with;
    static_cast<void>(with.decide(retry_reason::kv_locked, attempt_stage::response));
    EXPECT_EQ(with.all.subject_of(with.operation).ticket.decision, 1U);
    static_cast<void>(with.decide(retry_reason::kv_locked, attempt_stage::response));
    EXPECT_EQ(with.all.subject_of(with.operation).ticket.decision, 2U);
}

TEST(operation_retries, count_no_retry_that_is_refused) {
    deciding with;
    with.fill_places();
    const auto outcome = with.decide(retry_reason::kv_locked, attempt_stage::response);
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->is_retry);
    EXPECT_EQ(with.parts.context.counters.retries, 0U);
    EXPECT_FALSE(with.operation.history.empty());
}

TEST(operation_retries, repeat_own_requests_only_if_they_are_always_retried) {
    deciding with;
    const own_failure what{"get_cluster_config", with.parts.endpoints.at("node1", 11210)};
    retry_case failed;
    failed.reason = retry_reason::kv_temporary_failure;
    failed.stage = attempt_stage::response;
    EXPECT_FALSE(with.all.decide(what, failed, with.parts.now));
    failed.reason = retry_reason::kv_not_my_vbucket;
    EXPECT_TRUE(with.all.decide(what, failed, with.parts.now));
}

TEST(operation_retries, repeat_own_requests_within_their_time) {
    engine_options options;
    options.internal_timeout = 100ms;
    deciding with(options);
    own_failure what{"get_cluster_config", with.parts.endpoints.at("node1", 11210)};
    what.retries = 50;  // the backoff is at its longest, a second
    retry_case failed;
    failed.reason = retry_reason::kv_not_my_vbucket;
    failed.stage = attempt_stage::response;
    EXPECT_EQ(with.all.decide(what, failed, with.parts.now), 100ms);
}

}  // namespace reprise::engine::testing::operation_retries_tests
