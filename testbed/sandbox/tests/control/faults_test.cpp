#include <reprise/sandbox/control.hpp>

#include "control/control_commands.hpp"

#include <reprise/json/write.hpp>

namespace control_faults_test {

using namespace sandbox_testing;
using namespace std::chrono_literals;
namespace json = reprise::json;
using sandbox::node_id;

struct control_faults : control_commands {
    sandbox::node_disturbance at(std::uint32_t node) const {
        return cluster.disturbances().of(node_id{node});
    }
};

TEST_F(control_faults, every_effect_is_listed_as_it_was_given) {
    const std::vector<std::string> effects{
        R"({"status":"0x0086"})", R"({"delay_ms":5})",  R"("no_answer")",    R"("close_before")",
        R"("close_after")",       R"("answer_twice")",  R"("wrong_opaque")", R"({"truncate":12})",
        R"({"garbage":24})",      R"({"trickle_ms":5})"};
    for (const std::string& effect : effects) {
        EXPECT_EQ(error(R"({"command":"fault_add","effect":)" + effect + "}"), "") << effect;
    }
    const json::value list = ask(R"({"command":"fault_list"})");
    for (std::size_t i = 0; i < effects.size(); ++i) {
        EXPECT_EQ(json::serialize(*list.find("faults")->at(i)->find("effect")), effects[i]);
        // In the order of the variant, so that no effect is read as another one.
        EXPECT_EQ(cluster.faults().entries()[i].rule.effect.index(), i);
    }
    EXPECT_NE(error(R"({"command":"fault_add","effect":{"garbage":0}})"), "");
    EXPECT_NE(error(R"({"command":"fault_add","effect":{"garbage":9999999999}})"), "");
    EXPECT_NE(error(R"({"command":"fault_add","effect":{"truncate":1,"garbage":1}})"), "");
}

TEST_F(control_faults, members_of_a_disturbance_change_independently) {
    EXPECT_EQ(error(R"({"command":"disturb","node":1,"frozen":true,"tls":"expired"})"), "");
    EXPECT_EQ(error(R"({"command":"disturb","node":1,"stale_logins":"all"})"), "");
    EXPECT_TRUE(at(1).is_frozen);
    EXPECT_EQ(at(1).tls, sandbox::tls_disturbance::expired);
    EXPECT_EQ(at(1).stale_login_count, sandbox::node_disturbance::no_limit);
    EXPECT_EQ(at(0), sandbox::node_disturbance{});
    EXPECT_EQ(
        error(
            R"({"command":"disturb","refuse_connections":true,"partitioned":true,
                "reject_credentials":true,"corrupt_error_map":true,"corrupt_configuration":true,
                "stale_logins":2})"),
        "");
    for (std::uint32_t node = 0; node < 3; ++node) {
        EXPECT_TRUE(at(node).refuses_connections && at(node).is_partitioned);
        EXPECT_TRUE(at(node).rejects_credentials && at(node).is_error_map_corrupt);
        EXPECT_TRUE(at(node).is_configuration_corrupt);
        EXPECT_EQ(at(node).stale_login_count, 2u);
    }
    const json::value list = ask(R"({"command":"disturbances"})");
    EXPECT_EQ(list.find("nodes")->at(1)->find("frozen")->as_bool(), true);
    EXPECT_EQ(list.find("nodes")->at(1)->find("tls")->as_string(), "expired");
    EXPECT_EQ(list.find("nodes")->at(0)->find("stale_logins")->as_uint64(), 2u);
    EXPECT_EQ(error(R"({"command":"disturb","clear":true})"), "");
    EXPECT_EQ(at(1), sandbox::node_disturbance{});
}

TEST_F(control_faults, codes_are_added_and_dropped) {
    EXPECT_EQ(
        error(
            R"({"command":"error_code","code":"0x7ff0","name":"N","description":"d",
                "attributes":["temp","retry-later"],"retry":{"strategy":"linear","interval_ms":10,
                "after_ms":5,"ceil_ms":200,"max_duration_ms":1000}})"),
        "");
    const wire::error_map_entry* entry = cluster.error_codes().map().find(0x7ff0);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->name, "N");
    EXPECT_TRUE(entry->attributes.has(wire::error_attribute::retry_later));
    ASSERT_TRUE(entry->retry);
    EXPECT_EQ(entry->retry->delay(3), 30ms);
    EXPECT_EQ(error(R"({"command":"error_code","code":"0x7ff0","drop":true})"), "");
    EXPECT_EQ(cluster.error_codes().map().find(0x7ff0), nullptr);
}

