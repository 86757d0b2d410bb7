#pragma once

#include <cstddef>
#include <string>

#include "engine_context.hpp"
#include "http_operations/http_endings.hpp"
#include "http_operations/http_nodes.hpp"
#include "http_operations/http_pools.hpp"
#include "http_operations/waiting_http_operations.hpp"
#include "operations/completions.hpp"
#include "operations/operation_lifecycle.hpp"
#include "operations/operation_retries.hpp"

namespace reprise::engine {

class http_operations;

// The parts that transfers use.
struct http_transfer_parts {
    http_pools& pools;
    http_nodes& candidates;
    http_endings& endings;
    waiting_http_operations& waiting;
    operation_retries& decider;
    completions& ended;
    operation_lifecycle& life;
    http_operations& requests;
};

// HTTP operations while they have a connection: writes the request, reads the answer and has it
// judged. What the judgement means for the operation is decided by http_operations.
class http_transfers {
public:
    http_transfers(engine_context& context, const http_transfer_parts& parts) noexcept
        : context_(context), parts_(parts) {}

    // Composes the request and writes it to an idle connection. False: the operation was refused,
    // and the connection is still idle.
    [[nodiscard]] bool try_send(http_slot& slot, http_connection& connection, time_point now);
    // Gives a free connection the next operation of its pool's queue that may be sent.
    void serve(http_connection& connection, time_point now);
    // Moves the available rows into `out`. Returns false if the operation has ended.
    bool take_rows(operation_id operation, row_batch& out);

    // --- what the driver reports (contracts: client_engine.hpp) ---

    // `owner` holds the bytes, and streamed rows may share it. Null if nothing does.
    void on_bytes(
        connection_id connection, const base::block_ref* owner, base::byte_view bytes,
        time_point now);
    [[nodiscard]] base::byte_view begin_write(connection_id connection);
    void on_written(connection_id connection, std::size_t size) {
        parts_.pools.on_written(connection, size);
    }
    void on_closed(
        connection_id connection, close_reason reason, std::size_t unwritten_size, time_point now);

private:
    void read_answer(http_connection& connection, const base::block_ref* owner, time_point now);
    void on_complete(http_connection& connection, time_point now);
    void conclude(
        http_slot& slot, const exchange_result& judged, bool may_have_been_applied, time_point now);
    void pause_if_full(http_connection& connection, time_point now);
    void reject_answer(http_connection& connection, std::string detail, time_point now);
    void on_stray_bytes(http_connection& connection, time_point now);
    void release(http_connection& connection, bool is_kept_alive, time_point now);
    void lost(http_slot& slot, bool is_sent, bool is_alerted, time_point now);

    engine_context& context_;
    http_transfer_parts parts_;
};

}  // namespace reprise::engine
