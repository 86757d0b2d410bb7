#include <gtest/gtest.h>

#include "engine_driver.hpp"

// The client's own requests use the same decision core, with a fail-fast strategy.

namespace reprise::engine::testing::own_requests_tests {

struct own_decision {
    std::string operation;
    retry_reason reason{};
    attempt_stage stage{};
    bool is_retried = false;
    std::string endpoint;
};

class own_decisions final : public log_sink {
public:
    void on_decision(log_level, const decision_record& record) noexcept override {
        seen.push_back(
            {std::string(record.operation), record.reason, record.stage, record.is_retried,
             std::string(record.endpoint)});
    }
    void on_message(log_level, std::string_view) noexcept override {}
    std::vector<own_decision> seen;
};

struct polling_scene {
    polling_scene() {
        options.log = log;
        driver = std::make_unique<engine_driver>(cluster, options);
        driver->connect();
        driver->advance(10ms);
        cluster.requests.clear();
    }
    void answer_polls(answer with) {
        cluster.on_request = [with](const seen_request& seen) -> std::optional<answer> {
            return seen.op == opcode::get_cluster_config ? std::optional(with) : std::nullopt;
        };
    }
    std::size_t polls() const { return cluster.count(opcode::get_cluster_config); }

    scripted_cluster cluster{2};
    engine_options options;
    std::shared_ptr<own_decisions> log = std::make_shared<own_decisions>();
    std::unique_ptr<engine_driver> driver;
};

TEST(own_requests, RH_07_a_poll_that_fails_is_not_repeated_and_the_next_asks_another_node) {
    polling_scene scene;
    scene.answer_polls({.status = status::etmpfail});
    scene.driver->advance(2500ms);
    ASSERT_EQ(scene.polls(), 1U);
    ASSERT_EQ(scene.log->seen.size(), 1U);
    EXPECT_EQ(scene.log->seen[0].operation, "get_cluster_config");
    EXPECT_EQ(scene.log->seen[0].reason, retry_reason::kv_temporary_failure);
    EXPECT_EQ(scene.log->seen[0].stage, attempt_stage::response);
    EXPECT_FALSE(scene.log->seen[0].is_retried);
    EXPECT_FALSE(scene.log->seen[0].endpoint.empty());
    scene.driver->advance(2500ms);
    ASSERT_EQ(scene.polls(), 2U);
    const auto asked = scene.cluster.all(opcode::get_cluster_config);
    EXPECT_NE(asked[0].node, asked[1].node);
}

TEST(own_requests, RH_07_a_poll_lost_with_its_connection_is_not_repeated) {
    polling_scene scene;
    scene.answer_polls({.is_silent = true});
    scene.driver->advance(2500ms);
    ASSERT_EQ(scene.polls(), 1U);
    const std::size_t node = scene.cluster.all(opcode::get_cluster_config)[0].node;
    scene.cluster.on_request = nullptr;
    scene.cluster.nodes[node].refuses_connections = true;
    scene.driver->close_node(node);
    scene.driver->advance(1s);
    ASSERT_EQ(scene.log->seen.size(), 1U);
    EXPECT_EQ(scene.log->seen[0].reason, retry_reason::socket_closed_while_in_flight);
    EXPECT_EQ(scene.log->seen[0].stage, attempt_stage::network);
    EXPECT_FALSE(scene.log->seen[0].is_retried);
    EXPECT_EQ(scene.polls(), 1U);
}

TEST(
    own_requests,
    RH_07_RH_12_always_retry_reasons_use_the_controlled_backoff_but_never_below_the_floor) {
    polling_scene scene;
    scene.answer_polls({.status = status::not_my_vbucket});
    scene.driver->advance(4s);
    const auto asked = scene.cluster.all(opcode::get_cluster_config);
    ASSERT_GE(asked.size(), 6U);
    const std::array<duration, 5> gaps{50ms, 50ms, 50ms, 100ms, 500ms};
    for (std::size_t index = 0; index < gaps.size(); ++index) {
        EXPECT_EQ(asked[index + 1].at - asked[index].at, gaps[index]) << index;
        EXPECT_TRUE(scene.log->seen.at(index).is_retried);
    }
}

TEST(own_requests, RH_07_a_refused_poll_of_a_plain_error_never_reaches_the_decider) {
    polling_scene scene;
    scene.answer_polls({.status = status::key_enoent});
    scene.driver->advance(2500ms);
    EXPECT_EQ(scene.polls(), 1U);
    EXPECT_TRUE(scene.log->seen.empty());
}

}  // namespace reprise::engine::testing::own_requests_tests
