#include "http_operations/http_nodes.hpp"

#include <algorithm>

namespace reprise::engine {

// Where the node offers the operation's service. Nothing if it does not, or if the operation is for
// another node.
std::optional<wire::endpoint_view> http_nodes::address_of(
    const wire::cluster_node& node, const http_slot& slot) const {
    const auto address =
        node.endpoint(slot.request.service, context_.options.transport, nodes_.network());
    const std::string& wanted = slot.request.node;
    const bool is_other =
        address && !wanted.empty() && wire::to_host_port(address->host, address->port) != wanted;
    return is_other ? std::nullopt : address;
}

// Tries the nodes in rotation and prefers, in this order: a closed circuit breaker, a peer that may
// see the credentials, a node that has not failed, and a node other than the one where the last
// attempt failed.
http_pool* http_nodes::best(
    const http_slot& slot, const wire::cluster_configuration& in, std::size_t first) {
    http_pool* found = nullptr;
    int best_rank = -1;
    const auto nodes = in.nodes();
    for (std::size_t step = 0; step < nodes.size(); ++step) {
        const auto address = address_of(nodes[(first + step) % nodes.size()], slot);
        if (!address) {
            continue;
        }
        http_pool& pool = pools_.at(*address, slot.request.service);
        const bool is_other = static_cast<std::int32_t>(pool.endpoint->number) != slot.avoided;
        const bool has_failed = pool.failed_last || pool.is_tls_failed;
        const int rank = (is_allowed(pool) ? 8 : 0) + (pool.is_plain_refused ? 0 : 4) +
                         (has_failed ? 0 : 2) + (is_other ? 1 : 0);
        if (rank > best_rank) {
            found = &pool;
            best_rank = rank;
        }
    }
    return found;
}

bool http_nodes::would_pass(const http_slot& slot) {
    const wire::cluster_configuration* known = configuration_for(slot);
    const http_pool* pool = known == nullptr ? nullptr : best(slot, *known, next_node_);
    return pool == nullptr || is_allowed(*pool);
}

bool http_nodes::has_fresh_node(const http_slot& slot) {
    const wire::cluster_configuration* known = configuration_for(slot);
    const http_pool* pool = known == nullptr ? nullptr : best(slot, *known, next_node_);
    return pool != nullptr && is_allowed(*pool) && !pool->is_plain_refused && !pool->failed_last &&
           !pool->is_tls_failed;
}

// Whether `holds` is true for any node that offers the operation's service. `if_unknown` is used
// for nodes without a pool.
template <class Predicate>
bool http_nodes::any_pool(const http_slot& slot, Predicate holds, bool if_unknown) const {
    const wire::cluster_configuration* known = configuration_for(slot);
    return known != nullptr && std::ranges::any_of(known->nodes(), [&](const auto& node) {
               const auto address = address_of(node, slot);
               if (!address) {
                   return false;
               }
               const http_pool* pool = pools_.find(*address, slot.request.service);
               return pool == nullptr ? if_unknown : holds(*pool);
           });
}

bool http_nodes::has_node_left(const http_slot& slot) const {
    return any_pool(
        slot,
        [&](const http_pool& pool) {
            const bool is_distrusted = slot.was_alerted && pool.is_tls_failed;
            const bool has_failed = pool.failed_last && *pool.failed_last >= slot.attempt_started;
            return is_allowed(pool) && !is_distrusted &&
                   (!has_failed || pool.has_open_connection());
        },
        true);
}

std::optional<retry_reason> http_nodes::terminal_reason_for(const http_slot& slot) const noexcept {
    const auto of_key_value = nodes_.terminal().reason_of_services();
    if (of_key_value) {
        return of_key_value;
    }
    const bool is_untrusted =
        any_pool(slot, [](const http_pool& pool) { return pool.is_tls_failed; }, false);
    return is_untrusted ? std::optional(retry_reason::tls_error) : std::nullopt;
}

}  // namespace reprise::engine
