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
         {"/pools/default/b/travel", "/pools/default/buckets/travel",
          "/pools/default/b/travel?bucket_uuid=x"}) {
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

TEST_F(management, streams_send_a_document_per_change) {
    auto response = get("/pools/default/bs/travel");
    ASSERT_TRUE(response.continues);
    EXPECT_TRUE(response.body.ends_with(sandbox::stream_separator));
    EXPECT_FALSE(sandbox::next_stream_document(cluster, node_id{1}, *response.continues));
    const auto generation = cluster.configuration_generation();
    ASSERT_TRUE(cluster.move_vbucket("travel", wire::vbucket_id{0}, node_id{1}));
    EXPECT_NE(cluster.configuration_generation(), generation);
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
    const auto* made = cluster.manifest("travel")->find_collection("new-scope", "c1");
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->max_ttl, 60);
    EXPECT_EQ(ask("DELETE", scopes + "/new-scope/collections/c1").status, 200);
    EXPECT_EQ(ask("DELETE", scopes + "/new-scope/collections/c1").status, 404);
    EXPECT_EQ(ask("DELETE", scopes + "/new-scope").status, 200);
    EXPECT_EQ(cluster.manifest("travel")->find_scope("new-scope"), nullptr);
}

}  // namespace management_test
