#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine_driver.hpp"

// Tests the reports about an operation in observers, logs, strategies and errors.

namespace reprise::engine::testing::operation_reports_tests {

struct recording_observer final : operation_observer, log_sink {
    using operation_observer::on_decision;
    std::vector<operation_attempt> attempts;
    std::vector<decision_record> decisions;
    void on_attempt(const operation_attempt& record) noexcept override {
        attempts.push_back(record);
    }
    void on_decision(log_level, const decision_record& record) noexcept override {
        decisions.push_back(record);
    }
    void on_message(log_level, std::string_view) noexcept override {}
};

// Answers every retry with `delay`, or refuses it.
class fixed_strategy final : public driver::retry_strategy {
public:
    explicit fixed_strategy(std::optional<duration> delay) : delay_(delay) {}
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        questions.push_back(question.facts);
        sink.answer(
            delay_ ? driver::retry_action::after(*delay_)
                   : driver::retry_action::no(refusal_reason::strategy_refused));
    }
    std::vector<failure_facts> questions;

private:
    std::optional<duration> delay_;
};

class one_late_retry final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        sink.answer(
            question.retry_attempts == 0
                ? driver::retry_action::after(2s)
                : driver::retry_action::no(refusal_reason::strategy_refused));
    }
};

TEST(operation_reports, observers_and_logs_name_the_operation_and_its_attempt) {
    const auto seen = std::make_shared<recording_observer>();
    engine_options options;
    options.operation_observers = {seen};
    options.log = seen;
    scripted_cluster cluster(1);
    connected_driver driver(cluster, options);
    cluster.answer_all(opcode::set, {.status = status::locked});
    driver.upsert("k", "v");
    const std::uint64_t id = driver.last_id.value;
    driver.advance(4ms);
    ASSERT_GE(seen->attempts.size(), 2U);
    ASSERT_GE(seen->decisions.size(), 2U);
    for (std::uint32_t number = 0; number < 2; ++number) {
        const operation_attempt& sent = seen->attempts[number];
        EXPECT_EQ(sent.which.id, id);
        EXPECT_EQ(sent.retries, number);
        EXPECT_EQ(sent.which.operation, "upsert");
        EXPECT_FALSE(sent.is_idempotent);
        EXPECT_EQ(sent.connection, driver.connections_to(0).at(0).value);
        EXPECT_EQ(sent.which.client, driver.engine().diagnostics().client);
        EXPECT_EQ(sent.opaque, cluster.all(opcode::set).at(number).opaque);
        EXPECT_EQ(sent.sent, cluster.all(opcode::set).at(number).at);
        EXPECT_EQ(seen->decisions[number].id, id);
        EXPECT_EQ(seen->decisions[number].attempt, number);
        EXPECT_EQ(seen->decisions[number].endpoint, "node1:11210");
    }
}

TEST(operation_reports, observers_learn_whether_a_request_is_idempotent) {
    const auto seen = std::make_shared<recording_observer>();
    engine_options options;
    options.operation_observers = {seen};
    scripted_cluster cluster(1);
    connected_driver driver(cluster, options);
    driver.upsert("k", "v");
    driver.get("k");
    driver.settle();
    ASSERT_EQ(seen->attempts.size(), 2U);
    EXPECT_FALSE(seen->attempts[0].is_idempotent);
    EXPECT_TRUE(seen->attempts[1].is_idempotent);
}

TEST(operation_reports, the_reason_of_an_earlier_operation_is_forgotten) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(opcode::set, {.status = status::locked});
    driver.upsert("k", "v");
    driver.advance(10s);
    const auto read = driver.after(1ms, driver.get("absent"));
    ASSERT_EQ(read->calls, 1);
    EXPECT_EQ(read->result.error->last_reason, retry_reason::unknown);
}

TEST(operation_reports, an_operation_that_was_not_sent_for_lack_of_room_reports_that) {
    engine_options options;
    options.pipeline_credit = 1;
    scripted_cluster cluster(1);
    connected_driver driver(cluster, options);
    cluster.answer_all(opcode::get, {.is_silent = true});
    driver.get("first");
    auto request = driver.request(operation_kind::get, "second");
    request.timeout = 1s;
    const auto second = driver.after(2s, driver.start(std::move(request)));
    EXPECT_EQ(second->code(), errc::unambiguous_timeout);
    EXPECT_NE(
        to_string(*second->result.error).find("waited to be sent to node1:11210"),
        std::string::npos)
        << to_string(*second->result.error);
}

