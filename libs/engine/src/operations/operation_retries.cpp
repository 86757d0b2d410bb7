#include "operations/operation_retries.hpp"

#include <utility>

namespace reprise::engine {
namespace {

// The default strategy. Nobody derives from it, so nothing can happen at a start or a success.
class default_strategy final : public fail_fast_on_terminal_error_strategy {
public:
    default_strategy() { set_traits({.only_answers = true}); }
};

request_snapshot snapshot_of(
    const retry_case& failed, const retry_subject& subject,
    const driver::retry_strategy& strategy) noexcept {
    request_snapshot snapshot;
    snapshot.strategy = &strategy;
    snapshot.operation = subject.names.operation;
    snapshot.is_idempotent = subject.names.is_idempotent;
    if (subject.operation != nullptr) {
        snapshot.retry_reasons = subject.operation->reasons;
    }
    snapshot.error = make_error_code(failed.own_error);
    snapshot.status = failed.status;
    snapshot.server_rule = failed.server_rule;
    snapshot.is_server_rule_unusable = failed.is_server_rule_unusable;
    return snapshot;
}

// A retry before anything was sent goes through the timer, so it needs a waiting place even with a
// zero delay.
driver::failed_attempt described(const failed_attempt& failed) {
    driver::failed_attempt result;
    result.facts = facts_of(failed);
    result.reason = failed.reason;
    result.stage = failed.stage;
    result.needs_place = failed.stage == attempt_stage::dispatch;
    return result;
}

failure_facts facts_of(std::error_code error) noexcept {
    return error.category() == couchbase::couchbase_category()
               ? describe(static_cast<errc>(error.value()))
               : failure_facts{};
}

// Why an operation that ended with `error` was not retried, if no decision was about it.
refusal_reason unasked_refusal(std::error_code error) noexcept {
    if (error == errc::ambiguous_timeout || error == errc::unambiguous_timeout) {
        return refusal_reason::deadline;
    }
    return error == errc::request_canceled ? refusal_reason::canceled : refusal_reason::unsafe;
}

}  // namespace

// Passes the orchestrator's decisions on.
class operation_retries::recorder final : public driver::decision_recorder {
public:
    recorder(
        operation_retries& all, const retry_subject& subject, const failed_attempt& failed,
        time_point now) noexcept
        : all_(all), subject_(subject), failed_(failed), now_(now) {}

