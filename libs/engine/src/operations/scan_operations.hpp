#pragma once

#include <string>

#include <reprise/wire/frame.hpp>

#include "connections/kv_connection.hpp"
#include "engine_context.hpp"
#include "operations/operation_endings.hpp"
#include "operations/operation_slot.hpp"
#include "operations/retry_rules.hpp"

namespace reprise::engine {

class connections;
class operation_lifecycle;
class key_value_operations;

// Steps specific to range scans, which consist of several requests and deliver rows while they run.
// Owns the scans that wait until their rows are taken.
class scan_operations {
public:
    scan_operations(
        const engine_context& context, operation_lifecycle& life, connections& kv_connections,
        operation_endings& endings, key_value_operations& requests) noexcept
        : context_(context),
          life_(life),
          kv_connections_(kv_connections),
          endings_(endings),
          requests_(requests) {}

    // Returns false if the bucket cannot be scanned like this: then the operation has ended.
    [[nodiscard]] bool may_start(operation_slot& slot, const bucket_state& bucket, time_point now);
    // One of the frames before the last one of an answer: the request stays in flight.
    void on_part(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        time_point now);
    void on_success(
        kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
        time_point now);
    // A request of the scan failed. The server's scan may have read rows that never arrived, so it
    // is given up; the next attempt creates another one.
    [[nodiscard]] retry_case on_failure(
        operation_slot& slot, const retry_case& failed, time_point now);
    // The operation ends: adds the rows that were not taken.
    void on_end(operation_slot& slot, operation_result& result, time_point now);
    // See client_engine::take_rows.
    bool take_rows(operation_id operation, row_batch& out, time_point now);
    // Whether the operation waits until its rows are taken.
    [[nodiscard]] bool is_waiting(const operation_slot& slot) const noexcept {
        return slot.list() == &reader_waiters_;
    }

private:
    [[nodiscard]] static bool can_scan(const bucket_state& bucket) noexcept;
    void announce_rows(const operation_slot& slot, bool had_rows);
    void fail(kv_connection& connection, operation_slot& slot, std::string&& why, time_point now);
    void cancel_on_server(operation_slot& slot, time_point now);

    const engine_context& context_;
    operation_lifecycle& life_;
    connections& kv_connections_;
    operation_endings& endings_;
    key_value_operations& requests_;
    wait_list reader_waiters_;
};

}  // namespace reprise::engine
