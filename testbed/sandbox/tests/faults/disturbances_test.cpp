#include "conversation.hpp"

#include <reprise/sandbox/management.hpp>
#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/error_context.hpp>
#include <reprise/wire/error_map.hpp>

// Disturbances of nodes, logins, buckets, collections and configurations.

namespace disturbances_test {

using namespace sandbox_testing;
using namespace std::chrono_literals;
using sandbox::bucket_presence;
using sandbox::cluster_errc;
using sandbox::node_disturbance;
using sandbox::node_id;

struct disturbances : testing::Test {
    sandbox::cluster cluster = make_cluster(small_options(2));
    std::string key = key_on(cluster, 0);

    void disturb(const node_disturbance& how, std::uint32_t node = 0) {
        ASSERT_TRUE(cluster.disturbances().set(node_id{node}, how));
    }
    std::vector<sandbox::connection_id> wakeups() {
        std::vector<sandbox::connection_id> woken;
        cluster.take_wakeups(woken);
        return woken;
    }
    std::expected<wire::error_map, wire::error_map_error> ask_error_map(std::uint32_t node = 0) {
        peer client(cluster, node);
        client.hello(usual_features());
        return wire::parse_error_map(client.ask(wire::get_error_map_request{2}).value);
    }
    int http_status(std::string_view target, std::uint32_t node = 0) {
        return handle_management(
                   cluster, node_id{node},
                   {.target = std::string(target), .authorization = "Basic YXBwOnNlY3JldA=="})
            .status;
    }
};

// --- nodes --------------------------------------------------------------------------------------

TEST_F(disturbances, a_frozen_node_reads_and_later_continues_where_it_stopped) {
    peer client = ready_on(cluster, 0);
    disturb({.is_frozen = true});
    const auto set = client.bytes_of(
        wire::store_request{opcode::set, client.key(key), 0, 0, base::as_bytes("1")},
        peer::at(key));
    EXPECT_TRUE(client.send(set).empty());
    EXPECT_TRUE(client.tick(10s).empty());
    EXPECT_FALSE(
        cluster.buckets().find_document("travel", wire::default_collection, key, client.now));
    // New connections are accepted, but get no answer either.
    peer late(cluster, 0);
    EXPECT_TRUE(late.send(late.bytes_of(wire::hello_request{"late", {}})).empty());
    EXPECT_TRUE(wakeups().empty());
    disturb({});
    EXPECT_EQ(wakeups(), (std::vector{client.connection().id(), late.connection().id()}));
    const auto answers = client.tick();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, status::success);
    EXPECT_EQ(late.tick().size(), 1u);
    EXPECT_EQ(client.get(key).value, "1");
}

TEST_F(disturbances, a_frozen_node_sends_no_delayed_answers) {
    peer client = ready_on(cluster, 0);
    cluster.faults().add(
        {.ops = {opcode::noop}, .when = {.limit = 1}, .effect = sandbox::fault_delay{10ms}});
    client.send(client.bytes_of(wire::empty_request{opcode::noop}));
    disturb({.is_frozen = true});
    EXPECT_FALSE(client.connection().next_due());
    EXPECT_TRUE(client.tick(1s).empty());
    disturb({});
    EXPECT_EQ(client.tick().size(), 1u);
}

TEST_F(disturbances, a_partitioned_node_neither_reads_nor_sends) {
    peer client = ready_on(cluster, 0);
    disturb({.is_partitioned = true});
    EXPECT_TRUE(client.send(client.bytes_of(wire::empty_request{opcode::noop})).empty());
    peer elsewhere = ready_on(cluster, 1);
    disturb({});
    EXPECT_EQ(client.tick().size(), 1u);
}

TEST_F(disturbances, a_node_that_refuses_connections_keeps_existing_ones) {
    peer client = ready_on(cluster, 0);
    disturb({.refuses_connections = true});
    EXPECT_EQ(cluster.accept(node_id{0}).error(), cluster_errc::connections_refused);
    EXPECT_EQ(client.set(key, "1").status, status::success);
    disturb({});
    EXPECT_TRUE(cluster.accept(node_id{0}));
    EXPECT_EQ(cluster.disturbances().set(node_id{9}, {}).error(), cluster_errc::unknown_node);
}