    void record(
        retry_history::entry& entry, const driver::failed_attempt&,
        const driver::retry_step& step) noexcept override {
        all_.record(subject_, failed_, entry, step, now_);
    }

private:
    operation_retries& all_;
    const retry_subject& subject_;
    const failed_attempt& failed_;
    time_point now_;
};

operation_retries::operation_retries(engine_context& context, endpoint_table& endpoints)
    : context_(context),
      endpoints_(endpoints),
      late_answers_(std::make_shared<late_answer_queue>()),
      strategy_(
          context.options.strategy ? context.options.strategy
                                   : std::make_shared<default_strategy>()),
      log_(context.client.decisions),
      watch_(context, endpoints) {}

std::shared_ptr<driver::answer_channel> operation_retries::channel_of(void* self) {
    return static_cast<operation_retries*>(self)->late_answers_;
}

driver::orchestrator<driver::retry_strategy> operation_retries::core_of(
    const retry_subject& subject) const {
    return {strategy_of(subject.strategy), *subject.progress, subject.attached};
}

driver::waiting_bound operation_retries::bound() const noexcept {
    return {context_.client.waiting.count(), context_.options.parked_count_max};
}

driver::request_terms operation_retries::terms_of(
    const retry_subject& subject, const driver::waiting_bound& bound) {
    driver::request_terms terms;
    terms.started = subject.started;
    terms.repeat =
        subject.names.is_idempotent ? repeatability::repeatable : repeatability::not_repeatable;
    terms.user_data = subject.user_data;
    terms.limits.deadline = subject.deadline;
    terms.limits.at_deadline = driver::deadline_policy::cap;
    terms.limits.bound = &bound;
    terms.limits.allowance = subject.allowance;
    terms.limits.budget = subject.budget;
    terms.answers = {&operation_retries::channel_of, this, subject.ticket};
    return terms;
}

duration operation_retries::begin(const retry_subject& subject, time_point now) {
    const driver::strategy_traits& traits = strategy_of(subject.strategy).traits();
    retry_subject started = subject;
    if (traits.has_attachments()) {
        subject.operation->attached =
            std::make_unique<reprise::detail::call_attachments>(traits, subject.names.operation);
        started.attached = subject.operation->attached.get();
    }
    const std::uint64_t random = traits.needs_time ? context_.random.next() : 0;
    return core_of(started).on_start({now, random, subject.user_data});
}

std::optional<retry_outcome> operation_retries::start_attempt(
    const retry_subject& subject, time_point now) {
    if (subject.operation->has_attempt) {
        resume_attempt(*subject.operation);
        return std::nullopt;
    }
    auto core = core_of(subject);
    if (info(subject.operation->last_reason).always_retry) {
        core.start_attempt(now);  // whatever the breaker's state
        return std::nullopt;
    }
    if (core.try_start_attempt(now)) {
        return std::nullopt;
    }
    retry_case failed;
    failed.reason = retry_reason::circuit_breaker_open;
    failed.own_error = own_error_of(failed.reason);
    failed.veto = refusal_reason::circuit_open;
    note_failure(*subject.operation, failed);
    forgo_retry(subject, now);
    return decide(failed, subject, now);
}

std::optional<retry_outcome> operation_retries::decide(
    const retry_case& failed, const retry_subject& subject, time_point now) {
    subject.progress->on_made();  // though it may have got no further than the dispatch
    const request_snapshot snapshot = snapshot_of(failed, subject, strategy_of(subject.strategy));
    driver::failed_attempt attempt = described(failed);
    attempt.failure = failure_view::of(snapshot);
    attempt.rule = rule_for(
        failed, subject.names.is_idempotent, subject.progress->retries(),
        context_.options.not_my_vbucket_delay);
    if (failed.delay_floor > duration::zero()) {
        attempt.facts.minimum_wait = failed.delay_floor;
    }
    const driver::waiting_bound places = bound();
    recorder recorded(*this, subject, failed, now);
    std::string cause;
    driver::request_terms terms = terms_of(subject, places);
    terms.recorder = &recorded;
    terms.strategy_failure = &cause;
    // A veto decides nothing that randomness could change.
    const std::uint64_t random = failed.veto == refusal_reason::none ? context_.random.next() : 0;
    const driver::retry_step step = core_of(subject).on_failure(attempt, terms, {now, random});
    if (step.is_deferred) {
        return std::nullopt;
    }
    retry_outcome outcome = outcome_of(step, failed);
    outcome.cause = std::move(cause);
    return outcome;
}

retry_outcome operation_retries::on_answer(
    const retry_subject& subject, late_answer_queue::entry& late, time_point now) {
    const failed_attempt failed = subject.operation->failed;
    const driver::waiting_bound places = bound();
    recorder recorded(*this, subject, failed, now);
    driver::request_terms terms = terms_of(subject, places);
    terms.recorder = &recorded;
    retry_outcome outcome =
        outcome_of(core_of(subject).on_answer(late.action, described(failed), terms, now), failed);
    outcome.cause = std::move(late.cause);
    return outcome;
}

std::optional<retry_outcome> operation_retries::on_woken(
    const retry_subject& subject, time_point now) {
    const failed_attempt failed = subject.operation->failed;
    const driver::waiting_bound places{};  // it waits no longer
    recorder recorded(*this, subject, failed, now);
    driver::request_terms terms = terms_of(subject, places);
    terms.recorder = &recorded;
    const driver::retry_step step = core_of(subject).on_woken(described(failed), terms, now);
    return step.is_retry ? std::nullopt : std::optional(outcome_of(step, failed));
}

void operation_retries::forgo_retry(const retry_subject& subject, time_point now) {
    const driver::waiting_bound places{};
    driver::request_terms terms = terms_of(subject, places);
    core_of(subject).forgo_retry(terms, now);
}

void operation_retries::on_end(
    const retry_subject& subject, std::error_code error, time_point now) {
    auto core = core_of(subject);
    if (!error) {
        core.on_success({now, 0, subject.user_data}, subject.budget);
        return;
    }
    forgo_retry(subject, now);
    if (subject.attached != nullptr) {
        const refusal_reason decided = subject.operation->refusal;
        const refusal_reason why =
            decided != refusal_reason::none ? decided : unasked_refusal(error);
        const bool is_canceled = why == refusal_reason::canceled;
        const failure_facts facts = facts_of(error);
        subject.attached->count_failure(facts, is_canceled, now);
        subject.attached->on_failure(facts, {});
        core.on_end(why, now);
    }
}

void operation_retries::record(
    const retry_subject& subject, const failed_attempt& failed, const retry_history::entry& entry,
    const driver::retry_step& step, time_point now) {
    const retry_outcome decided = outcome_of(step, failed);
    const std::uint32_t retries =
        step.is_retry ? subject.progress->retries() - 1 : subject.progress->retries();
    operation_base* const operation = subject.operation;
    const std::int32_t endpoint = operation != nullptr ? operation->endpoint : subject.asked;
    if (operation != nullptr) {
        operation->history.push(entry, endpoint, context_.histories);
        operation->refusal = step.refusal;
        if (step.is_retry) {
            ++context_.counters.retries;
            operation->reasons.insert(failed.reason);
        }
    }
    report({subject.names, failed, decided, retries, endpoint}, now);
}

void operation_retries::report(const reported_attempt& what, time_point now) {
    if (!log_.is_on() && !watch_.is_on()) {
        return;
    }
    decision_record line;
    line.operation = what.names.operation;
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
        line.key = what.names.key;
    }
    line.id = what.names.id.value;
    if (watch_.is_on()) {
        watch_.on_decision(what.names, line);
    }
    log_.on_decision(line, now);
    if (const auto due = log_.next_due(); due && !log_timer_.is_armed() && !context_.is_closed) {
        context_.wheel.arm(log_timer_, *due);
    }
}

