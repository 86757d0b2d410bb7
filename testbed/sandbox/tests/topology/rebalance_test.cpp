#include "conversation.hpp"

#include <map>
#include <memory>

#include <reprise/wire/cluster_configuration.hpp>

namespace rebalance_test {

using namespace sandbox_testing;
using sandbox::cluster_errc;
using sandbox::node_id;
using sandbox::node_state;
using sandbox::rebalance_end;
using sandbox::restart_kind;

constexpr std::uint16_t vbucket_count = 16;

wire::cluster_configuration_ptr configuration_of(
    const sandbox::cluster& cluster, std::uint32_t node, std::string_view bucket = "travel") {
    auto made = wire::parse_cluster_configuration(
        cluster.topology().configuration_text(node_id{node}, bucket).value());
    EXPECT_TRUE(made) << to_string(made.error());
    return *made;
}

struct rebalance : testing::Test {
    sandbox::cluster cluster = make_cluster(small_options(3));

    // One connection for each node, opened on first use.
    peer& at(std::uint32_t node) {
        auto& slot = peers_[node];
        if (slot == nullptr || slot->connection().is_closing()) {
            slot = std::make_unique<peer>(cluster, node);
            slot->now = now;
            slot->ready();
        }
        return *slot;
    }
    peer& owner_of(std::string_view key) {
        return at(
            cluster.topology().active_node("travel", wire::vbucket_of(key, vbucket_count))->value);
    }
    void store(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::string key = "key_" + std::to_string(i);
            EXPECT_EQ(owner_of(key).set(key, "\"" + key + "\"").status, status::success);
        }
    }
    void expect_stored(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::string key = "key_" + std::to_string(i);
            const reply got = owner_of(key).get(key);
            EXPECT_EQ(got.status, status::success) << key;
            EXPECT_EQ(got.value, "\"" + key + "\"");
        }
    }
    // Expects that every copy in the map exists and has the documents of the active one.
    void expect_whole_replicas(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::string key = "key_" + std::to_string(i);
            for (const std::int16_t node :
                 cluster.topology().copies_of("travel", wire::vbucket_of(key, vbucket_count))) {
                ASSERT_GE(node, 0) << key;
                const auto copy = cluster.buckets().find_document(
                    "travel", wire::default_collection, key, now,
                    node_id{static_cast<std::uint32_t>(node)});
                ASSERT_TRUE(copy) << key << " on " << node;
                EXPECT_EQ(copy->value, "\"" + key + "\"");
            }
        }
    }
    std::size_t run_steps() {
        std::size_t count = 0;
        for (auto step = cluster.topology().step_rebalance(); step && !step->is_end;
             step = cluster.topology().step_rebalance()) {
            ++count;
        }
        EXPECT_FALSE(cluster.topology().rebalance_status().is_running);
        return count;
    }
    std::size_t active_count(std::uint32_t node) {
        for (const auto& shown : cluster.topology().overview()) {
            if (shown.node == node_id{node}) {
                return shown.active_count;
            }
        }
        return 0;
    }

    sandbox::time_point now = start_of_time;

private:
    std::map<std::uint32_t, std::unique_ptr<peer>> peers_;
};

TEST_F(rebalance, an_added_node_is_announced_but_part_of_no_bucket) {
    const auto before = configuration_of(cluster, 0)->revision();
    wire::cluster_node endpoints;
    endpoints.hostname = "127.0.0.1";
    endpoints.ports.set(wire::service::key_value, wire::transport::plain, 12077);
    endpoints.ports.set(wire::service::management, wire::transport::plain, 9077);
    EXPECT_EQ(cluster.topology().add_node(endpoints), node_id{3});
    const auto configuration = configuration_of(cluster, 0);
    EXPECT_GT(configuration->revision(), before);
    ASSERT_EQ(configuration->nodes().size(), 4u);
    EXPECT_EQ(configuration->kv_node_count(), 3u);
    EXPECT_EQ(
        configuration->nodes()[3].ports.port(wire::service::key_value, wire::transport::plain),
        12077);
    EXPECT_FALSE(cluster.topology().configuration_text(node_id{3}, "travel"));
    EXPECT_TRUE(cluster.topology().configuration_text(node_id{3}, "")->contains("12077"));
    peer client(cluster, 3);
    client.hello(usual_features());
    client.login();
    EXPECT_EQ(client.select(), status::key_enoent);
    EXPECT_EQ(
        cluster.topology().move_vbucket("travel", wire::vbucket_id{0}, node_id{3}).error(),
        cluster_errc::unknown_node);
    EXPECT_TRUE(cluster.buckets().create({.name = "other"}));
    EXPECT_EQ(configuration_of(cluster, 0, "other")->kv_node_count(), 3u);
}

