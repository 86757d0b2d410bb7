#include "operations/operation_routes.hpp"

#include <algorithm>

#include "topology/cause.hpp"
#include "topology/route.hpp"

namespace reprise::engine {

bool operation_routes::is_dispatchable(const operation_slot& slot) const noexcept {
    const keyspace_entry& space = nodes_.buckets()[slot.request.keyspace];
    const bucket_state& bucket = *space.bucket;
    const std::size_t vbuckets = bucket.configuration ? bucket.configuration->vbucket_count() : 0;
    if (bucket.configuration && vbuckets == 0 && !bucket.name.empty()) {
        return false;
    }
    if (slot.request.kind == operation_kind::noop && !slot.request.key.empty()) {
        const node_link* link = named_link(slot, bucket);
        return link != nullptr && is_connected(*link);
    }
    const bool needs_any = slot.request.kind == operation_kind::noop || !bucket.configuration ||
                           space.entry->state != collection_state::known;
    if (needs_any) {
        return std::ranges::any_of(bucket.links, [](const auto& link) {
            return !link->is_retired && is_connected(*link);
        });
    }
    route_state route = slot.route;
    const auto vbucket = vbucket_of(slot, vbuckets);
    const auto node =
        choose_node(*bucket.configuration, vbucket.value, slot.request.replica, route);
    if (!node) {
        return false;
    }
    const std::size_t ordinal = slot.index % context_.options.kv_connections_per_node;
    const node_link* link =
        bucket.routes[*node * context_.options.kv_connections_per_node + ordinal];
    return link != nullptr && is_connected(*link);
}

node_link* operation_routes::named_link(
    const operation_slot& slot, const bucket_state& bucket) noexcept {
    const auto found = std::ranges::find_if(bucket.links, [&](const auto& link) {
        return !link->is_retired && link->endpoint->name == slot.request.key.text();
    });
    return found == bucket.links.end() ? nullptr : found->get();
}

node_link* operation_routes::link_of(const operation_slot& slot) const {
    const bucket_state& bucket = bucket_of(slot);
    const bool is_routed = slot.endpoint >= 0 && slot.route.node && bucket.configuration &&
                           slot.route.revision == bucket.configuration->revision();
    node_link* link = is_routed ? bucket.routes[place_of(slot)] : nullptr;
    return link != nullptr && !link->is_retired ? link : nullptr;
}

bucket_state& operation_routes::bucket_of(const operation_slot& slot) const {
    return *nodes_.buckets()[slot.request.keyspace].bucket;
}

}  // namespace reprise::engine
