// Range scans: operations of several requests, whose rows are taken while they run.

#include <algorithm>
#include <memory>
#include <utility>

#include "connections/connections.hpp"
#include "operations/operations.hpp"

namespace reprise::engine {
namespace {

constexpr std::string_view scan_capability = "rangeScan";

// Whether a server may still have a scan that it answered with this status.
bool may_be_open(wire::status code) noexcept {
    return code != wire::status::key_enoent && code != wire::status::range_scan_cancelled &&
           code != wire::status::not_my_vbucket && code != wire::status::unknown_collection;
}

}  // namespace

bool operations::can_scan(const bucket_state& bucket) noexcept {
    const auto names = bucket.configuration->bucket_capabilities();
    return std::ranges::find(names, scan_capability) != names.end();
}

// One of several frames of an answer: the request stays in flight.
void operations::on_scan_part(
    kv_connection& connection, std::uint32_t index, const wire::frame_view& frame, time_point now) {
    operation_slot& slot = slots_.at(index);
    REPRISE_ASSERT(slot.scan != nullptr && slot.state == operation_state::in_flight);
    const bool had_rows = slot.scan->has_rows();
    auto taken = slot.scan->take_frame(frame);
    if (!taken) {
        leave_place(slot);
        return fail_scan(connection, slot, std::move(taken.error()), now);
    }
    announce_rows(slot, had_rows);
}

void operations::on_scan_success(
    kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
    time_point now) {
    if (frame.op() == wire::opcode::range_scan_create) {
        const auto created = wire::range_scan_create_response::decode(frame);
        if (!created) {
            return fail_scan(connection, slot, std::string(wire::to_string(created.error())), now);
        }
        slot.scan->on_created(created->id);
        return dispatch(slot, true, now);
    }
    const bool had_rows = slot.scan->has_rows();
    auto taken = slot.scan->take_frame(frame);
    if (!taken) {
        return fail_scan(connection, slot, std::move(taken.error()), now);
    }
    if (frame.status() == wire::status::range_scan_complete) {
        slot.scan->forget_id();
        return complete(slot, {}, now);
    }
    announce_rows(slot, had_rows);
    if (slot.scan->is_full()) {
        return park_silently(slot, reader_waiters_, now);
    }
    dispatch(slot, true, now);
}

void operations::announce_rows(const operation_slot& slot, bool had_rows) {
    if (!had_rows && slot.scan->has_rows() && slot.request.scan->on_rows) {
        parts_.life.notify(slot.request.scan->on_rows);
    }
}

void operations::fail_scan(
    kv_connection& connection, operation_slot& slot, std::string&& why, time_point now) {
    slot.scan->forget_id();
    failure_note note;
    note.detail = std::move(why);
    fail_unclassified(slot, errc::decoding_failure, std::move(note), now);
    parts_.kv_connections.fail(connection, "an answer that cannot be decoded", now);
}

// A request of the scan failed. The server's scan may have read rows that never arrived, so it is
// given up; the next attempt creates another one.
retry_case operations::break_scan(operation_slot& slot, const retry_case& failed, time_point now) {
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
        broken.veto = refusal_reason::rows_taken;
    }
    return broken;
}

// Releases what the server holds for a scan. Nobody waits for the answer.
void operations::cancel_on_server(operation_slot& slot, time_point now) {
    if (context_.is_closed) {
        return;
    }
    scan_terms terms;
    terms.vbucket = slot.request.scan->vbucket;
    terms.canceled = *slot.scan->id();
    slot.scan->forget_id();
    operation_request request;
    request.kind = operation_kind::range_scan_cancel;
    request.keyspace = slot.request.keyspace;
    request.scan = std::move(terms);
    start(std::move(request), [](operation_result&&) {}, now);
}

bool operations::take_rows(operation_id operation, row_batch& out, time_point now) {
    operation_slot* slot = slots_.find(operation);
    if (slot == nullptr) {
        return false;
    }
    if (slot->scan == nullptr) {
        out.clear();
        return true;
    }
    slot->scan->take_rows(out);
    if (slot->list() == &reader_waiters_) {
        resume(*slot, true, now);
    }
    return true;
}

}  // namespace reprise::engine