TEST_F(disturbances, a_killed_node_aborts_its_connections_and_one_that_goes_down_does_not) {
    peer killed(cluster, 0);
    peer closed(cluster, 1);
    ASSERT_TRUE(cluster.topology().kill(node_id{0}));
    EXPECT_TRUE(killed.connection().is_closing());
    EXPECT_TRUE(killed.connection().is_aborted());
    EXPECT_EQ(cluster.topology().state_of(node_id{0}), sandbox::node_state::down);
    ASSERT_TRUE(cluster.topology().set_node_state(node_id{1}, false));
    EXPECT_TRUE(closed.connection().is_closing());
    EXPECT_FALSE(closed.connection().is_aborted());
    EXPECT_EQ(cluster.topology().kill(node_id{9}).error(), cluster_errc::unknown_node);
}

// --- codes --------------------------------------------------------------------------------------

TEST_F(disturbances, EM_03_a_new_code_increases_the_revision_of_the_map) {
    const auto before = ask_error_map();
    ASSERT_TRUE(before);
    wire::error_map_entry entry;
    entry.code = 0x7ff0;
    entry.name = "MADE_UP";
    entry.description = "for tests";
    entry.attributes = {wire::error_attribute::temp, wire::error_attribute::auto_retry};
    entry.retry = wire::retry_spec{wire::retry_spec_kind::exponential, 2ms, 10ms, 500ms, 1000ms};
    cluster.error_codes().put(entry);
    const auto after = ask_error_map();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->revision(), before->revision() + 1);
    const wire::error_map_entry* found = after->find(0x7ff0);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->name, "MADE_UP");
    EXPECT_EQ(found->attributes, entry.attributes);
    ASSERT_TRUE(found->retry);
    EXPECT_EQ(found->retry->delay(3), 8ms);
    EXPECT_EQ(found->retry->max_duration, 1000ms);
    entry.name = "OTHER";
    cluster.error_codes().put(entry);
    EXPECT_EQ(ask_error_map()->find(0x7ff0)->name, "OTHER");
    EXPECT_EQ(ask_error_map()->entries().size(), before->entries().size() + 1);
    ASSERT_TRUE(cluster.error_codes().drop(0x7ff0));
    EXPECT_EQ(ask_error_map()->find(0x7ff0), nullptr);
    EXPECT_EQ(cluster.error_codes().map().revision(), before->revision() + 3);
    EXPECT_EQ(cluster.error_codes().drop(0x7ff0).error(), cluster_errc::unknown_code);
}

TEST_F(disturbances, EM_04_a_map_is_corrupt_only_on_that_node_and_while_set) {
    ASSERT_TRUE(cluster.disturbances().set_error_map_corruption(node_id{0}, true));
    const auto corrupt = ask_error_map();
    ASSERT_FALSE(corrupt);
    EXPECT_TRUE(is_corruption(corrupt.error().code));
    EXPECT_TRUE(ask_error_map(1));
    ASSERT_TRUE(cluster.disturbances().set_error_map_corruption(node_id{0}, false));
    EXPECT_TRUE(ask_error_map());
}

// --- logins -------------------------------------------------------------------------------------

TEST_F(disturbances, RH_25_a_node_that_rejects_credentials_rejects_all_of_them) {
    peer before = ready_on(cluster, 0);
    peer halfway(cluster, 0);
    wire::sasl_client scram(
        wire::sasl_mechanism::scram_sha512, {"app", "secret", {}}, "66388cf5bfcf7522",
        {.iterations_min = 1});
    const reply challenge = halfway.ask(wire::sasl_request{
        opcode::sasl_auth, "SCRAM-SHA512", base::as_bytes(scram.start().value())});
    disturb({.rejects_credentials = true});
    const auto salted = wire::derive_key(scram.on_challenge(challenge.value).value());
    const std::string proof = scram.on_key(salted).value();
    EXPECT_EQ(
        halfway.ask(wire::sasl_request{opcode::sasl_step, "SCRAM-SHA512", base::as_bytes(proof)})
            .status,
        status::auth_error);
    for (const auto mechanism : {wire::sasl_mechanism::scram_sha512, wire::sasl_mechanism::plain}) {
        peer client(cluster, 0, {.over = wire::transport::tls});
        EXPECT_EQ(client.login("app", "secret", mechanism), status::auth_error);
    }
    EXPECT_EQ(http_status("/whoami"), 401);
    EXPECT_EQ(http_status("/whoami", 1), 200);
    EXPECT_EQ(before.set(key, "1").status, status::success);
    disturb({});
    peer client(cluster, 0);
    EXPECT_EQ(client.login(), status::success);
}

