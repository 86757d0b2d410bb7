#include <reprise/sandbox/management.hpp>

#include "conversation.hpp"

#include <reprise/json/parse.hpp>
#include <reprise/wire/cluster_configuration.hpp>

namespace management_test {

using namespace sandbox_testing;
using sandbox::node_id;

// base64 of "app:secret" and "app:wrong".
constexpr const char* good_login = "Basic YXBwOnNlY3JldA==";
constexpr const char* bad_login = "Basic YXBwOndyb25n";

struct management : testing::Test {
    sandbox::cluster cluster = make_cluster(small_options(2));

    sandbox::management_response ask(
        std::string method, std::string target, std::string body = {},
        std::string authorization = good_login) {
        return sandbox::handle_management(
            cluster, node_id{1}, {method, target, authorization, body, ""});
    }
    sandbox::management_response get(std::string target) { return ask("GET", target); }
};

TEST_F(management, credentials_are_checked) {
    EXPECT_EQ(ask("GET", "/pools", "", "").status, 401);
    EXPECT_EQ(ask("GET", "/pools", "", bad_login).status, 401);
    EXPECT_EQ(ask("GET", "/pools", "", "Basic ???").status, 401);
    EXPECT_EQ(ask("GET", "/pools", "", "bearer ey.J.x").status, 200);
    EXPECT_EQ(ask("GET", "/pools", "", "Bearer nope").status, 401);
    EXPECT_EQ(ask("GET", "/", "", "").status, 200);
    EXPECT_EQ(get("/whoami").status, 200);
    sandbox::management_request by_certificate{"GET", "/pools", "", "", "app"};
    EXPECT_EQ(sandbox::handle_management(cluster, node_id{0}, by_certificate).status, 200);
}

TEST_F(management, bodies_are_json_and_configurations_parse) {
    for (const char* target : {"/pools", "/pools/default", "/pools/default/buckets", "/whoami"}) {
        const auto response = get(target);
        EXPECT_EQ(response.status, 200) << target;
        EXPECT_TRUE(reprise::json::parse(response.body)) << target;
    }
    for (const char* target :
         {"/pools/default/b/travel", "/pools/default/b/travel?bucket_uuid=x"}) {
        const auto configuration = wire::parse_cluster_configuration(get(target).body);
        ASSERT_TRUE(configuration) << target << to_string(configuration.error());
        EXPECT_EQ((*configuration)->bucket_name(), "travel");
        EXPECT_TRUE((*configuration)->nodes()[1].is_this_node);
    }
    const auto global = wire::parse_cluster_configuration(get("/pools/default/nodeServices").body);
    ASSERT_TRUE(global);
    EXPECT_TRUE((*global)->is_global());
}

TEST_F(management, unknown_resources_have_their_own_status) {
    EXPECT_EQ(get("/pools/default/b/nothing").status, 404);
    EXPECT_EQ(get("/nonsense").status, 404);
    EXPECT_EQ(get("/pools/other").status, 404);
    EXPECT_EQ(get("/pools/default/b/travel/x").status, 404);
    EXPECT_EQ(ask("POST", "/pools").status, 405);
    EXPECT_EQ(ask("PUT", "/pools/default/buckets/travel/scopes").status, 405);
    cluster.accounts().put_user({.name = "app", .password = "secret", .buckets = {"other"}});
    EXPECT_EQ(get("/pools/default/b/travel").status, 403);
}

TEST_F(management, names_of_scopes_are_refused_with_the_rule_that_they_break) {
    const std::string scopes = "/pools/default/buckets/travel/scopes";
    EXPECT_EQ(
        ask("POST", scopes, "name=_bad").body,
        R"({"errors":{"name":"First character must not be _ or %"}})");
    EXPECT_EQ(
        ask("POST", scopes, "name=").body,
        R"({"errors":{"name":"Name length (0) must be in the range from 1 to 251, inclusive"}})");
    EXPECT_EQ(
        ask("POST", scopes + "/inventory/collections", "name=a%20b").body,
        R"({"errors":{"name":"Can only contain characters A-Z, a-z, 0-9 and the following )"
        R"(symbols _ - %"}})");
}

TEST_F(management, collections_are_shown_with_their_defaults) {
    const std::string shown = get("/pools/default/buckets/travel/scopes").body;
    EXPECT_NE(shown.find(R"({"name":"_default","uid":"0","maxTTL":0})"), std::string::npos)
        << shown;
    EXPECT_NE(shown.find(R"("maxTTL":0,"history":false})"), std::string::npos) << shown;
}

TEST_F(management, errors_have_the_texts_of_servers) {
    const auto missing = get("/pools/default/b/nothing");
    EXPECT_EQ(missing.content_type, "text/plain");
    EXPECT_EQ(missing.body, "Requested resource not found.\r\n");
    EXPECT_EQ(get("/nonsense").body, "Not found.");
    EXPECT_EQ(ask("POST", "/pools").body, "Method Not Allowed");
    EXPECT_EQ(ask("GET", "/pools", "", bad_login).body, "");
}

