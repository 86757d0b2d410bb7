#include "conversation.hpp"
#include "service_client.hpp"

#include <map>

namespace bucket_settings_test {

using namespace service_testing;
using sandbox_testing::opcode;
using sandbox_testing::peer;
using sandbox_testing::status;
using wire::service;

struct bucket_settings : testing::Test, service_client {
    const std::string path = "/pools/default/buckets";

    reply shown(const std::string& bucket) {
        return ask(service::management, "GET", path + "/" + bucket);
    }
    // "<status> <field>: <text>" of a refusal.
    std::string refusal(const std::string& target, const std::string& form) {
        const reply made = ask(service::management, "POST", target, form);
        const json::value* errors = made.find("errors");
        if (errors == nullptr || errors->as_object() == nullptr) {
            return std::to_string(made.status) + made.text;
        }
        const json::member& first = *errors->as_object()->begin();
        return std::to_string(made.status) + " " + first.name + ": " +
               std::string(first.content.as_string().value_or(""));
    }
    peer connect(const std::string& bucket) {
        peer client(cluster);
        client.hello(sandbox_testing::usual_features());
        EXPECT_EQ(client.login(), status::success);
        EXPECT_EQ(client.select(bucket), status::success);
        return client;
    }
};

TEST_F(bucket_settings, are_stored_and_returned) {
    EXPECT_EQ(
        ask(service::management, "POST", path,
            "name=b&bucketType=couchbase&ramQuotaMB=256&replicaNumber=0&replicaIndex=1"
            "&flushEnabled=1&maxTTL=60&compressionMode=active&conflictResolutionType=lww"
            "&evictionPolicy=fullEviction&durabilityMinLevel=majority&storageBackend=magma"
            "&historyRetentionSeconds=5&historyRetentionBytes=2147483648"
            "&historyRetentionCollectionDefault=false")
            .status,
        202);
    const std::map<std::string, std::string> wanted{
        {"bucketType", "\"membase\""},
        {"replicaNumber", "0"},
        {"replicaIndex", "true"},
        {"maxTTL", "60"},
        {"compressionMode", "\"active\""},
        {"conflictResolutionType", "\"lww\""},
        {"evictionPolicy", "\"fullEviction\""},
        {"durabilityMinLevel", "\"majority\""},
        {"storageBackend", "\"magma\""},
        {"historyRetentionSeconds", "5"},
        {"historyRetentionBytes", "2147483648"},
        {"historyRetentionCollectionDefault", "false"}};
    const reply made = shown("b");
    for (const auto& [name, value] : wanted) {
        EXPECT_EQ(made.member(name), value) << name;
    }
    EXPECT_EQ(
        ask(service::management, "POST", path + "/b",
            "&ramQuotaMB=128&&maxTTL=0&compressionMode=off&durabilityMinLevel=none&replicaNumber=0")
            .status,
        200);
    const reply changed = shown("b");
    EXPECT_EQ(changed.find("quota")->find("rawRAM")->as_int64(), 128 * 1024 * 1024);
    EXPECT_EQ(changed.member("maxTTL"), "0");
    EXPECT_EQ(changed.member("compressionMode"), "\"off\"");
    EXPECT_EQ(changed.member("evictionPolicy"), "\"fullEviction\"");
    EXPECT_EQ(shown("travel").member("evictionPolicy"), "\"valueOnly\"");
}

TEST_F(bucket_settings, that_are_not_supported_are_refused) {
    EXPECT_EQ(
        refusal(path, "name=b&warmupBehavior=blocking"),
        "400 warmupBehavior: The bucket setting warmupBehavior is not in the sandbox; "
        "docs/sandbox.md lists what is");
    EXPECT_EQ(
        refusal(path, "name=b&bucketType=memcached"),
        "400 bucketType: A bucket of type memcached is not in the sandbox; docs/sandbox.md lists "
        "what is");
    for (const char* form :
         {"maxTTL=-1", "maxTTL=x", "maxTTL=2147483648", "replicaNumber=4", "flushEnabled=maybe",
          "compressionMode=hard", "durabilityMinLevel=much", "storageBackend=paper",
          "evictionPolicy=noEviction", "bucketType=ephemeral&evictionPolicy=valueOnly",
          "bucketType=ephemeral&durabilityMinLevel=persistToMajority", "bucketType=other",
          "historyRetentionSeconds=5", "conflictResolutionType=coin", "ramQuotaMB=0",
          "ramQuotaMB=99", "ramQuota=8193"}) {
        EXPECT_TRUE(refusal(path, "name=b&" + std::string(form)).starts_with("400 ")) << form;
    }
    EXPECT_EQ(
        refusal(path, "name=b&ramQuota=1"), "400 ramQuota: RAM quota cannot be less than 100 MiB");
    EXPECT_EQ(
        refusal(path, "name=b&ramQuota=99999999"),
        "400 ramQuota: RAM quota specified is too large to be provisioned into this cluster.");
    EXPECT_EQ(
        refusal(path, "name=b&ramQuota=100&replicaNumber=9"),
        "400 replicaNumber: Replica number larger than 3 is not supported.");
    const reply refused = ask(service::management, "POST", path, "name=travel&ramQuota=128");
    EXPECT_EQ(
        json::serialize(*refused.find("summaries")->find("ramSummary")->find("perNodeMegs")),
        "128");
    EXPECT_EQ(cluster.buckets().names().size(), 1u);
    const std::string travel = path + "/travel";
    EXPECT_EQ(
        refusal(travel, "replicaNumber=0"),
        "400 replicaNumber: Changing the number of replicas is not in the sandbox; docs/sandbox.md "
        "lists what is");
    EXPECT_EQ(ask(service::management, "POST", travel, "replicaNumber=1").status, 200);
    EXPECT_TRUE(refusal(travel, "storageBackend=magma").starts_with("400 storageBackend"));
    EXPECT_TRUE(refusal(travel, "bucketType=ephemeral").starts_with("400 bucketType"));
    EXPECT_TRUE(
        refusal(travel, "conflictResolutionType=lww").starts_with("400 conflictResolutionType"));
    EXPECT_EQ(
        refusal(travel + "/scopes", "name=s&limits=1"),
        "400 limits: The field limits is not in the sandbox; docs/sandbox.md lists what is");
}

TEST_F(bucket_settings, a_maximum_ttl_applies_unless_the_collection_has_its_own) {
    ASSERT_TRUE(cluster.buckets().create(
        {.name = "short", .settings = {.max_ttl = std::chrono::seconds(60)}}));
    ASSERT_TRUE(cluster.buckets().create_collection("short", "_default", "never", -1));
    ASSERT_TRUE(cluster.buckets().create_collection("short", "_default", "longer", 600));
    peer client = connect("short");
    const std::string name = sandbox_testing::key_on(cluster, 0, "short");
    const auto expiry = [&](const char* collection, std::uint32_t asked) {
        const std::uint32_t id =
            cluster.buckets().manifest("short")->find_collection("_default", collection)->id;
        const wire::store_request store{
            opcode::set, client.key(name, id), 0, asked, sandbox_testing::base::as_bytes("1")};
        EXPECT_EQ(client.ask(store, peer::at(name)).status, status::success);
        return cluster.buckets().find_document("short", wire::collection_id{id}, name, now)->expiry;
    };
    const auto start =
        static_cast<std::uint32_t>(start_of_time.time_since_epoch().count() / 1'000'000'000);
    EXPECT_EQ(expiry("_default", 0), start + 60);
    EXPECT_EQ(expiry("_default", 3600), start + 60);
    EXPECT_EQ(expiry("_default", 30), start + 30);
    EXPECT_EQ(expiry("longer", 0), start + 600);
    EXPECT_EQ(expiry("never", 0), 0u);
}

TEST_F(bucket_settings, weaker_writes_are_raised_to_the_minimum_level) {
    ASSERT_TRUE(cluster.buckets().create(
        {.name = "firm", .settings = {.durability_min = wire::durability_level::majority}}));
    peer client = connect("firm");
    const std::string name = sandbox_testing::key_on(cluster, 0, "firm");
    cluster.durability().hold_replication(true);
    // The answer waits for the majority, although the request did not ask for it.
    EXPECT_TRUE(
        client
            .send(client.bytes_of(
                wire::store_request{
                    opcode::set, client.key(name), 0, 0, sandbox_testing::base::as_bytes("1")},
                peer::at(name)))
            .empty());
    EXPECT_EQ(cluster.durability().pending_write_count(), 1u);
    cluster.durability().hold_replication(false);
    EXPECT_EQ(client.tick().size(), 1u);
}

TEST_F(bucket_settings, have_the_format_that_clients_parse) {
    fill();
    const reply made = shown("travel");
    EXPECT_EQ(json::serialize(*made.find("basicStats")->find("itemCount")), "3");
    const reply pool = ask(service::management, "GET", "/pools/default");
    const reply nodes = ask(service::management, "GET", "/pools/nodes");
    for (const json::value* list : {made.find("nodes"), pool.find("nodes"), nodes.find("nodes")}) {
        ASSERT_NE(list, nullptr);
        EXPECT_EQ(list->at(0)->find("otpNode")->as_string(), "ns_0@127.0.0.1");
        EXPECT_EQ(list->at(1)->find("otpNode")->as_string(), "ns_1@127.0.0.1");
        EXPECT_EQ(list->at(0)->find("clusterMembership")->as_string(), "active");
    }
    const auto status_of = [this](const char* method, const char* target) {
        return ask(service::management, method, target).status;
    };
    EXPECT_EQ(status_of("GET", "/pools/default/buckets/none"), 404);
    EXPECT_EQ(status_of("DELETE", "/pools/default/buckets/none"), 404);
    EXPECT_EQ(status_of("POST", "/pools/default/buckets/none/controller/doFlush"), 404);
    EXPECT_EQ(status_of("GET", "/settings/rbac/users/local/none"), 404);
    EXPECT_EQ(status_of("DELETE", "/settings/rbac/users/local/none"), 404);
    EXPECT_EQ(status_of("DELETE", "/settings/rbac/groups/none"), 404);
    EXPECT_EQ(status_of("GET", "/settings/none"), 404);
    EXPECT_EQ(status_of("PUT", "/pools/nodes"), 405);
    const reply scope =
        ask(service::management, "POST", "/pools/default/buckets/travel/scopes", "name=_x");
    EXPECT_EQ(scope.status, 400);
    EXPECT_NE(scope.find("errors")->find("name"), nullptr) << scope.text;
}

}  // namespace bucket_settings_test
