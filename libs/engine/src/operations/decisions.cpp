#include "operations/decisions.hpp"

#include <utility>

namespace reprise::engine {
decisions::decisions(engine_context& context, endpoint_table& endpoints)
    : context_(context),
      endpoints_(endpoints),
      mailbox_(std::make_shared<answer_mailbox>()),
      decider_(context.options, mailbox_),
      log_(context.options.log, context.options.log_decisions_per_second_max),
      watch_(context, endpoints) {}

std::optional<retry_outcome> decisions::decide(
    const retry_case& failed, const retry_subject& subject, time_point now) {
    return decider_.decide(
        failed, subject, context_.client.waiting.count(), {now, context_.random.next()});
}

retry_outcome decisions::on_answer(
    const operation_base& operation, const retry_subject& subject, answer_mailbox::letter& letter,
    time_point now) {
    return decider_.on_answer(
        operation.failed, subject, letter.action, std::move(letter.cause),
        context_.client.waiting.count(), now);
}

void decisions::record(
    operation_base& operation, const operation_names& names, const retry_outcome& decided,
    time_point now) {
    const std::uint32_t retries = retries_before(operation.progress, decided);
    history_entry entry;
    entry.set_offset(now - operation.started);
    entry.set_delay(decided.is_retry ? decided.delay : duration::zero());
    entry.set_code(operation.failed.status);
    entry.set_attempt(retries + 1);
    entry.set_reason(static_cast<std::uint8_t>(operation.failed.reason));
    entry.set_stage(operation.failed.stage);
    entry.set_refusal(decided.refusal);
    operation.history.push(entry, operation.endpoint);
    if (decided.is_retry) {
        ++context_.counters.retries;
        operation.reasons.insert(operation.failed.reason);
    }
    report(
        {names.operation, operation.failed, decided, retries, operation.endpoint, names.key,
         names.id, names.service},
        now);
}

void decisions::report(const reported_attempt& what, time_point now) {
    if (!log_.is_on() && !watch_.is_on()) {
        return;
    }
    decision_record line;
    line.operation = what.operation;
    line.reason = what.failed.reason;
    line.stage = what.failed.stage;
    line.attempt = what.retries;
    line.is_retried = what.decided.is_retry;
    line.delay = what.decided.delay;
    if (what.decided.error.category() == couchbase::couchbase_category()) {
        line.error = static_cast<errc>(what.decided.error.value());
    }
    line.refusal = what.decided.refusal;
    line.status = what.failed.status;
    if (what.endpoint >= 0) {
        line.endpoint = endpoints_[what.endpoint].name;
    }
    if (context_.options.log_keys) {
        line.key = what.key;
    }
    line.id = what.id.value;
    if (watch_.is_on()) {
        watch_.on_decision({what.operation, false, what.service, what.id}, line);
    }
    log_.on_decision(line, now);
    if (const auto due = log_.next_due(); due && !log_timer_.is_armed() && !context_.is_closed) {
        context_.wheel.arm(log_timer_, *due);
    }
}

// The client's own requests fail fast, under the same rules as all others.
std::optional<duration> decisions::decide(
    const own_failure& what, const retry_case& failed, time_point now) {
    retry_subject subject;
    subject.operation = what.operation;
    subject.is_idempotent = true;
    retry_progress progress(what.retries);
    subject.progress = &progress;
    subject.deadline = add_saturated(now, context_.options.internal_timeout);
    subject.strategy = &own_strategy_;
    const auto decided = decider_.decide(failed, subject, 0, {now, context_.random.next()});
    REPRISE_ASSERT(decided.has_value());
    const auto asked = static_cast<std::int32_t>(what.asked.number);
    report({what.operation, failed, *decided, what.retries, asked}, now);
    return decided->is_retry ? std::optional(decided->delay) : std::nullopt;
}

void decisions::report_retry(
    const own_failure& what, const failed_attempt& failed, duration delay, time_point now) {
    retry_outcome decided;
    decided.is_retry = true;
    decided.delay = delay;
    const auto asked = static_cast<std::int32_t>(what.asked.number);
    report({what.operation, failed, decided, what.retries, asked}, now);
}

void decisions::on_log_due(time_point now) {
    log_.on_time(now);
    if (const auto due = log_.next_due()) {
        context_.wheel.arm(log_timer_, *due);
    }
}

void decisions::flush_log() {
    context_.wheel.disarm(log_timer_);
    log_.flush();
}

}  // namespace reprise::engine
