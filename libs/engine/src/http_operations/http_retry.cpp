// Handles failed attempts, deadlines and cancellations of HTTP operations.

#include <utility>

#include "http_operations/http_operations.hpp"

namespace reprise::engine {

void http_operations::refuse(
    http_slot& slot, const failed_attempt& failed, refusal_reason why, std::string detail,
    time_point now) {
    retry_case refused{failed};
    refused.veto = why;
    operation_retries::note_failure(slot, refused);
    retry_outcome decided = *parts_.decider.decide(refused, parts_.decider.subject_of(slot), now);
    // A complete answer was judged. An unreadable or missing one is ambiguous.
    const bool has_answer =
        failed.reason != retry_reason::unknown && failed.stage == attempt_stage::response;
    decided.is_ambiguous = has_answer
                               ? failed.may_have_been_applied
                               : failed.stage != attempt_stage::dispatch && !slot.is_repeatable();
    decided.cause = std::move(detail);
    apply(slot, decided, now);
}

void http_operations::retry(http_slot& slot, const retry_case& failed, time_point now) {
    operation_retries::note_failure(slot, failed);
    if (const auto decided =
            parts_.life.decide(slot, failed, parts_.decider.subject_of(slot), now)) {
        apply(slot, *decided, now);
    }
}

void http_operations::on_answer(late_answer_queue::entry& late, time_point now) {
    http_slot* const slot = endings_.find(late.ticket.operation);
    if (slot != nullptr && operation_lifecycle::is_awaited(*slot, late)) {
        apply(
            *slot, parts_.life.on_answer(*slot, parts_.decider.subject_of(*slot), late, now), now);
    }
}

void http_operations::apply(http_slot& slot, const retry_outcome& decided, time_point now) {
    const next_step step = operation_lifecycle::step_after(slot, decided);
    slot.search_end.reset();
    switch (step) {
        case next_step::fail: {
            const bool is_explained =
                !decided.cause.empty() || slot.failed.stage != attempt_stage::dispatch;
            return endings_.complete_error(
                slot, decided.error, decided.is_ambiguous,
                is_explained ? decided.cause : candidates_.dispatch_cause(slot), now);
        }
        case next_step::dispatch:
            return begin_attempt(slot, now);
        case next_step::park:
            return waiting_.park(slot, decided.delay, now);
    }
}

void http_operations::on_operation_due(http_slot& slot, time_point now) {
    if (now < slot.deadline && slot.state == operation_state::queued) {
        return on_search_over(slot, now);
    }
    if (now < slot.deadline) {
        return waiting_.resume(slot, now);
    }
    http_connection* connection = slot.connection;
    const bool is_sent = connection != nullptr && connection->is_handed;
    // The endpoint has sent all that the client would take.
    const bool is_reader_slow = connection != nullptr && connection->is_reading_paused;
    const bool is_ambiguous = is_sent && !slot.is_repeatable();
    const errc code = is_ambiguous ? errc::ambiguous_timeout : errc::unambiguous_timeout;
    std::string waited_for = candidates_.wait_cause(slot);
    waiting_.leave(slot);
    if (connection != nullptr) {
        pools_.drop(*connection);  // a late answer could be mistaken for the next one
    }
    endings_.complete_error(slot, code, is_ambiguous, std::move(waited_for), now);
    if (is_sent && !is_reader_slow) {
        note_outcome(*connection->pool, code, now);
    }
}

bool http_operations::cancel(operation_id operation, time_point now) {
    http_slot* const found = endings_.find(operation.value);
    if (found == nullptr) {
        return false;
    }
    http_slot& slot = *found;
    http_connection* connection = slot.connection;
    const bool is_ambiguous =
        connection != nullptr && connection->is_handed && !slot.is_repeatable();
    waiting_.leave(slot);
    if (connection != nullptr) {
        pools_.drop(*connection);
    }
    endings_.complete_error(
        slot, errc::request_canceled, is_ambiguous, "canceled by the caller", now);
    return true;
}

void http_operations::close(time_point now) {
    while (const http_slot* open = endings_.any()) {
        cancel(open->id, now);
    }
    for (const auto& pool : pools_.all()) {
        while (!pool->connections.empty()) {
            pools_.drop(*pool->connections.front());
        }
    }
}

}  // namespace reprise::engine
