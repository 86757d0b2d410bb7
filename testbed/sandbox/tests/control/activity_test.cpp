#include <reprise/sandbox/control.hpp>

#include "control/control_commands.hpp"

#include <reprise/json/write.hpp>

namespace activity_test {

using namespace sandbox_testing;
namespace json = reprise::json;

struct activity : control_commands {
    std::uint64_t number(const json::value& answer, std::string_view name) {
        const json::value* found = answer.find(name);
        return found != nullptr ? found->as_uint64().value_or(999) : 999;
    }
};

TEST_F(activity, requests_are_counted_by_status_and_connections_by_node) {
    peer client(cluster);
    client.ready();
    EXPECT_EQ(client.get(key_on(cluster, 0)).status, status::key_enoent);
    const json::value answer = ask(R"({"command":"activity"})");
    const std::string text = json::serialize(*answer.find("statuses"));
    EXPECT_NE(text.find(R"({"status":"0x0001","name":"KeyEnoent","count":1})"), text.npos) << text;
    EXPECT_EQ(
        json::serialize(*answer.find("connections")),
        R"([{"node":0,"count":1},{"node":1,"count":0},{"node":2,"count":0}])");
    EXPECT_EQ(number(answer, "retries"), 0U);
}

TEST_F(activity, a_request_after_a_temporary_failure_of_the_same_key_is_a_retry) {
    ask(R"({"command":"fault_add","ops":["get"],"limit":2,"effect":{"status":"0x86"}})");
    peer client(cluster);
    client.ready();
    const std::string key = key_on(cluster, 0);
    EXPECT_EQ(client.get(key).status, status::etmpfail);
    EXPECT_EQ(number(ask(R"({"command":"activity"})"), "retries"), 0U);
    const std::uint64_t since = number(ask(R"({"command":"activity"})"), "requests");
    EXPECT_EQ(client.get(key).status, status::etmpfail);
    EXPECT_EQ(client.get(key).status, status::key_enoent);
    // The next one follows an answer that is final.
    EXPECT_EQ(client.get(key).status, status::key_enoent);
    const json::value answer =
        ask(R"({"command":"activity","since":)" + std::to_string(since) + "}");
    EXPECT_EQ(number(answer, "retries"), 2U);
    EXPECT_EQ(
        json::serialize(*answer.find("retries_after")),
        R"([{"status":"0x0086","name":"Etmpfail","count":2}])");
    const std::uint64_t now = number(answer, "requests");
    EXPECT_EQ(
        number(ask(R"({"command":"activity","since":)" + std::to_string(now) + "}"), "retries"),
        0U);
}

TEST_F(activity, requests_for_other_keys_or_of_other_clients_are_no_retries) {
    ask(R"({"command":"fault_add","ops":["get"],"limit":1,"effect":{"status":"0x86"}})");
    peer client(cluster);
    peer other(cluster);
    client.ready();
    other.ready();
    EXPECT_EQ(client.get(key_on(cluster, 0)).status, status::etmpfail);
    EXPECT_EQ(client.get(key_on(cluster, 0) + "x").status != status::etmpfail, true);
    EXPECT_NE(other.get(key_on(cluster, 0)).status, status::etmpfail);
    EXPECT_EQ(number(ask(R"({"command":"activity"})"), "retries"), 0U);
}

TEST_F(activity, the_map_lists_the_copies_of_each_vbucket) {
    const json::value answer = ask(R"({"command":"vbucket_map"})");
    EXPECT_EQ(answer.find("bucket")->as_string(), "travel");
    EXPECT_EQ(answer.find("rows")->as_array()->size(), cluster.options().vbucket_count);
    EXPECT_EQ(answer.find("rows")->at(0)->as_array()->size(), cluster.options().replica_count + 1);
    EXPECT_EQ(ask(R"({"command":"vbucket_map","bucket":"none"})").find("ok")->as_bool(), false);
}

}  // namespace activity_test
