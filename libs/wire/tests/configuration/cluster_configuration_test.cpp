#include <reprise/wire/cluster_configuration.hpp>

#include <gtest/gtest.h>

#include <string>

namespace reprise::wire::cluster_configuration_test {

using errc = configuration_errc;

// A bucket configuration of two nodes. `changes` replaces the first text of each pair with the
// second.
std::string bucket_text(
    std::initializer_list<std::pair<std::string_view, std::string_view>> changes = {}) {
    std::string text = R"({"rev":7,"revEpoch":1,"name":"b","nodeLocator":"vbucket",
        "uuid":"00ff","collectionsManifestUid":"1f","bucketType":"membase",
        "bucketCapabilities":["collections","xattr"],
        "clusterCapabilitiesVer":[1,0],"clusterCapabilities":{"n1ql":["inlineFunctions"]},
        "nodes":[{"hostname":"10.0.0.1:8091","ports":{"direct":11210}},
                 {"hostname":"10.0.0.2:8091","ports":{"direct":11210}}],
        "nodesExt":[{"hostname":"10.0.0.1","thisNode":true,
                     "services":{"kv":11210,"kvSSL":11207,"mgmt":8091,"projector":9999,
                                 "projector":9999}},
                    {"hostname":"10.0.0.2","services":{"kv":11210,"mgmt":8091}},
                    {"hostname":"10.0.0.3","services":{"mgmt":8091,"n1ql":8093}}],
        "vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":1,
            "serverList":["10.0.0.1:11210","10.0.0.2:11210"],
            "vBucketMap":[[0,1],[1,0],[-1,0],[1,-1]]}})";
    for (const auto& [from, to] : changes) {
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        if (at != std::string::npos) {
            text.replace(at, from.size(), to);
        }
    }
    return text;
}

cluster_configuration_ptr parsed(
    std::string_view text, const parse_configuration_options& options = {}) {
    auto result = parse_cluster_configuration(text, options);
    EXPECT_TRUE(result.has_value()) << (result ? "" : to_string(result.error()));
    return result ? *result : nullptr;
}

configuration_error refused(
    std::string_view text, const parse_configuration_options& options = {}) {
    auto result = parse_cluster_configuration(text, options);
    EXPECT_FALSE(result.has_value()) << text;
    return result ? configuration_error{} : result.error();
}

TEST(cluster_configuration, every_member_of_a_bucket_configuration_is_read) {
    const auto result = parsed(bucket_text());
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(result->revision(), (configuration_revision{1, 7}));
    EXPECT_FALSE(result->is_global());
    EXPECT_EQ(result->bucket_name(), "b");
    EXPECT_EQ(result->bucket_uuid(), "00ff");
    EXPECT_EQ(result->bucket_type(), "membase");
    EXPECT_EQ(result->locator(), node_locator::vbucket);
    EXPECT_EQ(result->collections_manifest_uid(), 0x1fU);
    EXPECT_EQ(result->nodes().size(), 3U);
    EXPECT_EQ(result->kv_node_count(), 2U);
    EXPECT_EQ(result->replica_count(), 1U);
    EXPECT_EQ(result->vbucket_count(), 4U);
    EXPECT_TRUE(result->has_cluster_capability("n1ql", "inlineFunctions"));
    EXPECT_FALSE(result->has_cluster_capability("n1ql", "inline"));
    EXPECT_TRUE(result->nodes()[0].is_this_node);
    EXPECT_EQ(result->nodes()[2].ports.port(service::query, transport::plain), 8093);
    EXPECT_EQ(result->nodes()[1].ports.port(service::key_value, transport::tls), 0);
}

TEST(cluster_configuration, VB_08_rows_return_no_node_for_minus_one_and_past_their_end) {
    const auto result = parsed(bucket_text({{"[1,-1]]", "[],[1]]"}}));
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(result->vbucket_count(), 5U);
    EXPECT_EQ(result->active_node(0), 0);
    EXPECT_EQ(result->replica_node(0, 1), 1);
    EXPECT_EQ(result->replica_node(0, 0), std::nullopt);
    EXPECT_EQ(result->replica_node(0, 2), std::nullopt);
    EXPECT_EQ(result->active_node(2), std::nullopt);
    EXPECT_EQ(result->replica_node(2, 1), 0);
    EXPECT_EQ(result->active_node(3), std::nullopt);
    EXPECT_EQ(result->active_node(4), 1);
    EXPECT_EQ(result->replica_node(4, 1), std::nullopt);
    EXPECT_EQ(result->active_node(5), std::nullopt);
    EXPECT_EQ(result->active_node(SIZE_MAX), std::nullopt);
}