// The client's own requests fail fast, under the same rules as all others.
std::optional<duration> operation_retries::decide(
    const own_failure& what, const retry_case& failed, time_point now) {
    retry_subject subject;
    subject.names = {what.operation, true};
    subject.asked = static_cast<std::int32_t>(what.asked.number);
    subject.started = now;
    subject.deadline = driver::add_saturated(now, context_.options.internal_timeout);
    subject.strategy = &own_strategy_;
    driver::retry_progress progress(what.retries);
    progress.on_start({});
    subject.progress = &progress;
    const auto decided = decide(failed, subject, now);
    REPRISE_ASSERT(decided.has_value());
    return decided->is_retry ? std::optional(decided->delay) : std::nullopt;
}

void operation_retries::report_retry(
    const own_failure& what, const failed_attempt& failed, duration delay, time_point now) {
    retry_outcome decided;
    decided.is_retry = true;
    decided.delay = delay;
    const operation_names names{what.operation, true};
    report(
        {names, failed, decided, what.retries, static_cast<std::int32_t>(what.asked.number)}, now);
}

void operation_retries::on_log_due(time_point now) {
    log_.on_time(now);
    if (const auto due = log_.next_due()) {
        context_.wheel.arm(log_timer_, *due);
    }
}

void operation_retries::flush_log() {
    context_.wheel.disarm(log_timer_);
    log_.flush();
}

}  // namespace reprise::engine
