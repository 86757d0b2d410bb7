// HTTP operations and nodes that cannot be used: which other one is tried, and what is said if
// there is none.

#include <algorithm>
#include <string>

#include "services/http_operations.hpp"

namespace reprise::engine {
namespace {

// How long another node is looked for once a terminal state is known. Requests that wait hear of
// it within 500 ms.
constexpr duration search_time_max = std::chrono::milliseconds{400};

// Nothing was sent because nobody could be reached.
bool is_stuck(const http_slot& slot) noexcept {
    return slot.failed.stage == attempt_stage::dispatch &&
           (slot.failed.reason == retry_reason::node_not_available ||
            slot.failed.reason == retry_reason::socket_not_available);
}

}  // namespace

// Whether it holds for any node that offers the operation's service; `if_unknown` is the answer for
// nodes that nobody has connected to yet.
template <class Predicate>
bool http_operations::any_pool(const http_slot& slot, Predicate holds, bool if_unknown) const {
    const wire::cluster_configuration* known = configuration_for(slot);
    return known != nullptr && std::ranges::any_of(known->nodes(), [&](const auto& node) {
               const auto address = node.endpoint(
                   slot.request.service, context_.options.transport, parts_.nodes.network());
               if (!address) {
                   return false;
               }
               const http_pool* pool = pools_.find(*address, slot.request.service);
               return pool == nullptr ? if_unknown : holds(*pool);
           });
}

// A node that has not failed since the operation began to look for one. After an alert one that was
// not alerted either: such connections seem to be open until the server says no.
bool http_operations::has_node_left(const http_slot& slot) const {
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

std::optional<retry_reason> http_operations::terminal_reason_for(
    const http_slot& slot) const noexcept {
    const auto of_key_value = parts_.nodes.terminal_reason_of_services();
    if (of_key_value) {
        return of_key_value;
    }
    const bool is_untrusted =
        any_pool(slot, [](const http_pool& pool) { return pool.is_tls_failed; }, false);
    return is_untrusted ? std::optional(retry_reason::tls_error) : std::nullopt;
}

// Nothing was sent. A terminal state explains better than the socket why, but only if no other node
// can be used: those are tried first, at once.
void http_operations::dispatch_failed(http_slot& slot, retry_reason reason, time_point now) {
    const auto terminal = terminal_reason_for(slot);
    if (terminal) {
        begin_search(slot, now);
        if (now < *slot.search_end && has_node_left(slot)) {
            return dispatch(slot, now);
        }
    }
    raise(slot, terminal.value_or(reason), now);
}

// Asks whether to try again what could not be sent for this reason.
void http_operations::raise(http_slot& slot, retry_reason reason, time_point now) {
    retry_case failed;
    failed.reason = reason;
    failed.stage = attempt_stage::dispatch;
    failed.own_error = own_error_of(failed.reason);
    retry(slot, failed, now);
}

// From now on other nodes are looked for. Without a configuration there are none, and the seeds
// have had their time already.
void http_operations::begin_search(http_slot& slot, time_point now) const {
    if (!slot.search_end) {
        const bool has_nodes = configuration_for(slot) != nullptr;
        slot.search_end = add_saturated(now, has_nodes ? search_time_max : duration::zero());
    }
}

// How long an operation waits for what may never come. Not for long under a terminal state.
time_point http_operations::waiting_end(http_slot& slot, time_point now) const {
    if (slot.is_canary || !terminal_reason_for(slot)) {
        return slot.deadline;
    }
    begin_search(slot, now);
    return std::min(slot.deadline, *slot.search_end);
}

// When one that waits for a connection must be looked at again.
time_point http_operations::queue_due(
    http_slot& slot, const http_pool& pool, time_point now) const {
    return pool.has_open_connection() ? slot.deadline : waiting_end(slot, now);
}

// A terminal state is set and the connection that it waits for has not opened so far.
void http_operations::on_search_over(http_slot& slot, time_point now) {
    const auto pool = std::ranges::find_if(
        pools_.all(), [&](const auto& each) { return &each->queue == slot.list(); });
    if ((*pool)->has_open_connection() || !terminal_reason_for(slot)) {
        slot.search_end.reset();
        return context_.wheel.arm(slot, slot.deadline);
    }
    leave_place(slot);
    slot.avoided = slot.endpoint;
    dispatch_failed(slot, retry_reason::node_not_available, now);
}

void http_operations::on_terminal_state(time_point now) {
    look_again(now);
    for (const auto& pool : pools_.all()) {
        for (std::size_t left = pool->queue.size(); left > 0; --left) {
            http_slot& slot = *pool->queue.front();
            pool->queue.erase(slot);
            pool->queue.push_back(slot);
            context_.wheel.arm(slot, queue_due(slot, *pool, now));
        }
    }
    // Those in a backoff that could not reach anybody would hear of it only when that ends.
    wake_if(backoff_waiters_, now, [&](const http_slot& slot) {
        return is_stuck(slot) && terminal_reason_for(slot);
    });
}

// Whoever waits for this connection would have to show the credentials to everybody on the way.
void http_operations::refuse_plain(http_pool& pool, std::string_view peer, time_point now) {
    const std::string secret =
        context_.identity.bearer_token.empty() ? "the password" : "the bearer token";
    for (std::size_t left = pool.queue.size(); left > 0; --left) {
        http_slot& slot = *pool.queue.front();
        leave_place(slot);
        failed_attempt failed;
        failed.own_error = errc::plain_http_not_allowed;
        refuse(
            slot, failed, refusal_reason::not_allowed,
            "HTTP without TLS would send " + secret + " readably to " +
                (peer.empty() ? pool.endpoint->host : std::string(peer)) +
                ": use couchbases://, or allow it with cluster_options::allow_plain_http = true, "
                "allow_plain_http=true in the connection string or --allow-plain-http on the "
                "command line",
            now);
    }
}

}  // namespace reprise::engine
