// Applies cluster configurations and updates the links.

#include <algorithm>
#include <utility>

#include <reprise/wire/compression.hpp>

#include "connections/connection_problem.hpp"
#include "topology/route.hpp"
#include "topology/terminal_state.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {
namespace {

// Of a configuration that a server sent unasked, once inflated.
constexpr std::size_t pushed_size_max_bytes = std::size_t{8} * 1024 * 1024;

}  // namespace

configuration_effect topology::apply(
    bucket_state& bucket, std::string_view text, std::string_view source_host, time_point now) {
    wire::parse_configuration_options parsing;
    parsing.source_host = source_host;
    auto parsed = wire::parse_cluster_configuration(text, parsing);
    if (!parsed) {
        ++context_.counters.configurations_refused;
        bucket.configuration_problem = std::string(source_host) + ": configuration refused: " +
                                       shown(wire::to_string(parsed.error()));
        context_.log(log_level::warn, bucket.configuration_problem);
        return configuration_effect::unreadable;
    }
    const bool is_newer =
        !bucket.configuration || (*parsed)->revision() > bucket.configuration->revision();
    const bool is_ours = (*parsed)->bucket_name() == bucket.name;
    if (!is_ours) {
        bucket.configuration_problem = std::string(source_host) +
                                       ": configuration refused: it belongs to bucket \"" +
                                       shown((*parsed)->bucket_name()) + "\"";
        context_.log(log_level::warn, bucket.configuration_problem);
    }
    if (!is_ours || !is_newer) {
        ++context_.counters.configurations_refused;
        return configuration_effect::refused;
    }
    // Servers that are being set up briefly send a map without owners. The old map is better than
    // none.
    const bool had_owners = bucket.configuration && bucket.configuration->vbucket_count() != 0;
    if (had_owners && (*parsed)->vbucket_count() == 0) {
        ++context_.counters.configurations_refused;
        context_.log(
            log_level::warn, "configuration " + to_string((*parsed)->revision()) + " of " +
                                 bucket.name + " names no owners; keeping the previous one");
        return configuration_effect::refused;
    }
    // Another loop may have handed over a newer one before this loop could use it.
    const auto newest = bucket.newest->offer(std::move(*parsed));
    context_.tell_others({loop_note::subject::configuration, bucket.name, newest});
    ++context_.counters.configurations_applied;  // by the client: other loops do not count it
    install(bucket, newest, now);
    return configuration_effect::applied;
}

// The seeds determine the network. Without them, this loop waits for its own configuration.
void topology::take_from_other_loop(
    std::string_view name, const wire::cluster_configuration_ptr& newest, time_point now) {
    if (network_.empty() && seeds_.empty()) {
        return;
    }
    for (const auto& bucket : buckets_) {
        const wire::cluster_configuration* known = bucket->configuration.get();
        const bool is_newer = known == nullptr || newest->revision() > known->revision();
        const bool loses_owners =
            known != nullptr && known->vbucket_count() != 0 && newest->vbucket_count() == 0;
        if (bucket->name == name && bucket->is_open && is_newer && !loses_owners) {
            return install(*bucket, newest, now);
        }
    }
}

void topology::take_push(
    bucket_state& bucket, const wire::cluster_map_change_notification& pushed,
    std::string_view source_host, time_point now) {
    const wire::configuration_revision announced{pushed.epoch.value_or(0), pushed.rev};
    const bool is_known = bucket.configuration && announced <= bucket.configuration->revision();
    pushed_configuration& waiting = bucket.pushed;
    if (is_known || (waiting.is_armed() && announced <= waiting.announced) || context_.is_closed) {
        ++context_.counters.configurations_refused;
        return;
    }
    if (!waiting.is_armed()) {
        context_.wheel.arm(waiting, now);
    }
    waiting.announced = announced;
    waiting.bytes = base::as_text(pushed.config);
    waiting.is_compressed = wire::has(pushed.datatype, wire::datatype::snappy);
    waiting.source_host = source_host;
}

void topology::apply_push(pushed_configuration& pushed, time_point now) {
    const std::string received = std::exchange(pushed.bytes, {});
    const std::string host = pushed.source_host;
    if (!pushed.is_compressed) {
        static_cast<void>(apply(*pushed.bucket, received, host, now));
    } else if (const auto text = wire::inflate(base::as_bytes(received), pushed_size_max_bytes)) {
        static_cast<void>(apply(*pushed.bucket, base::as_text(*text), host, now));
    }
}

