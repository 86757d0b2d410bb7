#include <gtest/gtest.h>

#include "engine_driver.hpp"

// RH-14: every decision reaches the sink, with its true attempt, whichever part made it.

namespace reprise::engine::testing {
namespace logged_decisions_tests {

using wire::opcode;
using wire::status;
using answer = scripted_cluster::scripted_answer;

struct logged_decision {
    log_level level{};
    std::string operation;
    retry_reason reason{};
    attempt_stage stage{};
    std::uint32_t attempt = 0;
    bool is_retried = false;
    duration delay{};
    errc error{};
    std::uint16_t status = 0;
    std::string endpoint;
};

class decision_keeper final : public log_sink {
public:
    void on_decision(log_level level, const decision_record& record) noexcept override {
        entries.push_back(
            {level, std::string(record.operation), record.reason, record.stage, record.attempt,
             record.is_retried, record.delay, record.error, record.status,
             std::string(record.endpoint)});
    }
    void on_message(log_level, std::string_view) noexcept override {}
    std::vector<logged_decision> entries;
};

struct logging_scene {
    explicit logging_scene(std::size_t nodes = 1, engine_options given = {}) : cluster(nodes) {
        given.log = log;
        driver = std::make_unique<engine_driver>(cluster, given);
    }
    scripted_cluster cluster;
    std::shared_ptr<decision_keeper> log = std::make_shared<decision_keeper>();
    std::unique_ptr<engine_driver> driver;
};

scripted_cluster::hook answer_to(opcode op, answer with) {
    return [=](const seen_request& seen) -> std::optional<answer> {
        return seen.op == op ? std::optional(with) : std::nullopt;
    };
}

}  // namespace logged_decisions_tests

using namespace logged_decisions_tests;

TEST(logged_decisions, RH_14_nothing_is_left_out_by_default) {
    logging_scene scene;
    scene.driver->connect();
    scene.cluster.on_request = answer_to(opcode::get, {.status = status::etmpfail});
    for (int index = 0; index < 200; ++index) {
        scene.driver->get("k" + std::to_string(index));
    }
    scene.driver->advance(900ms);
    EXPECT_GT(scene.log->entries.size(), 1000U);
    EXPECT_EQ(scene.log->entries.size(), scene.driver->engine().statistics().retries);
}

TEST(logged_decisions, RH_14_polls_are_logged_with_their_true_attempt) {
    logging_scene scene;
    scene.driver->connect();
    scene.cluster.on_request =
        answer_to(opcode::get_cluster_config, {.status = status::not_my_vbucket});
    scene.driver->advance(4s);
    ASSERT_GE(scene.log->entries.size(), 5U);
    for (std::size_t index = 0; index < 5; ++index) {
        EXPECT_EQ(scene.log->entries[index].operation, "get_cluster_config");
        EXPECT_EQ(scene.log->entries[index].attempt, index);
        EXPECT_EQ(scene.log->entries[index].level, log_level::debug);
    }
    // An answer ends the series of attempts.
    scene.cluster.on_request = nullptr;
    scene.driver->advance(3s);
    scene.log->entries.clear();
    scene.cluster.on_request = answer_to(opcode::get_cluster_config, {.status = status::etmpfail});
    scene.driver->advance(2500ms);
    ASSERT_EQ(scene.log->entries.size(), 1U);
    EXPECT_EQ(scene.log->entries[0].attempt, 0U);
    EXPECT_EQ(scene.log->entries[0].level, log_level::warn);
    EXPECT_EQ(scene.log->entries[0].error, errc::temporary_failure);
}

TEST(logged_decisions, RH_14_a_poll_whose_answer_cannot_be_decoded_is_logged) {
    for (const answer& with :
         {answer{.value = "{", .datatype = wire::datatype::json},
          answer{.value = "\xff\xff\xff", .datatype = wire::datatype::snappy}}) {
        logging_scene scene;
        scene.driver->connect();
        scene.cluster.on_request = answer_to(opcode::get_cluster_config, with);
        scene.driver->advance(2500ms);
        ASSERT_EQ(scene.log->entries.size(), 1U);
        EXPECT_EQ(scene.log->entries[0].level, log_level::warn);
        EXPECT_EQ(scene.log->entries[0].operation, "get_cluster_config");
        EXPECT_EQ(scene.log->entries[0].reason, retry_reason::unknown);
        EXPECT_EQ(scene.log->entries[0].stage, attempt_stage::response);
        EXPECT_EQ(scene.log->entries[0].error, errc::decoding_failure);
        EXPECT_EQ(scene.log->entries[0].endpoint, "node1:11210");
    }
}

TEST(logged_decisions, RH_14_a_stale_answer_to_a_collection_lookup_is_logged_with_its_attempt) {
    logging_scene scene;
    scene.cluster.manifest_uid = 5;
    scene.driver->connect();
    scene.cluster.manifest_uid = 4;
    scene.driver->start(scene.driver->request(operation_kind::get, "k", "", "s", "c"));
    scene.driver->advance(15ms);
    ASSERT_EQ(scene.log->entries.size(), 3U);
    const std::array<duration, 3> delays{1ms, 10ms, 50ms};
    for (std::size_t index = 0; index < delays.size(); ++index) {
        const logged_decision& line = scene.log->entries[index];
        EXPECT_EQ(line.operation, "get_collection_id");
        EXPECT_EQ(line.reason, retry_reason::collection_not_found);
        EXPECT_EQ(line.attempt, index);
        EXPECT_EQ(line.delay, delays[index]);
        EXPECT_EQ(line.level, log_level::debug);
        EXPECT_EQ(line.endpoint, "node1:11210");
    }
}

TEST(
    logged_decisions,
    RH_14_RH_32_a_request_without_a_place_to_wait_is_logged_before_its_first_attempt) {
    engine_options options;
    options.parked_count_max = 1;
    logging_scene scene(1, options);
    scene.cluster.nodes[0].ignores_connections = true;
    scene.driver->get("first");
    const auto refused = scene.driver->get("second");
    scene.driver->settle();
    ASSERT_EQ(refused->calls, 1);
    EXPECT_EQ(refused->result.ec, errc::retry_queue_full);
    EXPECT_EQ(refused->result.error->last_reason, retry_reason::socket_not_available);
    ASSERT_NE(refused->result.history, nullptr);
    EXPECT_EQ(refused->result.history->entries.back().refusal(), refusal_reason::queue_full);
    ASSERT_EQ(scene.log->entries.size(), 1U);
    EXPECT_EQ(scene.log->entries[0].level, log_level::warn);
    EXPECT_EQ(scene.log->entries[0].reason, retry_reason::socket_not_available);
    EXPECT_EQ(scene.log->entries[0].error, errc::retry_queue_full);
    EXPECT_EQ(scene.log->entries[0].attempt, 0U);
}

TEST(logged_decisions, RH_14_an_unreadable_answer_is_logged) {
    logging_scene scene;
    scene.driver->connect();
    scene.cluster.on_request = answer_to(opcode::get, {.value = "without flags"});
    const auto read = scene.driver->get("k");
    scene.driver->settle();
    EXPECT_EQ(read->result.ec, errc::decoding_failure);
    ASSERT_EQ(scene.log->entries.size(), 1U);
    EXPECT_EQ(scene.log->entries[0].reason, retry_reason::unknown);
    EXPECT_EQ(scene.log->entries[0].stage, attempt_stage::response);
    EXPECT_EQ(scene.log->entries[0].error, errc::decoding_failure);
    EXPECT_EQ(scene.log->entries[0].level, log_level::warn);
    EXPECT_EQ(scene.log->entries[0].endpoint, "node1:11210");
}

}  // namespace reprise::engine::testing