TEST_F(rebalance, a_step_moves_one_vbucket_and_the_map_follows) {
    store(50);
    ASSERT_TRUE(cluster.topology().add_node());
    ASSERT_TRUE(cluster.topology().begin_rebalance());
    const auto begun = configuration_of(cluster, 0);
    EXPECT_TRUE(begun->has_forward_map());
    EXPECT_EQ(begun->kv_node_count(), 4u);
    const auto status = cluster.topology().rebalance_status();
    EXPECT_TRUE(status.is_running);
    EXPECT_EQ(status.bucket, "travel");
    EXPECT_EQ(status.moves_done, 0u);
    const auto old_row = cluster.topology().copies_of("travel", status.vbucket);

    const auto step = cluster.topology().step_rebalance();
    ASSERT_TRUE(step);
    EXPECT_EQ(step->vbucket, status.vbucket);
    EXPECT_EQ(step->from, old_row);
    EXPECT_EQ(step->to, cluster.topology().copies_of("travel", step->vbucket));
    const auto after = configuration_of(cluster, 0);
    EXPECT_GT(after->revision(), begun->revision());
    EXPECT_EQ(after->active_node(step->vbucket.value), step->to[0]);
    EXPECT_EQ(after->forward_node(step->vbucket.value), step->to[0]);
    EXPECT_EQ(cluster.topology().rebalance_status().moves_done, 1u);
    expect_stored(50);
}

TEST_F(rebalance, owners_answer_and_others_refuse_at_every_step) {
    store(60);
    ASSERT_TRUE(cluster.topology().add_node());
    ASSERT_TRUE(cluster.topology().begin_rebalance());
    const std::size_t total = cluster.topology().rebalance_status().moves_total;
    std::size_t count = 0;
    for (;;) {
        const auto step = cluster.topology().step_rebalance();
        ASSERT_TRUE(step);
        expect_stored(60);
        if (step->is_end) {
            break;
        }
        ++count;
        if (step->from[0] == step->to[0]) {
            continue;
        }
        wire::request_header header;
        header.vbucket = step->vbucket;
        peer& old_owner = at(static_cast<std::uint32_t>(step->from[0]));
        EXPECT_EQ(
            old_owner.ask(wire::document_request{opcode::get, old_owner.key("x")}, header).status,
            status::not_my_vbucket);
    }
    EXPECT_EQ(count, total);
    const auto configuration = configuration_of(cluster, 3);
    EXPECT_FALSE(configuration->has_forward_map());
    EXPECT_EQ(cluster.topology().rebalance_status().end, rebalance_end::finished);
    for (std::uint32_t node = 0; node < 4; ++node) {
        EXPECT_EQ(active_count(node), 4u);
    }
    expect_whole_replicas(60);
}

TEST_F(rebalance, a_takeover_keeps_locks_cas_and_uuid) {
    const std::string key = key_on(cluster, 0);
    const reply stored = owner_of(key).set(key, "1");
    const reply locked =
        owner_of(key).ask(wire::get_locked_request{owner_of(key).key(key), 15}, peer::at(key));
    ASSERT_EQ(locked.status, status::success);
    ASSERT_TRUE(cluster.topology().begin_rebalance({.eject = {node_id{0}}}));
    run_steps();
    peer& client = owner_of(key);
    EXPECT_EQ(client.set(key, "2").status, status::locked);
    const reply changed = client.set(key, "2", locked.cas);
    EXPECT_EQ(changed.status, status::success);
    EXPECT_EQ(changed.u64(0), stored.u64(0));
    EXPECT_EQ(changed.u64(8), stored.u64(8) + 1);
}

