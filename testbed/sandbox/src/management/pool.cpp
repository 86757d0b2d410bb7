#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "management/bucket_settings.hpp"
#include "management/routes.hpp"
#include "management/texts.hpp"

namespace reprise::sandbox::detail {

namespace {

// 7.6 in the servers' notation: major * 65536 + minor.
constexpr std::uint32_t compatibility_shown = 7 * 65536 + 6;
// Shown in place of the machine's memory, which has no meaning here.
constexpr std::uint64_t memory_shown = memory_quota_mb * 1024 * 1024;

service_response json_response(const json::value& body) {
    return make_service_response(200, json::serialize(body));
}

json::array shown_services(const wire::cluster_node& at) {
    json::array names{"kv"};
    for (const wire::service each : wire::list_services(wire::is_optional_service)) {
        // Views belong to the data service.
        if (each != wire::service::views && at.ports.port(each, wire::transport::plain) != 0) {
            names.emplace_back(wire::port_member(each, wire::transport::plain));
        }
    }
    return names;
}

json::object shown_node(service_exchange& with, node_id id) {
    const wire::cluster_node& at = *with.cluster.topology().endpoints_of(id);
    const auto port = [&at](wire::service which, wire::transport over) {
        return at.ports.port(which, over);
    };
    const std::string number = std::to_string(id.value);
    const std::string host =
        wire::to_host_port(at.hostname, port(wire::service::management, wire::transport::plain));
    json::object ports{
        {"direct", port(wire::service::key_value, wire::transport::plain)}, {"distTCP", 21100}};
    if (const auto tls = port(wire::service::management, wire::transport::tls); tls != 0) {
        ports.set("httpsMgmt", tls);
    }
    const bool is_up = with.cluster.topology().state_of(id) == node_state::up;
    json::object node{
        {"otpNode", "ns_" + number + "@" + at.hostname},
        {"nodeUUID", with.services.cluster.cluster_uuid.substr(0, 28) +
                         std::string(4 - std::min<std::size_t>(4, number.size()), '0') + number},
        {"hostname", host},
        {"configuredHostname", host},
        {"status", is_up ? "healthy" : "unhealthy"},
        {"clusterMembership", "active"},
        {"recoveryType", "none"},
        {"version", version_shown},
        {"clusterCompatibility", compatibility_shown},
        {"os", "sandbox"},
        {"cpuCount", 1},
        {"uptime", "0"},
        {"memoryTotal", memory_shown},
        {"memoryFree", memory_shown},
        {"mcdMemoryReserved", memory_quota_mb},
        {"mcdMemoryAllocated", memory_quota_mb},
        {"services", shown_services(at)},
        {"ports", std::move(ports)},
        {"nodeEncryption", false},
        {"addressFamily", "inet"},
        {"systemStats", json::object{}},
        {"interestingStats", json::object{}}};
    if (id == with.node) {
        node.set("thisNode", true);
    }
    return node;
}

json::object shown_pool(service_exchange& with) {
    const bool is_rebalancing = with.cluster.topology().rebalance_status().is_running;
    return {
        {"name", "default"},
        {"clusterName", with.cluster.options().cluster_name},
        {"nodes", shown_nodes(with)},
        {"buckets",
         json::object{
             {"uri", "/pools/default/buckets"},
             {"terseBucketsBase", "/pools/default/b/"},
             {"terseStreamingBucketsBase", "/pools/default/bs/"}}},
        {"rebalanceStatus", is_rebalancing ? "running" : "none"},
        {"memoryQuota", memory_quota_mb}};
}

service_response shown_configuration(
    service_exchange& with, const std::string& bucket, bool is_stream) {
    auto text = with.cluster.topology().configuration_text(with.node, bucket);
    if (!text) {
        return no_such_resource();
    }
    service_response response = make_service_response(200, *std::move(text));
    if (is_stream) {
        response.body += stream_separator;
        response.continues = management_response::stream{
            bucket, *with.cluster.topology().configuration_revision(with.node, bucket)};
    }
    return response;
}

}  // namespace

json::array shown_nodes(service_exchange& with) {
    const std::vector<node_id> ids = with.cluster.topology().nodes();
    json::array nodes;
    nodes.reserve(ids.size());
    for (const node_id id : ids) {
        nodes.emplace_back(shown_node(with, id));
    }
    return nodes;
}

service_response get_welcome(service_exchange&) {
    return make_service_response(200, "sandbox\n", "text/plain");
}

service_response get_who_am_i(service_exchange& with) {
    json::object shown{
        {"id", with.user->name},
        {"domain", is_built_in(*with.user) ? "admin" : "local"},
        {"roles", shown_roles(with.rights.grants())}};
    if (!with.user->full_name.empty()) {
        shown.set("name", with.user->full_name);
    }
    return json_response(shown);
}

service_response get_pools(service_exchange& with) {
    return json_response(json::object{
        {"isAdminCreds", has_all(with.rights.in_cluster(), privilege::everything)},
        {"isROAdminCreds", false},
        {"isEnterprise", true},
        {"implementationVersion", version_shown},
        {"uuid", with.services.cluster.cluster_uuid},
        {"pools", json::array{json::object{
                      {"name", "default"},
                      {"uri", "/pools/default?uuid=" + with.services.cluster.cluster_uuid},
                      {"streamingUri",
                       "/poolsStreaming/default?uuid=" + with.services.cluster.cluster_uuid}}}}});
}

service_response get_default_pool(service_exchange& with) {
    return json_response(shown_pool(with));
}

service_response get_nodes(service_exchange& with) {
    return json_response(json::object{{"name", "default"}, {"nodes", shown_nodes(with)}});
}

service_response list_tasks(service_exchange& with) {
    const bool is_running = with.cluster.topology().rebalance_status().is_running;
    return json_response(json::array{json::object{
        {"type", "rebalance"},
        {"subtype", "rebalance"},
        {"status", is_running ? "running" : "notRunning"},
        {"statusIsStale", false},
        {"masterRequestTimedOut", false}}});
}

service_response get_rebalance_progress(service_exchange& with) {
    return json_response(json::object{
        {"status", with.cluster.topology().rebalance_status().is_running ? "running" : "none"}});
}

service_response get_terse_cluster(service_exchange& with) {
    const std::vector<node_id> ids = with.cluster.topology().nodes();
    return json_response(json::object{
        {"clusterUUID", with.services.cluster.cluster_uuid},
        {"orchestrator",
         ids.empty() ? json::value() : *shown_node(with, ids.front()).find("otpNode")},
        {"isBalanced", !with.cluster.topology().rebalance_status().is_running},
        {"clusterCompatVersion", "7.6"}});
}

service_response get_versions(service_exchange&) {
    return json_response(json::object{
        {"implementationVersion", version_shown},
        {"componentsVersion", json::object{{"ns_server", version_shown}}}});
}

service_response get_own_node(service_exchange& with) {
    return json_response(shown_node(with, with.node));
}

service_response get_global_configuration(service_exchange& with) {
    return shown_configuration(with, {}, false);
}

service_response stream_global_configuration(service_exchange& with) {
    return shown_configuration(with, {}, true);
}

service_response get_bucket_configuration(service_exchange& with) {
    return shown_configuration(with, with.parts[3], false);
}

service_response stream_bucket_configuration(service_exchange& with) {
    return shown_configuration(with, with.parts[3], true);
}

}  // namespace reprise::sandbox::detail
