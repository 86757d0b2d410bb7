#include <gtest/gtest.h>

#include "engine_driver.hpp"

// The five terminal states: how they are set, read and cleared.

namespace reprise::engine::testing::terminal_tests {

engine_options with_best_effort() {
    engine_options options;
    options.strategy = std::make_shared<best_effort_strategy>();
    return options;
}

// The state is cleared, not just ignored: an operation that cannot be sent now waits for the node.
void expect_cleared(engine_driver& driver) {
    driver.cluster.nodes[0].connect_failure_kind = connect_failure::refused;
    driver.close_node(0);
    const auto waiting = driver.after(100ms, driver.get("k"));
    EXPECT_EQ(waiting->calls, 0);
}

TEST(terminal_state, RH_25_RH_38_refused_credentials_fail_a_parked_request_at_once) {
    scripted_cluster cluster(1);
    cluster.nodes[0].sasl_status = status::auth_error;
    engine_driver driver(cluster);
    const time_point started = driver.now;
    const auto read = driver.after(1s, driver.get("k"));
    ASSERT_EQ(read->code(), errc::authentication_failure);
    EXPECT_EQ(read->result.error->last_reason, retry_reason::authentication_error);
    EXPECT_LE(read->at - started, 500ms);
}

TEST(terminal_state, RH_38_best_effort_waits_to_the_deadline_and_the_timeout_names_the_reason) {
    scripted_cluster cluster(1);
    cluster.nodes[0].sasl_status = status::auth_error;
    engine_driver driver(cluster, with_best_effort());
    const auto read = driver.after(2499ms, driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    driver.advance(2ms);
    ASSERT_EQ(read->code(), errc::unambiguous_timeout);
    EXPECT_TRUE(read->result.error->retry_reasons.contains(retry_reason::authentication_error));
}

TEST(terminal_state, RH_25_RH_39_a_fix_on_the_server_clears_the_state_without_restart) {
    scripted_cluster cluster(1);
    cluster.nodes[0].sasl_status = status::auth_error;
    engine_driver driver(cluster);
    const auto refused = driver.after(1s, driver.get("k"));
    EXPECT_EQ(refused->result.ec, errc::authentication_failure);
    cluster.nodes[0].sasl_status.reset();
    driver.advance(5s);
    const auto read = driver.after(10ms, driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
    expect_cleared(driver);
}

// Each stage of a connection is tried again in the background: TLS, the login, select bucket.
TEST(terminal_state, RH_39_each_refused_stage_is_tried_again_without_an_operation) {
    struct stage {
        errc error;
        std::function<void(scripted_node&)> refuse;
    };
    const std::vector<stage> stages{
        {errc::tls_failure,
         [](auto& node) { node.connect_failure_kind = connect_failure::tls_untrusted; }},
        {errc::authentication_failure, [](auto& node) { node.sasl_status = status::auth_error; }},
        {errc::bucket_access_failure, [](auto& node) { node.select_status = status::eaccess; }}};
    for (const stage& each : stages) {
        scripted_cluster cluster(1);
        const scripted_node healthy = cluster.nodes[0];
        each.refuse(cluster.nodes[0]);
        engine_driver driver(cluster);
        const auto refused = driver.after(1s, driver.get("k"));
        ASSERT_EQ(refused->calls, 1);
        EXPECT_EQ(refused->result.ec, each.error);
        cluster.nodes[0] = healthy;
        driver.advance(10s);
        EXPECT_EQ(driver.engine().statistics().connections_open, 1U)
            << make_error_code(each.error).message();
    }
}

TEST(terminal_state, RH_25_other_failures_of_sasl_do_not_count) {
    scripted_cluster cluster(1);
    cluster.nodes[0].sasl_status = status::etmpfail;
    engine_driver driver(cluster);
    const auto read = driver.after(3s, driver.get("k"));
    ASSERT_EQ(read->code(), errc::unambiguous_timeout);
    EXPECT_TRUE(read->result.error->retry_reasons.contains(retry_reason::node_not_available));
}

TEST(terminal_state, RH_25_a_usable_connection_is_used_although_another_node_refuses) {
    scripted_cluster cluster(2, 2);
    cluster.nodes[1].sasl_status = status::auth_error;
    connected_driver driver(cluster);
    driver.advance(100ms);
    std::string key = "a";
    while (wire::vbucket_of(key, 2).value != 0) {
        key += "a";
    }
    const auto good = driver.get(key);
    while (wire::vbucket_of(key, 2).value != 1) {
        key += "b";
    }
    const auto bad = driver.after(10ms, driver.get(key));
    ASSERT_EQ(good->calls + bad->calls, 2);
    EXPECT_EQ(good->result.ec, errc::document_not_found);
    EXPECT_EQ(bad->result.ec, errc::authentication_failure);
    // The node leaves, and its state is dropped.
    cluster.map = {{0}, {0}};
    cluster.data_node_count = 1;
    cluster.revision.rev = 11;
    driver.push_configuration_of(0);
    const auto moved = driver.settled(driver.get(key));
    EXPECT_EQ(moved->code(), errc::document_not_found);
}

// The node leaves and comes back. What it refused before does not count: an operation waits for it.
TEST(terminal_state, RH_25_RH_26_a_node_that_leaves_takes_its_state_with_it) {
    for (const bool is_about_tls : {false, true}) {
        scripted_cluster cluster(2, 2);
        scripted_node& leaving = cluster.nodes[1];
        if (is_about_tls) {
            leaving.connect_failure_kind = connect_failure::tls_untrusted;
        } else {
            leaving.sasl_status = status::auth_error;
        }
        connected_driver driver(cluster);
        driver.advance(100ms);
        const auto get_from_leaving = [&] {
            std::string key = "a";
            while (wire::vbucket_of(key, 2).value != 1) {
                key += "a";
            }
            const auto read = driver.after(50ms, driver.get(key));
            return read;
        };
        ASSERT_EQ(
            get_from_leaving()->result.ec,
            is_about_tls ? errc::tls_failure : errc::authentication_failure);
        const auto apply = [&](std::size_t data_node_count) {
            cluster.data_node_count = data_node_count;
            ++cluster.revision.rev;
            driver.push_configuration(driver.connections_to(0).at(0), 0, false);
            driver.advance(10ms);
        };
        cluster.map = {{0}, {0}};
        apply(1);
        leaving.connect_failure_kind.reset();
        leaving.sasl_status.reset();
        leaving.ignores_connections = true;
        cluster.map = {{0}, {1}};
        apply(2);
        const auto waiting = get_from_leaving();
        EXPECT_EQ(waiting->calls, 0) << waiting->result.ec.message();
    }
}

TEST(terminal_state, RH_26_an_alert_on_an_open_connection_counts) {
    engine_options options;
    options.transport = wire::transport::tls;
    auto [cluster, driver] = connected_node(options);
    driver.advance(10ms);
    cluster.nodes[0].ignores_connections = true;
    driver.close_node(0, close_reason::tls_alert);
    const auto read = driver.after(500ms, driver.get("k"));
    ASSERT_EQ(read->code(), errc::tls_failure);
    EXPECT_EQ(read->result.error->last_reason, retry_reason::tls_error);
}

TEST(terminal_state, RH_26_explicit_tls_failures_count_and_broken_handshakes_do_not) {
    for (const connect_failure failure :
         {connect_failure::tls_untrusted, connect_failure::tls_wrong_host,
          connect_failure::tls_expired, connect_failure::tls_alert}) {
        scripted_cluster cluster(1);
        cluster.nodes[0].connect_failure_kind = failure;
        engine_driver driver(cluster);
        const auto read = driver.after(500ms, driver.get("k"));
        EXPECT_EQ(read->code(), errc::tls_failure);
    }
    for (const connect_failure failure : {connect_failure::reset, connect_failure::timed_out}) {
        scripted_cluster cluster(1);
        cluster.nodes[0].connect_failure_kind = failure;
        engine_driver driver(cluster);
        const auto read = driver.after(500ms, driver.get("k"));
        EXPECT_EQ(read->calls, 0);
        driver.advance(3s);
        EXPECT_EQ(read->result.ec, errc::unambiguous_timeout);
    }
}

TEST(terminal_state, RH_26_the_first_bytes_received_clear_the_tls_state) {
    scripted_cluster cluster(1);
    cluster.nodes[0].connect_failure_kind = connect_failure::tls_untrusted;
    engine_driver driver(cluster);
    const auto refused = driver.after(100ms, driver.get("k"));
    EXPECT_EQ(refused->result.ec, errc::tls_failure);
    cluster.nodes[0].connect_failure_kind.reset();
    driver.advance(2s);
    const auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
    expect_cleared(driver);
}

TEST(terminal_state, RH_08_authentication_is_raised_before_tls) {
    scripted_cluster cluster(2);
    cluster.nodes[0].sasl_status = status::auth_error;
    cluster.nodes[1].connect_failure_kind = connect_failure::tls_expired;
    engine_options options = with_best_effort();
    options.seeds = {{"node1", {}}, {"node2", {}}};
    engine_driver driver(cluster, options);
    driver.engine().open("travel", driver.now);
    driver.advance(100ms);
    auto request = driver.request(operation_kind::get, "k");
    request.terms().strategy = std::make_shared<fail_fast_on_terminal_error_strategy>();
    const auto read = driver.settled(driver.start(std::move(request)));
    EXPECT_EQ(read->code(), errc::authentication_failure);
}

TEST(terminal_state, RH_27_no_access_at_select_bucket_is_an_access_failure_until_it_succeeds) {
    scripted_cluster cluster(1);
    cluster.nodes[0].select_status = status::eaccess;
    engine_driver driver(cluster);
    const auto refused = driver.after(100ms, driver.get("k"));
    EXPECT_EQ(refused->code(), errc::bucket_access_failure);
    cluster.nodes[0].select_status.reset();
    driver.advance(2s);
    const auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
    expect_cleared(driver);
}

TEST(terminal_state, RH_27_not_found_counts_only_when_every_reachable_node_reports_it) {
    scripted_cluster cluster(2);
    cluster.nodes[0].select_status = status::key_enoent;
    cluster.nodes[1].ignores_connections = true;
    engine_options options;
    options.seeds = {{"node1", {}}, {"node2", {}}};
    engine_driver driver(cluster, options);
    const auto waiting = driver.after(400ms, driver.get("k"));
    EXPECT_EQ(waiting->calls, 0);  // node2 may still give another answer
    cluster.nodes[0].select_status.reset();
    driver.advance(2s);
    EXPECT_EQ(waiting->code(), errc::document_not_found);
}

// As seen on a real cluster: until the manager of a node that restarts has created the bucket
// again, SELECT_BUCKET is answered with 0x01.
TEST(terminal_state, RH_27_an_open_bucket_is_never_missing_by_not_found) {
    auto [cluster, driver] = connected_cluster(2);
    for (scripted_node& node : cluster.nodes) {
        node.select_status = status::key_enoent;
    }
    driver.close_node(0);
    driver.close_node(1);
    driver.advance(20s);
    auto request = driver.request(operation_kind::get, "k");
    request.timeout = 30s;
    const auto waiting = driver.after(10s, driver.start(std::move(request)));
    EXPECT_EQ(waiting->calls, 0);
    for (scripted_node& node : cluster.nodes) {
        node.select_status.reset();
    }
    driver.advance(6s);
    ASSERT_EQ(waiting->code(), errc::document_not_found);
    EXPECT_TRUE(waiting->result.error->retry_reasons.contains(retry_reason::node_not_available));
    EXPECT_FALSE(waiting->result.error->retry_reasons.contains(retry_reason::bucket_access_error));
}

TEST(terminal_state, RH_27_a_bucket_that_was_never_open_is_missing_after_the_patience) {
    for (const duration patience : {duration(2s), duration(500ms)}) {
        scripted_cluster cluster(2);
        engine_options options;
        options.seeds = {{"node1", {}}, {"node2", {}}};
        options.missing_bucket_patience = patience;
        for (scripted_node& node : cluster.nodes) {
            node.select_status = status::key_enoent;
        }
        engine_driver driver(cluster, options);
        const auto waiting = driver.after(patience - 10ms, driver.get("k"));
        EXPECT_EQ(waiting->calls, 0);
        driver.advance(30ms);
        EXPECT_EQ(waiting->code(), errc::bucket_access_failure);
        cluster.nodes[1].select_status.reset();
        cluster.map.assign(cluster.map.size(), {1});
        driver.advance(6s);
        const auto found = driver.settled(driver.get("k"));
        EXPECT_EQ(found->code(), errc::document_not_found)
            << "cleared when select succeeds anywhere";
    }
}

// Found by a random mutant: nothing noticed that the timer was not set for the rest of the new
// wait.
TEST(terminal_state, RH_27_another_answer_starts_the_patience_again) {
    scripted_cluster cluster(1);
    engine_driver driver(cluster, {{.missing_bucket_patience = 300ms}});
    std::vector<time_point> selected;
    cluster.on_request =
        [&](const seen_request& seen) -> std::optional<scripted_cluster::scripted_answer> {
        if (seen.op == wire::opcode::select_bucket) {
            selected.push_back(driver.now);
            cluster.nodes[0].select_status =
                selected.size() == 2 ? status::etmpfail : status::key_enoent;
        }
        return std::nullopt;
    };
    const auto waiting = driver.after(2s, driver.get("k"));
    EXPECT_EQ(waiting->code(), errc::bucket_access_failure);
    EXPECT_EQ(waiting->at, selected.at(2) + 300ms);
}

TEST(terminal_state, RH_28_a_missing_collection_fails_by_name_and_best_effort_waits_for_it) {
    auto [cluster, driver] = connected_node();
    const auto missing = driver.start(operation_kind::get, "k", "", "inventory", "airline");
    driver.settle();
    ASSERT_EQ(missing->code(), errc::collection_not_found);
    EXPECT_EQ(missing->result.error->last_reason, retry_reason::collection_not_found);
    EXPECT_EQ(missing->result.error->bucket, "travel");
    EXPECT_EQ(missing->result.error->scope, "inventory");
    EXPECT_EQ(missing->result.error->collection, "airline");
    auto patient = driver.request(operation_kind::get, "k", "", "inventory", "airline");
    patient.terms().strategy = std::make_shared<best_effort_strategy>();
    const auto read = driver.after(100ms, driver.start(std::move(patient)));
    EXPECT_EQ(read->calls, 0);
    cluster.collections["inventory.airline"] = 9;
    ++cluster.manifest_uid;
    driver.advance(500ms);
    EXPECT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(cluster.all(opcode::get).back().key, std::string("\x09k"));
}

TEST(terminal_state, RH_28_an_unknown_scope_has_its_own_reason) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(opcode::get_collection_id, {.status = status::unknown_scope});
    const auto missing = driver.settled(driver.start(operation_kind::get, "k", "", "s", "c"));
    EXPECT_EQ(missing->code(), errc::scope_not_found);
}

TEST(terminal_state, RH_24_a_collection_that_a_server_refuses_to_name_ends_the_operation) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(opcode::get_collection_id, {.status = status::eaccess});
    const auto refused = driver.settled(driver.start(operation_kind::get, "k", "", "s", "c"));
    ASSERT_EQ(refused->code(), errc::authentication_failure)
        << "it is not asked again until the timeout";
    EXPECT_EQ(refused->result.error->status, static_cast<std::uint16_t>(status::eaccess));
    EXPECT_EQ(cluster.count(opcode::get_collection_id), 1U);
}

TEST(terminal_state, RH_28_a_stale_lookup_is_repeated_with_the_controlled_backoff) {
    scripted_cluster cluster(1);
    cluster.manifest_uid = 5;
    connected_driver driver(cluster);
    cluster.manifest_uid = 4;  // the node is behind the configuration that it once sent
    const auto read = driver.start(operation_kind::get, "k", "", "inventory", "airline");
    driver.advance(15ms);
    EXPECT_EQ(read->calls, 0);
    const auto asked = cluster.all(opcode::get_collection_id);
    ASSERT_EQ(asked.size(), 3U);
    EXPECT_EQ(asked[1].at - asked[0].at, 1ms);
    EXPECT_EQ(asked[2].at - asked[1].at, 10ms);
    cluster.manifest_uid = 5;
    driver.advance(100ms);
    EXPECT_EQ(read->code(), errc::collection_not_found);
}

TEST(terminal_state, RH_28_the_manifest_of_an_outdated_id_counts_as_seen) {
    scripted_cluster cluster(1);
    cluster.collections["inventory.airline"] = 8;
    engine_driver driver(cluster);
    const auto stored_in = [&] {
        return driver.start(operation_kind::upsert, "k", "v", "inventory", "airline");
    };
    ASSERT_EQ(stored_in()->calls, 0);
    driver.advance(10ms);
    // The collection was dropped and created again with manifest 9. The node that is asked for its
    // id has not seen that yet.
    cluster.on_request = [](const seen_request& seen) -> std::optional<answer> {
        answer outdated{.status = status::unknown_collection, .value = R"({"manifest_uid":"9"})"};
        outdated.datatype = wire::datatype::json;
        return seen.op == opcode::set && seen.key[0] == 8 ? std::optional(outdated) : std::nullopt;
    };
    cluster.collections.erase("inventory.airline");
    cluster.manifest_uid = 5;
    const auto stored = stored_in();
    driver.advance(15ms);
    EXPECT_EQ(stored->calls, 0) << "the node with manifest 5 is outdated";
    cluster.collections["inventory.airline"] = 12;
    cluster.manifest_uid = 9;
    driver.advance(200ms);
    EXPECT_TRUE(stored->has_succeeded());
}

TEST(terminal_state, RH_41_an_outdated_collection_id_is_resolved_again_and_the_request_resent) {
    scripted_cluster cluster(1);
    cluster.collections["inventory.airline"] = 8;
    engine_driver driver(cluster);
    const auto first = driver.start(operation_kind::upsert, "k", "v", "inventory", "airline");
    driver.advance(10ms);
    ASSERT_TRUE(first->result.has_value());
    cluster.collections["inventory.airline"] = 12;
    ++cluster.manifest_uid;
    cluster.answer_where(
        [](const seen_request& seen) { return seen.op == opcode::set && seen.key[0] == 8; },
        {.status = status::unknown_collection});
    const auto again = driver.start(operation_kind::upsert, "k", "v", "inventory", "airline");
    driver.advance(10ms);
    EXPECT_TRUE(again->has_succeeded());
    const auto stores = cluster.all(opcode::set);
    ASSERT_EQ(stores.size(), 3U);
    EXPECT_EQ(stores[2].at - stores[1].at, 1ms);
    EXPECT_EQ(stores[2].key, std::string("\x0ck"));
    EXPECT_EQ(cluster.count(opcode::get_collection_id), 2U);
    // The collection is dropped for good, so the strategy decides about the reason.
    cluster.collections.erase("inventory.airline");
    ++cluster.manifest_uid;
    cluster.answer_all(opcode::set, {.status = status::unknown_collection});
    const auto gone = driver.start(operation_kind::upsert, "k", "v", "inventory", "airline");
    driver.advance(100ms);
    ASSERT_EQ(gone->code(), errc::collection_not_found);
    EXPECT_TRUE(gone->result.error->retry_reasons.contains(retry_reason::kv_collection_outdated));
}

TEST(terminal_state, RH_41_RH_28_a_dropped_default_collection_is_looked_up_and_reported_missing) {
    auto [cluster, driver] = connected_node();
    driver.get("k");
    driver.settle();
    EXPECT_EQ(cluster.count(opcode::get_collection_id), 0U) << "its id is known";
    cluster.collections.erase("_default._default");
    ++cluster.manifest_uid;
    cluster.answer_all({opcode::get, opcode::set}, {.status = status::unknown_collection});
    const auto written = driver.after(100ms, driver.start(operation_kind::upsert, "k", "v"));
    ASSERT_EQ(written->code(), errc::collection_not_found) << "it must not wait for its timeout";
    EXPECT_EQ(written->result.error->last_reason, retry_reason::collection_not_found);
    EXPECT_TRUE(
        written->result.error->retry_reasons.contains(retry_reason::kv_collection_outdated));
    ASSERT_EQ(cluster.count(opcode::get_collection_id), 1U);
    EXPECT_EQ(cluster.all(opcode::get_collection_id)[0].value, "_default._default");
    // A strategy that waits for the name succeeds once it exists again.
    auto patient = driver.request(operation_kind::get, "k");
    patient.terms().strategy = std::make_shared<best_effort_strategy>();
    const auto read = driver.after(100ms, driver.start(std::move(patient)));
    EXPECT_EQ(read->calls, 0);
    cluster.collections["_default._default"] = 0;
    ++cluster.manifest_uid;
    cluster.on_request = nullptr;
    driver.advance(500ms);
    EXPECT_EQ(read->code(), errc::document_not_found);
}

TEST(terminal_state, many_requests_for_one_collection_ask_for_its_id_once) {
    scripted_cluster cluster(1);
    cluster.collections["s.c"] = 8;
    engine_driver driver(cluster);
    std::vector<engine_driver::outcome_ptr> reads;
    for (int index = 0; index < 20; ++index) {
        reads.push_back(
            driver.start(operation_kind::get, "k" + std::to_string(index), "", "s", "c"));
    }
    driver.advance(10ms);
    EXPECT_EQ(cluster.count(opcode::get_collection_id), 1U);
    EXPECT_EQ(cluster.count(opcode::get), 20U);
}

TEST(terminal_state, RH_40_a_stale_credential_recreates_the_connection) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(opcode::get, {.status = status::auth_stale});
    const auto stale = driver.settled(driver.get("k"));
    EXPECT_EQ(stale->result.ec, errc::authentication_failure);
    cluster.on_request = nullptr;
    const auto read = driver.after(1s, driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(cluster.count(opcode::sasl_auth), 2U);
}

}  // namespace reprise::engine::testing::terminal_tests