TEST_F(rebalance, an_ejected_node_leaves_at_the_end_and_its_connections_close) {
    store(40);
    at(1);
    ASSERT_TRUE(cluster.topology().begin_rebalance({.eject = {node_id{1}}}));
    EXPECT_EQ(cluster.topology().rebalance_status().leaving, (std::vector{node_id{1}}));
    while (!cluster.topology().rebalance_status().bucket.empty()) {
        ASSERT_TRUE(cluster.topology().step_rebalance());
    }
    EXPECT_EQ(active_count(1), 0u);
    EXPECT_EQ(cluster.topology().nodes().size(), 3u);
    ASSERT_TRUE(cluster.topology().step_rebalance()->is_end);
    EXPECT_EQ(cluster.topology().nodes(), (std::vector{node_id{0}, node_id{2}}));
    EXPECT_EQ(cluster.topology().state_of(node_id{1}), node_state::left);
    EXPECT_TRUE(cluster.has_wakeups());
    EXPECT_EQ(cluster.accept(node_id{1}).error(), cluster_errc::unknown_node);
    EXPECT_EQ(configuration_of(cluster, 0)->nodes().size(), 2u);
    expect_stored(40);
    expect_whole_replicas(40);
}

TEST_F(rebalance, stopping_halfway_leaves_a_complete_map_without_forward_rows) {
    store(40);
    ASSERT_TRUE(cluster.topology().add_node());
    ASSERT_TRUE(cluster.topology().begin_rebalance({.eject = {node_id{0}}}));
    ASSERT_TRUE(cluster.topology().step_rebalance());
    ASSERT_TRUE(cluster.topology().step_rebalance());
    ASSERT_TRUE(cluster.topology().stop_rebalance());
    EXPECT_FALSE(configuration_of(cluster, 2)->has_forward_map());
    EXPECT_EQ(cluster.topology().rebalance_status().end, rebalance_end::stopped);
    EXPECT_EQ(cluster.topology().rebalance_status().moves_done, 2u);
    EXPECT_EQ(cluster.topology().nodes().size(), 4u);
    expect_stored(40);
    expect_whole_replicas(40);
    EXPECT_EQ(cluster.topology().stop_rebalance().error(), cluster_errc::no_rebalance);
    EXPECT_EQ(cluster.topology().step_rebalance().error(), cluster_errc::no_rebalance);
    // A later rebalance can do the rest.
    ASSERT_TRUE(cluster.topology().begin_rebalance({.eject = {node_id{0}}}));
    run_steps();
    EXPECT_EQ(cluster.topology().nodes().size(), 3u);
    expect_stored(40);
}

TEST_F(rebalance, a_graceful_failover_loses_nothing_even_while_replication_is_held) {
    store(40);
    cluster.durability().hold_replication(true);
    const std::string key = key_on(cluster, 1);
    const std::string value = "\"" + key + "\"";
    EXPECT_EQ(owner_of(key).set(key, value).status, status::success);
    ASSERT_TRUE(cluster.topology().begin_graceful_failover(node_id{1}));
    EXPECT_TRUE(configuration_of(cluster, 0)->has_forward_map());
    EXPECT_EQ(
        cluster.topology().rebalance_status().kind, sandbox::rebalance_kind::graceful_failover);
    while (!cluster.topology().rebalance_status().bucket.empty()) {
        ASSERT_TRUE(cluster.topology().step_rebalance());
        EXPECT_EQ(owner_of(key).get(key).value, value);
    }
    EXPECT_EQ(active_count(1), 0u);
    ASSERT_TRUE(cluster.topology().step_rebalance()->is_end);
    EXPECT_EQ(cluster.topology().state_of(node_id{1}), node_state::failed_over);
    EXPECT_EQ(cluster.topology().nodes().size(), 2u);
    expect_stored(40);
}

TEST_F(rebalance, a_graceful_failover_needs_a_replica_of_everything) {
    sandbox::cluster_options options = small_options(2);
    options.replica_count = 0;
    sandbox::cluster pair = make_cluster(options);
    EXPECT_EQ(
        pair.topology().begin_graceful_failover(node_id{1}).error(), cluster_errc::no_replica);
    EXPECT_FALSE(pair.topology().rebalance_status().is_running);
    EXPECT_EQ(
        pair.topology().begin_graceful_failover(node_id{7}).error(), cluster_errc::unknown_node);
}

