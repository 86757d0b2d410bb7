#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Retries of operations from the user's view: what was sent, when, and how the operation ended.

namespace reprise::engine::testing::retry_flow_tests {

std::vector<duration> gaps(const std::vector<seen_request>& requests) {
    std::vector<duration> result;
    for (std::size_t index = 1; index < requests.size(); ++index) {
        result.push_back(requests[index].at - requests[index - 1].at);
    }
    return result;
}

// Keeps the question until the test answers it.
class slow_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        ++asked;
        pending = sink.defer();
    }
    int asked = 0;
    driver::deferred_answer pending;
};

class no_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        ++asked;
        if (const auto* attached = question.at.user_data_as<std::string>()) {
            robots += *attached == "robot" ? 1 : 0;
        }
        sink.answer(driver::retry_action::no());
    }
    int asked = 0;
    int robots = 0;
};

class eager_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::after(0ms));
    }
};

class hour_strategy final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::after(1h));
    }
};

class recording_log final : public log_sink {
public:
    void on_decision(log_level level, const decision_record& record) noexcept override {
        lines.emplace_back(level, to_string(record));
    }
    void on_message(log_level, std::string_view) noexcept override {}
    std::vector<std::pair<log_level, std::string>> lines;
};

TEST(retry_flow, RH_19_locked_is_retried_with_best_effort_backoff_until_it_is_free) {
    auto [cluster, driver] = connected_node();
    cluster.refuse(opcode::set, status::locked, 4);
    const auto stored = driver.after(100ms, driver.upsert("k", "v"));
    ASSERT_TRUE(stored->has_succeeded());
    EXPECT_EQ(stored->result.retry_attempts, 4U);
    EXPECT_EQ(gaps(cluster.all(opcode::set)), (std::vector<duration>{1ms, 2ms, 4ms, 8ms}));
}

TEST(retry_flow, RH_12_VB_01_not_my_vbucket_uses_the_ladder_even_under_fail_fast) {
    scripted_cluster cluster(1);
    engine_options options;
    const auto strategy = std::make_shared<no_strategy>();
    options.strategy = strategy;
    connected_driver driver(cluster, options);
    cluster.refuse(opcode::set, status::not_my_vbucket, 5);
    const auto stored = driver.after(2s, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(strategy->asked, 0);
    EXPECT_EQ(
        gaps(cluster.all(opcode::set)), (std::vector<duration>{1ms, 10ms, 50ms, 100ms, 500ms}));
}

TEST(retry_flow, RH_13_a_capped_request_times_out_at_the_deadline_and_is_not_sent_again) {
    auto [cluster, driver] = connected_node();
    cluster.refuse(opcode::set, status::not_my_vbucket);
    auto request = driver.request(operation_kind::upsert, "k", "v");
    request.timeout = 400ms;
    const time_point started = driver.now;
    const auto stored = driver.after(2s, driver.start(std::move(request)));
    ASSERT_EQ(stored->calls, 1);
    EXPECT_EQ(stored->at - started, 400ms);
    EXPECT_EQ(stored->result.ec, errc::unambiguous_timeout);
    // 1, 10, 50, 100 ms. The fifth wait would have been 500 ms.
    EXPECT_EQ(cluster.count(opcode::set), 5U);
    const auto& entries = stored->result.history->entries;
    EXPECT_EQ(entries.back().delay(), 400ms - 161ms);
}

TEST(retry_flow, RH_13_a_capped_retry_that_nothing_wakes_is_not_charged) {
    scripted_cluster cluster(1);
    engine_options options;
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 10});
    options.strategy = std::make_shared<hour_strategy>();
    options.retry_budget = driver::token_bucket_budget(bucket);
    connected_driver driver(cluster, options);
    cluster.refuse(opcode::get, status::etmpfail);
    driver::retry_allowance allowance(1);
    auto request = driver.request(operation_kind::get, "k");
    request.outer_allowance = &allowance;
    const auto read = driver.after(5s, driver.start(std::move(request)));
    EXPECT_EQ(read->code(), errc::unambiguous_timeout);
    EXPECT_EQ(cluster.count(opcode::get), 1U);
    EXPECT_EQ(allowance.left(), 1U);
    EXPECT_EQ(bucket->milli_level(), bucket->milli_capacity());
}

