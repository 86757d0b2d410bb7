#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include <reprise/wire/error_context.hpp>

#include "connections/kv_connection.hpp"
#include "engine_context.hpp"
#include "operations/lifecycle.hpp"
#include "operations/operation_retries.hpp"
#include "operations/operation_slot.hpp"
#include "operations/request_encoding.hpp"
#include "operations/response_decoding.hpp"
#include "operations/status_mapping.hpp"
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
    lifecycle& life;
};

// Key-value operations from start to end. The sources follow the path of one operation:
//
//     start -> operation_dispatch.cpp: configuration, collection id, node, open connection
//           -> operation_sending.cpp: encoded as credit allows, on the wire
//           -> operation_response.cpp: what the answer means
//           -> operation_retry.cpp: tried again? -> operation_waiting.cpp: parked, woken ->
//           dispatch
//           -> operation_end.cpp: completed, once
//
// A range scan goes from its response back to dispatch until it is complete: operation_scan.cpp.
//
class operations {
public:
    operations(engine_context& context, const operation_parts& parts) noexcept
        : context_(context), parts_(parts) {}

    // --- users ---

    operation_id start(operation_request&& request, completion&& done, time_point now);
    // Returns false if the operation has already ended.
    bool cancel(operation_id operation, time_point now);
    // The rows of a range scan; see client_engine::take_rows.
    bool take_rows(operation_id operation, row_batch& out, time_point now);
    // Ends every operation as canceled.
    void close(time_point now);
    [[nodiscard]] std::size_t open_count() const noexcept { return slots_.open_count(); }

    // --- timers and late answers of strategies ---

    void on_due(operation_slot& slot, time_point now);
    void on_answer(late_answer_queue::entry& late, time_point now);

    // --- connections ---