TEST_F(rebalance, a_failed_over_node_comes_back_empty_and_is_filled) {
    store(40);
    ASSERT_TRUE(cluster.topology().failover(node_id{1}));
    EXPECT_EQ(cluster.topology().add_back(node_id{0}).error(), cluster_errc::not_failed_over);
    ASSERT_TRUE(cluster.topology().add_back(node_id{1}));
    EXPECT_EQ(active_count(1), 0u);
    // Joining nodes follow the members, whatever their numbers.
    EXPECT_EQ(cluster.topology().nodes(), (std::vector{node_id{0}, node_id{2}, node_id{1}}));
    EXPECT_EQ(configuration_of(cluster, 0)->kv_node_count(), 2u);
    ASSERT_TRUE(cluster.topology().begin_rebalance());
    run_steps();
    EXPECT_EQ(cluster.topology().nodes(), (std::vector{node_id{0}, node_id{1}, node_id{2}}));
    EXPECT_GE(active_count(1), 5u);
    EXPECT_TRUE(configuration_of(cluster, 1)->nodes()[1].is_this_node);
    expect_stored(40);
    expect_whole_replicas(40);
}

TEST_F(rebalance, a_failed_over_node_leaves_with_the_next_rebalance) {
    store(40);
    ASSERT_TRUE(cluster.topology().failover(node_id{1}));
    ASSERT_TRUE(cluster.topology().begin_rebalance());
    run_steps();
    EXPECT_EQ(cluster.topology().state_of(node_id{1}), node_state::left);
    EXPECT_EQ(cluster.topology().add_back(node_id{1}).error(), cluster_errc::unknown_node);
    expect_whole_replicas(40);
}

TEST_F(rebalance, calls_that_conflict_with_a_rebalance_are_refused) {
    ASSERT_TRUE(cluster.topology().begin_rebalance({.eject = {node_id{2}}}));
    EXPECT_EQ(cluster.topology().begin_rebalance().error(), cluster_errc::rebalance_running);
    EXPECT_EQ(
        cluster.topology().begin_graceful_failover(node_id{0}).error(),
        cluster_errc::rebalance_running);
    EXPECT_EQ(cluster.topology().add_node().error(), cluster_errc::rebalance_running);
    EXPECT_EQ(
        cluster.topology().move_vbucket("travel", wire::vbucket_id{0}, node_id{1}).error(),
        cluster_errc::rebalance_running);
    EXPECT_EQ(
        cluster.topology().set_forward_map("travel", {}).error(), cluster_errc::rebalance_running);
    EXPECT_EQ(cluster.buckets().create({.name = "b"}).error(), cluster_errc::rebalance_running);
    EXPECT_EQ(cluster.buckets().drop("travel").error(), cluster_errc::rebalance_running);
}

TEST_F(rebalance, options_that_make_no_sense_are_refused) {
    EXPECT_EQ(
        cluster.topology().begin_rebalance({.eject = {node_id{9}}}).error(),
        cluster_errc::unknown_node);
    EXPECT_EQ(
        cluster.topology().begin_rebalance({.eject = {node_id{0}, node_id{1}, node_id{2}}}).error(),
        cluster_errc::last_node);
    ASSERT_TRUE(cluster.topology().set_node_state(node_id{1}, false));
    EXPECT_EQ(cluster.topology().begin_rebalance().error(), cluster_errc::node_down);
    EXPECT_FALSE(cluster.topology().rebalance_status().is_running);
    EXPECT_EQ(cluster.topology().rebalance_status().end, rebalance_end::none);
}

TEST_F(rebalance, it_fails_cleanly_if_a_node_goes_down) {
    store(40);
    ASSERT_TRUE(cluster.topology().begin_rebalance({.eject = {node_id{2}}}));
    ASSERT_TRUE(cluster.topology().step_rebalance());
    ASSERT_TRUE(cluster.topology().set_node_state(node_id{2}, false));
    std::optional<cluster_errc> ended;
    while (!ended) {
        const auto step = cluster.topology().step_rebalance();
        ended = step ? std::nullopt : std::optional(step.error());
        ASSERT_FALSE(step && step->is_end);
    }
    EXPECT_EQ(ended, cluster_errc::node_down);
    EXPECT_EQ(cluster.topology().rebalance_status().end, rebalance_end::failed);
    EXPECT_FALSE(configuration_of(cluster, 0)->has_forward_map());
    ASSERT_TRUE(cluster.topology().set_node_state(node_id{2}, true));
    expect_stored(40);
}

TEST_F(rebalance, a_hard_failover_stops_it_first) {
    store(40);
    ASSERT_TRUE(cluster.topology().begin_rebalance({.eject = {node_id{2}}}));
    ASSERT_TRUE(cluster.topology().step_rebalance());
    ASSERT_TRUE(cluster.topology().failover(node_id{1}));
    EXPECT_EQ(cluster.topology().rebalance_status().end, rebalance_end::stopped);
    EXPECT_FALSE(configuration_of(cluster, 0)->has_forward_map());
    expect_stored(40);
}

