#include <reprise/wire/cluster_configuration_encode.hpp>

#include <gtest/gtest.h>

#include <reprise/json/parse.hpp>
#include <reprise/wire/cluster_configuration.hpp>

namespace reprise::wire::cluster_configuration_encode_test {

cluster_configuration_description make_description() {
    cluster_configuration_description from;
    from.revision = {2, 77};
    from.bucket_name = "b/1";
    from.bucket_uuid = "00112233445566778899aabbccddeeff";
    from.collections_manifest_uid = 0x1f;
    from.bucket_capabilities = {"collections", "xattr"};
    from.cluster_capabilities = {{"n1ql", "a"}, {"search", "b"}, {"n1ql", "c"}};
    for (std::uint16_t index = 0; index < 3; ++index) {
        cluster_node node;
        node.hostname = index == 1 ? "::1" : "127.0.0.1";
        node.ports.set(
            service::management, transport::plain, static_cast<std::uint16_t>(9001 + index));
        if (index < 2) {
            node.ports.set(
                service::key_value, transport::plain, static_cast<std::uint16_t>(12001 + index));
            node.ports.set(
                service::key_value, transport::tls, static_cast<std::uint16_t>(13001 + index));
            node.ports.set(
                service::views, transport::plain, static_cast<std::uint16_t>(9501 + index));
        }
        from.nodes.push_back(node);
    }
    from.nodes[0].alternates.push_back({"external", "out", {}});
    from.nodes[0].server_group = "group 1";
    from.nodes[0].node_uuid = "n0";
    from.kv_node_count = 2;
    from.replica_count = 1;
    from.vbucket_map = {{0, 1}, {1, 0}, {-1, 0}, {1}};
    from.this_node = 1;
    return from;
}

TEST(cluster_configuration_encode, an_encoded_configuration_parses_to_the_same_value) {
    cluster_configuration_description from = make_description();
    from.forward_map = {{1, 0}, {1, 0}, {1, 0}, {0, 1}};
    const auto result = parse_cluster_configuration(encode_cluster_configuration(from));
    ASSERT_TRUE(result.has_value()) << to_string(result.error());
    const cluster_configuration& read = **result;
    EXPECT_EQ(read.revision(), from.revision);
    EXPECT_EQ(read.bucket_name(), from.bucket_name);
    EXPECT_EQ(read.bucket_uuid(), from.bucket_uuid);
    EXPECT_EQ(read.collections_manifest_uid(), from.collections_manifest_uid);
    EXPECT_EQ(read.kv_node_count(), 2U);
    EXPECT_EQ(read.replica_count(), 1U);
    from.nodes[1].is_this_node = true;
    EXPECT_EQ(std::vector(read.nodes().begin(), read.nodes().end()), from.nodes);
    EXPECT_EQ(read.active_node(1), 1);
    EXPECT_EQ(read.active_node(2), std::nullopt);
    EXPECT_EQ(read.forward_node(0), 1);
    EXPECT_TRUE(read.has_cluster_capability("n1ql", "c"));
    EXPECT_TRUE(read.has_cluster_capability("search", "b"));
}

TEST(cluster_configuration_encode, members_that_shipping_clients_require_are_present) {
    const json::value root = json::parse(encode_cluster_configuration(make_description()))->root;
    const json::value& map = *root.find("vBucketServerMap");
    EXPECT_EQ(map.find("vBucketMapForward"), nullptr);  // absent, never null
    EXPECT_EQ(map.find("serverList")->at(1)->as_string(), "[::1]:12002");
    EXPECT_EQ(map.find("hashAlgorithm")->as_string(), "CRC");
    EXPECT_EQ(root.find("nodes")->as_array()->size(), 2U);
    const json::value& first = *root.find("nodes")->at(0);
    EXPECT_EQ(first.find("hostname")->as_string(), "127.0.0.1:9001");
    EXPECT_EQ(first.find("ports")->find("direct")->as_int64(), 12001);
    EXPECT_EQ(
        first.find("couchApiBase")->as_string(),
        "http://127.0.0.1:9501/b%2F1%2B00112233445566778899aabbccddeeff");
    for (const json::value& node : *root.find("nodesExt")->as_array()) {
        EXPECT_NE(node.find("hostname"), nullptr);
        EXPECT_NE(node.find("services"), nullptr);
        EXPECT_NE(node.find("services")->find("mgmt"), nullptr);
    }
    const json::value& alternates = *root.find("nodesExt")->at(0)->find("alternateAddresses");
    EXPECT_NE(alternates.find("external")->find("ports"), nullptr);
    EXPECT_EQ(root.find("collectionsManifestUid")->as_string(), "1f");
    EXPECT_EQ(root.find("bucketCapabilitiesVer")->as_string(), "");
    EXPECT_EQ(root.find("clusterCapabilities")->find("n1ql")->as_array()->size(), 2U);
}

TEST(cluster_configuration_encode, a_global_configuration_has_no_bucket_members) {
    cluster_configuration_description from = make_description();
    from.bucket_name.clear();
    from.cluster_name = "sand";
    const std::string text = encode_cluster_configuration(from);
    const json::value root = json::parse(text)->root;
    for (const char* name : {"name", "uuid", "nodeLocator", "vBucketServerMap", "nodes"}) {
        EXPECT_EQ(root.find(name), nullptr) << name;
    }
    const auto result = parse_cluster_configuration(text);
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE((*result)->is_global());
    EXPECT_EQ((*result)->cluster_name(), "sand");
}

}  // namespace reprise::wire::cluster_configuration_encode_test