TEST_F(disturbances, RH_40_the_next_logins_are_answered_stale_as_often_as_set) {
    const auto login = [this](wire::sasl_mechanism mechanism, std::string secret) {
        peer client(cluster, 0, {.over = wire::transport::tls});
        return client.login("app", std::move(secret), mechanism);
    };
    const auto bearer = wire::sasl_mechanism::oauthbearer;
    disturb({.stale_login_count = 2});
    EXPECT_EQ(login(wire::sasl_mechanism::plain, "secret"), status::success);
    EXPECT_EQ(login(bearer, "ey.J.x"), status::auth_stale);
    EXPECT_EQ(login(bearer, "ey.J.x"), status::auth_stale);
    EXPECT_EQ(login(bearer, "ey.J.x"), status::success);
    disturb({.stale_login_count = node_disturbance::no_limit});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(login(bearer, "ey.J.x"), status::auth_stale);
    }
    disturb({});
    EXPECT_EQ(login(bearer, "ey.J.x"), status::success);
}

TEST_F(disturbances, a_changed_password_applies_to_new_logins_only) {
    peer before = ready_on(cluster, 0);
    cluster.accounts().put_user({.name = "app", .password = "changed"});
    EXPECT_EQ(before.set(key, "1").status, status::success);
    peer old(cluster, 0);
    EXPECT_EQ(old.login("app", "secret"), status::auth_error);
    peer fresh(cluster, 0);
    EXPECT_EQ(fresh.login("app", "changed"), status::success);
}

// --- buckets and collections --------------------------------------------------------------------

TEST_F(disturbances, RH_27_a_bucket_denied_to_a_user_or_to_all_cannot_be_selected) {
    peer client(cluster, 0);
    client.hello(usual_features());
    ASSERT_EQ(client.login(), status::success);
    cluster.accounts().put_user({.name = "other", .password = "p"});
    ASSERT_TRUE(cluster.buckets().deny("travel", "other", true));
    EXPECT_EQ(client.select(), status::success);
    ASSERT_TRUE(cluster.buckets().deny("travel", "app", true));
    EXPECT_EQ(client.select(), status::eaccess);
    EXPECT_EQ(http_status("/pools/default/b/travel"), 403);
    ASSERT_TRUE(cluster.buckets().deny("travel", "app", false));
    EXPECT_EQ(client.select(), status::success);
    ASSERT_TRUE(cluster.buckets().deny("travel", "", true));
    EXPECT_EQ(client.select(), status::eaccess);
    ASSERT_TRUE(cluster.buckets().deny("travel", "", false));
    EXPECT_EQ(client.select(), status::success);
    EXPECT_EQ(cluster.buckets().deny("none", "", true).error(), cluster_errc::unknown_bucket);
    EXPECT_EQ(cluster.buckets().deny("travel", "none", true).error(), cluster_errc::unknown_user);
}

