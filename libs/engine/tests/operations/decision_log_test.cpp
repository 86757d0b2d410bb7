#include "operations/decision_log.hpp"

#include <gtest/gtest.h>

#include "engine_driver.hpp"

namespace reprise::engine::testing::decision_log_tests {

constexpr time_point log_start{1h};

class line_keeper final : public log_sink {
public:
    void on_decision(log_level level, const decision_record& record) noexcept override {
        decisions.emplace_back(level, record.reason);
    }
    void on_message(log_level level, std::string_view text) noexcept override {
        if (text.find("more decisions") != std::string_view::npos) {
            sums.emplace_back(level, text);
        }
    }
    std::vector<std::pair<log_level, retry_reason>> decisions;
    std::vector<std::pair<log_level, std::string>> sums;
};

decision_record decision_about(retry_reason reason, bool is_retried = true) {
    decision_record record;
    record.operation = "get";
    record.reason = reason;
    record.is_retried = is_retried;
    return record;
}

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

class log_text_keeper final : public log_sink {
public:
    void on_decision(log_level, const decision_record&) noexcept override {}
    void on_message(log_level, std::string_view text) noexcept override { logged += text; }
    std::string logged;
};

TEST(
    decision_log, RH_14_the_first_of_a_second_are_logged_and_the_rest_are_summarized_when_it_ends) {
    const auto sink = std::make_shared<line_keeper>();
    decision_log log(sink, 3);
    for (int index = 0; index < 5; ++index) {
        log.on_decision(decision_about(retry_reason::kv_locked), log_start + index * 100ms);
    }
    EXPECT_EQ(sink->decisions.size(), 3U);
    ASSERT_EQ(log.next_due(), log_start + 1s);
    log.on_time(log_start + 999ms);
    EXPECT_TRUE(sink->sums.empty());
    log.on_time(log_start + 1s);
    ASSERT_EQ(sink->sums.size(), 1U);
    EXPECT_EQ(sink->sums[0].first, log_level::debug);
    EXPECT_EQ(sink->sums[0].second, "KV_LOCKED: 2 more decisions in 1 s");
    EXPECT_FALSE(log.next_due().has_value());
    log.on_decision(decision_about(retry_reason::kv_locked), log_start + 1s);
    EXPECT_EQ(sink->decisions.size(), 4U) << "a new second starts";
}

TEST(decision_log, RH_14_a_summary_has_the_highest_level_of_its_decisions) {
    const auto sink = std::make_shared<line_keeper>();
    decision_log log(sink, 1);
    for (const bool is_retried : {true, true, false}) {
        log.on_decision(decision_about(retry_reason::kv_locked, is_retried), log_start);
    }
    // Without a call of on_time, the next decision closes the second.
    log.on_decision(decision_about(retry_reason::kv_locked, false), log_start + 2s);
    ASSERT_EQ(sink->sums.size(), 1U);
    EXPECT_EQ(sink->sums[0].first, log_level::warn);
    EXPECT_EQ(sink->sums[0].second, "KV_LOCKED: 2 more decisions in 1 s, 1 not retried");
    EXPECT_EQ(sink->decisions.back().first, log_level::warn);
}

TEST(decision_log, RH_14_each_reason_has_its_own_second_and_the_end_logs_the_rest) {
    const auto sink = std::make_shared<line_keeper>();
    decision_log log(sink, 1);
    log.on_decision(decision_about(retry_reason::kv_locked), log_start);
    log.on_decision(decision_about(retry_reason::kv_locked), log_start);
    log.on_decision(decision_about(retry_reason::kv_temporary_failure), log_start + 300ms);
    log.on_decision(decision_about(retry_reason::kv_temporary_failure), log_start + 300ms);
    EXPECT_EQ(sink->decisions.size(), 2U);
    log.on_time(log_start + 1s);
    EXPECT_EQ(sink->sums.size(), 1U);
    EXPECT_EQ(log.next_due(), log_start + 1300ms);
    log.flush();
    ASSERT_EQ(sink->sums.size(), 2U);
    EXPECT_EQ(sink->sums[1].second, "KV_TEMPORARY_FAILURE: 1 more decisions in 1 s");
}

TEST(decision_log, RH_14_zero_means_no_limit_and_no_sink_means_nothing) {
    const auto sink = std::make_shared<line_keeper>();
    decision_log log(sink, 0);
    decision_log silent(nullptr, 1);
    for (int index = 0; index < 1000; ++index) {
        log.on_decision(decision_about(retry_reason::kv_locked), log_start);
        silent.on_decision(decision_about(retry_reason::kv_locked), log_start);
    }
    EXPECT_EQ(sink->decisions.size(), 1000U);
    EXPECT_FALSE(log.next_due().has_value());
    EXPECT_FALSE(silent.next_due().has_value());
    EXPECT_FALSE(silent.is_on());
}

TEST(decision_log, RH_14_with_a_limit_no_decision_is_lost_from_the_count) {
    scripted_cluster cluster(1);
    engine_options options;
    options.log_decisions_per_second_max = 10;
    const auto sink = std::make_shared<line_keeper>();
    options.log = sink;
    connected_driver driver(cluster, options);
    cluster.answer_all(opcode::get, {.status = status::etmpfail});
    for (int index = 0; index < 200; ++index) {
        driver.get("k" + std::to_string(index));
    }
    driver.advance(999ms);
    EXPECT_EQ(sink->decisions.size(), 10U);
    const std::uint64_t retries = driver.engine().statistics().retries;
    driver.advance(1ms);
    ASSERT_EQ(sink->sums.size(), 1U);
    EXPECT_EQ(
        sink->sums[0].second,
        "KV_TEMPORARY_FAILURE: " + std::to_string(retries - 10) + " more decisions in 1 s");
}

TEST(logged_decisions, RH_14_nothing_is_left_out_by_default) {
    logging_scene scene;
    scene.driver->connect();
    scene.cluster.answer_all(opcode::get, {.status = status::etmpfail});
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
    scene.cluster.answer_all(opcode::get_cluster_config, {.status = status::not_my_vbucket});
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
    scene.cluster.answer_all(opcode::get_cluster_config, {.status = status::etmpfail});
    scene.driver->advance(2500ms);
    ASSERT_EQ(scene.log->entries.size(), 1U);
    EXPECT_EQ(scene.log->entries[0].attempt, 0U);
    EXPECT_EQ(scene.log->entries[0].level, log_level::warn);
    EXPECT_EQ(scene.log->entries[0].error, errc::temporary_failure);
    EXPECT_EQ(scene.log->entries[0].status, static_cast<std::uint16_t>(status::etmpfail));
    EXPECT_EQ(scene.log->entries[0].stage, attempt_stage::response);
}

TEST(logged_decisions, RH_14_a_poll_whose_answer_cannot_be_decoded_is_logged) {
    for (const answer& with :
         {answer{.value = "{", .datatype = wire::datatype::json},
          answer{.value = "\xff\xff\xff", .datatype = wire::datatype::snappy}}) {
        logging_scene scene;
        scene.driver->connect();
        scene.cluster.answer_all(opcode::get_cluster_config, with);
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
        EXPECT_EQ(line.stage, attempt_stage::response);
        EXPECT_EQ(line.status, static_cast<std::uint16_t>(wire::status::unknown_collection));
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
    ASSERT_EQ(refused->code(), errc::retry_queue_full);
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
    scene.cluster.answer_all(opcode::get, {.value = "without flags"});
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

TEST(decision_log, control_characters_in_names_of_nodes_are_escaped) {
    scripted_cluster cluster(1);
    cluster.nodes[0].host = "ok\n\x1b[2J";
    const auto sink = std::make_shared<log_text_keeper>();
    connected_driver driver(cluster, {{.log = sink}});
    EXPECT_NE(sink->logged.find("ok\\n\\x1b[2J"), std::string::npos) << sink->logged;
    EXPECT_EQ(sink->logged.find('\x1b'), std::string::npos);
}

}  // namespace reprise::engine::testing::decision_log_tests
