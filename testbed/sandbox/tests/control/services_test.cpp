#include <reprise/sandbox/control.hpp>

#include "control/control_commands.hpp"
#include "service_client.hpp"

namespace control_services_test {

using namespace service_testing;

struct control_services : testing::Test {
    service_client client;

    json::value ask(std::string_view request) {
        return sandbox_testing::ask_control(client.cluster, request);
    }
    std::string error(std::string_view request) {
        return sandbox_testing::control_error(client.cluster, request);
    }
    std::string add(std::string_view effect) {
        return error(R"({"command":"service_fault_add","effect":)" + std::string(effect) + "}");
    }
};

TEST_F(control_services, every_effect_is_listed_as_it_was_given) {
    const std::vector<std::string> effects{
        R"({"status":503,"headers":{"Retry-After":"1"},"body":"busy"})",
        R"({"delay_ms":5})",
        R"("no_answer")",
        R"("close_before")",
        R"("close_after")",
        R"("close_after_headers")",
        R"({"close_mid_body":12})",
        R"({"wrong_length":-3})",
        R"("bad_chunk")",
        R"({"encoding":"br"})",
        R"({"redirect":"/elsewhere","status":307})",
        R"({"continue_first":2})",
        R"({"bytes_before":"\n","bytes_after":"x","pause_ms":5})"};
    for (const std::string& effect : effects) {
        EXPECT_EQ(add(effect), "") << effect;
    }
    const json::value list = ask(R"({"command":"fault_list"})");
    for (std::size_t i = 0; i < effects.size(); ++i) {
        EXPECT_EQ(json::serialize(*list.find("service_faults")->at(i)->find("effect")), effects[i]);
        // In the order of the variant, so that no effect is read as another one.
        EXPECT_EQ(client.cluster.services().faults().entries()[i].rule.effect.index(), i);
    }
    EXPECT_EQ(std::variant_size_v<sandbox::service_fault_effect>, effects.size());
}

TEST_F(control_services, a_rule_is_read_completely_and_applied) {
    const std::string rule =
        R"({"command":"service_fault_add","service":"query","node":0,"method":"POST",
            "path":"/query/*","statement":"UPSERT*","context":"c-?","skip":1,"every":2,
            "probability":1.0,"limit":1,"effect":{"status":503,"body":"{}"}})";
    EXPECT_EQ(ask(rule).find("id")->as_uint64(), 1u);
    const auto upsert = [this](std::string_view context) {
        return client
            .query(
                R"(UPSERT INTO travel (KEY, VALUE) VALUES ("k", 1))",
                json::object{{"client_context_id", context}})
            .status;
    };
    EXPECT_EQ(upsert("other"), 200);
    EXPECT_EQ(upsert("c-1"), 200);  // skipped
    EXPECT_EQ(upsert("c-2"), 503);
    EXPECT_EQ(upsert("c-3"), 200);
    EXPECT_EQ(upsert("c-4"), 200);  // the limit is reached
    const json::value listed = ask(R"({"command":"fault_list"})");
    const json::value& entry = *listed.find("service_faults")->at(0);
    EXPECT_EQ(entry.find("service")->as_string(), "query");
    EXPECT_EQ(entry.find("statement")->as_string(), "UPSERT*");
    EXPECT_EQ(entry.find("taken")->as_uint64(), 1u);
    EXPECT_EQ(error(R"({"command":"service_fault_remove","id":1})"), "");
    EXPECT_EQ(error(R"({"command":"service_fault_remove","id":1})"), "no such fault rule");
    EXPECT_EQ(add(R"("close_before")"), "");
    EXPECT_EQ(error(R"({"command":"fault_clear"})"), "");
    EXPECT_TRUE(client.cluster.services().faults().entries().empty());
}

TEST_F(control_services, invalid_commands_are_refused_and_change_nothing) {
    for (const char* effect :
         {R"("nothing")", R"({})", R"({"status":99})", R"({"status":1000})", R"({"status":"503"})",
          R"({"status":503,"delay_ms":1})", R"({"delay_ms":1,"body":"x"})",
          R"({"status":503,"headers":{"a":1}})", R"({"status":503,"headers":[]})",
          R"({"wrong_length":0})", R"({"wrong_length":1e30})", R"({"close_mid_body":99999999999})",
          R"({"redirect":"/","status":200})", R"({"continue_first":100000})",
          R"({"status":503,"odd":1})", "7"}) {
        EXPECT_NE(add(effect), "") << effect;
    }
    for (const char* request :
         {R"({"command":"service_fault_add","service":"kv","effect":"close_before"})",
          R"({"command":"service_fault_add"})",
          R"({"command":"service_fault_add","effect":"close_before","ops":["get"]})",
          R"({"command":"service_audit","service":"kv"})",
          R"({"command":"service_audit","status":1})", R"({"command":"service_audit","key":"k"})",
          R"({"command":"service_contexts","limit":1})",
          R"({"command":"forget_prepared","x":1})"}) {
        EXPECT_NE(error(request), "") << request;
    }
    EXPECT_TRUE(client.cluster.services().faults().entries().empty());
}