TEST_F(management, the_cluster_is_described_briefly) {
    EXPECT_NE(get("/pools/default/tasks").body.find(R"("status":"notRunning")"), std::string::npos);
    EXPECT_EQ(get("/pools/default/rebalanceProgress").body, R"({"status":"none"})");
    const std::string terse = get("/pools/default/terseClusterInfo").body;
    EXPECT_NE(terse.find(R"("orchestrator":"ns_0@)"), std::string::npos) << terse;
    EXPECT_NE(get("/versions").body.find("7.6.4"), std::string::npos);
}

TEST_F(management, a_buckets_description_is_not_a_configuration) {
    const auto shown = reprise::json::parse(get("/pools/default/buckets/travel").body);
    ASSERT_TRUE(shown);
    for (const char* name : {"rev", "nodesExt", "clusterCapabilities", "clusterName"}) {
        EXPECT_EQ(shown->root.find(name), nullptr) << name;
    }
    EXPECT_NE(shown->root.find("vBucketServerMap"), nullptr);
}

TEST_F(management, what_real_servers_have_beyond_it_is_refused_by_name) {
    for (const char* target :
         {"/settings/autoFailover", "/pools/default/buckets/travel/stats", "/internalSettings",
          "/pools/default/buckets/travel/docs/x"}) {
        const auto refused = get(target);
        EXPECT_EQ(refused.status, 400) << target;
        EXPECT_NE(refused.body.find("is not in the sandbox"), std::string::npos) << target;
        EXPECT_NE(refused.body.find("90000"), std::string::npos) << target;
    }
    EXPECT_EQ(ask("POST", "/controller/rebalance", "knownNodes=x").status, 400);
    EXPECT_EQ(ask("POST", "/pools/default", "memoryQuota=300").status, 400);
    EXPECT_EQ(ask("GET", "/settings/autoFailover", "", bad_login).status, 401);
}

TEST_F(management, streams_send_a_document_per_change) {
    auto response = get("/pools/default/bs/travel");
    ASSERT_TRUE(response.continues);
    EXPECT_TRUE(response.body.ends_with(sandbox::stream_separator));
    EXPECT_FALSE(sandbox::next_stream_document(cluster, node_id{1}, *response.continues));
    const auto generation = cluster.topology().configuration_generation();
    ASSERT_TRUE(cluster.topology().move_vbucket("travel", wire::vbucket_id{0}, node_id{1}));
    EXPECT_NE(cluster.topology().configuration_generation(), generation);
    const auto next = sandbox::next_stream_document(cluster, node_id{1}, *response.continues);
    ASSERT_TRUE(next);
    EXPECT_TRUE(wire::parse_cluster_configuration(next->substr(0, next->size() - 4)));
    EXPECT_FALSE(sandbox::next_stream_document(cluster, node_id{1}, *response.continues));
    EXPECT_TRUE(get("/pools/default/nodeServicesStreaming").continues);
}

TEST_F(management, scopes_and_collections_can_be_created_and_dropped) {
    const std::string scopes = "/pools/default/buckets/travel/scopes";
    const auto manifest = wire::parse_collections_manifest(get(scopes).body);
    ASSERT_TRUE(manifest);
    EXPECT_NE(manifest->find_collection("inventory", "hotel"), nullptr);
    EXPECT_EQ(ask("POST", scopes, "name=new%2Dscope").status, 200);
    EXPECT_EQ(ask("POST", scopes, "name=new-scope").status, 400);
    EXPECT_EQ(ask("POST", scopes, "name=_bad").status, 400);
    EXPECT_EQ(ask("POST", scopes + "/new-scope/collections", "name=c1&maxTTL=60").status, 200);
    EXPECT_EQ(ask("POST", scopes + "/new-scope/collections", "name=c2&maxTTL=x").status, 400);
    EXPECT_EQ(ask("POST", scopes + "/nowhere/collections", "name=c1").status, 404);
    const auto* made = cluster.buckets().manifest("travel")->find_collection("new-scope", "c1");
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->max_ttl, 60);
    const std::string path = scopes + "/new-scope/collections/c1";
    EXPECT_EQ(ask("PATCH", path, "maxTTL=20").status, 200);
    EXPECT_EQ(
        cluster.buckets().manifest("travel")->find_collection("new-scope", "c1")->max_ttl, 20);
    EXPECT_EQ(ask("PATCH", path, "maxTTL=-2").status, 400);
    EXPECT_EQ(ask("PATCH", path, "name=x").status, 400);
    EXPECT_EQ(ask("PATCH", scopes + "/new-scope/collections/none", "maxTTL=1").status, 404);
    EXPECT_EQ(
        ask("PATCH", path, "history=true").body,
        R"({"errors":{"history":"The value must be one of the following: [false]"}})");
    EXPECT_EQ(ask("DELETE", path).status, 200);
    EXPECT_EQ(ask("DELETE", scopes + "/new-scope/collections/c1").status, 404);
    EXPECT_EQ(ask("DELETE", scopes + "/new-scope").status, 200);
    EXPECT_EQ(cluster.buckets().manifest("travel")->find_scope("new-scope"), nullptr);
}

}  // namespace management_test