TEST_F(rebalance, a_vbucket_without_an_owner_is_recreated) {
    sandbox::cluster_options options = small_options(2);
    options.replica_count = 0;
    sandbox::cluster pair = make_cluster(options);
    ASSERT_TRUE(pair.topology().failover(node_id{1}));
    ASSERT_TRUE(pair.topology().begin_rebalance());
    while (pair.topology().rebalance_status().is_running) {
        ASSERT_TRUE(pair.topology().step_rebalance());
    }
    peer client(pair, 0);
    client.ready();
    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(client.set("key_" + std::to_string(i), "1").status, status::success);
    }
}

TEST_F(rebalance, a_restart_with_data_keeps_everything_but_locks_and_connections) {
    const std::string key = key_on(cluster, 1);
    peer& before = owner_of(key);
    const reply stored = before.set(key, "1");
    before.ask(wire::get_locked_request{before.key(key), 15}, peer::at(key));
    ASSERT_TRUE(cluster.topology().restart(node_id{1}, restart_kind::with_data));
    EXPECT_TRUE(before.connection().is_closing());
    EXPECT_EQ(owner_of(key).get(key).value, "1");
    const reply changed = owner_of(key).set(key, "2");
    EXPECT_EQ(changed.status, status::success);
    EXPECT_EQ(changed.u64(0), stored.u64(0));
    EXPECT_EQ(
        cluster.topology().restart(node_id{8}, restart_kind::with_data).error(),
        cluster_errc::unknown_node);
}

TEST_F(rebalance, a_restart_without_data_empties_active_copies_and_fills_replicas) {
    store(60);
    const std::string lost = key_on(cluster, 1);
    const reply before = owner_of(lost).set(lost, "1");
    std::string kept;
    for (int i = 0; kept.empty(); ++i) {
        const std::string key = "key_" + std::to_string(i);
        if (cluster.topology().copies_of("travel", wire::vbucket_of(key, vbucket_count))[1] == 1) {
            kept = key;
        }
    }
    ASSERT_TRUE(cluster.topology().restart(node_id{1}, restart_kind::without_data));
    EXPECT_EQ(owner_of(lost).get(lost).status, status::key_enoent);
    const reply after = owner_of(lost).set(lost, "2");
    EXPECT_NE(after.u64(0), before.u64(0));
    EXPECT_EQ(after.u64(8), 1u);
    const auto refilled =
        cluster.buckets().find_document("travel", wire::default_collection, kept, now, node_id{1});
    ASSERT_TRUE(refilled);
    EXPECT_EQ(refilled->value, "\"" + kept + "\"");
}

TEST_F(rebalance, a_replica_that_missed_a_change_of_history_is_rolled_back) {
    sandbox::cluster_options options = small_options(3);
    options.replica_count = 2;
    sandbox::cluster three = make_cluster(options);
    const std::string key = key_on(three, 0);
    const auto row = three.topology().copies_of("travel", wire::vbucket_of(key, vbucket_count));
    const auto first = node_id{static_cast<std::uint32_t>(row[1])};
    const auto second = node_id{static_cast<std::uint32_t>(row[2])};
    {
        peer client(three, 0);
        client.ready();
        client.set(key, "common");
        // The first replica misses what the second one receives; then the second one misses the
        // failover.
        ASSERT_TRUE(three.topology().set_node_state(first, false));
        client.set(key, "only on the second");
        ASSERT_TRUE(three.topology().set_node_state(second, false));
        three.durability().hold_replication(true);
        ASSERT_TRUE(three.topology().set_node_state(first, true));
    }
    ASSERT_TRUE(three.topology().failover(node_id{0}));
    three.durability().hold_replication(false);
    {
        peer client(three, first.value);
        client.ready();
        EXPECT_EQ(client.get(key).value, "common");
        client.set("another", "x");
        client.set(key, "new history");
    }
    ASSERT_TRUE(three.topology().set_node_state(second, true));
    EXPECT_EQ(
        three.buckets()
            .find_document("travel", wire::default_collection, key, start_of_time, second)
            ->value,
        "new history");
}

}  // namespace rebalance_test
