// Explains in words what an operation waits for and why that does not happen. Called only when an
// error is built.

#include "connections/kv_connection.hpp"
#include "operations/operation_endings.hpp"
#include "operations/scan_operations.hpp"
#include "topology/cause.hpp"

namespace reprise::engine {

std::string operation_endings::dispatch_cause(const operation_slot& slot) const {
    const bucket_state& bucket = routes_.bucket_of(slot);
    const retry_reason reason = slot.failed.reason;
    if (info(reason).is_terminal() && info(reason).is_about_connection) {
        return terminal_cause(bucket, reason);
    }
    const node_link* link = routes_.link_of(slot);
    if (link != nullptr && !is_connected(*link)) {
        return link_cause(*link, context_.gate);
    }
    if (bucket.configuration && !bucket.name.empty() && !bucket.configuration->has_owners()) {
        return "configuration " + to_string(bucket.configuration->revision()) + " of " +
               bucket.name + " names no owners yet";
    }
    return link == nullptr ? bucket_cause(bucket, context_) : std::string();
}

std::string operation_endings::wait_cause(const operation_slot& slot) const {
    const keyspace_entry& space = nodes_.buckets()[slot.request.keyspace];
    const auto with_reason = [](const std::string& text, const std::string& why) {
        return why.empty() ? text : text + " (" + why + ")";
    };
    if (slot.state == operation_state::deciding) {
        return "waited for the strategy's answer";
    }
    if (slot.state == operation_state::queued) {
        return "waited to be sent to " + slot.connection->link->endpoint->name;
    }
    if (slot.state != operation_state::parked) {
        return {};
    }
    if (scans_.is_waiting(slot)) {
        return "waited until its rows are read";
    }
    if (slot.list() == &space.entry->waiters) {
        return with_reason(
            "waited for the id of collection " + space.entry->path,
            bucket_cause(*space.bucket, context_));
    }
    const bool is_answered = !slot.is_silent && slot.failed.stage == attempt_stage::response;
    if (is_answered) {
        return {};  // the history explains it
    }
    if (!space.bucket->configuration) {
        return with_reason("waited for a configuration", dispatch_cause(slot));
    }
    return with_reason("waited for a connection", dispatch_cause(slot));
}

}  // namespace reprise::engine
