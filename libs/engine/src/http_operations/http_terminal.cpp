// Handles nodes that HTTP operations cannot use: which node is tried next, and which error is
// reported if there is none.

#include <algorithm>
#include <string>

#include "http_operations/http_operations.hpp"

namespace reprise::engine {
namespace {

// How long an operation looks for another node once a terminal state is known. Waiting requests
// must fail within 500 ms.
constexpr duration search_time_max = std::chrono::milliseconds{400};

}  // namespace

void http_operations::dispatch_failed(http_slot& slot, retry_reason reason, time_point now) {
    if (slot.is_canary) {
        return end_canary(slot, now);
    }
    const auto terminal = candidates_.terminal_reason_for(slot);
    if (terminal) {
        begin_search(slot, now);
        if (now < *slot.search_end && candidates_.has_node_left(slot)) {
            return dispatch(slot, now);
        }
    }
    raise(slot, terminal.value_or(reason), now);
}

// Asks whether to retry an operation that could not be sent for this reason.
void http_operations::raise(http_slot& slot, retry_reason reason, time_point now) {
    retry_case failed;
    failed.reason = reason;
    failed.stage = attempt_stage::dispatch;
    failed.own_error = own_error_of(failed.reason);
    retry(slot, failed, now);
}

// Starts the search for other nodes. Without a configuration there are none, and the seeds have
// already had their time.
void http_operations::begin_search(http_slot& slot, time_point now) const {
    if (!slot.search_end) {
        const bool has_nodes = candidates_.configuration_for(slot) != nullptr;
        slot.search_end =
            driver::add_saturated(now, has_nodes ? search_time_max : duration::zero());
    }
}

// When an operation stops waiting for something that may never happen. Under a terminal state that
// is soon.
time_point http_operations::waiting_end(http_slot& slot, time_point now) const {
    if (slot.is_canary || !candidates_.terminal_reason_for(slot)) {
        return slot.deadline;
    }
    begin_search(slot, now);
    return std::min(slot.deadline, *slot.search_end);
}

// When to check again on an operation that waits for a connection.
time_point http_operations::queue_due(
    http_slot& slot, const http_pool& pool, time_point now) const {
    return pool.has_open_connection() ? slot.deadline : waiting_end(slot, now);
}

// A terminal state is set, and the connection that the operation waits for is still not open.
void http_operations::on_search_over(http_slot& slot, time_point now) {
    const auto pool = std::ranges::find_if(
        pools_.all(), [&](const auto& each) { return &each->queue == slot.list(); });
    if ((*pool)->has_open_connection() || !candidates_.terminal_reason_for(slot)) {
        slot.search_end.reset();
        return context_.wheel.arm(slot, slot.deadline);
    }
    waiting_.leave(slot);
    slot.avoided = slot.endpoint;
    dispatch_failed(slot, retry_reason::node_not_available, now);
}

void http_operations::on_terminal_state(time_point now) {
    waiting_.find_nodes_again(now);
    for (const auto& pool : pools_.all()) {
        for (std::size_t left = pool->queue.size(); left > 0; --left) {
            http_slot& slot = *pool->queue.front();
            pool->queue.erase(slot);
            pool->queue.push_back(slot);
            context_.wheel.arm(slot, queue_due(slot, *pool, now));
        }
    }
    waiting_.wake_stuck(now);
}

// Refuses the operations that wait for this connection: they would send the credentials in clear
// text.
void http_operations::refuse_plain(http_pool& pool, std::string_view peer, time_point now) {
    const std::string secret =
        context_.client.identity.get().bearer_token.empty() ? "the password" : "the bearer token";
    waiting_.empty_queue(pool, [&](http_slot& slot) {
        failed_attempt failed;
        failed.own_error = errc::plain_http_not_allowed;
        refuse(
            slot, failed, refusal_reason::not_allowed,
            (context_.options.transport == wire::transport::tls
                 ? "HTTP over TLS without a verified certificate would reveal " + secret + " to "
                 : "HTTP without TLS would send " + secret + " in clear text to ") +
                (peer.empty() ? pool.endpoint->host : std::string(peer)) +
                (context_.options.transport == wire::transport::tls
                     ? ": let the client verify it (ca_file, trust_certificate)"
                     : ": use couchbases://") +
                ", or allow it with cluster_options::allow_plain_http = true, "
                "allow_plain_http=true in the connection string or --allow-plain-http on the "
                "command line",
            now);
    });
}

}  // namespace reprise::engine
