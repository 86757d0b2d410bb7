// What an operation waits for and why that does not come, in words: made when an error is made.

#include "engine_core.hpp"
#include "topology/cause.hpp"

namespace reprise::engine {

// Why an operation that was not sent could not be.
std::string engine_core::dispatch_cause(const operation_slot& slot) const {
    const bucket_state& bucket = bucket_of(slot);
    switch (slot.failed.reason) {
        case retry_reason::authentication_error:
        case retry_reason::tls_error:
        case retry_reason::bucket_access_error:
            return terminal_cause(bucket, slot.failed.reason);
        default:
            break;
    }
    const node_link* link = link_of_route(slot);
    if (link != nullptr && !is_connected(*link)) {
        return link_cause(*link, context_.gate);
    }
    if (bucket.configuration && !bucket.name.empty() && !bucket.configuration->has_owners()) {
        return "configuration " + to_string(bucket.configuration->revision()) + " of " +
               bucket.name + " names no owners yet";
    }
    return link == nullptr ? bucket_cause(bucket, context_) : std::string();
}

// What an operation that has no time left was waiting for.
std::string engine_core::wait_cause(const operation_slot& slot) const {
    const keyspace_entry& space = keyspaces_[slot.request.keyspace.value];
    const auto with_reason = [](const std::string& text, const std::string& why) {
        return why.empty() ? text : text + " (" + why + ")";
    };
    if (slot.state == operation_state::deciding) {
        return "waited for the strategy's answer";
    }
    if (slot.state == operation_state::ready) {
        return "waited to be sent to " + slot.connection->link->endpoint->name;
    }
    if (slot.state != operation_state::parked) {
        return {};
    }
    if (space.entry != nullptr && slot.list() == &space.entry->waiters) {
        return with_reason(
            "waited for the id of collection " + space.entry->path,
            bucket_cause(*space.bucket, context_));
    }
    const bool is_answered = !slot.is_silent && slot.failed.stage == attempt_stage::response;
    if (is_answered) {
        return {};  // its history tells
    }
    if (!space.bucket->configuration) {
        return with_reason("waited for a configuration", dispatch_cause(slot));
    }
    return with_reason("waited for a connection", dispatch_cause(slot));
}

http_pool* http_flow::pool_of(const http_slot& slot, std::uint32_t endpoint) const {
    const auto found =
        pool_index_.find(pool_key(*core_.endpoints_[endpoint], slot.request.service));
    return found == pool_index_.end() ? nullptr : found->second;
}

std::string http_flow::dispatch_cause(const http_slot& slot) const {
    const bool is_terminal = slot.failed.reason == retry_reason::authentication_error ||
                             slot.failed.reason == retry_reason::tls_error;
    for (const auto& bucket : core_.topology_.buckets()) {
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
               ? bucket_cause(core_.topology_.bucket(slot.request.bucket), core_.context_)
               : std::string();
}

std::string http_flow::wait_cause(const http_slot& slot) const {
    std::string why = dispatch_cause(slot);
    const std::string reason = why.empty() ? std::string() : " (" + why + ")";
    switch (slot.state) {
        case http_state::deciding:
            return "waited for the strategy's answer";
        case http_state::queued:
            return "waited for a connection" + reason;
        case http_state::parked:
            if (slot.endpoint < 0 && configuration_for(slot) == nullptr) {
                return "waited for a configuration" + reason;
            }
            return why;
        default:
            return {};
    }
}

std::shared_ptr<const retry_history> http_flow::history_of(const http_slot& slot) const {
    if (slot.history.empty()) {
        return nullptr;
    }
    const auto name_of = [&](std::uint32_t number) { return core_.endpoints_[number]->name; };
    const auto problem_of = [&](std::uint32_t number) {
        const http_pool* pool = pool_of(slot, number);
        return pool == nullptr ? std::string() : pool->problem;
    };
    auto report = std::make_shared<retry_history>(slot.history.report(name_of, problem_of));
    report->has_http_statuses = true;
    return report;
}

}  // namespace reprise::engine
