#include "conversation.hpp"

#include <reprise/wire/cluster_configuration.hpp>

namespace topology_test {

using namespace sandbox_testing;
using sandbox::node_id;

wire::cluster_configuration_ptr parsed(const std::string& text) {
    auto made = wire::parse_cluster_configuration(text);
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? *made : nullptr;
}

struct topology : testing::Test {
    sandbox::cluster cluster = make_cluster(small_options(4));

    std::vector<sandbox::connection_id> wakeups() {
        std::vector<sandbox::connection_id> ids;
        cluster.take_wakeups(ids);
        return ids;
    }
};

TEST_F(topology, configuration_shows_all_nodes_and_the_map) {
    const auto configuration =
        parsed(cluster.topology().configuration_text(node_id{2}, "travel").value());
    ASSERT_EQ(configuration->nodes().size(), 4u);
    EXPECT_TRUE(configuration->nodes()[2].is_this_node);
    const auto capabilities = configuration->bucket_capabilities();
    EXPECT_NE(std::ranges::find(capabilities, "collections"), capabilities.end());
    EXPECT_EQ(configuration->replica_count(), 1u);
    for (std::uint16_t vb = 0; vb < 16; ++vb) {
        const auto active = cluster.topology().active_node("travel", wire::vbucket_id{vb});
        EXPECT_EQ(configuration->active_node(vb), active->value);
        EXPECT_NE(configuration->replica_node(vb, 1), active->value);
    }
}

TEST_F(topology, announced_ports_follow_the_front) {
    const auto before = cluster.topology().configuration_revision(node_id{0}, "travel").value();
    wire::cluster_node endpoints;
    endpoints.hostname = "127.0.0.1";
    endpoints.ports.set(wire::service::key_value, wire::transport::plain, 12001);
    endpoints.ports.set(wire::service::key_value, wire::transport::tls, 12101);
    endpoints.ports.set(wire::service::management, wire::transport::plain, 9001);
    ASSERT_TRUE(cluster.topology().set_endpoints(node_id{1}, endpoints));
    const auto configuration =
        parsed(cluster.topology().configuration_text(node_id{0}, "travel").value());
    EXPECT_EQ(
        configuration->nodes()[1].ports.port(wire::service::key_value, wire::transport::tls),
        12101);
    EXPECT_GT(configuration->revision(), before);
}

TEST_F(topology, other_nodes_answer_not_my_vbucket_with_their_configuration) {
    const std::string key = key_on(cluster, 0);
    peer wrong = ready_on(cluster, 3);
    const reply first = wrong.get(key);
    EXPECT_EQ(first.status, status::not_my_vbucket);
    EXPECT_EQ(parsed(first.value)->bucket_name(), "travel");
    EXPECT_EQ(first.datatype, wire::datatype::json);
    EXPECT_EQ(wrong.get(key).value, first.value);
    wire::request_header past_the_map;
    past_the_map.vbucket = wire::vbucket_id{16};
    EXPECT_EQ(
        wrong.ask(wire::document_request{opcode::get, wrong.key(key)}, past_the_map).status,
        status::not_my_vbucket);
}

TEST_F(topology, a_configuration_that_the_peer_has_is_left_out_on_request) {
    const std::string key = key_on(cluster, 0);
    const auto features = with(usual_features(), hello_feature::dedupe_not_my_vbucket_clustermap);
    peer wrong(cluster, 3);
    wrong.ready(features);
    EXPECT_FALSE(wrong.get(key).value.empty());
    EXPECT_TRUE(wrong.get(key).value.empty());
    const wire::vbucket_id vb = wire::vbucket_of(key, 16);
    ASSERT_TRUE(cluster.topology().move_vbucket("travel", vb, node_id{2}));
    EXPECT_FALSE(wrong.get(key).value.empty());
    // Requested configurations count as well, and selecting a bucket starts over.
    peer other(cluster, 3);
    other.ready(features);
    other.ask(wire::get_cluster_config_request{});
    EXPECT_TRUE(other.get(key).value.empty());
    other.select();
    EXPECT_FALSE(other.get(key).value.empty());
}

TEST_F(topology, documents_move_with_their_vbucket) {
    const std::string key = key_on(cluster, 0);
    const wire::vbucket_id vb = wire::vbucket_of(key, 16);
    peer old_owner = ready_on(cluster, 0);
    const reply stored = old_owner.set(key, "1");
    ASSERT_TRUE(cluster.topology().move_vbucket("travel", vb, node_id{3}));
    const reply refused = old_owner.get(key);
    EXPECT_EQ(refused.status, status::not_my_vbucket);
    EXPECT_EQ(parsed(refused.value)->active_node(vb.value), 3);
    peer new_owner = ready_on(cluster, 3);
    EXPECT_EQ(new_owner.get(key).cas, stored.cas);
    const reply again = new_owner.set(key, "2", stored.cas);
    EXPECT_EQ(again.status, status::success);
    EXPECT_EQ(again.u64(0), stored.u64(0));
    EXPECT_EQ(again.u64(8), stored.u64(8) + 1);
    EXPECT_EQ(
        cluster.topology().move_vbucket("travel", wire::vbucket_id{99}, node_id{3}).error(),
        sandbox::cluster_errc::unknown_vbucket);
}

TEST_F(topology, swapping_with_the_replica_keeps_both_copies) {
    const std::string key = key_on(cluster, 0);
    const wire::vbucket_id vb = wire::vbucket_of(key, 16);
    peer zero = ready_on(cluster, 0);
    zero.set(key, "1");
    const std::int16_t replica = cluster.topology().copies_of("travel", vb)[1];
    ASSERT_TRUE(cluster.topology().move_vbucket(
        "travel", vb, node_id{static_cast<std::uint32_t>(replica)}));
    EXPECT_EQ(cluster.topology().copies_of("travel", vb), (std::vector<std::int16_t>{replica, 0}));
    const wire::document_request from_replica{opcode::get_replica, zero.key(key)};
    EXPECT_EQ(zero.ask(from_replica, peer::at(key)).value, "1");
}

TEST_F(topology, a_forward_map_is_announced_until_cleared) {
    wire::vbucket_rows rows(16, {1, 2});
    ASSERT_TRUE(cluster.topology().set_forward_map("travel", rows));
    EXPECT_EQ(
        parsed(cluster.topology().configuration_text(node_id{0}, "travel").value())
            ->forward_node(5),
        1);
    rows[3] = {9, 0};
    EXPECT_EQ(
        cluster.topology().set_forward_map("travel", rows).error(),
        sandbox::cluster_errc::map_mismatch);
    ASSERT_TRUE(cluster.topology().set_forward_map("travel", {}));
    EXPECT_FALSE(parsed(cluster.topology().configuration_text(node_id{0}, "travel").value())
                     ->has_forward_map());
}

TEST_F(topology, replicas_serve_replica_reads_and_nothing_else) {
    const std::string key = key_on(cluster, 0);
    const std::int16_t replica =
        cluster.topology().copies_of("travel", wire::vbucket_of(key, 16))[1];
    peer active = ready_on(cluster, 0);
    peer second(cluster, static_cast<std::uint32_t>(replica));
    second.ready();
    active.set(key, "1");
    const wire::document_request read{opcode::get_replica, active.key(key)};
    EXPECT_EQ(second.ask(read, peer::at(key)).value, "1");
    EXPECT_EQ(active.ask(read, peer::at(key)).status, status::not_my_vbucket);
    EXPECT_EQ(second.get(key).status, status::not_my_vbucket);

    cluster.durability().hold_replication(true);
    active.set(key, "2");
    EXPECT_EQ(second.ask(read, peer::at(key)).value, "1");
    cluster.durability().hold_replication(false);
    EXPECT_EQ(second.ask(read, peer::at(key)).value, "2");
}

TEST_F(topology, failover_promotes_replicas_and_closes_connections) {
    const std::string key = key_on(cluster, 1);
    const wire::vbucket_id vb = wire::vbucket_of(key, 16);
    const std::int16_t replica = cluster.topology().copies_of("travel", vb)[1];
    peer client = ready_on(cluster, 1);
    const reply stored = client.set(key, "1");
    client.ask(wire::get_locked_request{client.key(key), 10}, peer::at(key));
    ASSERT_TRUE(cluster.topology().failover(node_id{1}));
    EXPECT_TRUE(client.connection().is_closing());
    EXPECT_EQ(wakeups(), (std::vector{client.connection().id()}));
    EXPECT_FALSE(cluster.accept(node_id{1}));
    EXPECT_EQ(cluster.topology().nodes().size(), 3u);
    EXPECT_EQ(
        cluster.topology().active_node("travel", vb), node_id{static_cast<std::uint32_t>(replica)});

    peer promoted(cluster, static_cast<std::uint32_t>(replica));
    promoted.ready();
    EXPECT_EQ(promoted.get(key).value, "1");
    EXPECT_EQ(promoted.set(key, "2").status, status::success);
    const auto configuration =
        parsed(cluster.topology().configuration_text(node_id{0}, "travel").value());
    EXPECT_EQ(configuration->nodes().size(), 3u);

    // A request with the old uuid learns where its history ended.
    wire::request_header header;
    header.vbucket = vb;
    std::vector<std::byte> out;
    promoted.connection().on_bytes(
        promoted.now, promoted.bytes_of(wire::observe_seqno_request{stored.u64(0)}, header), out);
    const auto observed = wire::observe_seqno_response::decode(*wire::scan_frame(out, {})->frame);
    ASSERT_TRUE(observed && observed->failed_over);
    EXPECT_EQ(observed->failed_over->last_seqno, stored.u64(8));
    EXPECT_EQ(promoted.ask(wire::observe_seqno_request{12345}, header).status, status::key_enoent);
}

TEST_F(topology, a_failover_loses_changes_that_were_not_replicated) {
    const std::string key = key_on(cluster, 1);
    peer client = ready_on(cluster, 1);
    client.set(key, "kept");
    cluster.durability().hold_replication(true);
    client.set(key, "lost");
    ASSERT_TRUE(cluster.topology().failover(node_id{1}));
    EXPECT_EQ(
        cluster.buckets().find_document("travel", wire::default_collection, key, client.now)->value,
        "kept");
}

TEST_F(topology, a_vbucket_without_a_replica_loses_its_owner_and_the_last_node_stays) {
    sandbox::cluster_options options = small_options(2);
    options.replica_count = 0;
    sandbox::cluster pair = make_cluster(options);
    const std::string key = key_on(pair, 1);
    ASSERT_TRUE(pair.topology().failover(node_id{1}));
    EXPECT_FALSE(pair.topology().active_node("travel", wire::vbucket_of(key, 16)));
    EXPECT_EQ(pair.topology().failover(node_id{0}).error(), sandbox::cluster_errc::last_node);
    EXPECT_EQ(pair.topology().failover(node_id{1}).error(), sandbox::cluster_errc::unknown_node);
}

TEST_F(topology, a_node_that_is_down_refuses_and_comes_back_with_its_data) {
    const std::string key = key_on(cluster, 2);
    {
        peer client = ready_on(cluster, 2);
        client.set(key, "1");
        ASSERT_TRUE(cluster.topology().set_node_state(node_id{2}, false));
        EXPECT_TRUE(client.connection().is_closing());
    }
    EXPECT_EQ(cluster.accept(node_id{2}).error(), sandbox::cluster_errc::node_down);
    ASSERT_TRUE(cluster.topology().set_node_state(node_id{2}, true));
    peer again = ready_on(cluster, 2);
    EXPECT_EQ(again.get(key).value, "1");
}

TEST_F(topology, durability_requires_a_majority_of_copies) {
    const std::string key = key_on(cluster, 0);
    const std::int16_t replica =
        cluster.topology().copies_of("travel", wire::vbucket_of(key, 16))[1];
    peer client = ready_on(cluster, 0);
    wire::request_header header = peer::at(key);
    header.frame_infos.emplace().durability = wire::durability_requirement{};
    const wire::store_request store{opcode::set, client.key(key), 0, 0, base::as_bytes("1")};
    EXPECT_EQ(client.ask(store, header).status, status::success);
    ASSERT_TRUE(
        cluster.topology().set_node_state(node_id{static_cast<std::uint32_t>(replica)}, false));
    EXPECT_EQ(client.ask(store, header).status, status::durability_impossible);
    EXPECT_EQ(client.ask(store, peer::at(key)).status, status::success);
}

TEST_F(topology, a_durable_write_survives_a_failover_and_a_held_plain_one_does_not) {
    const std::string key = key_on(cluster, 1);
    peer client = ready_on(cluster, 1);
    wire::request_header header = peer::at(key);
    const auto set = [&](std::string_view value) {
        const wire::store_request store{opcode::set, client.key(key), 0, 0, base::as_bytes(value)};
        return client.ask(store, header).status;
    };
    header.frame_infos.emplace().durability = wire::durability_requirement{};
    EXPECT_EQ(set("durable"), status::success);
    cluster.durability().hold_replication(true);
    header.frame_infos = {};
    EXPECT_EQ(set("lost"), status::success);
    ASSERT_TRUE(cluster.topology().failover(node_id{1}));
    EXPECT_EQ(
        cluster.buckets().find_document("travel", wire::default_collection, key, client.now)->value,
        "durable");
}

TEST_F(topology, an_ephemeral_bucket_cannot_persist) {
    ASSERT_TRUE(
        cluster.buckets().create({.name = "cache", .type = sandbox::bucket_type::ephemeral}));
    const std::string key = key_on(cluster, 0, "cache");
    peer client = ready_on(cluster, 0);
    EXPECT_EQ(client.select("cache"), status::success);
    wire::request_header header = peer::at(key);
    header.frame_infos.emplace().durability =
        wire::durability_requirement{wire::durability_level::persist_to_majority, std::nullopt};
    EXPECT_EQ(
        client
            .ask(
                wire::store_request{opcode::set, client.key(key), 0, 0, base::as_bytes("1")},
                header)
            .status,
        status::durability_invalid_level);
}

TEST_F(topology, fronts_learn_when_many_documents_were_removed) {
    std::uint64_t before = cluster.buckets().removal_generation();
    const auto is_removal = [&] {
        return std::exchange(before, cluster.buckets().removal_generation()) !=
               cluster.buckets().removal_generation();
    };
    ASSERT_TRUE(cluster.buckets().create({.name = "other"}));
    ASSERT_TRUE(cluster.topology().move_vbucket("travel", wire::vbucket_id{0}, node_id{3}));
    EXPECT_FALSE(is_removal());
    ASSERT_TRUE(cluster.buckets().drop("other"));
    EXPECT_TRUE(is_removal());
    ASSERT_TRUE(cluster.buckets().drop_collection("travel", "inventory", "hotel"));
    EXPECT_TRUE(is_removal());
    ASSERT_TRUE(cluster.topology().failover(node_id{2}));
    EXPECT_TRUE(is_removal());
}

struct pushes : topology {
    std::vector<reply> push_after_move(hello_feature kind, peer& client) {
        wire::hello_feature_set features = with(usual_features(), hello_feature::duplex);
        client.ready(with(features, kind));
        EXPECT_FALSE(cluster.has_wakeups());
        EXPECT_TRUE(cluster.topology().move_vbucket("travel", wire::vbucket_id{0}, node_id{3}));
        EXPECT_EQ(wakeups(), (std::vector{client.connection().id()}));
        return client.tick();
    }
};

TEST_F(pushes, a_change_is_pushed_in_full) {
    peer client(cluster, 0);
    const auto pushed = push_after_move(hello_feature::clustermap_change_notification, client);
    ASSERT_EQ(pushed.size(), 1u);
    EXPECT_EQ(pushed[0].magic, wire::magic::server_request);
    EXPECT_EQ(pushed[0].op, static_cast<opcode>(0x01));
    EXPECT_EQ(pushed[0].key, "travel");
    EXPECT_EQ(parsed(pushed[0].value)->active_node(0), 3);
    EXPECT_EQ(
        pushed[0].u64(8), static_cast<std::uint64_t>(parsed(pushed[0].value)->revision().rev));
    EXPECT_TRUE(client.tick().empty());
}

TEST_F(pushes, a_change_is_pushed_as_a_revision_only) {
    peer client(cluster, 0);
    const auto pushed =
        push_after_move(hello_feature::clustermap_change_notification_brief, client);
    ASSERT_EQ(pushed.size(), 1u);
    EXPECT_TRUE(pushed[0].value.empty());
    EXPECT_EQ(pushed[0].datatype, wire::datatype::raw);
    EXPECT_EQ(pushed[0].extras.size(), 16u);
}

TEST_F(pushes, an_overtaken_revision_is_not_pushed_to_a_peer_that_reads_slowly) {
    peer client(cluster, 0);
    client.ready(with(
        with(usual_features(), hello_feature::duplex),
        hello_feature::clustermap_change_notification));
    std::vector<std::byte> unread(sandbox::connection::push_pause_bytes);
    for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(cluster.topology().move_vbucket(
            "travel", wire::vbucket_id{0}, node_id{i % 2 == 0 ? 3u : 2u}));
        client.connection().on_time(client.now, unread);
        EXPECT_EQ(unread.size(), sandbox::connection::push_pause_bytes);
        EXPECT_TRUE(client.connection().has_delayed_push());
    }
    // The peer has read everything: it gets the newest one only.
    const auto pushed = client.tick();
    ASSERT_EQ(pushed.size(), 1u);
    EXPECT_EQ(parsed(pushed[0].value)->active_node(0), 2);
    EXPECT_FALSE(client.connection().has_delayed_push());
}