TEST(cluster_configuration, VB_10_a_forward_entry_of_minus_one_means_no_forward_node) {
    const auto result =
        parsed(bucket_text({{"[1,-1]]", "[1,-1]],\"vBucketMapForward\":[[1,0],[-1,0],[0,1],[]]"}}));
    ASSERT_NE(result, nullptr);
    EXPECT_TRUE(result->has_forward_map());
    EXPECT_EQ(result->forward_node(0), 1);
    EXPECT_EQ(result->forward_node(1), std::nullopt);
    EXPECT_EQ(result->forward_node(2), 0);
    EXPECT_EQ(result->forward_node(3), std::nullopt);
}

TEST(cluster_configuration, an_absent_null_or_empty_forward_map_means_no_forward_map) {
    EXPECT_FALSE(parsed(bucket_text())->has_forward_map());
    for (const char* none :
         {"[1,-1]],\"vBucketMapForward\":null", "[1,-1]],\"vBucketMapForward\":[]"}) {
        const auto result = parsed(bucket_text({{"[1,-1]]", none}}));
        ASSERT_NE(result, nullptr);
        EXPECT_FALSE(result->has_forward_map());
        EXPECT_EQ(result->forward_node(0), std::nullopt);
    }
}

TEST(cluster_configuration, VB_09_invalid_maps_are_rejected_with_path_and_reason) {
    const auto map_error = [](std::string_view rows) {
        return refused(bucket_text({{"[[0,1],[1,0],[-1,0],[1,-1]]", rows}}));
    };
    const configuration_error range = map_error("[[0,1],[0,2]]");
    EXPECT_EQ(range.code, errc::node_out_of_range);
    EXPECT_EQ(
        to_string(range),
        "vBucketServerMap.vBucketMap[1][1]: index out of range: names node 2 of 2");
    EXPECT_EQ(map_error("[[-2]]").code, errc::node_out_of_range);
    EXPECT_EQ(map_error("[[9223372036854775807]]").code, errc::node_out_of_range);
    EXPECT_EQ(map_error("[[0,1,0,1,0]]").code, errc::row_too_wide);
    EXPECT_EQ(map_error("[0]").code, errc::wrong_type);
    EXPECT_EQ(map_error("[[\"0\"]]").code, errc::wrong_type);
    EXPECT_EQ(map_error("{}").code, errc::wrong_type);
    EXPECT_EQ(map_error("null").code, errc::missing_member);
    EXPECT_EQ(map_error("[[0]],\"vBucketMapForward\":[[0],[1]]").code, errc::forward_map_mismatch);
    EXPECT_EQ(map_error("[[0]],\"vBucketMapForward\":[[2]]").code, errc::node_out_of_range);
    std::string long_map = "[[0]";
    for (std::size_t row = 0; row < vbucket_count_max; ++row) {
        long_map += ",[0]";
    }
    EXPECT_EQ(map_error(long_map + "]").code, errc::vbucket_map_too_long);
}

TEST(cluster_configuration, VB_09_invalid_structure_is_rejected_with_path_and_reason) {
    EXPECT_EQ(refused("").code, errc::not_json);
    EXPECT_EQ(refused("{\"rev\":1").code, errc::not_json);
    EXPECT_EQ(refused("[]").code, errc::wrong_type);
    EXPECT_EQ(refused(bucket_text({{"\"vBucketServerMap\"", "\"x\""}})).path, "vBucketServerMap");
    EXPECT_EQ(refused(bucket_text({{"\"serverList\"", "\"x\""}})).code, errc::missing_member);
    EXPECT_EQ(
        refused(bucket_text({{"\"vbucket\"", "\"rendezvous\""}})).code, errc::locator_unknown);
    EXPECT_EQ(refused(bucket_text({{"\"name\":\"b\"", "\"name\":5"}})).code, errc::wrong_type);
    EXPECT_EQ(refused(bucket_text({{"\"name\":\"b\"", "\"name\":\"\""}})).path, "name");
    EXPECT_EQ(refused(bucket_text({{"\"1f\"", "\"xyz\""}})).path, "collectionsManifestUid");
    EXPECT_EQ(refused(bucket_text({{"11207", "65536"}})).path, "nodesExt[0].services.kvSSL");
    EXPECT_EQ(refused(bucket_text({{"11207", "\"11207\""}})).code, errc::wrong_type);
    EXPECT_EQ(
        refused(bucket_text({{"\"hostname\":\"10.0.0.3\"", "\"hostname\":\"a b\""}})).code,
        errc::host_invalid);
    EXPECT_EQ(
        refused(bucket_text({{"\"numReplicas\":1", "\"numReplicas\":4"}})).code,
        errc::row_too_wide);
    EXPECT_EQ(
        refused(bucket_text({{"\"10.0.0.2:11210\"]", "\"10.0.0.2:11210\",\"a:1\",\"b:1\"]"}})).code,
        errc::node_list_too_short);
    parse_configuration_options options;
    options.size_max_bytes = 100;
    EXPECT_EQ(refused(bucket_text(), options).code, errc::too_large);
}

