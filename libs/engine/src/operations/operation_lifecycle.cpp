#include "operations/operation_lifecycle.hpp"

namespace reprise::engine {

std::optional<retry_outcome> operation_lifecycle::decide(
    operation_base& operation, const retry_case& failed, const retry_subject& subject,
    time_point now) {
    REPRISE_ASSERT(operation.state == operation_state::running);
    auto decided = decider_.decide(failed, subject, now);
    if (!decided) {
        wait(operation, operation_state::deciding, operation.deadline);
    }
    return decided;
}

retry_outcome operation_lifecycle::on_answer(
    operation_base& operation, const retry_subject& subject, late_answer_queue::entry& late,
    time_point now) {
    REPRISE_ASSERT(is_awaited(operation, late));
    leave(operation);
    return decider_.on_answer(subject, late, now);
}

retry_case operation_lifecycle::without_place(const operation_base& operation) noexcept {
    const bool was_retried = operation.last_reason != retry_reason::unknown;
    retry_case refused;
    refused.reason = was_retried ? operation.last_reason : retry_reason::socket_not_available;
    refused.own_error = errc::retry_queue_full;
    refused.veto = refusal_reason::queue_full;
    return refused;
}

next_step operation_lifecycle::step_after(
    const operation_base& operation, const retry_outcome& decided) noexcept {
    REPRISE_ASSERT(operation.state == operation_state::running);
    if (!decided.is_retry) {
        return next_step::fail;
    }
    // After an answer, a zero delay retries at once. If nothing was sent, the retry goes through
    // the timer; otherwise a strategy that always returns zero would loop forever.
    const bool is_now = decided.delay == duration::zero() && !decided.is_capped &&
                        operation.failed.stage != attempt_stage::dispatch;
    return is_now ? next_step::dispatch : next_step::park;
}

std::shared_ptr<error_info> operation_lifecycle::make_error(
    const operation_base& operation, std::error_code code) {
    auto error = std::make_shared<error_info>();
    error->code = code;
    error->last_reason = operation.last_reason;
    error->retry_reasons = operation.reasons;
    error->retry_attempts = operation.progress.retries();
    return error;
}

void operation_lifecycle::drop(operation_base& operation) noexcept {
    leave(operation);
    operation.attached.reset();
    operation.done.reset();
    operation.state = operation_state::free;
}

}  // namespace reprise::engine