TEST_F(pushes, connections_without_a_subscription_get_nothing) {
    peer quiet = ready_on(cluster, 0);
    peer not_logged_in(cluster, 0);
    not_logged_in.hello({hello_feature::duplex, hello_feature::clustermap_change_notification});
    ASSERT_TRUE(cluster.topology().move_vbucket("travel", wire::vbucket_id{0}, node_id{3}));
    ASSERT_TRUE(cluster.topology().failover(node_id{2}));
    EXPECT_FALSE(cluster.has_wakeups());
    EXPECT_TRUE(not_logged_in.tick().empty());
    EXPECT_TRUE(quiet.tick().empty());
}

TEST_F(pushes, a_change_of_nodes_is_also_pushed_as_global_configuration) {
    peer client(cluster, 0);
    client.ready(with(
        with(usual_features(), hello_feature::duplex),
        hello_feature::clustermap_change_notification_brief));
    ASSERT_TRUE(cluster.topology().failover(node_id{3}));
    const auto pushed = client.tick();
    ASSERT_EQ(pushed.size(), 2u);
    EXPECT_EQ(pushed[0].key, "travel");
    EXPECT_EQ(pushed[1].key, "");
}

TEST_F(pushes, a_held_node_pushes_when_released) {
    peer client(cluster, 0);
    client.ready(with(
        with(usual_features(), hello_feature::duplex),
        hello_feature::clustermap_change_notification));
    const auto before = cluster.topology().configuration_revision(node_id{0}, "travel");
    ASSERT_TRUE(cluster.disturbances().hold_configuration(node_id{0}, true));
    ASSERT_TRUE(cluster.topology().move_vbucket("travel", wire::vbucket_id{0}, node_id{3}));
    EXPECT_EQ(cluster.topology().configuration_revision(node_id{0}, "travel"), before);
    EXPECT_NE(cluster.topology().configuration_revision(node_id{1}, "travel"), before);
    EXPECT_TRUE(client.tick().empty());
    ASSERT_TRUE(cluster.disturbances().hold_configuration(node_id{0}, false));
    EXPECT_EQ(client.tick().size(), 1u);
    EXPECT_EQ(
        cluster.topology().configuration_revision(node_id{0}, "travel"),
        cluster.topology().configuration_revision(node_id{1}, "travel"));
}

