#include <gtest/gtest.h>

#include "engine_driver.hpp"
#include "operations/fail_fast_strategy.hpp"
#include "operations/waiting_operations.hpp"

// When a bucket is ready, when it is not yet ready, and when it does not exist.

namespace reprise::engine::testing::readiness_tests {

// Sends what wait_until_ready sends.
engine_driver::outcome_ptr ask_ready(engine_driver& driver, duration timeout) {
    auto request = driver.request(operation_kind::noop, "");
    request.timeout = timeout;
    return driver.start(std::move(request));
}

void expect_not_ready(const engine_driver::outcome_ptr& asked) {
    ASSERT_EQ(asked->code(), errc::unambiguous_timeout);
    EXPECT_EQ(asked->result.error->last_reason, retry_reason::node_not_available);
}

// All nodes are seeds, and none of them has the bucket.
engine_options all_seeds(scripted_cluster& cluster) {
    engine_options options;
    for (scripted_node& node : cluster.nodes) {
        node.select_status = status::key_enoent;
        options.seeds.push_back({node.host, node.port});
    }
    return options;
}

TEST(readiness, a_noop_that_names_a_node_is_answered_by_that_node_and_has_no_key_on_the_wire) {
    auto [cluster, driver] = connected_cluster(3);
    driver.get("k");
    for (const std::size_t node : {2U, 0U, 1U, 2U}) {
        cluster.requests.clear();
        const scripted_node& wanted = cluster.nodes[node];
        const auto asked = driver.after(
            10ms, driver.start(operation_kind::noop, wire::to_host_port(wanted.host, wanted.port)));
        EXPECT_TRUE(asked->has_succeeded());
        ASSERT_EQ(cluster.count(opcode::noop), 1U);
        EXPECT_EQ(cluster.all(opcode::noop).at(0).node, node);
        EXPECT_EQ(cluster.all(opcode::noop).at(0).key, "");
    }
}

TEST(readiness, a_noop_to_a_node_that_left_is_not_answered_by_another_one) {
    auto [cluster, driver] = connected_cluster(2);
    auto request = driver.request(operation_kind::noop, "elsewhere:11210");
    request.timeout = 200ms;
    const auto asked = driver.after(300ms, driver.start(std::move(request)));
    expect_not_ready(asked);
    EXPECT_EQ(cluster.count(opcode::noop), 0U);
}

TEST(readiness, VB_08_a_map_without_rows_is_waited_for_as_node_not_available) {
    scripted_cluster cluster(1, 4);
    const auto map = cluster.map;
    cluster.map.clear();
    engine_driver driver(cluster);
    const auto read = driver.after(300ms, driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    EXPECT_NE(driver.engine().configuration("travel"), nullptr);
    cluster.map = map;
    ++cluster.revision.rev;
    driver.advance(1s);
    ASSERT_EQ(read->code(), errc::document_not_found);
    EXPECT_TRUE(read->result.error->retry_reasons.contains(retry_reason::node_not_available));
}

TEST(readiness, VB_09_a_map_without_rows_does_not_replace_one_with_owners) {
    auto [cluster, driver] = connected_cluster(1, 4);
    const auto before = driver.engine().configuration("travel");
    const auto map = cluster.map;
    cluster.map.clear();
    ++cluster.revision.rev;
    driver.push_configuration_of(0);
    EXPECT_EQ(driver.engine().configuration("travel"), before);
    cluster.map = map;
    ++cluster.revision.rev;
    driver.push_configuration_of(0);
    EXPECT_EQ(driver.engine().configuration("travel")->revision(), cluster.revision);
}

TEST(readiness, a_bucket_whose_map_has_no_owners_is_not_ready) {
    for (const wire::vbucket_rows& map : {wire::vbucket_rows{}, wire::vbucket_rows(4, {-1})}) {
        scripted_cluster cluster(1, 4);
        const auto usual = std::exchange(cluster.map, map);
        engine_driver driver(cluster);
        const auto early = ask_ready(driver, 500ms);
        driver.advance(600ms);
        expect_not_ready(early);
        const auto asked = ask_ready(driver, 10s);
        cluster.map = usual;
        ++cluster.revision.rev;
        driver.advance(1100ms);
        EXPECT_TRUE(asked->has_succeeded());
    }
}

TEST(readiness, a_bucket_is_ready_only_through_a_node_that_owns_vbuckets) {
    scripted_cluster cluster(2, 4);
    cluster.map.assign(4, {1});
    cluster.nodes[1].refuses_connections = true;
    engine_driver driver(cluster);
    const auto early = ask_ready(driver, 500ms);
    driver.advance(600ms);
    EXPECT_EQ(early->code(), errc::unambiguous_timeout);
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
    cluster.nodes[1].refuses_connections = false;
    const auto asked = ask_ready(driver, 10s);
    driver.advance(5s);
    EXPECT_TRUE(asked->has_succeeded());
}

TEST(readiness, a_bucket_without_a_configuration_is_not_ready_and_is_asked_for_one_soon) {
    scripted_cluster cluster(1, 4);
    cluster.nodes[0].config_status = status::key_enoent;
    engine_driver driver(cluster);
    const auto early = ask_ready(driver, 500ms);
    driver.advance(600ms);
    expect_not_ready(early);
    cluster.nodes[0].config_status.reset();
    const auto asked = ask_ready(driver, 10s);
    driver.advance(1100ms);
    EXPECT_TRUE(asked->has_succeeded());
}

TEST(readiness, VB_07_revisions_up_to_the_largest_number_are_compared) {
    scripted_cluster cluster(1, 4);
    cluster.revision.rev = std::uint64_t{1} << 63U;
    connected_driver driver(cluster);
    ASSERT_NE(driver.engine().configuration("travel"), nullptr);
    cluster.requests.clear();
    driver.advance(3s);
    // The protocol's field for the known revision is too small for it, so the request omits it.
    ASSERT_FALSE(cluster.all(opcode::get_cluster_config).empty());
    EXPECT_EQ(cluster.all(opcode::get_cluster_config).front().extras, "");
    cluster.revision.rev = UINT64_MAX;
    driver.push_configuration_of(0);
    EXPECT_EQ(driver.engine().configuration("travel")->revision().rev, UINT64_MAX);
    cluster.revision.rev = 7;
    driver.push_configuration_of(0);
    EXPECT_EQ(driver.engine().configuration("travel")->revision().rev, UINT64_MAX);
}

TEST(readiness, RH_27_a_misspelt_bucket_is_reported_while_a_node_is_down) {
    scripted_cluster cluster(3, 4);
    const engine_options options = all_seeds(cluster);
    cluster.nodes[2].refuses_connections = true;
    engine_driver driver(cluster, options);
    const auto read = driver.after(2010ms, driver.get("k"));
    EXPECT_EQ(read->code(), errc::bucket_access_failure);
}

TEST(readiness, RH_27_one_answer_is_not_enough_if_other_nodes_cannot_be_asked) {
    scripted_cluster cluster(2, 4);
    const engine_options options = all_seeds(cluster);
    cluster.nodes[1].refuses_connections = true;
    engine_driver driver(cluster, options);
    const auto read = driver.after(10ms, driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    driver.advance(2300ms);  // it is asked again and gives the same answer
    EXPECT_EQ(read->code(), errc::bucket_access_failure);
}

TEST(readiness, RH_27_a_node_that_never_connects_does_not_block_the_report) {
    scripted_cluster cluster(3, 4);
    engine_options options = all_seeds(cluster);
    options.missing_bucket_patience = 1s;
    cluster.nodes[2].ignores_connections = true;
    engine_driver driver(cluster, options);
    const auto read = driver.after(1400ms, driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    driver.advance(1s);
    EXPECT_EQ(read->code(), errc::bucket_access_failure);
}

TEST(readiness, RH_27_a_node_that_has_the_bucket_outvotes_all_others) {
    scripted_cluster cluster(3, 4);
    const engine_options options = all_seeds(cluster);
    cluster.nodes[1].refuses_connections = true;
    cluster.nodes[2].select_status.reset();
    cluster.map.assign(4, {2});
    engine_driver driver(cluster, options);
    const auto read = driver.after(2s, driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
}

// An operation that waits for the first connection to its node learns at once that there is none.
TEST(readiness, an_operation_notices_that_the_connection_it_waits_for_has_failed) {
    scripted_cluster cluster(2, 2);
    cluster.nodes[1].ignores_connections = true;
    connected_driver driver(cluster);
    std::string key = "k";
    while (wire::vbucket_of(key, 2).value != 1) {
        key += "k";
    }
    auto request = driver.request(operation_kind::get, key);
    request.terms().strategy = std::make_shared<fail_fast_strategy>();
    const auto read = driver.after(100ms, driver.start(std::move(request)));
    EXPECT_EQ(read->calls, 0);
    const auto pending = driver.connects.back();
    ASSERT_EQ(pending.host, "node2");
    driver.engine().on_connect_failed(
        pending.connection, connect_failure::refused, "scripted", driver.now);
    driver.settle();
    ASSERT_EQ(read->calls, 1);
    EXPECT_EQ(read->result.error->last_reason, retry_reason::node_not_available);
}

// Requests that were not written yet go elsewhere when their node leaves.
TEST(readiness, operations_in_the_queue_of_a_node_that_leaves_are_sent_to_another) {
    scripted_cluster cluster(2, 2);
    engine_options options;
    options.pipeline_credit = 1;
    connected_driver driver(cluster, options);
    driver.advance(100ms);
    cluster.on_request = [](const seen_request& seen) {
        const scripted_cluster::scripted_answer silence{.is_silent = true};
        return seen.op == opcode::get && seen.node == 1 ? std::optional(silence) : std::nullopt;
    };
    std::vector<engine_driver::outcome_ptr> reads;
    for (int index = 0; reads.size() < 3; ++index) {
        const std::string key = "k" + std::to_string(index);
        if (wire::vbucket_of(key, 2).value == 1) {
            reads.push_back(driver.get(key));
        }
    }
    driver.settle();
    EXPECT_EQ(cluster.count(opcode::get), 1U);
    cluster.map = {{0}, {0}};
    cluster.data_node_count = 1;
    ++cluster.revision.rev;
    driver.push_configuration_of(0);
    EXPECT_EQ(reads[0]->calls, 0) << "on the wire";
    EXPECT_EQ(reads[1]->calls, 1);
    EXPECT_EQ(reads[2]->calls, 1);
}

// More operations than one turn of the loop wakes.
namespace large_wake_up_tests {

constexpr std::size_t part = waiting_operations::wake_count_max;
constexpr std::size_t operation_count = 2 * part + 100;

struct many_waiting {
    many_waiting() {
        cluster.nodes[0].ignores_connections = true;
        // No answer arrives, so that what was woken stays ready or on the wire.
        cluster.answer_all(opcode::get, {.is_silent = true});
        for (std::size_t each = 0; each < operation_count; ++each) {
            start_one();
        }
        driver.settle();
    }
    void start_one() {
        auto request = driver.request(operation_kind::get, "k" + std::to_string(started++));
        request.timeout = 1h;
        driver.engine().start(
            std::move(request), [this](operation_result&&) { ++completed; }, driver.now);
    }
    // The connection opens after this. Time passes in steps of the timer's resolution.
    void open_connection() {
        cluster.nodes[0].ignores_connections = false;
        for (int step = 0; step < 100'000 && woken() == 0; ++step) {
            driver.advance(1ms);
        }
    }
    std::size_t woken() {
        const auto seen = driver.engine().statistics();
        return seen.operations_ready + seen.operations_on_wire;
    }

    scripted_cluster cluster{1};
    engine_driver driver{cluster, [] {
                             engine_options made;
                             made.parked_count_max = operation_count + 1;
                             return made;
                         }()};
    std::size_t started = 0;
    std::size_t completed = 0;
};

}  // namespace large_wake_up_tests

using namespace large_wake_up_tests;

// A million operations may wait for one event. Woken at once, they held up the loop for 60 ms.
TEST(large_wake_up, VB_06_takes_several_turns_of_the_loop_and_keeps_the_order) {
    many_waiting scene;
    ASSERT_EQ(scene.driver.engine().statistics().operations_parked, operation_count);
    scene.open_connection();
    EXPECT_EQ(scene.woken(), part);
    scene.start_one();  // what arrives later does not wait for them
    EXPECT_EQ(scene.woken(), part + 1);
    scene.driver.advance(1ms);
    EXPECT_EQ(scene.woken(), 2 * part + 1);
    scene.driver.advance(1ms);
    EXPECT_EQ(scene.woken(), operation_count + 1);
    EXPECT_EQ(scene.driver.engine().statistics().operations_parked, 0U);
    const auto sent = scene.cluster.all(opcode::get);
    ASSERT_EQ(sent.size(), scene.driver.made_options.pipeline_credit);
    for (std::size_t each = 0; each < sent.size(); ++each) {
        ASSERT_EQ(sent[each].key.substr(1), "k" + std::to_string(each)) << "after its collection";
    }
}

TEST(large_wake_up, RH_44_every_operation_ends_once_if_the_client_is_closed_between_two_turns) {
    many_waiting scene;
    scene.open_connection();
    ASSERT_EQ(scene.woken(), part);
    scene.driver.engine().close(scene.driver.now);
    scene.driver.advance(10ms);
    EXPECT_EQ(scene.completed, operation_count);
}

TEST(large_wake_up, operations_that_are_still_waiting_wait_again_if_the_connection_is_lost) {
    many_waiting scene;
    scene.open_connection();
    ASSERT_EQ(scene.woken(), part);
    scene.cluster.nodes[0].ignores_connections = true;
    scene.driver.close_node(0);
    scene.driver.advance(10ms);
    EXPECT_EQ(scene.woken(), 0U);
    EXPECT_EQ(scene.completed, 0U) << "reads are repeated";
    EXPECT_EQ(scene.driver.engine().statistics().operations_parked, operation_count);
    scene.open_connection();
    scene.driver.advance(1s);
    EXPECT_EQ(scene.woken(), operation_count);
}

}  // namespace reprise::engine::testing::readiness_tests
