#include <algorithm>
#include <optional>
#include <utility>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_strategies.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>

namespace reprise::couchbase {

namespace {

// The safety that a reason stands for. Also of reasons that are terminal for other strategies.
failure_facts facts_of(retry_reason reason) noexcept {
    failure_facts facts;
    if (reason != retry_reason::unknown) {
        facts.safety =
            info(reason).allows_non_idempotent_retry ? retry_safety::yes : retry_safety::maybe;
    }
    return facts;
}

// Allows idempotent requests, and failures after which the server has certainly not acted. Outside
// the client there is no reason, so the facts of the failure decide.
refusal_reason check_best_effort(const driver::retry_question& question) noexcept {
    const driver::stated_safety rule;
    if (question.reason.is_empty()) {
        return rule.check(question.facts, question.repeat);
    }
    // Copies of the strategy in programs refuse without a reason, and so does this one.
    return rule.check(facts_of(reason_of(question)), question.repeat) == refusal_reason::none
               ? refusal_reason::none
               : refusal_reason::strategy_refused;
}

}  // namespace

backoff_calculator exponential_calculator() {
    return [](std::uint32_t attempts, std::uint64_t) -> duration {
        // 2^9 is the first power of two above the cap.
        return attempts >= 9 ? std::chrono::milliseconds{500}
                             : std::chrono::milliseconds{std::int64_t{1} << attempts};
    };
}

backoff_calculator jittered_calculator(const driver::backoff_options& options) {
    return [backoff = driver::exponential_backoff(options)](
               std::uint32_t attempts, std::uint64_t random) {
        return backoff.delay(attempts, duration::zero(), random);
    };
}

best_effort_strategy::best_effort_strategy(backoff_calculator calculator)
    : calculator_(std::move(calculator)) {}

void best_effort_strategy::retry_after(
    const driver::retry_question& question, driver::retry_sink& sink) {
    if (const refusal_reason refusal = check_best_effort(question);
        refusal != refusal_reason::none) {
        return sink.answer(driver::retry_action::no(refusal));
    }
    const duration planned = calculator_(question.retry_attempts, question.at.random);
    sink.answer(driver::retry_action::after(
        std::max(planned, question.facts.minimum_wait.value_or(planned))));
}

void fail_fast_on_terminal_error_strategy::retry_after(
    const driver::retry_question& question, driver::retry_sink& sink) {
    if (const std::optional<errc> error = info(reason_of(question)).terminal_error) {
        return sink.answer(driver::retry_action::no(*error));
    }
    best_effort_strategy::retry_after(question, sink);
}

budgeted_strategy::budgeted_strategy(driver::token_bucket_budget budget)
    : fail_fast_on_terminal_error_strategy(jittered_calculator()), budget_(std::move(budget)) {}

void budgeted_strategy::on_success(
    const driver::token_state& token, const driver::decision_context& at) {
    budget_.on_success(token.cost, token.attempt, at.now);
}

void server_directed_strategy::retry_after(
    const driver::retry_question& question, driver::retry_sink& sink) {
    const request_snapshot& request = request_of(question);
    if (reason_of(question) != retry_reason::kv_error_map_retry_indicated) {
        return fail_fast_on_terminal_error_strategy::retry_after(question, sink);
    }
    if (request.is_server_rule_unusable) {
        return sink.answer(driver::retry_action::no());
    }
    if (!request.server_rule) {
        return fail_fast_on_terminal_error_strategy::retry_after(question, sink);
    }
    const server_retry_rule& rule = *request.server_rule;
    const bool is_over = rule.is_over(question.deadline);
    sink.answer(
        is_over ? driver::retry_action::no()
                : driver::retry_action::after(rule.due - question.at.now));
}

}  // namespace reprise::couchbase