TEST_F(topology, dropping_a_bucket_closes_its_connections) {
    peer client = ready_on(cluster, 0);
    ASSERT_TRUE(cluster.buckets().drop("travel"));
    EXPECT_TRUE(client.connection().is_closing());
    peer later(cluster, 0);
    later.hello(usual_features());
    later.login();
    EXPECT_EQ(later.select("travel"), status::eaccess);
    ASSERT_TRUE(cluster.buckets().create({.name = "travel"}));
    EXPECT_EQ(later.select("travel"), status::success);
}

TEST(cluster_options, problems_are_named) {
    const auto problem = [](auto change) {
        sandbox::cluster_options options = small_options();
        change(options);
        return sandbox::find_problem(options).value_or("");
    };
    EXPECT_EQ(problem([](auto&) {}), "");
    EXPECT_NE(problem([](auto& o) { o.node_count = 0; }), "");
    EXPECT_NE(problem([](auto& o) { o.vbucket_count = 100; }), "");
    EXPECT_NE(problem([](auto& o) { o.replica_count = 4; }), "");
    EXPECT_NE(problem([](auto& o) { o.buckets[0].name = "a b"; }), "");
    EXPECT_NE(problem([](auto& o) { o.buckets.push_back(o.buckets[0]); }), "");
    EXPECT_NE(problem([](auto& o) { o.users.push_back(o.users[0]); }), "");
    EXPECT_NE(problem([](auto& o) { o.buckets[0].scopes[0].name = "_x"; }), "");
    EXPECT_FALSE(sandbox::cluster::make({.node_count = 0}));
}

}  // namespace topology_test