// A write that never left the process, in a client whose strategy proposes to wait for an hour: its
// cause ends when the connection is open again.
TEST(retry_flow, RH_13_a_capped_retry_is_charged_when_it_is_woken) {
    auto [cluster, driver] = connected_node({{.strategy = std::make_shared<hour_strategy>()}});
    const auto write_and_lose_connection = [&](driver::retry_allowance& allowance) {
        driver.write_room = 0;
        auto request = driver.request(operation_kind::upsert, "k", "v");
        request.outer_allowance = &allowance;
        const auto stored = driver.settled(driver.start(std::move(request)));
        driver.write_room = std::size_t(-1);
        driver.close_node(0);
        return stored;
    };
    driver::retry_allowance enough(1);
    const auto paid = write_and_lose_connection(enough);
    EXPECT_EQ(enough.left(), 1U) << "it waits, and may never be sent";
    driver.advance(1s);
    ASSERT_TRUE(paid->has_succeeded());
    EXPECT_EQ(paid->result.retry_attempts, 1U);
    EXPECT_EQ(enough.left(), 0U);

    driver::retry_allowance none(0);
    const std::size_t sent = cluster.count(opcode::set);
    const auto refused = write_and_lose_connection(none);
    EXPECT_EQ(refused->calls, 0) << "a wait costs nothing";
    driver.advance(1s);
    ASSERT_EQ(refused->code(), errc::request_canceled);
    EXPECT_FALSE(refused->result.error->is_ambiguous);
    EXPECT_EQ(refused->result.retry_attempts, 0U);
    EXPECT_EQ(refused->result.history->entries.back().refusal(), refusal_reason::outer_allowance);
    EXPECT_EQ(cluster.count(opcode::set), sent);
}

TEST(retry_flow, RH_16_a_write_lost_in_flight_is_canceled_ambiguous_and_never_sent_again) {
    auto [cluster, driver] = connected_node({{.strategy = std::make_shared<eager_strategy>()}});
    cluster.answer_all(opcode::set, {.is_silent = true});
    const auto stored = driver.after(10ms, driver.upsert("k", "v"));
    driver.close_node(0);
    driver.advance(2s);
    ASSERT_EQ(stored->code(), errc::request_canceled);
    EXPECT_TRUE(stored->result.error->is_ambiguous);
    EXPECT_EQ(stored->result.error->last_reason, retry_reason::socket_closed_while_in_flight);
    EXPECT_EQ(cluster.count(opcode::set), 1U);
}

TEST(retry_flow, RH_16_a_read_lost_in_flight_is_sent_again_when_the_connection_is_back) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(opcode::get, {.is_silent = true});
    const auto read = driver.after(10ms, driver.get("k"));
    cluster.on_request = nullptr;
    driver.close_node(0);
    driver.advance(1s);
    EXPECT_EQ(read->code(), errc::document_not_found);
    EXPECT_TRUE(
        read->result.error->retry_reasons.contains(retry_reason::socket_closed_while_in_flight));
    EXPECT_FALSE(read->result.error->is_ambiguous);
}

TEST(retry_flow, RH_15_bytes_that_never_left_the_process_count_as_not_sent) {
    auto [cluster, driver] = connected_node();
    driver.write_room = 0;
    const auto stored = driver.settled(driver.upsert("k", "v"));
    EXPECT_EQ(driver.engine().statistics().operations_on_wire, 1U);
    driver.write_room = std::size_t(-1);
    driver.close_node(0);
    driver.advance(1s);
    ASSERT_TRUE(stored->has_succeeded());
    ASSERT_NE(stored->result.history, nullptr);
    EXPECT_EQ(
        stored->result.history->entries[0].reason_as<retry_reason>(),
        retry_reason::socket_not_available);
    EXPECT_EQ(stored->result.history->entries[0].stage(), attempt_stage::dispatch);
    EXPECT_EQ(driver.server.applied_writes, 1U);
}

TEST(retry_flow, RH_29_a_timeout_is_ambiguous_only_for_a_write_on_the_wire) {
    auto [cluster, driver] = connected_node();
    cluster.on_request = [](const seen_request& seen) -> std::optional<answer> {
        if (seen.key == std::string("\0locked", 7)) {
            return answer{.status = status::locked};
        }
        return seen.op == opcode::get || seen.op == opcode::set
                   ? std::optional(answer{.is_silent = true})
                   : std::nullopt;
    };
    const auto write = driver.upsert("write", "v");
    const auto read = driver.get("read");
    const auto locked = driver.after(2501ms, driver.upsert("locked", "v"));
    ASSERT_EQ(write->calls + read->calls + locked->calls, 3);
    EXPECT_EQ(write->result.ec, errc::ambiguous_timeout);
    EXPECT_TRUE(write->result.error->is_ambiguous);
    EXPECT_EQ(read->result.ec, errc::unambiguous_timeout);
    EXPECT_EQ(locked->result.ec, errc::unambiguous_timeout);
    EXPECT_TRUE(locked->result.error->retry_reasons.contains(retry_reason::kv_locked));
}

