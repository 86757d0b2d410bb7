// Explains in words what an HTTP operation waits for and why that does not happen, and builds its
// history.

#include <memory>
#include <string>

#include "http_operations/http_nodes.hpp"
#include "topology/cause.hpp"

namespace reprise::engine {

http_pool* http_nodes::pool_of(const http_slot& slot, std::uint32_t endpoint) const {
    return pools_.find(nodes_.endpoints()[endpoint], slot.request.service);
}

std::string http_nodes::dispatch_cause(const http_slot& slot) const {
    const bool is_terminal = slot.failed.reason == retry_reason::authentication_error ||
                             slot.failed.reason == retry_reason::tls_error;
    for (const auto& bucket : nodes_.buckets()) {
        std::string why = is_terminal ? terminal_cause(*bucket, slot.failed.reason) : std::string();
        if (!why.empty()) {
            return why;
        }
    }
    if (slot.endpoint >= 0) {
        const http_pool* pool = pool_of(slot, static_cast<std::uint32_t>(slot.endpoint));
        const bool is_known = pool != nullptr && !pool->problem.empty();
        return is_known ? pool->endpoint->name + ": " + pool->problem : std::string();
    }
    return configuration_for(slot) == nullptr
               ? bucket_cause(nodes_.buckets().at(slot.request.bucket), context_)
               : std::string();
}

std::string http_nodes::wait_cause(const http_slot& slot) const {
    std::string why = dispatch_cause(slot);
    const std::string reason = why.empty() ? std::string() : " (" + why + ")";
    switch (slot.state) {
        case operation_state::deciding:
            return "waited for the strategy's answer";
        case operation_state::queued:
            return "waited for a connection" + reason;
        case operation_state::parked:
            if (slot.endpoint < 0 && configuration_for(slot) == nullptr) {
                return "waited for a configuration" + reason;
            }
            return why;
        case operation_state::free:
        case operation_state::running:
        case operation_state::in_flight:
            break;
    }
    return {};
}

std::shared_ptr<const retry_history> http_nodes::history_of(const http_slot& slot) const {
    if (slot.history.empty()) {
        return nullptr;
    }
    const auto name_of = [&](std::uint32_t number) { return nodes_.endpoints()[number].name; };
    const auto problem_of = [&](std::uint32_t number) {
        const http_pool* pool = pool_of(slot, number);
        return pool == nullptr ? std::string() : pool->problem;
    };
    return std::make_shared<retry_history>(slot.history.report(name_of, problem_of));
}

}  // namespace reprise::engine
