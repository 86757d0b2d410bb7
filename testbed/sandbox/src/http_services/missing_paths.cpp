#include "http_services/missing_paths.hpp"

#include <algorithm>

#include <reprise/json/write.hpp>

#include "http_services/query/language.hpp"
#include "http_services/routes.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr wire::service admin_port = wire::service::management;
constexpr wire::service search_port = wire::service::search;
constexpr wire::service query_port = wire::service::query;
constexpr wire::service analytics_port = wire::service::analytics;

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
    {admin_port, "/pools/default", "changing the cluster's settings"},
    {admin_port, "/settings/autoFailover", "auto-failover"},
    {admin_port, "/settings/autoFailover/resetCount", "auto-failover"},
    {admin_port, "/settings/autoReprovision", "auto-reprovisioning"},
    {admin_port, "/settings/retryRebalance", "retrying a rebalance"},
    {admin_port, "/settings/security", "security settings"},
    {admin_port, "/settings/passwordPolicy", "security settings"},
    {admin_port, "/settings/ldap", "LDAP"},
    {admin_port, "/settings/audit", "auditing"},
    {admin_port, "/settings/alerts", "alerts"},
    {admin_port, "/settings/indexes", "index settings"},
    {admin_port, "/settings/maxParallelIndexers", "index settings"},
    {admin_port, "/settings/viewUpdateDaemon", "index settings"},
    {admin_port, "/settings/querySettings", "query settings"},
    {admin_port, "/settings/analytics", "analytics settings"},
    {admin_port, "/settings/replications", "replication between clusters"},
    {admin_port, "/pools/default/remoteClusters", "replication between clusters"},
    {admin_port, "/controller/createReplication", "replication between clusters"},
    {admin_port, "/settings/web", node_setup},
    {admin_port, "/clusterInit", node_setup},
    {admin_port, "/nodeInit", node_setup},
    {admin_port, "/node/controller/rename", node_setup},
    {admin_port, "/node/controller/setupServices", node_setup},
    {admin_port, "/nodes/self/controller/settings", node_setup},
    {admin_port, "/settings/developerPreview", "developer preview"},
    {admin_port, "/internalSettings", "internal settings"},
    {admin_port, "/pools/default/settings/memcached/global", "internal settings"},
    {admin_port, "/pools/default/certificate", certificates},
    {admin_port, "/pools/default/certificates", certificates},
    {admin_port, "/pools/default/trustedCAs", certificates},
    {admin_port, "/node/controller/loadTrustedCAs", certificates},
    {admin_port, "/node/controller/reloadCertificate", certificates},
    {admin_port, "/pools/default/serverGroups", "server groups"},
    {admin_port, "/pools/default/stats/range/{metric}", "statistics"},
    {admin_port, "/pools/default/buckets/{bucket}/stats", bucket_statistics},
    {admin_port, "/pools/default/buckets/{bucket}/nodes", bucket_statistics},
    {admin_port, "/pools/default/buckets/{bucket}/docs", "documents through the management port"},
    {admin_port, "/pools/default/buckets/{bucket}/docs/{id}",
     "documents through the management port"},
    {admin_port, "/pools/default/buckets/{bucket}/localRandomKey",
     "documents through the management port"},
    {admin_port, "/pools/default/buckets/{bucket}/controller/compactBucket", compaction},
    {admin_port, "/pools/default/buckets/{bucket}/controller/compactDatabases", compaction},
    {admin_port, "/pools/default/buckets/{bucket}/controller/unsafePurgeBucket", compaction},
    {admin_port, "/controller/setAutoCompaction", compaction},
    {admin_port, "/pools/default/checkPermissions", "checking permissions"},
    {admin_port, "/sampleBuckets", "sample buckets"},
    {admin_port, "/sampleBuckets/install", "sample buckets"},
    {admin_port, "/controller/addNode", node_changes},
    {admin_port, "/controller/ejectNode", node_changes},
    {admin_port, "/controller/failOver", node_changes},
    {admin_port, "/controller/reAddNode", node_changes},
    {admin_port, "/controller/rebalance", node_changes},
    {admin_port, "/controller/setRecoveryType", node_changes},
    {admin_port, "/controller/startGracefulFailover", node_changes},
    {admin_port, "/controller/stopRebalance", node_changes},
    {admin_port, "/settings/rbac/users/external/{user}", "a user of the external domain"},
    {admin_port, "/logs", "logs"},
    {admin_port, "/events", "logs"},
    {admin_port, "/metrics", "metrics"},
    {admin_port, "/indexStatus", "the status of indexes"},
    {admin_port, "/getIndexStatus", "the status of indexes"},
    {search_port, "/api/index/{index}/analyzeDoc", search_control},
    {search_port, "/api/index/{index}/ingestControl/{op}", search_control},
    {search_port, "/api/index/{index}/planFreezeControl/{op}", search_control},
    {search_port, "/api/index/{index}/queryControl/{op}", search_control},
    {search_port, "/api/bucket/{b}/scope/{s}/index/{index}/analyzeDoc", search_control},
    {search_port, "/api/bucket/{b}/scope/{s}/index/{index}/ingestControl/{op}", search_control},
    {search_port, "/api/bucket/{b}/scope/{s}/index/{index}/planFreezeControl/{op}", search_control},
    {search_port, "/api/bucket/{b}/scope/{s}/index/{index}/queryControl/{op}", search_control},
    {search_port, "/api/index/{index}/status", search_details},
    {search_port, "/api/cfg", search_details},
    {search_port, "/api/diag", search_details},
    {search_port, "/api/log", search_details},
    {search_port, "/api/managerMeta", search_details},
    {search_port, "/api/nsstats", search_details},
    {search_port, "/api/pindex", search_details},
    {search_port, "/api/stats", search_details},
    {search_port, "/api/stats/index/{index}", search_details},
    {query_port, "/admin/active_requests", query_details},
    {query_port, "/admin/completed_requests", query_details},
    {query_port, "/admin/clusters", query_details},
    {query_port, "/admin/config", query_details},
    {query_port, "/admin/prepareds", query_details},
    {query_port, "/admin/prepareds/{name}", query_details},
    {query_port, "/admin/settings", query_details},
    {query_port, "/admin/stats", query_details},
    {query_port, "/admin/vitals", query_details},
    {analytics_port, "/analytics/link", links},
    {analytics_port, "/analytics/link/{scope}", links},
    {analytics_port, "/analytics/link/{scope}/{link}", links},
    {analytics_port, "/analytics/admin/active_requests", analytics_details},
    {analytics_port, "/analytics/cluster", analytics_details},
    {analytics_port, "/analytics/config/service", analytics_details},
    {analytics_port, "/analytics/node/agg/stats/remaining", analytics_details},
    {analytics_port, "/analytics/status/ingestion", analytics_details},
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
    if (found->service == admin_port) {
        body = {{"errors", json::object{{"_", text}}}, {"code", not_in_sandbox_code}};
    } else if (found->service == search_port) {
        body = {{"error", text}, {"status", "fail"}, {"code", not_in_sandbox_code}};
    } else {
        body = {
            {"errors", json::array{json::object{{"code", not_in_sandbox_code}, {"msg", text}}}},
            {"status", "fatal"}};
    }
    return make_service_response(400, json::serialize(body));
}

}  // namespace reprise::sandbox::detail
