// Retries and completes HTTP operations.

#include <utility>

#include <reprise/base/printable.hpp>

#include "services/http_operations.hpp"

namespace reprise::engine {
namespace {

// Statements and server messages can be megabytes long, so an error contains only their start.
constexpr std::size_t error_text_size_max = 1024;

}  // namespace

retry_subject http_operations::subject_of(http_slot& slot) const {
    return parts_.decider.subject_of(slot);
}

// Ends the operation without asking a strategy. History and log record it like every other
// decision.
void http_operations::refuse(
    http_slot& slot, const failed_attempt& failed, refusal_reason why, std::string detail,
    time_point now) {
    retry_case refused{failed};
    refused.veto = why;
    operation_retries::note_failure(slot, refused);
    retry_outcome decided = *parts_.decider.decide(refused, subject_of(slot), now);
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
    if (const auto decided = parts_.life.decide(slot, failed, subject_of(slot), now)) {
        apply(slot, *decided, now);
    }
}

void http_operations::on_answer(late_answer_queue::entry& late, time_point now) {
    const auto found = slots_.find(late.ticket.operation);
    if (found != slots_.end() && lifecycle::is_awaited(*found->second, late)) {
        http_slot& slot = *found->second;
        apply(slot, parts_.life.on_answer(slot, subject_of(slot), late, now), now);
    }
}

void http_operations::apply(http_slot& slot, const retry_outcome& decided, time_point now) {
    const next_step step = lifecycle::step_after(slot, decided);
    slot.search_end.reset();
    switch (step) {
        case next_step::fail: {
            const bool is_explained =
                !decided.cause.empty() || slot.failed.stage != attempt_stage::dispatch;
            return complete_error(
                slot, decided.error, decided.is_ambiguous,
                is_explained ? decided.cause : candidates_.dispatch_cause(slot), now);
        }
        case next_step::dispatch:
            return begin_attempt(slot, now);
        case next_step::park:
            return parts_.life.park(
                slot, list_for(slot.failed.reason), add_saturated(now, decided.delay));
    }
}

// The list in which an operation waits determines what wakes it early.
intrusive_list<http_slot>& http_operations::list_for(retry_reason reason) noexcept {
    switch (reason) {
        case retry_reason::service_not_available:
            return topology_waiters_;
        case retry_reason::circuit_breaker_open:
            return breaker_waiters_;
        default:  // all others wait for nothing but their time
            return backoff_waiters_;
    }
}

// Removes the operation from its list, its timer and its connection.
void http_operations::leave_place(http_slot& slot) {
    if (slot.connection != nullptr) {
        slot.connection->slot = nullptr;
        slot.connection = nullptr;
    }
    parts_.life.leave(slot);
}

// From wherever it waits back to the search for a node.
void http_operations::resume(http_slot& slot, time_point now) {
    leave_place(slot);
    begin_attempt(slot, now);
}

void http_operations::forget_answer(http_slot& slot) {
    slot.answer.restart();
    slot.server_code = 0;
    slot.server_text.clear();
}

void http_operations::on_operation_due(http_slot& slot, time_point now) {
    if (now < slot.deadline && slot.state == operation_state::queued) {
        return on_search_over(slot, now);
    }
    if (now < slot.deadline) {
        return resume(slot, now);
    }
    http_connection* connection = slot.connection;
    const bool is_sent = connection != nullptr && connection->is_handed;
    const bool is_ambiguous = is_sent && !slot.is_repeatable();
    const errc code = is_ambiguous ? errc::ambiguous_timeout : errc::unambiguous_timeout;
    std::string waited_for = candidates_.wait_cause(slot);
    leave_place(slot);
    if (connection != nullptr) {
        pools_.drop(*connection);  // a late answer could be mistaken for the next one
    }
    complete_error(slot, code, is_ambiguous, std::move(waited_for), now);
    if (is_sent) {
        note_outcome(*connection->pool, code, now);
    }
}

bool http_operations::cancel(operation_id operation, time_point now) {
    const auto found = slots_.find(operation.value);
    if (found == slots_.end()) {
        return false;
    }
    http_slot& slot = *found->second;
    http_connection* connection = slot.connection;
    const bool is_ambiguous =
        connection != nullptr && connection->is_handed && !slot.is_repeatable();
    leave_place(slot);
    if (connection != nullptr) {
        pools_.drop(*connection);
    }
    complete_error(slot, errc::request_canceled, is_ambiguous, "canceled by the caller", now);
    return true;
}

void http_operations::close(time_point now) {
    while (!slots_.empty()) {
        cancel(slots_.begin()->second->id, now);
    }
    for (const auto& pool : pools_.all()) {
        while (!pool->connections.empty()) {
            pools_.drop(*pool->connections.front());
        }
    }
}

void http_operations::complete(http_slot& slot, time_point now) {
    if (slot.is_canary) {
        return end_canary(slot, true, now);
    }
    operation_result result;
    result.history = candidates_.history_of(slot);
    end(slot, std::move(result), now);
}

void http_operations::complete_error(
    http_slot& slot, std::error_code code, bool is_ambiguous, std::string detail, time_point now) {
    if (slot.is_canary) {
        return end_canary(slot, false, now);
    }
    auto error = lifecycle::make_error(slot, code);
    error->operation = slot.request.operation;
    error->bucket = slot.request.bucket;
    error->key = base::shortened(slot.request.statement, error_text_size_max);
    error->shows_key = context_.options.log_keys;
    error->is_ambiguous = is_ambiguous;
    if (slot.answer.status() != 0) {
        error->status = static_cast<std::uint16_t>(slot.answer.status());
    }
    error->server_context = base::shortened(slot.server_text, error_text_size_max);
    error->server_ref = slot.request.context_id;
    if (slot.was_sent && slot.endpoint >= 0) {
        error->last_dispatched_to = parts_.nodes.endpoints()[slot.endpoint].name;
    }
    error->detail = std::move(detail);
    error->history = candidates_.history_of(slot);
    operation_result result;
    result.ec = code;
    result.history = error->history;
    result.error = std::move(error);
    end(slot, std::move(result), now);
}

void http_operations::end(http_slot& slot, operation_result&& result, time_point now) {
    result.http = std::make_unique<http_result>();
    slot.answer.move_to(*result.http);
    result.http->server_code = slot.server_code;
    result.http->server_text = std::move(slot.server_text);
    parts_.life.complete(slot, std::move(result), now);
    slots_.erase(slot.id.value);
}

}  // namespace reprise::engine
