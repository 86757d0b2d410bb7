#include <reprise/sandbox/control.hpp>

#include "control/control_commands.hpp"

#include <reprise/json/write.hpp>

namespace control_test {

using namespace sandbox_testing;
namespace json = reprise::json;

struct control : control_commands {};

TEST_F(control, status_lists_nodes_and_buckets) {
    const json::value answer = ask(R"({"command":"status"})");
    EXPECT_EQ(answer.find("nodes")->as_array()->size(), 3u);
    EXPECT_EQ(answer.find("buckets")->at(0)->find("name")->as_string(), "travel");
}

TEST_F(control, faults_are_added_listed_and_removed) {
    const json::value added = ask(
        R"({"command":"fault_add","ops":["get","0xd1"],"key":"u:*","node":0,"skip":1,"every":2,
            "probability":0.5,"limit":3,"effect":{"status":"0x86","context":"text"}})");
    EXPECT_EQ(added.find("id")->as_uint64(), 1u);
    EXPECT_EQ(error(R"({"command":"fault_add","effect":{"delay_ms":50}})"), "");
    for (const char* word : {"no_answer", "close_before", "close_after"}) {
        EXPECT_EQ(error(R"({"command":"fault_add","effect":")" + std::string(word) + "\"}"), "");
    }
    const json::value list = ask(R"({"command":"fault_list"})");
    ASSERT_EQ(list.find("faults")->as_array()->size(), 5u);
    const json::value& first = *list.find("faults")->at(0);
    EXPECT_EQ(json::serialize(*first.find("effect")), R"({"status":"0x0086","context":"text"})");
    EXPECT_EQ(
        json::serialize(*first.find("ops")->at(1)),
        "\"" + std::string(to_string(opcode::subdoc_multi_mutation)) + "\"");
    EXPECT_EQ(cluster.faults().entries()[0].rule.when.every, 2u);
    EXPECT_EQ(error(R"({"command":"fault_remove","id":1})"), "");
    EXPECT_NE(error(R"({"command":"fault_remove","id":1})"), "");
    EXPECT_EQ(error(R"({"command":"fault_clear"})"), "");
    EXPECT_TRUE(cluster.faults().empty());
}

TEST_F(control, a_named_status_works_end_to_end) {
    EXPECT_EQ(error(R"({"command":"fault_add","ops":["get"],"effect":{"status":"Ebusy"}})"), "");
    peer client(cluster);
    client.ready();
    EXPECT_EQ(client.get("k").status, status::ebusy);
}

TEST_F(control, the_audit_can_be_filtered) {
    peer client(cluster);
    client.ready();
    const std::string key = key_on(cluster, 0);
    client.set(key, "1");
    client.get("none-" + key);
    const json::value answer = ask(
        R"({"command":"audit","op":"set","applied":true,"bucket":"travel","limit":5,"node":0})");
    ASSERT_EQ(answer.find("entries")->as_array()->size(), 1u);
    const json::value& entry = *answer.find("entries")->at(0);
    EXPECT_EQ(entry.find("key")->as_string(), key);
    EXPECT_EQ(entry.find("status")->as_string(), "0x0000");
    EXPECT_FALSE(answer.find("counters")->as_array()->empty());
    EXPECT_EQ(error(R"({"command":"audit_clear"})"), "");
    EXPECT_EQ(cluster.audit().size(), 0u);
}

TEST_F(control, topology_commands_change_the_topology) {
    const json::value where = ask(R"({"command":"where","bucket":"travel","key":"foo"})");
    EXPECT_EQ(where.find("vbucket")->as_uint64(), 3u);
    EXPECT_EQ(where.find("nodes")->as_array()->size(), 2u);
    EXPECT_EQ(error(R"({"command":"move_vbucket","bucket":"travel","vbucket":3,"to":2})"), "");
    EXPECT_EQ(cluster.topology().active_node("travel", wire::vbucket_id{3}), sandbox::node_id{2});
    EXPECT_EQ(error(R"({"command":"node_down","node":1})"), "");
    EXPECT_EQ(cluster.topology().state_of(sandbox::node_id{1}), sandbox::node_state::down);
    EXPECT_EQ(error(R"({"command":"node_up","node":1})"), "");
    EXPECT_EQ(error(R"({"command":"failover","node":1})"), "");
    EXPECT_EQ(error(R"({"command":"failover","node":1})"), "unknown node");
    EXPECT_EQ(error(R"({"command":"hold","what":"replication","held":true})"), "");
    EXPECT_EQ(error(R"({"command":"hold","what":"persistence"})"), "");
    EXPECT_EQ(error(R"({"command":"hold","what":"configuration","node":0})"), "");
    std::string rows = "[0,2]";
    for (int i = 1; i < 16; ++i) {
        rows += ",[2,0]";
    }
    EXPECT_EQ(error(R"({"command":"forward_map","bucket":"travel","rows":[)" + rows + "]}"), "");
    EXPECT_EQ(error(R"({"command":"forward_map","bucket":"travel"})"), "");
}

TEST_F(control, invalid_commands_get_a_specific_error_and_change_nothing) {
    EXPECT_EQ(error("[]"), "the request must be a JSON object");
    EXPECT_EQ(error("{}"), "'command' is missing");
    EXPECT_EQ(error(R"({"command":"dance"})"), "unknown command 'dance'");
    EXPECT_EQ(error(R"({"command":"status","x":1})"), "'x' is not a member of this command");
    EXPECT_EQ(error(R"({"command":"node_down"})"), "'node' is missing");
    EXPECT_EQ(
        error(R"({"command":"node_down","node":-1})"), "'node' must be a whole number, 0 or more");
    EXPECT_EQ(error(R"({"command":"fault_add"})"), "'effect' is missing");
    for (const char* bad :
         {R"({"command":"fault_add","ops":"get","effect":"no_answer"})",
          R"({"command":"fault_add","ops":["got"],"effect":"no_answer"})",
          R"({"command":"fault_add","probability":2,"effect":"no_answer"})",
          R"({"command":"fault_add","effect":"explode"})", R"({"command":"fault_add","effect":{}})",
          R"({"command":"fault_add","effect":{"status":"0x86","delay_ms":1}})",
          R"({"command":"fault_add","effect":{"status":"nope"}})",
          R"({"command":"fault_add","effect":{"delay_ms":1,"oops":2}})",
          R"({"command":"audit","connection":"xyz"})", R"({"command":"hold","what":"breath"})",
          R"({"command":"hold","what":"configuration"})",
          R"({"command":"where","bucket":"none","key":"k"})",
          R"({"command":"move_vbucket","bucket":"travel","vbucket":70000,"to":0})",
          R"({"command":"forward_map","bucket":"travel","rows":[[0]]})",
          R"({"command":"forward_map","bucket":"travel","rows":7})"}) {
        EXPECT_NE(error(bad), "") << bad;
    }
    EXPECT_TRUE(cluster.faults().empty());
}

}  // namespace control_test