TEST_F(disturbances, RH_27_an_absent_bucket_is_not_found_on_that_node_only) {
    peer bound = ready_on(cluster, 0);
    ASSERT_TRUE(cluster.buckets().set_presence(node_id{0}, "travel", bucket_presence::absent));
    EXPECT_TRUE(bound.connection().is_closing());
    peer client(cluster, 0);
    client.hello(usual_features());
    ASSERT_EQ(client.login(), status::success);
    EXPECT_EQ(client.select(), status::key_enoent);
    EXPECT_EQ(http_status("/pools/default/b/travel"), 404);
    EXPECT_FALSE(cluster.topology().configuration_text(node_id{0}, "travel"));
    peer elsewhere = ready_on(cluster, 1);
    ASSERT_TRUE(cluster.buckets().set_presence(node_id{0}, "travel", bucket_presence::full));
    EXPECT_EQ(client.select(), status::success);
    EXPECT_EQ(
        cluster.buckets().set_presence(node_id{0}, "none", bucket_presence::absent).error(),
        cluster_errc::unknown_bucket);
}

TEST_F(disturbances, a_config_only_bucket_answers_only_configuration_requests) {
    ASSERT_TRUE(cluster.buckets().set_presence(node_id{0}, "travel", bucket_presence::config_only));
    peer client = ready_on(cluster, 0);
    EXPECT_EQ(client.get(key).status, status::econfig_only);
    EXPECT_EQ(client.set(key, "1").status, status::econfig_only);
    EXPECT_EQ(client.ask(wire::empty_request{opcode::noop}).status, status::econfig_only);
    const reply configuration = client.ask(wire::get_cluster_config_request{});
    EXPECT_EQ(configuration.status, status::success);
    EXPECT_TRUE(wire::parse_cluster_configuration(configuration.value));
    EXPECT_EQ(client.ask(wire::get_error_map_request{2}).status, status::success);
    peer old(cluster, 0);
    old.ready(without(usual_features(), hello_feature::xerror));
    EXPECT_EQ(old.get(key).status, status::not_supported);
    ASSERT_TRUE(cluster.buckets().set_presence(node_id{0}, "travel", bucket_presence::full));
    EXPECT_EQ(client.set(key, "1").status, status::success);
}

TEST_F(disturbances, RH_28_an_outdated_node_answers_with_its_older_manifest) {
    const std::uint64_t uid = cluster.buckets().manifest("travel")->uid;
    ASSERT_EQ(cluster.buckets().create_collection("travel", "inventory", "route"), uid + 1);
    ASSERT_EQ(cluster.buckets().create_scope("travel", "later"), uid + 2);
    const std::uint32_t route =
        cluster.buckets().manifest("travel")->find_collection("inventory", "route")->id;
    ASSERT_TRUE(
        cluster.buckets().hide_collection(node_id{0}, "travel", "inventory", "route", true));
    peer client = ready_on(cluster, 0);
    const auto get = [&] {
        return client.ask(
            wire::document_request{opcode::get, client.key(key, route)}, peer::at(key));
    };
    const reply unknown = get();
    EXPECT_EQ(unknown.status, status::unknown_collection);
    EXPECT_EQ(wire::parse_error_context(base::as_bytes(unknown.value))->manifest_uid, uid);
    const reply id = client.ask(wire::get_collection_id_request{"inventory.route"});
    EXPECT_EQ(id.status, status::unknown_collection);
    EXPECT_EQ(wire::parse_error_context(base::as_bytes(id.value))->manifest_uid, uid);
    EXPECT_EQ(client.ask(wire::get_collection_id_request{"inventory.hotel"}).u64(0), uid);
    const auto manifest = wire::parse_collections_manifest(
        client.ask(wire::empty_request{opcode::get_collections_manifest}).value);
    ASSERT_TRUE(manifest);
    EXPECT_EQ(manifest->find_collection("inventory", "route"), nullptr);
    peer ahead = ready_on(cluster, 1);
    EXPECT_EQ(
        ahead.ask(wire::get_collection_id_request{"inventory.route"}).status, status::success);
    // Later collections are known to the node, but its uid stays behind.
    ASSERT_TRUE(cluster.buckets().create_collection("travel", "inventory", "newest"));
    EXPECT_EQ(client.ask(wire::get_collection_id_request{"inventory.newest"}).u64(0), uid);
    ASSERT_TRUE(
        cluster.buckets().hide_collection(node_id{0}, "travel", "inventory", "route", false));
    EXPECT_EQ(get().status, status::key_enoent);
    EXPECT_EQ(
        cluster.buckets().hide_collection(node_id{0}, "travel", "inventory", "none", true).error(),
        cluster_errc::unknown_collection);
}

