#include "services/missing_paths.hpp"

#include <algorithm>

#include <reprise/json/write.hpp>

#include "services/query/language.hpp"
#include "services/routes.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr wire::service admin = wire::service::management;
constexpr wire::service search = wire::service::search;
constexpr wire::service query = wire::service::query;
constexpr wire::service analytics = wire::service::analytics;

constexpr std::string_view node_changes = "changing nodes through the management port";
constexpr std::string_view node_setup = "setting up a node";
constexpr std::string_view certificates = "managing certificates";
constexpr std::string_view bucket_statistics = "bucket statistics";
constexpr std::string_view compaction = "compaction";
constexpr std::string_view search_control = "search index control";
constexpr std::string_view search_details = "details of the search service";
constexpr std::string_view query_details = "details of the query service";
constexpr std::string_view links = "analytics links";
constexpr std::string_view analytics_details = "details of the analytics service";

constexpr missing_path path_table[] = {
    {admin, "/pools/default", "changing the cluster's settings"},
    {admin, "/settings/autoFailover", "auto-failover"},
    {admin, "/settings/autoFailover/resetCount", "auto-failover"},
    {admin, "/settings/autoReprovision", "auto-reprovisioning"},
    {admin, "/settings/retryRebalance", "retrying a rebalance"},
    {admin, "/settings/security", "security settings"},
    {admin, "/settings/passwordPolicy", "security settings"},
    {admin, "/settings/ldap", "LDAP"},
    {admin, "/settings/audit", "auditing"},
    {admin, "/settings/alerts", "alerts"},
    {admin, "/settings/indexes", "index settings"},
    {admin, "/settings/maxParallelIndexers", "index settings"},
    {admin, "/settings/viewUpdateDaemon", "index settings"},
    {admin, "/settings/querySettings", "query settings"},
    {admin, "/settings/analytics", "analytics settings"},
    {admin, "/settings/replications", "replication between clusters"},
    {admin, "/pools/default/remoteClusters", "replication between clusters"},
    {admin, "/controller/createReplication", "replication between clusters"},
    {admin, "/settings/web", node_setup},
    {admin, "/clusterInit", node_setup},
    {admin, "/nodeInit", node_setup},
    {admin, "/node/controller/rename", node_setup},
    {admin, "/node/controller/setupServices", node_setup},
    {admin, "/nodes/self/controller/settings", node_setup},
    {admin, "/settings/developerPreview", "developer preview"},
    {admin, "/internalSettings", "internal settings"},
    {admin, "/pools/default/settings/memcached/global", "internal settings"},
    {admin, "/pools/default/certificate", certificates},
    {admin, "/pools/default/certificates", certificates},
    {admin, "/pools/default/trustedCAs", certificates},
    {admin, "/node/controller/loadTrustedCAs", certificates},
    {admin, "/node/controller/reloadCertificate", certificates},
    {admin, "/pools/default/serverGroups", "server groups"},
    {admin, "/pools/default/stats/range/{metric}", "statistics"},
    {admin, "/pools/default/buckets/{bucket}/stats", bucket_statistics},
    {admin, "/pools/default/buckets/{bucket}/nodes", bucket_statistics},
    {admin, "/pools/default/buckets/{bucket}/docs", "documents through the management port"},
    {admin, "/pools/default/buckets/{bucket}/docs/{id}", "documents through the management port"},
    {admin, "/pools/default/buckets/{bucket}/localRandomKey",
     "documents through the management port"},
    {admin, "/pools/default/buckets/{bucket}/controller/compactBucket", compaction},
    {admin, "/pools/default/buckets/{bucket}/controller/compactDatabases", compaction},
    {admin, "/pools/default/buckets/{bucket}/controller/unsafePurgeBucket", compaction},
    {admin, "/controller/setAutoCompaction", compaction},
    {admin, "/pools/default/checkPermissions", "checking permissions"},
    {admin, "/sampleBuckets", "sample buckets"},
    {admin, "/sampleBuckets/install", "sample buckets"},
    {admin, "/controller/addNode", node_changes},
    {admin, "/controller/ejectNode", node_changes},
    {admin, "/controller/failOver", node_changes},
    {admin, "/controller/reAddNode", node_changes},
    {admin, "/controller/rebalance", node_changes},
    {admin, "/controller/setRecoveryType", node_changes},
    {admin, "/controller/startGracefulFailover", node_changes},
    {admin, "/controller/stopRebalance", node_changes},
    {admin, "/settings/rbac/users/external/{user}", "a user of the external domain"},
    {admin, "/logs", "logs"},
    {admin, "/events", "logs"},
    {admin, "/metrics", "metrics"},
    {admin, "/indexStatus", "the status of indexes"},
    {admin, "/getIndexStatus", "the status of indexes"},
    {search, "/api/index/{index}/analyzeDoc", search_control},
    {search, "/api/index/{index}/ingestControl/{op}", search_control},
    {search, "/api/index/{index}/planFreezeControl/{op}", search_control},
    {search, "/api/index/{index}/queryControl/{op}", search_control},
    {search, "/api/bucket/{b}/scope/{s}/index/{index}/analyzeDoc", search_control},
    {search, "/api/bucket/{b}/scope/{s}/index/{index}/ingestControl/{op}", search_control},
    {search, "/api/bucket/{b}/scope/{s}/index/{index}/planFreezeControl/{op}", search_control},
    {search, "/api/bucket/{b}/scope/{s}/index/{index}/queryControl/{op}", search_control},
    {search, "/api/index/{index}/status", search_details},
    {search, "/api/cfg", search_details},
    {search, "/api/diag", search_details},
    {search, "/api/log", search_details},
    {search, "/api/managerMeta", search_details},
    {search, "/api/nsstats", search_details},
    {search, "/api/pindex", search_details},
    {search, "/api/stats", search_details},
    {search, "/api/stats/index/{index}", search_details},
    {query, "/admin/active_requests", query_details},
    {query, "/admin/completed_requests", query_details},
    {query, "/admin/clusters", query_details},
    {query, "/admin/config", query_details},
    {query, "/admin/prepareds", query_details},
    {query, "/admin/prepareds/{name}", query_details},
    {query, "/admin/settings", query_details},
    {query, "/admin/stats", query_details},
    {query, "/admin/vitals", query_details},
    {analytics, "/analytics/link", links},
    {analytics, "/analytics/link/{scope}", links},
    {analytics, "/analytics/link/{scope}/{link}", links},
    {analytics, "/analytics/admin/active_requests", analytics_details},
    {analytics, "/analytics/cluster", analytics_details},
    {analytics, "/analytics/config/service", analytics_details},
    {analytics, "/analytics/node/agg/stats/remaining", analytics_details},
    {analytics, "/analytics/status/ingestion", analytics_details},
};

}  // namespace

std::span<const missing_path> missing_paths() noexcept {
    return path_table;
}

std::optional<service_response> refuse_missing_path(const service_exchange& with) {
    const auto* found = std::ranges::find_if(path_table, [&with](const missing_path& each) {
        return each.service == with.request.service && fits_path(each.path, with.parts);
    });
    if (found == std::end(path_table)) {
        return std::nullopt;
    }
    const std::string text =
        not_in_sandbox_text(std::string(found->path) + " (" + std::string(found->shown) + ")");
    json::object body;
    if (found->service == admin) {
        body = {{"errors", json::object{{"_", text}}}, {"code", not_in_sandbox_code}};
    } else if (found->service == search) {
        body = {{"error", text}, {"status", "fail"}, {"code", not_in_sandbox_code}};
    } else {
        body = {
            {"errors", json::array{json::object{{"code", not_in_sandbox_code}, {"msg", text}}}},
            {"status", "fatal"}};
    }
    return make_service_response(400, json::serialize(body));
}

}  // namespace reprise::sandbox::detail