TEST(retry_flow, RH_29_a_write_that_was_never_sent_times_out_unambiguous) {
    scripted_cluster cluster(1);
    cluster.nodes[0].ignores_connections = true;
    engine_driver driver(cluster, {{.connect_timeout = 10s}});
    const auto write = driver.after(2500ms, driver.upsert("k", "v"));
    ASSERT_EQ(write->code(), errc::unambiguous_timeout);
    EXPECT_EQ(write->result.error->last_dispatched_to, "");
}

TEST(retry_flow, RH_30_the_history_has_time_stage_endpoint_reason_and_delay) {
    auto [cluster, driver] = connected_node();
    cluster.refuse(opcode::get, status::etmpfail, 3);
    const auto read = driver.after(100ms, driver.get("k"));
    ASSERT_EQ(read->calls, 1);
    ASSERT_NE(read->result.history, nullptr);
    const retry_history& history = *read->result.history;
    ASSERT_EQ(history.entries.total(), 3U);
    EXPECT_EQ(history.entries[1].offset(), 1ms);
    EXPECT_EQ(history.entries[1].delay(), 2ms);
    EXPECT_EQ(history.entries[1].code(), 0x86U);
    EXPECT_EQ(history.entries[1].attempt(), 2U);
    EXPECT_EQ(history.entries[1].stage(), attempt_stage::response);
    EXPECT_EQ(driver::place_of(history, history.entries[1]), "node1:11210");
    EXPECT_NE(to_string(history).find("KV_TEMPORARY_FAILURE (0x86) at node1"), std::string::npos);
}

TEST(retry_flow, RH_30_a_long_history_keeps_the_first_8_the_last_24_and_the_total) {
    scripted_cluster cluster(1);
    engine_options options;
    options.strategy = std::make_shared<best_effort_strategy>(
        [](std::uint32_t, std::uint64_t) -> duration { return 1ms; });
    connected_driver driver(cluster, options);
    cluster.refuse(opcode::get, status::etmpfail, 100);
    const auto read = driver.after(1s, driver.get("k"));
    ASSERT_EQ(read->calls, 1);
    const auto& entries = read->result.history->entries;
    EXPECT_EQ(entries.total(), 100U);
    EXPECT_EQ(entries.size(), 32U);
    EXPECT_EQ(entries[7].attempt(), 8U);
    EXPECT_EQ(entries[8].attempt(), 77U);
    EXPECT_EQ(entries.back().attempt(), 100U);
}

TEST(retry_flow, RH_02_RH_44_a_late_answer_retries_and_one_after_the_deadline_is_ignored) {
    scripted_cluster cluster(1);
    engine_options options;
    const auto strategy = std::make_shared<slow_strategy>();
    options.strategy = strategy;
    connected_driver driver(cluster, options);
    int wakes = 0;
    driver.engine().set_wake_hook([&] { ++wakes; });
    cluster.refuse(opcode::set, status::locked, 3);
    const auto stored = driver.after(10ms, driver.upsert("k", "v"));
    EXPECT_EQ(driver.engine().statistics().operations_parked, 1U);
    strategy->pending.answer(driver::retry_action::after(0ms));
    EXPECT_EQ(wakes, 1);
    driver.engine().on_wake(driver.now);
    EXPECT_EQ(driver.engine().statistics().operations_parked, 0U) << "not even for its timer";
    driver.settle();
    strategy->pending.answer(driver::retry_action::after(5ms));
    driver.engine().on_wake(driver.now);
    driver.advance(10ms);
    EXPECT_EQ(strategy->asked, 3);
    driver.advance(2500ms);
    EXPECT_EQ(stored->code(), errc::unambiguous_timeout);
    strategy->pending.answer(driver::retry_action::after(0ms));
    driver.engine().on_wake(driver.now);
    driver.advance(1s);
    EXPECT_EQ(stored->calls, 1);
    EXPECT_EQ(cluster.count(opcode::set), 3U);
}

TEST(retry_flow, RH_02_a_question_dropped_unanswered_fails_the_request) {
    scripted_cluster cluster(1);
    engine_options options;
    const auto strategy = std::make_shared<slow_strategy>();
    options.strategy = strategy;
    connected_driver driver(cluster, options);
    cluster.refuse(opcode::get, status::etmpfail);
    const auto read = driver.after(1ms, driver.get("k"));
    strategy->pending = {};
    driver.engine().on_wake(driver.now);
    driver.settle();
    ASSERT_EQ(read->code(), errc::strategy_failure);
    EXPECT_EQ(read->result.error->detail, "dropped without an answer");
}