TEST_F(control_faults, users_buckets_and_collections_are_disturbed) {
    EXPECT_EQ(error(R"({"command":"user_put","name":"app","password":"changed"})"), "");
    EXPECT_EQ(cluster.accounts().find_user("app")->password, "changed");
    EXPECT_EQ(cluster.accounts().find_user("app")->bearer_token, "ey.J.x");
    EXPECT_EQ(
        error(R"({"command":"user_put","name":"new","password":"p","buckets":["travel"]})"), "");
    EXPECT_EQ(cluster.accounts().find_user("new")->buckets.size(), 1u);
    EXPECT_EQ(error(R"({"command":"bucket_deny","bucket":"travel","user":"new"})"), "");
    EXPECT_TRUE(cluster.buckets().is_denied("travel", "new"));
    EXPECT_EQ(error(R"({"command":"bucket_deny","bucket":"travel","denied":true})"), "");
    EXPECT_TRUE(cluster.buckets().is_denied("travel", "app"));
    EXPECT_EQ(error(R"({"command":"user_drop","name":"new"})"), "");
    EXPECT_EQ(
        error(R"({"command":"bucket_presence","bucket":"travel","node":1,"presence":"absent"})"),
        "");
    EXPECT_EQ(cluster.buckets().manifest_at(node_id{1}, "travel"), nullptr);
    EXPECT_EQ(
        error(
            R"({"command":"collection_hide","bucket":"travel","scope":"inventory",
                "collection":"hotel","node":0})"),
        "");
    EXPECT_EQ(
        cluster.buckets().manifest_at(node_id{0}, "travel")->find_collection("inventory", "hotel"),
        nullptr);
    const auto old =
        cluster.buckets().manifest("travel")->find_collection("inventory", "airline")->id;
    EXPECT_EQ(
        error(
            R"({"command":"collection_recreate","bucket":"travel","scope":"inventory",
                "collection":"airline"})"),
        "");
    EXPECT_NE(
        cluster.buckets().manifest("travel")->find_collection("inventory", "airline")->id, old);
    EXPECT_EQ(error(R"({"command":"replay_configuration","node":0})"), "");
    EXPECT_EQ(error(R"({"command":"node_kill","node":2})"), "");
    EXPECT_EQ(cluster.topology().state_of(node_id{2}), sandbox::node_state::down);
}

TEST_F(control_faults, durable_writes_are_held_and_delayed) {
    EXPECT_EQ(error(R"({"command":"hold","what":"recommit"})"), "");
    EXPECT_EQ(
        error(R"({"command":"durability","replication_delay_ms":50,"recommit_delay_ms":20})"), "");
    EXPECT_EQ(cluster.options().replication_delay, 50ms);
    EXPECT_EQ(cluster.options().recommit_delay, 20ms);
    EXPECT_EQ(ask(R"({"command":"status"})").find("pending_writes")->as_uint64(), 0u);
}

TEST_F(control_faults, invalid_commands_are_refused_and_change_nothing) {
    for (
        const char* request :
        {R"({"command":"disturb","node":9,"frozen":true})", R"({"command":"disturb","tls":"x"})",
         R"({"command":"disturb","stale_logins":"some"})", R"({"command":"disturb","frozn":true})",
         R"({"command":"node_kill"})", R"({"command":"error_code","name":"N"})",
         R"({"command":"error_code","code":"0x1","attributes":["nice"]})",
         R"({"command":"error_code","code":"0x7ff0","retry":{"strategy":"odd","interval_ms":1}})",
         R"({"command":"error_code","code":"0x7ff0","retry":{"strategy":"linear"}})",
         R"({"command":"error_code","code":"0x7ff0","drop":true})",
         R"({"command":"user_put","password":"p"})", R"({"command":"user_drop","name":"x"})",
         R"({"command":"bucket_deny","bucket":"none"})",
         R"({"command":"bucket_presence","bucket":"travel","node":0,"presence":"half"})",
         R"({"command":"collection_hide","bucket":"travel","scope":"s","collection":"c","node":0})",
         R"({"command":"durability","replication_delay_ms":99999999999})",
         R"({"command":"replay_configuration","node":0})"}) {
        EXPECT_NE(error(request), "") << request;
    }
    for (std::uint32_t node = 0; node < 3; ++node) {
        EXPECT_EQ(at(node), sandbox::node_disturbance{});
    }
}

}  // namespace control_faults_test