void topology::install(
    bucket_state& bucket, wire::cluster_configuration_ptr configuration, time_point now) {
    bucket.configuration = std::move(configuration);
    bucket.is_configured_slowly =
        !bucket.configured_last || now - *bucket.configured_last >= revision_pause;
    bucket.configured_last = now;
    bucket.configuration_problem.clear();
    bucket.manifest_uid_max =
        std::max(bucket.manifest_uid_max, bucket.configuration->collections_manifest_uid());
    if (network_.empty()) {
        network_ =
            wire::select_network(bucket.configuration->nodes(), seeds_, context_.options.transport);
    }
    context_.log(
        log_level::info, "configuration " + to_string(bucket.configuration->revision()) + " of " +
                             (bucket.name.empty() ? "the cluster" : bucket.name));
    const std::size_t waiting_count = bucket.topology_waiters.size();
    sync_links(bucket, now);
    listener_.on_configuration(bucket, waiting_count, now);
}

void topology::sync_links(bucket_state& bucket, time_point now) {
    if (!bucket.configuration) {
        return;
    }
    reap(bucket);
    if (bucket.name.empty()) {
        return sync_cluster_links(bucket, now);
    }
    const std::size_t per_node = context_.options.kv_connections_per_node;
    const auto nodes = bucket.configuration->nodes();
    bucket.routes.assign(nodes.size() * per_node, nullptr);
    ++bucket.sync_number;
    std::vector<bool> owners(nodes.size());
    for (std::size_t vbucket = 0; vbucket < bucket.configuration->vbucket_count(); ++vbucket) {
        if (const auto node = bucket.configuration->active_node(vbucket)) {
            owners[*node] = true;
        }
    }
    bool has_any = false;
    for (std::size_t node = 0; node < bucket.configuration->kv_node_count(); ++node) {
        const auto address =
            nodes[node].endpoint(wire::service::key_value, context_.options.transport, network_);
        if (address) {  // verified under its own name from now on
            endpoints_.at(address->host, address->port).srv_name.clear();
        }
        for (std::size_t ordinal = 0; address && ordinal < per_node; ++ordinal) {
            node_link& link = link_to(bucket, *address, ordinal, now);
            link.sync_number = bucket.sync_number;
            link.is_owner = owners[node];
            bucket.routes[node * per_node + ordinal] = &link;
            has_any = true;
        }
    }
    if (has_any) {  // else keep the links: they are the only way to a better configuration
        retire_others(bucket, now);
    }
}

// The cluster itself is only asked for its configuration, through the seeds that are part of it. If
// no seed is left, one of its nodes replaces them; otherwise there would be no further updates.
void topology::sync_cluster_links(bucket_state& bucket, time_point now) {
    std::vector<wire::endpoint_view> offered;
    for (const auto& node : bucket.configuration->nodes()) {
        if (const auto at =
                node.endpoint(wire::service::key_value, context_.options.transport, network_)) {
            offered.push_back(*at);
        }
    }
    if (offered.empty()) {
        return;
    }
    ++bucket.sync_number;
    bool has_any = false;
    for (const auto& link : bucket.links) {
        const wire::endpoint_view at{link->endpoint->host, link->endpoint->port};
        if (!link->is_retired && std::ranges::find(offered, at) != offered.end()) {
            link->sync_number = bucket.sync_number;
            link->endpoint->srv_name.clear();
            has_any = true;
        }
    }
    if (!has_any) {
        const wire::endpoint_view next = offered[context_.random.next() % offered.size()];
        endpoints_.at(next.host, next.port).srv_name.clear();
        link_to(bucket, next, 0, now).sync_number = bucket.sync_number;
    }
    retire_others(bucket, now);
}

// Retires the links that the topology did not name.
void topology::retire_others(bucket_state& bucket, time_point now) {
    bucket.has_seed_links = false;
    std::vector<node_link*> leaving;
    for (const auto& link : bucket.links) {
        if (!link->is_retired && link->sync_number != bucket.sync_number) {
            leaving.push_back(link.get());
        }
    }
    retire(leaving, now);
}

}  // namespace reprise::engine
