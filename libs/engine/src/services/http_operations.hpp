#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <reprise/engine/completion.hpp>
#include <reprise/engine/diagnostics.hpp>
#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/http_operation.hpp>

#include "connections/connect_gate.hpp"
#include "engine_context.hpp"
#include "operations/completions.hpp"
#include "operations/lifecycle.hpp"
#include "operations/operation_retries.hpp"
#include "services/http_nodes.hpp"
#include "services/http_pools.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

// The parts that HTTP operations use.
struct http_operation_parts {
    topology& nodes;
    operation_retries& decider;
    completions& ended;
    lifecycle& life;
};

// HTTP operations. They choose among nodes, use pooled keep-alive connections, and share the retry
// decider with key-value.
//
//     start -> choose a node -> its pool: idle connection | new connection | queue
//           -> request written -> answer read, rows delivered -> judged
//           -> done | failed | operation_retries -> parked -> choose another node ...
//
// Events of connections that belong to other parts are ignored.
class http_operations {
public:
    http_operations(engine_context& context, const http_operation_parts& parts) noexcept
        : context_(context),
          parts_(parts),
          pools_(context, parts.nodes),
          candidates_(context, parts.nodes, pools_) {}
    http_operations(const http_operations&) = delete;
    http_operations& operator=(const http_operations&) = delete;

    // The ids of HTTP operations have this bit set, those of key-value operations never.
    static constexpr std::uint64_t id_mark = std::uint64_t{1} << 63U;
    [[nodiscard]] static bool is_own(std::uint64_t operation) noexcept {
        return (operation & id_mark) != 0;
    }

    // --- users ---

    operation_id start(http_request&& request, completion&& done, time_point now);
    // Returns false if the operation has already ended.
    bool cancel(operation_id operation, time_point now);
    // Ends every operation as canceled, and closes every connection.
    void close(time_point now);
    // Moves the available rows into `out`. Returns false if the operation has ended.
    bool take_rows(operation_id operation, row_batch& out, time_point now);
    // Operations of users. The client's own canaries do not count.
    [[nodiscard]] std::size_t open_count() const noexcept { return slots_.size() - canary_count_; }
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
    // `owner` holds the bytes, and streamed rows may share it. Null if nothing does.
    void on_bytes(
        connection_id connection, const base::block_ref* owner, base::byte_view bytes,
        time_point now);
    [[nodiscard]] base::byte_view begin_write(connection_id connection);
    void on_written(connection_id connection, std::size_t size) {
        pools_.on_written(connection, size);
    }
    void on_closed(
        connection_id connection, close_reason reason, std::size_t unwritten_size, time_point now);

    // --- topology ---

    // A new configuration is in use: parked operations look for a node again, and addresses that
    // are no longer offered are dropped.
    void on_topology(time_point now);
    // A node could not be reached: parked operations look for another node.
    void look_again(time_point now);
    // A terminal state was set: operations that cannot be dispatched fail with it.
    void on_terminal_state(time_point now);
    // Continues operations that a circuit breaker refused and that have a usable node now.
    void wake_refused(time_point now);
    // Checks for a circuit breaker whether its endpoint answers. Returns false if it has no pool
    // here.
    bool send_canary(const endpoint_record& endpoint, time_point now);

private:
    // http_dispatch.cpp: the path to a node and its pool.
    http_slot& make_slot(http_request&& request);
    void begin_attempt(http_slot& slot, time_point now);
    void dispatch(http_slot& slot, time_point now);
    void wait_for_configuration(http_slot& slot, time_point now);
    void enqueue(http_slot& slot, http_pool& pool, time_point now);
    void serve(http_connection& connection, time_point now);
    void fail_queue(http_pool& pool, time_point now);

    // http_terminal.cpp: unusable nodes, and the error if no node is usable.
    void dispatch_failed(http_slot& slot, retry_reason reason, time_point now);
    void raise(http_slot& slot, retry_reason reason, time_point now);
    void begin_search(http_slot& slot, time_point now) const;
    time_point waiting_end(http_slot& slot, time_point now) const;
    time_point queue_due(http_slot& slot, const http_pool& pool, time_point now) const;
    void on_search_over(http_slot& slot, time_point now);
    void refuse_plain(http_pool& pool, std::string_view peer, time_point now);

    // http_breaker.cpp: circuit breakers, which belong to the endpoints.
    void wait_for_first_attempt(http_slot& slot, duration delay, time_point now);
    void breaker_refused(http_slot& slot, time_point now);
    void note_outcome(http_pool& pool, const std::error_code& outcome, time_point now);
    void end_canary(http_slot& slot, bool is_answered, time_point now);

    // http_answer.cpp: writing requests and reading answers.
    void send(http_slot& slot, http_connection& connection, time_point now);
    void read_answer(http_connection& connection, const base::block_ref* owner, time_point now);
    void on_complete(http_connection& connection, time_point now);
    void pause_if_full(http_connection& connection);
    void reject_answer(http_connection& connection, std::string detail, time_point now);
    void on_stray_bytes(http_connection& connection, time_point now);
    void release(http_connection& connection, bool is_kept_alive, time_point now);

    // http_end.cpp: retries, waiting and completion.
    // Operations in the list for which `goes(slot)` returns true look for a node again.
    template <class Goes>
    void wake_if(intrusive_list<http_slot>& list, time_point now, Goes&& goes);
    void refuse(
        http_slot& slot, const failed_attempt& failed, refusal_reason why, std::string detail,
        time_point now);
    void lost(http_slot& slot, bool is_sent, bool is_alerted, time_point now);
    void retry(http_slot& slot, const retry_case& failed, time_point now);
    void apply(http_slot& slot, const retry_outcome& decided, time_point now);
    intrusive_list<http_slot>& list_for(retry_reason reason) noexcept;
    void leave_place(http_slot& slot);
    void resume(http_slot& slot, time_point now);
    void forget_answer(http_slot& slot);
    retry_subject subject_of(http_slot& slot) const;
    void complete(http_slot& slot, time_point now);
    void complete_error(
        http_slot& slot, std::error_code code, bool is_ambiguous, std::string detail,
        time_point now);
    void end(http_slot& slot, operation_result&& result, time_point now);

    engine_context& context_;
    http_operation_parts parts_;
    http_pools pools_;
    http_nodes candidates_;
    std::map<std::uint64_t, std::unique_ptr<http_slot>> slots_;
    std::uint64_t next_id_ = id_mark + 1;
    intrusive_list<http_slot> topology_waiters_;
    intrusive_list<http_slot> backoff_waiters_;
    intrusive_list<http_slot> breaker_waiters_;
    std::size_t canary_count_ = 0;
};

template <class Goes>
void http_operations::wake_if(intrusive_list<http_slot>& list, time_point now, Goes&& goes) {
    lifecycle::wake_if(list, goes, [&](http_slot& slot) { resume(slot, now); });
}

}  // namespace reprise::engine