TEST(cluster_configuration, VB_09_revisions_out_of_range_are_rejected_and_never_wrap) {
    const auto revision_error = [](std::string_view rev) {
        return refused(bucket_text({{"\"rev\":7", rev}}));
    };
    EXPECT_EQ(revision_error("\"rev\":18446744073709551616").code, errc::revision_invalid);
    EXPECT_EQ(revision_error("\"rev\":-1").code, errc::revision_invalid);
    EXPECT_EQ(revision_error("\"rev\":1.5").code, errc::revision_invalid);
    EXPECT_EQ(revision_error("\"rev\":\"7\"").code, errc::revision_invalid);
    EXPECT_EQ(revision_error("\"x\":7").path, "rev");
    EXPECT_EQ(refused(bucket_text({{"\"revEpoch\":1", "\"revEpoch\":-1"}})).path, "revEpoch");
    EXPECT_EQ(
        parsed(bucket_text({{"\"rev\":7", "\"rev\":18446744073709551615"}}))->revision().rev,
        UINT64_MAX);
    EXPECT_EQ(
        refused(bucket_text({{"\"revEpoch\":1", "\"revEpoch\":9223372036854775808"}})).path,
        "revEpoch");
    parse_configuration_options options;
    options.revision_required = false;
    EXPECT_EQ(parsed(bucket_text({{"\"rev\":7", "\"x\":7"}}), options)->revision().rev, 0);
}

TEST(cluster_configuration, VB_08_a_map_without_rows_has_no_owners_and_is_valid) {
    const auto empty = parsed(bucket_text({{R"([[0,1],[1,0],[-1,0],[1,-1]])", "[]"}}));
    EXPECT_EQ(empty->locator(), node_locator::vbucket);
    EXPECT_EQ(empty->vbucket_count(), 0U);
    EXPECT_EQ(empty->active_node(0), std::nullopt);
    EXPECT_FALSE(empty->has_owners());
    EXPECT_FALSE(
        parsed(bucket_text({{R"([[0,1],[1,0],[-1,0],[1,-1]])", "[[-1,1],[]]"}}))->has_owners());
    EXPECT_TRUE(parsed(bucket_text())->has_owners());
}

TEST(cluster_configuration, revisions_compare_epoch_first) {
    const auto without_epoch = parsed(bucket_text({{"\"revEpoch\":1", "\"revEpoch\":null"}}));
    EXPECT_EQ(without_epoch->revision(), (configuration_revision{0, 7}));
    EXPECT_LT((configuration_revision{0, 900}), (configuration_revision{1, 1}));
    EXPECT_LT((configuration_revision{1, 1}), (configuration_revision{1, 2}));
    EXPECT_LT((configuration_revision{1, INT64_MAX}), (configuration_revision{1, UINT64_MAX}));
    EXPECT_EQ(to_string(configuration_revision{1, 206}), "1:206");
}

TEST(cluster_configuration, missing_hosts_and_the_placeholder_become_the_source_host) {
    parse_configuration_options options;
    options.source_host = "fe80::7";
    const auto result = parsed(
        bucket_text(
            {{"\"hostname\":\"10.0.0.1\",", ""},
             {"\"hostname\":\"10.0.0.2\"", "\"hostname\":\"$HOST\""}}),
        options);
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(result->nodes()[0].hostname, "fe80::7");
    EXPECT_EQ(result->nodes()[1].hostname, "fe80::7");
    EXPECT_EQ(result->nodes()[2].hostname, "10.0.0.3");
}

