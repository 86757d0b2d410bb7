// Decides what happens to an operation after a failed attempt.

#include <utility>

#include "operations/key_value_operations.hpp"

namespace reprise::engine {

void key_value_operations::retry(operation_slot& slot, const retry_case& failed, time_point now) {
    if (slot.scan == nullptr) [[likely]] {
        return decide(slot, failed, now);
    }
    decide(slot, scans_.on_failure(slot, failed, now), now);
}

void key_value_operations::decide(operation_slot& slot, const retry_case& failed, time_point now) {
    operation_retries::note_failure(slot, failed);
    if (const auto decided =
            parts_.life.decide(slot, failed, parts_.decider.subject_of(slot), now)) {
        apply(slot, *decided, now);
    }
}

void key_value_operations::on_answer(late_answer_queue::entry& late, time_point now) {
    operation_slot* slot = endings_.slots().find(operation_id{late.ticket.operation});
    if (slot != nullptr && operation_lifecycle::is_awaited(*slot, late)) {
        apply(
            *slot, parts_.life.on_answer(*slot, parts_.decider.subject_of(*slot), late, now), now);
    }
}

void key_value_operations::apply(
    operation_slot& slot, const retry_outcome& decided, time_point now) {
    switch (operation_lifecycle::step_after(slot, decided)) {
        case next_step::fail:
            return fail(slot, decided, now);
        case next_step::dispatch:
            return dispatch(slot, true, now);
        case next_step::park:
            return waiting_.park(slot, decided, now);
    }
}

// Ends the operation, because it is not retried.
void key_value_operations::fail(
    operation_slot& slot, const retry_outcome& decided, time_point now) {
    failure_note note;
    note.is_ambiguous = decided.is_ambiguous;
    note.detail = decided.cause;
    if (note.detail.empty() && slot.failed.stage == attempt_stage::dispatch) {
        note.detail = endings_.dispatch_cause(slot);
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
    endings_.complete_error(slot, decided.error, std::move(note), now);
}

void key_value_operations::fail_unclassified(
    operation_slot& slot, std::error_code code, failure_note&& note, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::unknown;
    failed.stage = attempt_stage::response;
    failed.own_error = static_cast<errc>(code.value());
    failed.status = note.status.value_or(0);
    operation_retries::note_failure(slot, failed);
    const auto decided = parts_.life.decide(slot, failed, parts_.decider.subject_of(slot), now);
    REPRISE_ASSERT(decided.has_value() && !decided->is_retry);
    endings_.complete_error(slot, decided->error, std::move(note), now);
}

}  // namespace reprise::engine