TEST_F(disturbances, a_recreated_collection_has_another_id_and_no_documents) {
    const std::uint32_t old_id =
        cluster.buckets().manifest("travel")->find_collection("inventory", "airline")->id;
    peer client = ready_on(cluster, 0);
    const auto get = [&](std::uint32_t id) {
        return client.ask(wire::document_request{opcode::get, client.key(key, id)}, peer::at(key))
            .status;
    };
    ASSERT_TRUE(cluster.buckets().recreate_collection("travel", "inventory", "airline"));
    const std::uint32_t new_id =
        cluster.buckets().manifest("travel")->find_collection("inventory", "airline")->id;
    EXPECT_NE(new_id, old_id);
    EXPECT_EQ(get(old_id), status::unknown_collection);
    EXPECT_EQ(get(new_id), status::key_enoent);
    EXPECT_EQ(
        cluster.buckets().recreate_collection("travel", "inventory", "none").error(),
        cluster_errc::unknown_collection);
}

// --- configurations -----------------------------------------------------------------------------

TEST_F(disturbances, replaying_pushes_an_older_configuration_and_changes_nothing_else) {
    EXPECT_EQ(
        cluster.disturbances().replay_configuration(node_id{9}).error(),
        cluster_errc::unknown_node);
    EXPECT_EQ(
        cluster.disturbances().replay_configuration(node_id{0}).error(),
        cluster_errc::nothing_older);
    ASSERT_TRUE(cluster.buckets().create_scope("travel", "late"));
    peer client(cluster, 0);
    client.ready(with(
        with(usual_features(), hello_feature::duplex),
        hello_feature::clustermap_change_notification));
    peer deaf = ready_on(cluster, 0);
    const auto current = *cluster.topology().configuration_revision(node_id{0}, "travel");
    ASSERT_TRUE(cluster.disturbances().replay_configuration(node_id{0}));
    EXPECT_EQ(wakeups(), (std::vector{client.connection().id()}));
    const auto pushed = client.tick();
    ASSERT_EQ(pushed.size(), 1u);
    EXPECT_EQ(pushed[0].magic, wire::magic::server_request);
    const auto older = wire::parse_cluster_configuration(pushed[0].value);
    ASSERT_TRUE(older);
    EXPECT_LT((*older)->revision(), current);
    EXPECT_TRUE(client.tick().empty());
    const auto asked =
        wire::parse_cluster_configuration(client.ask(wire::get_cluster_config_request{}).value);
    EXPECT_EQ((*asked)->revision(), current);
}

TEST_F(disturbances, a_node_that_corrupts_configurations_does_so_in_every_message) {
    peer client(cluster, 0);
    client.ready(with(
        with(usual_features(), hello_feature::duplex),
        hello_feature::clustermap_change_notification));
    disturb({.is_configuration_corrupt = true});
    const auto is_sound = [](const std::string& text) {
        return wire::parse_cluster_configuration(text).has_value();
    };
    EXPECT_FALSE(is_sound(client.ask(wire::get_cluster_config_request{}).value));
    const reply moved = client.ask(
        wire::document_request{opcode::get, client.key(key_on(cluster, 1))},
        peer::at(key_on(cluster, 1)));
    EXPECT_EQ(moved.status, status::not_my_vbucket);
    EXPECT_FALSE(is_sound(moved.value));
    EXPECT_FALSE(is_sound(*cluster.topology().configuration_text(node_id{0}, "travel")));
    ASSERT_TRUE(cluster.buckets().create_scope("travel", "late"));
    const auto pushed = client.tick();
    ASSERT_EQ(pushed.size(), 1u);
    EXPECT_FALSE(pushed[0].value.empty());
    EXPECT_FALSE(is_sound(pushed[0].value));
    disturb({});
    EXPECT_TRUE(is_sound(client.ask(wire::get_cluster_config_request{}).value));
}

}  // namespace disturbances_test