TEST(cluster_configuration, without_nodes_ext_server_list_and_nodes_are_joined_by_host) {
    parse_configuration_options options;
    options.source_host = "10.9.9.9";
    const auto result = parsed(
        R"({"rev":3,"name":"b","nodeLocator":"vbucket",
        "nodes":[{"hostname":"other:8091","ports":{"direct":11210}},
                 {"hostname":"$HOST:9001","ports":{"direct":12001},
                  "couchApiBase":"http://$HOST:9501/b"},
                 {"hostname":"[::1]:9002"}],
        "vBucketServerMap":{"serverList":["$HOST:12001","[::1]:12002"],
                            "vBucketMap":[[0,1],[1,0]]}})",
        options);
    ASSERT_NE(result, nullptr);
    ASSERT_EQ(result->nodes().size(), 3U);
    EXPECT_EQ(result->kv_node_count(), 2U);
    EXPECT_EQ(result->replica_count(), 1U);
    EXPECT_EQ(
        result->nodes()[0].endpoint(service::key_value, transport::plain),
        (endpoint_view{"10.9.9.9", 12001}));
    EXPECT_EQ(result->nodes()[0].ports.port(service::management, transport::plain), 9001);
    EXPECT_EQ(result->nodes()[0].ports.port(service::views, transport::plain), 9501);
    EXPECT_EQ(
        result->nodes()[1].endpoint(service::management, transport::plain),
        (endpoint_view{"::1", 9002}));
    EXPECT_EQ(result->nodes()[1].ports.port(service::key_value, transport::plain), 12002);
    EXPECT_EQ(result->nodes()[2].hostname, "other");
}

TEST(cluster_configuration, VB_09_malformed_hosts_in_the_older_lists_are_rejected) {
    const auto legacy_error = [](std::string_view server, std::string_view host) {
        return refused(
            R"({"rev":3,"name":"b","nodes":[{"hostname":")" + std::string(host) +
            R"("}],"vBucketServerMap":{"serverList":[")" + std::string(server) +
            R"("],"vBucketMap":[[0]]}})");
    };
    EXPECT_EQ(legacy_error("a", "a:1").path, "vBucketServerMap.serverList[0]");
    EXPECT_EQ(legacy_error("a:x", "a:1").code, errc::host_invalid);
    EXPECT_EQ(legacy_error("a:70000", "a:1").code, errc::host_invalid);
    EXPECT_EQ(legacy_error("::1:1", "a:1").code, errc::host_invalid);
    EXPECT_EQ(legacy_error(":1", "a:1").code, errc::host_invalid);
    EXPECT_EQ(legacy_error("a:1", "a").path, "nodes[0].hostname");
}

TEST(cluster_configuration, a_global_configuration_has_nodes_and_no_map) {
    const auto result = parsed(R"({"rev":26,"revEpoch":2,"clusterName":"c","clusterUUID":"u",
        "nodesExt":[{"services":{"mgmt":8091,"kv":11210},"thisNode":true}],
        "clusterCapabilitiesVer":[2,0],"clusterCapabilities":{"n1ql":["x"]}})");
    ASSERT_NE(result, nullptr);
    EXPECT_TRUE(result->is_global());
    EXPECT_EQ(result->locator(), node_locator::none);
    EXPECT_EQ(result->vbucket_count(), 0U);
    EXPECT_EQ(result->active_node(0), std::nullopt);
    EXPECT_EQ(result->cluster_name(), "c");
    EXPECT_EQ(result->cluster_uuid(), "u");
    EXPECT_FALSE(result->has_cluster_capability("n1ql", "x"));  // its version is unknown
    EXPECT_EQ(refused(R"({"rev":1,"nodesExt":[]})").path, "nodesExt");
    EXPECT_EQ(refused(R"({"rev":1})").code, errc::missing_member);
}

TEST(cluster_configuration, a_ketama_bucket_has_no_map) {
    const auto result = parsed(R"({"rev":5,"name":"m","nodeLocator":"ketama",
        "nodes":[{"hostname":"$HOST:8091","ports":{"direct":11210}}],
        "nodesExt":[{"services":{"kv":11210}},{"hostname":"q","services":{"n1ql":8093}}]})");
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(result->locator(), node_locator::ketama);
    EXPECT_EQ(result->vbucket_count(), 0U);
    EXPECT_EQ(result->kv_node_count(), 1U);
}

TEST(cluster_configuration, members_that_are_null_or_unknown_are_ignored) {
    const auto result = parsed(bucket_text(
        {{"\"bucketType\":\"membase\"", "\"bucketType\":null,\"saslPassword\":null,\"new\":[{}]"},
         {"\"services\":{\"kv\":11210,\"mgmt\":8091}", "\"services\":null"}}));
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(result->bucket_type(), "");
    EXPECT_TRUE(result->nodes()[1].ports.is_empty());
}

}  // namespace reprise::wire::cluster_configuration_test
