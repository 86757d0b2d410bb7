#include "topology/cause.hpp"

#include <algorithm>
#include <vector>

#include "connections/kv_connection.hpp"
#include "topology/terminal_state.hpp"

namespace reprise::engine {
namespace {

// How many nodes one text names, and how many are examined for it.
constexpr std::size_t node_named_max = 3;
constexpr std::size_t node_seen_max = 64;

// Nodes that failed come before those that are still on their way: the failure explains more.
[[nodiscard]] std::vector<const node_link*> unconnected_links(const bucket_state& bucket) {
    std::vector<const node_link*> failed;
    std::vector<const node_link*> waiting;
    const std::size_t seen = std::min(bucket.links.size(), node_seen_max);
    for (std::size_t index = 0; index < seen; ++index) {
        const node_link& link = *bucket.links[index];
        if (!link.is_retired && !is_connected(link)) {
            (link.problem.empty() ? waiting : failed).push_back(&link);
        }
    }
    failed.insert(failed.end(), waiting.begin(), waiting.end());
    return failed;
}

}  // namespace

bool is_connected(const node_link& link) noexcept {
    return link.connection != nullptr && link.connection->is_open();
}

std::string link_cause(const node_link& link, const connect_gate& gate) {
    const std::string name = link.endpoint->name + ": ";
    if (!link.problem.empty()) {
        return name + link.problem;
    }
    if (gate.is_queued(link)) {
        return name + "waiting to connect";
    }
    if (link.connection == nullptr) {
        return name + "not connected";
    }
    return name + (link.connection->state == connection_state::connecting
                       ? "still connecting"
                       : "the login is not complete");
}

std::string bucket_cause(const bucket_state& bucket, const engine_context& context) {
    if (!bucket.configuration_problem.empty() && !bucket.configuration) {
        return bucket.configuration_problem;
    }
    if (bucket.links.empty()) {
        return "cannot resolve " + context.options.seeds.front().host +
               ": the name service has not answered";
    }
    std::string text;
    std::size_t named = 0;
    for (const node_link* link : unconnected_links(bucket)) {
        if (named++ == node_named_max) {
            return text + "; and others";
        }
        text += (text.empty() ? "" : "; ") + link_cause(*link, context.gate);
    }
    return text;
}

std::string terminal_cause(const bucket_state& bucket, retry_reason reason) {
    if (reason == retry_reason::bucket_access_error) {
        return bucket.terminal->access_problem.get();
    }
    for (const auto& link : bucket.links) {
        const bool is_it = reason == retry_reason::tls_error
                               ? link->endpoint->terminal->is_tls_failed
                               : link->endpoint->terminal->is_auth_refused;
        if (is_it && is_in_topology(*link)) {
            return link->endpoint->name + ": " + link->endpoint->terminal->refusal.get();
        }
    }
    return {};
}

}  // namespace reprise::engine
