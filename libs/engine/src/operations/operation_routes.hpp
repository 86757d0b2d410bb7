#pragma once

#include <cstddef>

#include <reprise/wire/vbucket.hpp>

#include "engine_context.hpp"
#include "operations/operation_slot.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

// Where operations go, by the current topology. It owns nothing and changes nothing.
class operation_routes {
public:
    operation_routes(const engine_context& context, topology& nodes) noexcept
        : context_(context), nodes_(nodes) {}

    [[nodiscard]] bucket_state& bucket_of(const operation_slot& slot) const;
    // Whether the operation could be sent now.
    [[nodiscard]] bool is_dispatchable(const operation_slot& slot) const noexcept;
    // The index of the operation's link in the routes of the bucket.
    [[nodiscard]] std::size_t place_of(const operation_slot& slot) const noexcept {
        const std::size_t per_node = context_.options.kv_connections_per_node;
        return *slot.route.node * per_node + slot.index % per_node;
    }
    // The link of the last attempt. Null if its route is no longer valid.
    [[nodiscard]] node_link* link_of(const operation_slot& slot) const;
    // The connection to the node that a NOOP names. Null if it names none, or if the node has left.
    [[nodiscard]] static node_link* named_link(
        const operation_slot& slot, const bucket_state& bucket) noexcept;
    // A scan names its vbucket; all others have a key.
    [[nodiscard]] static wire::vbucket_id vbucket_of(
        const operation_slot& slot, std::size_t vbucket_count) noexcept {
        return slot.request.scan ? slot.request.scan->vbucket
                                 : wire::vbucket_of(slot.request.key.text(), vbucket_count);
    }

private:
    const engine_context& context_;
    topology& nodes_;
};

}  // namespace reprise::engine
