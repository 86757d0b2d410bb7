#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>

#include "connections/kv_connection.hpp"
#include "engine_context.hpp"
#include "operations/operation_endings.hpp"
#include "operations/operation_lifecycle.hpp"
#include "operations/operation_retries.hpp"
#include "operations/operation_routes.hpp"
#include "operations/operation_slot.hpp"
#include "operations/request_encoding.hpp"
#include "operations/response_decoding.hpp"
#include "operations/scan_operations.hpp"
#include "operations/status_mapping.hpp"
#include "operations/waiting_operations.hpp"
#include "topology/collections.hpp"
#include "topology/configuration_polls.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

class connections;

// The parts that operations use.
struct operation_parts {
    topology& nodes;
    configuration_polls& polls;
    collections& collection_ids;
    connections& kv_connections;
    operation_retries& decider;
    operation_lifecycle& life;
};

// Key-value operations from start to end. The sources follow the path of one operation:
//
//     start -> operation_dispatch.cpp: configuration, collection id, node, open connection
//           -> operation_sending.cpp: encoded as credit allows, on the wire
//           -> operation_response.cpp: what the answer means
//           -> operation_retry.cpp: tried again?
//
// Its parts own the rest: waiting_operations parks and wakes, operation_endings has the slots and
// completes each operation once, scan_operations does what only range scans do. They call back with
// `dispatch`, `retry` and `apply`.
class key_value_operations {
public:
    key_value_operations(engine_context& context, const operation_parts& parts) noexcept
        : context_(context), parts_(parts), routes_(context, parts.nodes) {}

    // --- users ---

    operation_id start(operation_request&& request, completion&& done, time_point now);
    operation_id start(keyspace_id where, document_call&& call, completion&& done, time_point now);
    // Returns false if the operation has already ended.
    bool cancel(operation_id operation, time_point now);
    // Ends every operation as canceled.
    void close(time_point now);
    [[nodiscard]] std::size_t open_count() const noexcept { return endings_.slots().open_count(); }

    // --- timers and late answers of strategies ---

    void on_due(operation_slot& slot, time_point now);
    void on_answer(late_answer_queue::entry& late, time_point now);

    // --- connections ---

    [[nodiscard]] operation_slot& slot(std::uint32_t index) noexcept {
        return endings_.slots().at(index);
    }
    // Encodes operations of the ready list, as many as credit and the size of a write allow.
    void encode_ready(kv_connection& connection, base::byte_writer& out, time_point now);
    // Processes the answer to the operation in this slot.
    void on_response(
        kv_connection& connection, std::uint32_t index, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    // The connection of these operations is gone. `sent_end` is the first offset of its stream that
    // was certainly not sent. Those that are canceled meanwhile are left alone.
    void requeue(
        const kv_connection& gone, std::span<operation_slot* const> slots, std::uint64_t sent_end,
        time_point now);

    // --- the parts ---

    [[nodiscard]] waiting_operations& waiting() noexcept { return waiting_; }
    [[nodiscard]] scan_operations& scans() noexcept { return scans_; }
    // Dispatches the operation, wherever it waited before. `is_woken`: the cause of its waiting has
    // ended, so a full ready list must not reject it.
    void dispatch(operation_slot& slot, bool is_woken, time_point now);
    // Asks what to do about the failed attempt, and does it.
    void retry(operation_slot& slot, const retry_case& failed, time_point now);
    void apply(operation_slot& slot, const retry_outcome& decided, time_point now);
    // Fails with an unclassified error. The retry is refused as usual, and the note is kept.
    void fail_unclassified(
        operation_slot& slot, std::error_code code, failure_note&& note, time_point now);

private:
    // Inline: defined in the one source that uses it, because each operation passes there.

    // operation_dispatch.cpp
    [[gnu::always_inline]] inline operation_id begin(
        operation_slot& slot, completion&& done, time_point now);
    void refuse(operation_slot& slot, encoding_error error, time_point now);
    [[gnu::always_inline]] inline void dispatch_inline(
        operation_slot& slot, collection_entry& asked, bool is_woken, time_point now);
    void dispatch_noop(operation_slot& slot, bucket_state& bucket, time_point now);
    void await_collection(operation_slot& slot, collection_entry& entry, time_point now);
    [[gnu::always_inline]] inline void submit(
        operation_slot& slot, node_link& link, bool is_woken, time_point now);
    [[gnu::always_inline]] inline void make_ready(
        operation_slot& slot, kv_connection& connection, time_point now);
    void wait_for_topology(operation_slot& slot, bucket_state& bucket, time_point now);
    void fail_without_vbuckets(operation_slot& slot, time_point now);
    void breaker_refused(operation_slot& slot, time_point now);
    void dispatch_failed(operation_slot& slot, retry_reason reason, time_point now);

    // operation_sending.cpp
    [[nodiscard]] [[gnu::always_inline]] inline bool encode_next(
        kv_connection& connection, encoding_context& context, base::byte_writer& out,
        time_point now);
    void report_attempt(
        const kv_connection& connection, const operation_slot& slot, time_point now);

    // operation_response.cpp
    [[gnu::always_inline]] inline void on_success(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    void on_other_response(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    void on_unreadable(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const decoding_error& error, time_point now);
    void on_failure(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const response_outcome& outcome, time_point now);
    void on_retryable(
        operation_slot& slot, const wire::frame_view& frame, std::string_view host,
        const response_outcome& outcome, time_point now);

    // operation_retry.cpp
    void decide(operation_slot& slot, const retry_case& failed, time_point now);
    void fail(operation_slot& slot, const retry_outcome& decided, time_point now);

    // operation_end.cpp
    void time_out(operation_slot& slot, time_point now);

    engine_context& context_;
    operation_parts parts_;
    operation_routes routes_;
    operation_endings endings_{context_, parts_.nodes, parts_.life, scans_};
    waiting_operations waiting_{context_, parts_.nodes, parts_.life, parts_.kv_connections,
                                endings_, *this};
    scan_operations scans_{context_, parts_.life, parts_.kv_connections, endings_, *this};
};

}  // namespace reprise::engine