TEST(operation_reports, an_operation_that_waits_after_an_answer_does_not_blame_connections) {
    const auto strategy = std::make_shared<fixed_strategy>(1h);
    engine_options options;
    options.strategy = strategy;
    scripted_cluster cluster(1);
    connected_driver driver(cluster, options);
    cluster.answer_all(opcode::get, {.status = status::locked});
    const auto read = driver.after(10s, driver.get("k"));
    ASSERT_EQ(read->code(), errc::unambiguous_timeout);
    EXPECT_EQ(to_string(*read->result.error).find("waited for"), std::string::npos)
        << to_string(*read->result.error);
    ASSERT_EQ(strategy->questions.size(), 1U);
    EXPECT_EQ(strategy->questions[0].minimum_wait, std::nullopt) << "the server asked for nothing";
}

TEST(operation_reports, an_operation_that_is_refused_before_it_is_sent_names_the_cause) {
    engine_options options;
    options.strategy = std::make_shared<fixed_strategy>(std::nullopt);
    scripted_cluster cluster(1);
    connected_driver driver(cluster, options);
    cluster.nodes[0].refuses_connections = true;
    driver.close_node(0);
    driver.advance(100ms);
    const auto read = driver.after(1ms, driver.get("k"));
    ASSERT_EQ(read->calls, 1);
    EXPECT_NE(read->result.error->detail.find("refused"), std::string::npos)
        << read->result.error->detail;
}

// It backs off after an answer; then its node refuses the login, while another node is connected.
TEST(operation_reports, RH_38_an_operation_whose_own_node_refuses_does_not_wait_for_its_retry) {
    engine_options options;
    options.strategy = std::make_shared<one_late_retry>();
    scripted_cluster cluster(2);
    connected_driver driver(cluster, options);
    cluster.answer_all(opcode::set, {.status = status::locked});
    std::string key = "k";
    while (wire::vbucket_of(key, cluster.map.size()).value % 2 == 0) {
        key += "k";
    }
    const auto stored = driver.after(1ms, driver.upsert(key, "v"));
    ASSERT_EQ(cluster.all(opcode::set).at(0).node, 1U);
    cluster.nodes[1].sasl_status = status::auth_error;
    driver.close_node(1);
    driver.advance(500ms);
    EXPECT_EQ(stored->code(), errc::authentication_failure);
}

// Any node can answer a NOOP, so the refusal of one does not shorten its backoff.
TEST(operation_reports, a_noop_keeps_its_backoff_while_another_node_is_connected) {
    engine_options options;
    options.strategy = std::make_shared<one_late_retry>();
    scripted_cluster cluster(2);
    connected_driver driver(cluster, options);
    driver.advance(100ms);
    cluster.answer_all(opcode::noop, {.status = status::etmpfail});
    const auto asked = driver.after(1ms, driver.start(operation_kind::noop, ""));
    ASSERT_EQ(cluster.count(opcode::noop), 1U);
    cluster.on_request = nullptr;
    cluster.nodes[0].sasl_status = status::auth_error;
    driver.close_node(0);
    driver.advance(1s);
    EXPECT_EQ(cluster.count(opcode::noop), 1U);
    driver.advance(1s);
    EXPECT_TRUE(asked->has_succeeded());
}

TEST(operation_reports, nothing_is_due_after_the_client_was_closed) {
    const auto seen = std::make_shared<recording_observer>();
    engine_options options;
    options.log = seen;
    options.log_decisions_per_second_max = 1;
    scripted_cluster cluster(1);
    connected_driver driver(cluster, options);
    cluster.answer_all(opcode::set, {.status = status::locked});
    for (int index = 0; index < 20; ++index) {
        driver.upsert("k", "v");
    }
    driver.advance(10ms);
    driver.engine().close(driver.now);
    driver.settle();
    EXPECT_EQ(driver.engine().next_due(), std::nullopt);
}

}  // namespace reprise::engine::testing::operation_reports_tests
