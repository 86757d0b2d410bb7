// Decides what happens to an operation after a failed attempt.

#include <utility>

#include "operations/operations.hpp"

namespace reprise::engine {

retry_subject operations::subject_of(operation_slot& slot) {
    return parts_.decider.subject_of(slot);
}

// Asks what to do about the failed attempt, and does it.
void operations::retry(operation_slot& slot, const retry_case& failed, time_point now) {
    if (slot.scan == nullptr) [[likely]] {
        return decide(slot, failed, now);
    }
    decide(slot, break_scan(slot, failed, now), now);
}

void operations::decide(operation_slot& slot, const retry_case& failed, time_point now) {
    operation_retries::note_failure(slot, failed);
    if (const auto decided = parts_.life.decide(slot, failed, subject_of(slot), now)) {
        apply(slot, *decided, now);
    }
}

void operations::on_answer(late_answer_queue::entry& late, time_point now) {
    operation_slot* slot = slots_.find(operation_id{late.ticket.operation});
    if (slot != nullptr && lifecycle::is_awaited(*slot, late)) {
        apply(*slot, parts_.life.on_answer(*slot, subject_of(*slot), late, now), now);
    }
}

void operations::apply(operation_slot& slot, const retry_outcome& decided, time_point now) {
    switch (lifecycle::step_after(slot, decided)) {
        case next_step::fail:
            return fail(slot, decided, now);
        case next_step::dispatch:
            return dispatch(slot, true, now);
        case next_step::park:
            return parts_.life.park(slot, list_for(slot), add_saturated(now, decided.delay));
    }
}

// Ends the operation, because it is not retried.
void operations::fail(operation_slot& slot, const retry_outcome& decided, time_point now) {
    failure_note note;
    note.is_ambiguous = decided.is_ambiguous;
    note.detail = decided.cause;
    if (note.detail.empty() && slot.failed.stage == attempt_stage::dispatch) {
        note.detail = dispatch_cause(slot);
    }
    // Keeps the map alive during this call: the entry points into it.
    const auto map =
        slot.endpoint < 0 ? nullptr : parts_.nodes.endpoints()[slot.endpoint].error_map;
    if (slot.failed.status != 0) {
        note.status = slot.failed.status;
        const bool is_known =
            wire::is_known_to_client(static_cast<wire::status>(slot.failed.status));
        note.entry = map && !is_known ? map->find(slot.failed.status) : nullptr;
    }
    complete_error(slot, decided.error, std::move(note), now);
}

// Fails with an unclassified error. The retry is refused as usual, and the note is kept.
void operations::fail_unclassified(
    operation_slot& slot, std::error_code code, failure_note&& note, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::unknown;
    failed.stage = attempt_stage::response;
    failed.own_error = static_cast<errc>(code.value());
    failed.status = note.status.value_or(0);
    operation_retries::note_failure(slot, failed);
    const auto decided = parts_.life.decide(slot, failed, subject_of(slot), now);
    REPRISE_ASSERT(decided.has_value() && !decided->is_retry);
    complete_error(slot, decided->error, std::move(note), now);
}

// The list in which an operation waits determines what wakes it early.
wait_list& operations::list_for(operation_slot& slot) {
    bucket_state& bucket = bucket_of(slot);
    if (slot.failed.reason == retry_reason::kv_not_my_vbucket) {
        return bucket.not_my_vbucket_waiters;
    }
    if (!info(slot.failed.reason).is_about_connection) {
        return backoff_waiters_;
    }
    // Operations without a route wake on any change of the bucket.
    node_link* link = link_of_route(slot);
    return link != nullptr ? link->waiters : bucket.topology_waiters;
}

}  // namespace reprise::engine