TEST(retry_flow, RH_04_user_data_of_the_call_is_seen_by_the_strategy) {
    auto [cluster, driver] = connected_node();
    cluster.refuse(opcode::get, status::etmpfail);
    const auto strategy = std::make_shared<no_strategy>();
    auto request = driver.request(operation_kind::get, "k");
    request.terms().strategy = strategy;
    request.terms().user_data = std::make_shared<const std::any>(std::string("robot"));
    const auto read = driver.settled(driver.start(std::move(request)));
    ASSERT_EQ(read->code(), errc::temporary_failure);
    EXPECT_EQ(strategy->robots, 1);
    EXPECT_EQ(read->result.history->entries[0].refusal(), refusal_reason::strategy_refused);
}

TEST(retry_flow, RH_03_a_strategy_that_always_answers_now_never_hangs_the_engine) {
    scripted_cluster cluster(1);
    cluster.nodes[0].refuses_connections = true;
    engine_driver driver(cluster, {{.strategy = std::make_shared<eager_strategy>()}});
    const auto read = driver.get("k");
    for (int round = 0; round < 50; ++round) {
        driver.engine().on_time(driver.now);
    }
    EXPECT_EQ(read->calls, 0);
    EXPECT_LE(driver.engine().statistics().retries, 60U);
    driver.destroy();
    EXPECT_EQ(read->calls, 1);
}

TEST(retry_flow, RH_32_beyond_the_bound_requests_fail_with_their_last_reason) {
    auto [cluster, driver] = connected_node({{.parked_count_max = 2}});
    cluster.refuse(opcode::set, status::not_my_vbucket);
    const auto stored = driver.settled(driver.upsert_many(3, "k"));
    int failed = 0;
    for (const auto& one : stored) {
        if (one->calls == 1) {
            ++failed;
            EXPECT_EQ(one->result.ec, errc::retry_queue_full);
            EXPECT_EQ(one->result.error->last_reason, retry_reason::kv_not_my_vbucket);
        }
    }
    EXPECT_EQ(failed, 1);
}

TEST(retry_flow, RH_14_decisions_are_logged_and_keys_only_when_asked_for) {
    for (const bool with_keys : {false, true}) {
        scripted_cluster cluster(1);
        engine_options options;
        const auto log = std::make_shared<recording_log>();
        options.log = log;
        options.log_keys = with_keys;
        connected_driver driver(cluster, options);
        cluster.refuse(opcode::set, status::locked, 1);
        driver.upsert("private", "v");
        driver.advance(10ms);
        cluster.answer_all(opcode::set, {.is_silent = true});
        driver.upsert("private", "v");
        driver.settle();
        driver.close_node(0);
        driver.settle();
        ASSERT_EQ(log->lines.size(), 2U);
        EXPECT_EQ(log->lines[0].first, log_level::debug);
        EXPECT_NE(
            log->lines[0].second.find("retried in 1 ms: KV_LOCKED (attempt 0, node1:11210)"),
            std::string::npos);
        EXPECT_EQ(log->lines[1].first, log_level::warn);
        EXPECT_NE(log->lines[1].second.find("SOCKET_CLOSED_WHILE_IN_FLIGHT"), std::string::npos);
        EXPECT_EQ(log->lines[0].second.find("private") != std::string::npos, with_keys);
        const auto read = driver.after(1s, driver.get("absent"));
        ASSERT_EQ(read->calls, 1);
        ASSERT_NE(read->result.error, nullptr);
        EXPECT_EQ(read->result.error->key, "absent");
        EXPECT_EQ(read->result.error->shows_key, with_keys);
    }
}