    [[nodiscard]] operation_slot& slot(std::uint32_t index) noexcept { return slots_.at(index); }
    // Encodes the first operation of the ready list. Returns false if nothing more can be sent now.
    [[nodiscard]] bool encode_next(
        kv_connection& connection, base::byte_writer& out, time_point now);
    // Processes the answer to the operation in this slot.
    void on_response(
        kv_connection& connection, std::uint32_t index, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    // One of the frames before the last one of an answer.
    void on_scan_part(
        kv_connection& connection, std::uint32_t index, const wire::frame_view& frame,
        time_point now);
    // The connection of these operations is gone. `sent_end` is the first offset of its stream that
    // was certainly not sent.
    void requeue(std::span<operation_slot* const> slots, std::uint64_t sent_end, time_point now);

    // --- topology (contracts: topology_listener.hpp) ---

    void wake(wait_list& list, std::size_t count_max, time_point now);
    void on_configuration(bucket_state& bucket, std::size_t waiting_count, time_point now);
    void on_link_failed(node_link& link, time_point now);
    void on_link_retired(node_link& link, time_point now);
    void on_terminal_state(bucket_state& bucket, time_point now);
    void on_collection_missing(
        collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now);
    void on_collection_refused(
        collection_entry& entry, errc error, std::uint16_t status, time_point now);

private:
    // What an error contains beyond its code.
    struct failure_note {
        bool is_ambiguous = false;
        std::optional<std::uint16_t> status{};
        const wire::error_map_entry* entry = nullptr;
        wire::error_context context{};
        std::optional<std::uint8_t> failed_path{};
        std::string detail{};
    };

    // operation_dispatch.cpp
    void dispatch(operation_slot& slot, bool is_woken, time_point now);
    [[nodiscard]] bool may_scan(operation_slot& slot, const bucket_state& bucket, time_point now);
    void refuse(operation_slot& slot, encoding_error&& error, time_point now);
    void dispatch_noop(operation_slot& slot, bucket_state& bucket, time_point now);
    void await_collection(operation_slot& slot, collection_entry& entry, time_point now);
    void submit(operation_slot& slot, node_link& link, bool is_woken, time_point now);
    void make_ready(operation_slot& slot, kv_connection& connection, time_point now);
    void wait_for_topology(operation_slot& slot, bucket_state& bucket, time_point now);
    void fail_without_vbuckets(operation_slot& slot, time_point now);
    void wait_for_first_attempt(operation_slot& slot, duration delay, time_point now);
    void breaker_refused(operation_slot& slot, time_point now);
    void dispatch_failed(operation_slot& slot, retry_reason reason, time_point now);
    [[nodiscard]] bool is_dispatchable(const operation_slot& slot) const noexcept;
    [[nodiscard]] static wire::vbucket_id vbucket_of(
        const operation_slot& slot, std::size_t vbucket_count) noexcept;
    [[nodiscard]] std::size_t route_place(const operation_slot& slot) const noexcept;
    [[nodiscard]] node_link* link_of_route(const operation_slot& slot) const;
    [[nodiscard]] bucket_state& bucket_of(const operation_slot& slot) const;

    // operation_sending.cpp
    [[nodiscard]] bool start_attempt(operation_slot& slot, time_point now);
    void report_attempt(
        const kv_connection& connection, const operation_slot& slot, time_point now);

    // operation_response.cpp
    void on_success(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const frame_source& source, time_point now);
    void on_unreadable(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        decoding_error&& error, time_point now);
    void on_failure(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        const response_outcome& outcome, time_point now);
    void on_retryable(
        operation_slot& slot, const wire::frame_view& frame, std::string_view host,
        const response_outcome& outcome, time_point now);

    // operation_scan.cpp
    [[nodiscard]] static bool can_scan(const bucket_state& bucket) noexcept;
    void on_scan_success(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        time_point now);
    void announce_rows(const operation_slot& slot, bool had_rows);
    void fail_scan(
        kv_connection& connection, operation_slot& slot, std::string&& why, time_point now);
    [[nodiscard]] retry_case break_scan(
        operation_slot& slot, const retry_case& failed, time_point now);
    void cancel_on_server(operation_slot& slot, time_point now);

    // operation_retry.cpp
    void retry(operation_slot& slot, const retry_case& failed, time_point now);
    void decide(operation_slot& slot, const retry_case& failed, time_point now);
    void apply(operation_slot& slot, const retry_outcome& decided, time_point now);
    void fail(operation_slot& slot, const retry_outcome& decided, time_point now);
    void fail_unclassified(
        operation_slot& slot, std::error_code code, failure_note&& note, time_point now);
    [[nodiscard]] wait_list& list_for(operation_slot& slot);
    [[nodiscard]] retry_subject subject_of(operation_slot& slot);

    // operation_waiting.cpp
    void park_silently(operation_slot& slot, wait_list& list, time_point now);
    void leave_place(operation_slot& slot);
    void resume(operation_slot& slot, bool is_woken, time_point now);
    // Dispatches the operations in the list for which `goes(slot)` returns true.
    template <class Goes>
    void wake_if(wait_list& list, bool is_woken, time_point now, Goes&& goes);
    void wake_silent(wait_list& list, time_point now);
    void wake_for_revision(bucket_state& bucket, time_point now);
    void wake_for_terminal_state(wait_list& list, time_point now);
    void wake_if_stuck(wait_list& list, const bucket_state& bucket, time_point now);
    static bool may_retry_early(operation_slot& slot, const bucket_state& bucket) noexcept;

    // operation_end.cpp, operation_cause.cpp
    void complete(operation_slot& slot, operation_result&& result, time_point now);
    void complete_begun(operation_slot& slot, time_point now);
    void complete_error(
        operation_slot& slot, std::error_code code, failure_note&& note, time_point now);
    void time_out(operation_slot& slot, time_point now);
    [[nodiscard]] std::shared_ptr<const retry_history> history_of(
        const operation_slot& slot, bool with_problems) const;
    [[nodiscard]] std::string dispatch_cause(const operation_slot& slot) const;
    [[nodiscard]] std::string wait_cause(const operation_slot& slot) const;

    engine_context& context_;
    operation_parts parts_;
    operation_pool slots_;
    wait_list backoff_waiters_;  // waiting only for their backoff to end
    wait_list reader_waiters_;   // scans whose rows have to be taken first
};

}  // namespace reprise::engine