TEST_F(control_services, the_audit_can_be_filtered_and_counted_by_context) {
    const auto run = [this](std::string_view statement, std::string_view context) {
        client.query(statement, json::object{{"client_context_id", context}});
    };
    run(R"(UPSERT INTO travel (KEY, VALUE) VALUES ("k", 1))", "twice");
    run(R"(UPSERT INTO travel (KEY, VALUE) VALUES ("k", 1))", "twice");
    run("SELECT RAW 1", "once");
    run("SELEKT 1", "wrong");
    const auto count = [this](std::string_view members) {
        const json::value answer =
            ask(R"({"command":"service_audit")" + std::string(members) + "}");
        return answer.find("entries")->as_array()->size();
    };
    EXPECT_EQ(count(""), 4u);
    EXPECT_EQ(count(R"(,"limit":2)"), 2u);
    EXPECT_EQ(count(R"(,"service":"query","node":0,"path":"/query/*")"), 4u);
    EXPECT_EQ(count(R"(,"service":"search")"), 0u);
    EXPECT_EQ(count(R"(,"applied":true)"), 2u);
    EXPECT_EQ(count(R"(,"statement":"SEL*")"), 2u);
    EXPECT_EQ(count(R"(,"context":"once")"), 1u);
    EXPECT_EQ(count(R"(,"status":400)"), 1u);
    const json::value answer = ask(R"({"command":"service_audit","context":"wrong"})");
    const json::value& entry = *answer.find("entries")->at(0);
    EXPECT_EQ(entry.find("code")->as_int64(), 3000);
    EXPECT_EQ(entry.find("statement")->as_string(), "SELEKT 1");
    EXPECT_EQ(entry.find("user")->as_string(), "app");
    EXPECT_EQ(
        json::serialize(*ask(R"({"command":"service_contexts"})").find("contexts")),
        R"([{"context":"twice","requests":2,"applied":2}])");
    EXPECT_EQ(error(R"({"command":"audit_clear"})"), "");
    EXPECT_EQ(count(""), 0u);
    EXPECT_EQ(ask(R"({"command":"status"})").find("service_requests")->as_uint64(), 4u);
}

TEST_F(control_services, prepared_statements_are_forgotten) {
    client.query("PREPARE p FROM SELECT RAW 1");
    EXPECT_EQ(ask(R"({"command":"forget_prepared"})").find("forgotten")->as_uint64(), 1u);
    EXPECT_EQ(client.query("EXECUTE p").code(), 4040);
}

TEST_F(control_services, ports_of_services_are_shown_if_there_are_any) {
    wire::cluster_node at;
    at.hostname = "127.0.0.1";
    at.ports.set(wire::service::key_value, wire::transport::plain, 1);
    at.ports.set(wire::service::query, wire::transport::tls, 2);
    ASSERT_TRUE(client.cluster.topology().set_endpoints(sandbox::node_id{1}, at));
    const json::value status = ask(R"({"command":"status"})");
    EXPECT_EQ(
        json::serialize(*status.find("nodes")->at(1)),
        R"({"node":1,"state":"up","host":"127.0.0.1","kv":1,"kv_tls":0,"management":0,)"
        R"("management_tls":0,"query_tls":2})");
}

TEST_F(control_services, a_key_whose_node_is_down_fails_and_advises_a_retry) {
    client.fill();
    const auto read = [this] {
        return client.query("SELECT RAW t.n FROM travel AS t USE KEYS [\"k1\",\"k2\",\"k3\"]");
    };
    EXPECT_EQ(read().results(), "[1,2,3]");
    EXPECT_EQ(error(R"({"command":"node_down","node":1})"), "");
    const reply lost = read();
    EXPECT_EQ(lost.code(), 12008) << lost.text;
    EXPECT_EQ(lost.find("errors")->at(0)->find("retry")->as_bool(), true);
    EXPECT_EQ(error(R"({"command":"failover","node":1})"), "");
    EXPECT_EQ(read().results(), "[1,2,3]");
}

}  // namespace control_services_test