TEST(retry_flow, EM_06_EM_13_EM_16_an_unknown_code_follows_the_map_and_shows_its_texts) {
    auto [cluster, driver] = connected_node();
    cluster.refuse(opcode::get, static_cast<status>(0x7ff0), 1);
    const auto retried = driver.after(10ms, driver.get("k"));
    EXPECT_EQ(retried->code(), errc::document_not_found);
    EXPECT_TRUE(
        retried->result.error->retry_reasons.contains(retry_reason::kv_error_map_retry_indicated));
    cluster.refuse(opcode::get, static_cast<status>(0x7ff1));
    const auto failed = driver.after(10ms, driver.get("k"));
    ASSERT_EQ(failed->code(), errc::temporary_failure);
    ASSERT_TRUE(failed->result.error->error_map.has_value());
    EXPECT_EQ(failed->result.error->error_map->name, "TEST_FAIL");
    EXPECT_EQ(failed->result.error->error_map->description, "for tests");
    EXPECT_NE(
        to_string(*failed->result.error).find("status 0x7ff1 TEST_FAIL (for tests) [temp]"),
        std::string::npos)
        << to_string(*failed->result.error);
    EXPECT_EQ(failed->result.error->error_map->attributes, std::vector<std::string>{"temp"});
    EXPECT_EQ(failed->result.history, nullptr);
}

TEST(retry_flow, EM_13_a_retry_that_is_refused_shows_the_texts_of_the_map_too) {
    auto [cluster, driver] = connected_node({{.strategy = std::make_shared<no_strategy>()}});
    cluster.refuse(opcode::get, static_cast<status>(0x7ff0));
    const auto failed = driver.settled(driver.get("k"));
    ASSERT_EQ(failed->calls, 1);
    ASSERT_TRUE(failed->result.error->error_map.has_value());
    EXPECT_EQ(failed->result.error->error_map->name, "TEST_NOW");
    EXPECT_EQ(failed->result.error->error_map->description, "for tests");
    EXPECT_NE(
        to_string(*failed->result.error).find("TEST_NOW (for tests) [temp, retry-now]"),
        std::string::npos);
}

TEST(retry_flow, EM_13_EM_15_a_path_that_fails_with_an_unknown_code_shows_the_texts_of_the_map) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(
        opcode::subdoc_multi_mutation,
        {.status = status::subdoc_multi_path_failure, .value = std::string("\1\x7f\xf1", 3)});
    auto request = driver.request(operation_kind::mutate_in, "k");
    request.terms().specs.resize(2);
    for (path_spec& spec : request.terms().specs) {
        spec.verb = path_verb::upsert;
        spec.path = "a";
    }
    const auto failed = driver.settled(driver.start(std::move(request)));
    ASSERT_EQ(failed->code(), errc::temporary_failure);
    EXPECT_EQ(failed->result.error->failed_path, 1U);
    ASSERT_TRUE(failed->result.error->error_map.has_value());
    EXPECT_EQ(failed->result.error->error_map->name, "TEST_FAIL");
    EXPECT_EQ(failed->result.error->error_map->description, "for tests");
}

TEST(retry_flow, EM_07_an_invalidated_connection_is_dropped_and_the_operation_retried) {
    auto [cluster, driver] = connected_node();
    cluster.refuse(opcode::set, static_cast<status>(0x7ff2), 1);
    const auto stored = driver.after(1s, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(driver.connects.size(), 2U);
    const std::size_t polls = cluster.count(opcode::get_cluster_config);
    cluster.refuse(opcode::set, static_cast<status>(0x7ff3), 1);
    const auto failed = driver.after(100ms, driver.upsert("k", "v"));
    ASSERT_EQ(failed->calls, 1);
    EXPECT_FALSE(failed->result.has_value());
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), polls + 1);
}

TEST(retry_flow, RH_33_the_budget_of_the_client_ends_retries_with_the_operations_own_error) {
    scripted_cluster cluster(1);
    connected_driver driver(
        cluster, {{.retry_budget = driver::token_bucket_budget(
                       std::make_shared<token_bucket>(token_bucket::options{.capacity = 10}))}});
    cluster.refuse(opcode::get, status::etmpfail);
    const auto read = driver.after(1s, driver.get("k"));
    ASSERT_EQ(read->code(), errc::temporary_failure);
    EXPECT_EQ(cluster.count(opcode::get), 3U);
    EXPECT_EQ(read->result.history->entries.back().refusal(), refusal_reason::budget_exhausted);
}

TEST(retry_flow, no_operation_outlives_its_deadline_by_more_than_a_tick) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(opcode::get, {.is_silent = true});
    for (const duration timeout : {duration{1ns}, duration{1500us}, duration{77ms}}) {
        auto request = driver.request(operation_kind::get, "k");
        request.timeout = timeout;
        const time_point started = driver.now;
        const auto read = driver.after(100ms, driver.start(std::move(request)));
        ASSERT_EQ(read->calls, 1);
        EXPECT_GE(read->at - started, timeout);
        EXPECT_LE(read->at - started, timeout + 1ms);
    }
}

}  // namespace reprise::engine::testing::retry_flow_tests
