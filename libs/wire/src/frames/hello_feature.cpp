#include <reprise/wire/hello_feature.hpp>

#include <array>

namespace reprise::wire {

namespace {

struct hello_feature_row {
    hello_feature feature;
    std::string_view name;
    std::string_view effect;
    hello_feature_set prerequisites = {};
};

// Codes that servers ignore or never acknowledge.
constexpr hello_feature_set never_acknowledged{
    hello_feature::retired_datatype, hello_feature::tls, hello_feature::tcp_delay,
    hello_feature::retired_collections, hello_feature::retired_point_in_time};

constexpr auto hello_feature_rows = std::to_array<hello_feature_row>({
    {hello_feature::retired_datatype, "RetiredDatatype", "ignored"},
    {hello_feature::tls, "TLS", "never implemented"},
    {hello_feature::tcp_no_delay, "TcpNoDelay", "informational"},
    {hello_feature::mutation_seqno, "MutationSeqno", "mutation tokens in mutation responses"},
    {hello_feature::tcp_delay, "TcpDelay", "never acknowledged"},
    {hello_feature::xattr, "Xattr", "extended attributes"},
    {hello_feature::xerror, "Xerror", "extended status codes"},
    {hello_feature::select_bucket, "SelectBucket", "select bucket is available"},
    {hello_feature::retired_collections, "RetiredCollections", "ignored"},
    {hello_feature::snappy, "Snappy", "compressed documents"},
    {hello_feature::json, "Json", "JSON bit on documents and error bodies"},
    {hello_feature::duplex, "Duplex", "the server may send requests"},
    {hello_feature::clustermap_change_notification,
     "ClustermapChangeNotification",
     "pushes the whole cluster map",
     {hello_feature::duplex}},
    {hello_feature::unordered_execution, "UnorderedExecution",
     "the server may answer out of order"},
    {hello_feature::tracing, "Tracing", "server duration in responses"},
    {hello_feature::alt_request_support, "AltRequestSupport", "requests with framing extras"},
    {hello_feature::sync_replication, "SyncReplication", "durability requirements"},
    {hello_feature::collections, "Collections", "keys are prefixed by the collection id"},
    {hello_feature::snappy_everywhere, "SnappyEverywhere", "any response may be compressed"},
    {hello_feature::preserve_ttl, "PreserveTtl", "mutations may keep the expiry"},
    {hello_feature::vattr, "VAttr", "virtual attributes", {hello_feature::xattr}},
    {hello_feature::retired_point_in_time, "RetiredPointInTime", "ignored"},
    {hello_feature::subdoc_create_as_deleted, "SubdocCreateAsDeleted", "doc flag 0x08"},
    {hello_feature::subdoc_document_macro_support,
     "SubdocDocumentMacroSupport",
     "macros of the virtual document attribute",
     {hello_feature::xattr}},
    {hello_feature::subdoc_replace_body_with_xattr, "SubdocReplaceBodyWithXattr", "opcode 0xd3"},
    {hello_feature::report_unit_usage, "ReportUnitUsage",
     "units used in responses; serverless deployments only"},
    {hello_feature::non_blocking_throttling_mode, "NonBlockingThrottlingMode",
     "an error instead of a delay when throttled"},
    {hello_feature::subdoc_replica_read, "SubdocReplicaRead", "doc flag 0x20"},
    {hello_feature::get_cluster_config_with_known_version, "GetClusterConfigWithKnownVersion",
     "get cluster config takes the known revision"},
    {hello_feature::dedupe_not_my_vbucket_clustermap, "DedupeNotMyVbucketClustermap",
     "not-my-vbucket without a map the client has"},
    {hello_feature::clustermap_change_notification_brief,
     "ClustermapChangeNotificationBrief",
     "pushes the revision only",
     {hello_feature::duplex}},
    {hello_feature::subdoc_allows_access_on_multiple_xattr_keys,
     "SubdocAllowsAccessOnMultipleXattrKeys", "several attributes in one command"},
    {hello_feature::subdoc_binary_xattr, "SubdocBinaryXattr", "path flag 0x20"},
    {hello_feature::range_scan_include_xattr,
     "RangeScanIncludeXattr",
     "range scans with attributes",
     {hello_feature::xattr}},
    {hello_feature::subdoc_allow_replica_read_on_deleted_docs,
     "SubdocAllowReplicaReadOnDeletedDocs", "replica reads of tombstones"},
    {hello_feature::get_random_key_include_xattr,
     "GetRandomKeyIncludeXattr",
     "random keys with attributes",
     {hello_feature::xattr, hello_feature::json, hello_feature::snappy_everywhere}},
    {hello_feature::mutate_with_meta, "MutateWithMeta", "the opcode of that name"},
    {hello_feature::dcp_skip_deletes_in_initial_backfill, "DcpSkipDeletesInInitialBackfill",
     "DCP only"},
});

constexpr auto make_hello_feature_table() {
    std::array<hello_feature_facts, hello_feature_rows.size()> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const hello_feature_row& row = hello_feature_rows[i];
        table[i].feature = row.feature;
        table[i].name = row.name;
        table[i].is_known = true;
        table[i].is_acknowledged = !never_acknowledged.contains(row.feature);
        table[i].prerequisites = row.prerequisites;
        table[i].effect = row.effect;
    }
    return table;
}

constexpr auto hello_feature_table = make_hello_feature_table();

constexpr hello_feature_facts unknown_feature{};

}  // namespace

const hello_feature_facts& hello_feature_info(hello_feature feature_code) noexcept {
    // The table has no gaps from code 1 on (a test checks it), so the code is the index.
    const auto code = static_cast<std::size_t>(feature_code);
    if (code == 0 || code > hello_feature_table.size()) {
        return unknown_feature;
    }
    return hello_feature_table[code - 1];
}

std::span<const hello_feature_facts> all_hello_features() noexcept {
    return hello_feature_table;
}

std::string_view to_string(hello_feature feature_code) noexcept {
    return hello_feature_info(feature_code).name;
}

std::optional<missing_prerequisite> find_missing_prerequisite(hello_feature_set asked) noexcept {
    for (const hello_feature_facts& facts : hello_feature_table) {
        if (!asked.contains(facts.feature) || asked.contains_all(facts.prerequisites)) {
            continue;
        }
        for (const hello_feature_facts& needed : hello_feature_table) {
            if (facts.prerequisites.contains(needed.feature) && !asked.contains(needed.feature)) {
                return missing_prerequisite{facts.feature, needed.feature};
            }
        }
    }
    return std::nullopt;
}

}  // namespace reprise::wire
