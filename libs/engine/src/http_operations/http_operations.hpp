#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <reprise/engine/completion.hpp>
#include <reprise/engine/diagnostics.hpp>
#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/http_operation.hpp>

#include "connections/connect_gate.hpp"
#include "engine_context.hpp"
#include "http_operations/http_endings.hpp"
#include "http_operations/http_nodes.hpp"
#include "http_operations/http_pools.hpp"
#include "http_operations/http_transfers.hpp"
#include "http_operations/waiting_http_operations.hpp"
#include "operations/completions.hpp"
#include "operations/operation_lifecycle.hpp"
#include "operations/operation_retries.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

// The parts that HTTP operations use.
struct http_operation_parts {
    topology& nodes;
    operation_retries& decider;
    completions& ended;
    operation_lifecycle& life;
};

// HTTP operations. They choose among nodes, use pooled keep-alive connections, and share the retry
// decider with key-value.
//
//     start -> choose a node -> its pool: idle connection | new connection | queue
//           -> request written -> answer read, rows delivered -> judged
//           -> done | failed | operation_retries -> parked -> choose another node ...
//
// Its parts own the rest: http_endings has the slots and completes each operation once,
// waiting_http_operations parks and wakes, http_transfers writes requests and reads answers,
// http_pools has the connections. They call back with `begin_attempt`, `retry`, `refuse` and
// `apply`.
//
// Events of connections that belong to other parts are ignored.
class http_operations {
public:
    http_operations(engine_context& context, const http_operation_parts& parts) noexcept
        : context_(context), parts_(parts) {}
    http_operations(const http_operations&) = delete;
    http_operations& operator=(const http_operations&) = delete;

    // --- users ---

    operation_id start(http_request&& request, completion&& done, time_point now);
    // Returns false if the operation has already ended.
    bool cancel(operation_id operation, time_point now);
    // Ends every operation as canceled, and closes every connection.
    void close(time_point now);
    [[nodiscard]] std::size_t open_count() const noexcept { return endings_.open_count(); }
    // Appends one entry for each connection, and one for each pool that failed to connect.
    void describe(std::vector<endpoint_diagnostics>& out) const { pools_.describe(out); }
    // Opens the connections of the pools.
    [[nodiscard]] connect_starter& starter() noexcept { return pools_; }

    // --- timers and late answers of strategies ---

    void on_operation_due(http_slot& slot, time_point now);
    void on_connection_due(http_connection& connection, time_point now);
    void on_answer(late_answer_queue::entry& late, time_point now);

    // --- what the driver reports (contracts: client_engine.hpp) ---

    // `peer` is the numeric address of the peer.
    void on_connected(connection_id connection, std::string_view peer, time_point now);
    void on_connect_failed(
        connection_id connection, connect_failure failure, std::string_view text, time_point now);

    // --- topology ---

    // A new configuration is in use: parked operations look for a node again, as do those that wait
    // for a connection to an address that is no longer offered. Such addresses are dropped.
    void on_topology(time_point now);
    // A terminal state was set: operations that cannot be dispatched fail with it.
    void on_terminal_state(time_point now);
    // Checks for a circuit breaker whether its endpoint answers. Returns false if it has no pool
    // here.
    bool send_canary(const endpoint_record& endpoint, time_point now);

    // --- the parts ---

    [[nodiscard]] waiting_http_operations& waiting() noexcept { return waiting_; }
    [[nodiscard]] http_transfers& transfers() noexcept { return transfers_; }
    // Looks for a node. At the start and after a wait, every node may be tried again.
    void begin_attempt(http_slot& slot, time_point now);
    // Nothing was sent. A terminal state explains why better than the socket does, but it is only
    // raised if no other node can be used. Other nodes are tried first, at once.
    void dispatch_failed(http_slot& slot, retry_reason reason, time_point now);
    // Operations that wait for a connection of this pool are dispatched elsewhere, unless the pool
    // has other connections.
    void fail_queue(http_pool& pool, time_point now);
    // A sent request has succeeded or failed. If this opens the breaker, requests that still wait
    // for a connection to the endpoint must not be sent.
    void note_outcome(http_pool& pool, const std::error_code& outcome, time_point now);
    // Ends the operation without asking a strategy. History and log record it like every other
    // decision.
    void refuse(
        http_slot& slot, const failed_attempt& failed, refusal_reason why, std::string detail,
        time_point now);
    // Asks what to do about the failed attempt, and does it.
    void retry(http_slot& slot, const retry_case& failed, time_point now);
    void apply(http_slot& slot, const retry_outcome& decided, time_point now);

private:
    // http_dispatch.cpp: the path to a node and its pool.
    void dispatch(http_slot& slot, time_point now);
    void wait_for_configuration(http_slot& slot, time_point now);
    void enqueue(http_slot& slot, http_pool& pool, time_point now);

    // http_terminal.cpp: unusable nodes, and the error if no node is usable.
    void raise(http_slot& slot, retry_reason reason, time_point now);
    void begin_search(http_slot& slot, time_point now) const;
    time_point waiting_end(http_slot& slot, time_point now) const;
    time_point queue_due(http_slot& slot, const http_pool& pool, time_point now) const;
    void on_search_over(http_slot& slot, time_point now);
    void refuse_plain(http_pool& pool, std::string_view peer, time_point now);

    // http_breaker.cpp: circuit breakers, which belong to the endpoints.
    void breaker_refused(http_slot& slot, time_point now);
    void end_canary(http_slot& slot, time_point now);

    engine_context& context_;
    http_operation_parts parts_;
    http_pools pools_{context_, parts_.nodes};
    http_nodes candidates_{context_, parts_.nodes, pools_};
    http_endings endings_{context_, parts_.nodes, parts_.life, candidates_};
    waiting_http_operations waiting_{parts_.life, candidates_, *this};
    http_transfers transfers_{
        context_,
        {pools_, candidates_, endings_, waiting_, parts_.decider, parts_.ended, parts_.life,
         *this}};
};

}  // namespace reprise::engine
