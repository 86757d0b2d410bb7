// Range scans: operations of several requests, whose rows are taken while they run.

#include <memory>
#include <utility>

#include "connections/connections.hpp"
#include "operations/key_value_operations.hpp"

namespace reprise::engine {
namespace {

constexpr std::string_view scan_capability = "rangeScan";

// Whether a server may still have a scan that it answered with this status.
bool may_be_open(wire::status code) noexcept {
    return code != wire::status::key_enoent && code != wire::status::range_scan_cancelled &&
           code != wire::status::not_my_vbucket && code != wire::status::unknown_collection;
}

}  // namespace

bool scan_operations::can_scan(const bucket_state& bucket) noexcept {
    return bucket.configuration->has_bucket_capability(scan_capability);
}

bool scan_operations::may_start(operation_slot& slot, const bucket_state& bucket, time_point now) {
    if (slot.vbucket.value >= bucket.configuration->vbucket_count()) {
        endings_.complete_error(
            slot, errc::invalid_argument, {.detail = "the bucket has no such vbucket"}, now);
        return false;
    }
    if (!can_scan(bucket)) {
        endings_.complete_error(
            slot, errc::feature_not_available, {.detail = "the bucket has no range scans"}, now);
        return false;
    }
    return true;
}

void scan_operations::on_part(
    kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
    time_point now) {
    REPRISE_ASSERT(slot.scan != nullptr && slot.state == operation_state::in_flight);
    const bool had_rows = slot.scan->has_rows();
    auto taken = slot.scan->take_frame(frame);
    if (!taken) {
        requests_.waiting().leave(slot);
        return fail(connection, slot, std::move(taken.error()), now);
    }
    announce_rows(slot, had_rows);
}

void scan_operations::on_success(
    kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
    time_point now) {
    if (frame.op() == wire::opcode::range_scan_create) {
        const auto created = wire::range_scan_create_response::decode(frame);
        if (!created) {
            return fail(connection, slot, std::string(wire::to_string(created.error())), now);
        }
        slot.scan->on_created(created->id);
        operation_retries::pause_attempt(slot, now);
        return requests_.dispatch(slot, true, now);
    }
    const bool had_rows = slot.scan->has_rows();
    auto taken = slot.scan->take_frame(frame);
    if (!taken) {
        return fail(connection, slot, std::move(taken.error()), now);
    }
    if (frame.status() == wire::status::range_scan_complete) {
        slot.scan->forget_id();
        return endings_.complete(slot, {}, now);
    }
    announce_rows(slot, had_rows);
    operation_retries::pause_attempt(slot, now);
    if (slot.scan->is_full()) {
        return requests_.waiting().park_without_retry(slot, reader_waiters_, now);
    }
    requests_.dispatch(slot, true, now);
}

void scan_operations::announce_rows(const operation_slot& slot, bool had_rows) {
    if (!had_rows && slot.scan->has_rows() && slot.request.scan->on_rows) {
        life_.notify(slot.request.scan->on_rows);
    }
}

void scan_operations::fail(
    kv_connection& connection, operation_slot& slot, std::string&& why, time_point now) {
    slot.scan->forget_id();
    failure_note note;
    note.detail = std::move(why);
    requests_.fail_unclassified(slot, errc::decoding_failure, std::move(note), now);
    kv_connections_.fail(connection, "an answer that cannot be decoded", now);
}

retry_case scan_operations::on_failure(
    operation_slot& slot, const retry_case& failed, time_point now) {
    retry_case broken = failed;
    if (failed.stage == attempt_stage::dispatch) {
        return broken;  // nothing was sent, so the server's scan is where it was
    }
    if (slot.scan->id() && failed.stage == attempt_stage::response &&
        may_be_open(static_cast<wire::status>(failed.status))) {
        cancel_on_server(slot, now);
    }
    slot.scan->forget_id();
    if (!slot.scan->can_begin_again()) {
        broken.veto = refusal_reason::partly_delivered;
    }
    return broken;
}

void scan_operations::on_end(operation_slot& slot, operation_result& result, time_point now) {
    if (slot.scan->id()) {
        cancel_on_server(slot, now);
    }
    result.scan = std::make_unique<scan_result>();
    result.scan->row_count = slot.scan->row_count();
    slot.scan->take_rows(result.scan->rows);
}

// Releases what the server holds for a scan. Nobody waits for the answer.
void scan_operations::cancel_on_server(operation_slot& slot, time_point now) {
    if (context_.is_closed) {
        return;
    }
    vbucket_scan scan;
    scan.vbucket = slot.request.scan->vbucket;
    scan.canceled = *slot.scan->id();
    slot.scan->forget_id();
    operation_request request;
    request.kind = operation_kind::range_scan_cancel;
    request.keyspace = slot.request.keyspace;
    request.scan = std::move(scan);
    requests_.start(std::move(request), [](operation_result&&) {}, now);
}

bool scan_operations::take_rows(operation_id operation, row_batch& out, time_point now) {
    operation_slot* slot = endings_.slots().find(operation);
    if (slot == nullptr) {
        return false;
    }
    if (slot->scan == nullptr) {
        out.clear();
        return true;
    }
    slot->scan->take_rows(out);
    if (slot->list() == &reader_waiters_) {
        requests_.waiting().resume(*slot, true, now);
    }
    return true;
}

}  // namespace reprise::engine
