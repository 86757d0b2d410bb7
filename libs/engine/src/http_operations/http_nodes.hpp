#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine_context.hpp"
#include "http_operations/http_pools.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

// Finds the nodes that offer an operation's service and the usable ones among them, or explains why
// there is none. Owns the position where a search starts; sends nothing and moves no operation.
class http_nodes {
public:
    http_nodes(engine_context& context, topology& nodes, http_pools& pools) noexcept
        : context_(context),
          nodes_(nodes),
          pools_(pools),
          next_node_(static_cast<std::size_t>(context.client_number)) {}

    // The newest configuration that lists the services. Null if there is none.
    [[nodiscard]] const wire::cluster_configuration* configuration_for(
        const http_slot& slot) const noexcept {
        return nodes_.buckets().services_of(slot.request.bucket);
    }
    // The best node for the operation now; null: no node offers its service. The next operation
    // looks at another node first.
    [[nodiscard]] http_pool* choose(const http_slot& slot, const wire::cluster_configuration& in) {
        return best(slot, in, next_node_++);
    }
    // Whether an operation that a circuit breaker kept away would find a node now, or would find
    // out that there is none.
    [[nodiscard]] bool would_pass(const http_slot& slot);
    // Whether the operation would find a node now to which no connection has failed.
    [[nodiscard]] bool has_fresh_node(const http_slot& slot);
    // The node's circuit breaker lets requests through.
    [[nodiscard]] static bool is_allowed(const http_pool& pool) noexcept {
        return breakers::allow(*pool.endpoint);
    }

    // Whether there is a node that has not failed since the operation started its search. After a
    // TLS alert, nodes that sent an alert do not count either: their connections look open until
    // the alert arrives.
    [[nodiscard]] bool has_node_left(const http_slot& slot) const;
    // The terminal state that explains why the operation cannot be sent.
    [[nodiscard]] std::optional<retry_reason> terminal_reason_for(
        const http_slot& slot) const noexcept;

    // --- in words, made when an error is made (http_cause.cpp) ---

    // Why an operation that was not sent could not be.
    [[nodiscard]] std::string dispatch_cause(const http_slot& slot) const;
    // Describes the cause of the wait of an operation that has no time left.
    [[nodiscard]] std::string wait_cause(const http_slot& slot) const;
    [[nodiscard]] std::shared_ptr<const retry_history> history_of(const http_slot& slot) const;

private:
    [[nodiscard]] std::optional<wire::endpoint_view> address_of(
        const wire::cluster_node& node, const http_slot& slot) const;
    [[nodiscard]] http_pool* best(
        const http_slot& slot, const wire::cluster_configuration& in, std::size_t first);
    template <class Predicate>
    [[nodiscard]] bool any_pool(const http_slot& slot, Predicate holds, bool if_unknown) const;
    [[nodiscard]] http_pool* pool_of(const http_slot& slot, std::uint32_t endpoint) const;

    engine_context& context_;
    topology& nodes_;
    http_pools& pools_;
    // Starts at a random node; otherwise every new client would use the first one.
    std::size_t next_node_;
};

}  // namespace reprise::engine
