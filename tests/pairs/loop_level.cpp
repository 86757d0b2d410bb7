#include "loop_level.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace reprise::feature_pairs {

namespace {

constexpr std::uint32_t price = 5000;  // milli-units

}  // namespace

driver::payment ledger::try_pay() {
    if (units_ == 0) {
        return {false, price, 0};
    }
    --units_;
    ++paid_count_;
    last_cost_ = price;
    return {true, price, std::int64_t{units_} * price};
}

void ledger::give_back(std::uint32_t cost) {
    if (cost != price || paid_count_ == 0) {
        report_("something is returned that was not paid");
        return;
    }
    ++units_;
    --paid_count_;
}

void ledger::on_success(std::uint32_t cost, std::uint32_t attempt) {
    ++success_count_;
    if (cost != (attempt > 1 ? last_cost_ : 0)) {
        report_("a success does not return what its last retry cost");
    }
}

driver::payment ledger_budget::try_pay(const failure_facts&, time_point) noexcept {
    return shared_->try_pay();
}
void ledger_budget::give_back(std::uint32_t cost, time_point) noexcept {
    shared_->give_back(cost);
}
void ledger_budget::on_success(std::uint32_t cost, std::uint32_t attempt, time_point) noexcept {
    shared_->on_success(cost, attempt);
}

void watcher::on_decision(const decision_event& event) noexcept {
    if (event.entry.is_attempt() && !event.entry.is_hedge()) {
        ++failed_attempts;
        timeouts += event.entry.is_timeout() ? 1U : 0U;
    }
    after_event();
}

void watcher::on_completion(const call_summary& summary) noexcept {
    ++completions;
    successes += summary.is_success ? 1U : 0U;
    attempts += summary.attempts;
    last_refusal = summary.refusal;
    after_event();
}

void throwing_functions::on_decision(const decision_event& event) {
    failed_attempts += event.entry.is_attempt() && !event.entry.is_hedge() ? 1U : 0U;
    throw std::runtime_error("an observer has failed");
}

void throwing_functions::on_completion() {
    ++completions;
    throw std::runtime_error("an observer has failed");
}

void loop_level::give_up(time_point when) {
    if (!is_given_up) {
        is_given_up = true;
        answered_at = when;
        next_at = when;
        first_at = std::min(first_at, when);  // At the start: the delay was the strategy's.
    }
}

loop_level::loop_level(const call_plan& chosen, std::size_t which, reporter to)
    : plan(chosen),
      index(which),
      report(std::move(to)),
      charges(report, chosen.budget_units),
      spans(std::make_shared<span_recorder>(chosen.untraced, report)) {}

void loop_level::violate(const std::string& violation) const {
    report(violation + (index == 0 ? "" : " (inner loop)"));
}

loop_level::thrown_when loop_level::enter_strategy(strategy_call which, time_point now) {
    std::uint32_t number = 1;
    switch (which) {
        case strategy_call::start:
            break;
        case strategy_call::question:
            number = ++questions;
            break;
        case strategy_call::note:
            number = ++notes;
            break;
        case strategy_call::success:
            ++reported_successes;
            break;
    }
    const std::optional<throw_script>& script = plan.thrown;
    const bool is_numbered = which == strategy_call::question || which == strategy_call::note;
    if (!script || script->in != which || script->level != index ||
        (is_numbered && script->number != number)) {
        return thrown_when::never;
    }
    acted.add(feature::throwing_strategy);
    has_no_token |= which == strategy_call::start;
    if (which == strategy_call::start || which == strategy_call::question) {
        give_up(now);
    }
    return script->is_after_all ? thrown_when::after : thrown_when::before;
}

const answer_script& loop_level::next_answer() {
    const std::size_t last = plan.answers.size() - 1;
    const answer_script& script = plan.answers[std::min<std::size_t>(questions - 1, last)];
    switch (script.kind) {
        case answer_kind::prompt:
        case answer_kind::at_once:
            break;
        case answer_kind::late:
            acted.add(feature::late_decision);
            if (!is_given_up) {
                answered_at += script.after;
                next_at += script.after;
            }
            break;
        case answer_kind::dropped:
        case answer_kind::silent:
            acted.add(feature::dropped_decision);
            give_up(failed_at);
            break;
        case answer_kind::dropped_later:
        case answer_kind::failed_later:
            acted.add(feature::dropped_decision);
            give_up(failed_at + script.after);
            break;
        case answer_kind::kept:
            acted.add(feature::dropped_decision);
            give_up(deadline);
            break;
    }
    return script;
}

void loop_level::check_start(const attempt& current, time_point now) const {
    if (current.number == 1 && now != first_at) {
        violate("the first attempt starts before or after its delay");
    }
    if (current.number > 1 && is_given_up) {
        violate("a retry is made although the strategy has failed");
    }
    if (current.number > 1 && !plan.has(feature::hedge) && now != next_at) {
        violate("a retry starts before or after the pause that strategy and service ask for");
    }
}

void loop_level::check_end(time_point now) const {
    if (plan.has(feature::hedge)) {
        return;
    }
    const time_point latest =
        next_at < deadline ? next_at : std::max(failed_at, std::min(answered_at, deadline));
    if (now > latest) {
        violate("a call goes on waiting although it gives up");
    }
}

void loop_level::verify(std::uint32_t succeeded) const {
    if (charges.paid_count() != retries) {
        violate(
            std::to_string(charges.paid_count()) + " retries are paid for, " +
            std::to_string(retries) + " are made");
    }
    verify_strategy(succeeded);
    if (plan.has_watcher()) {
        verify_watcher(succeeded);
    }
    if (plan.has(feature::throwing_observer)) {
        verify_functions();
    }
    if (plan.has(feature::tracer)) {
        spans->verify(
            {.calls = calls,
             .failed_calls = calls - succeeded,
             .attempts = attempts,
             .failed_attempts = failures,
             .is_hedged = plan.has(feature::hedge),
             .is_abandoned = is_abandoned});
    }
}

void loop_level::verify_functions() const {
    if (functions.completions != calls) {
        violate("a function that throws does not see each call end once");
    }
    if (!plan.has(feature::hedge) && functions.failed_attempts != failures) {
        violate("a function that throws does not see each decision");
    }
}

void loop_level::verify_strategy(std::uint32_t succeeded) const {
    const bool throws_at_success =
        plan.thrown && plan.thrown->level == index && plan.thrown->in == strategy_call::success;
    const std::uint32_t reports = has_no_token ? 0 : succeeded;
    const bool is_reported_first = !throws_at_success || plan.thrown->is_after_all;
    if (charges.success_count() != (is_reported_first ? reports : 0)) {
        violate("the budget does not see each success once");
    }
    if (plan.has_user_strategy() && reported_successes != reports) {
        violate("the strategy does not see each success once");
    }
    if (has_no_token && questions != 0) {
        violate("a strategy is asked that has not granted a token");
    }
}

void loop_level::verify_watcher(std::uint32_t succeeded) const {
    const watcher& seen = *observer;
    if (seen.completions != calls) {
        violate("an observer does not see each call end once");
    }
    if (seen.successes != succeeded) {
        violate("an observer does not see each success");
    }
    if (seen.attempts != attempts) {
        violate("an observer does not see each attempt");
    }
    if (plan.has(feature::hedge)) {
        return;
    }
    if (seen.failed_attempts != failures) {
        violate("an observer does not see each decision");
    }
    const bool has_blocking_loop = plan.has(feature::blocking) ||
                                   plan.has(feature::no_exceptions) ||
                                   (plan.has(feature::nested) && !plan.has(feature::coroutine));
    if (!has_blocking_loop && seen.timeouts < late_failures) {
        violate("an observer does not see that an attempt reached its limit");
    }
    if (plan.has(feature::observer) && history.refusal() != seen.last_refusal) {
        violate("history and observer name different ends");
    }
    verify_refusal();
}

/// The end of a call whose strategy has failed is named after that, unless the caller has ended it.
void loop_level::verify_refusal() const {
    const refusal_reason seen = observer->last_refusal;
    const bool is_over = seen == refusal_reason::none || seen == refusal_reason::canceled;
    if (!is_given_up || is_over) {
        return;
    }
    const bool is_late = answered_at >= deadline && seen == refusal_reason::deadline;
    const bool is_refused = has_no_token && (seen == refusal_reason::no_initial_token ||
                                             seen == refusal_reason::circuit_open);
    if (seen != refusal_reason::strategy_failed && !is_late && !is_refused) {
        violate("the end of a call does not name the strategy that has failed");
    }
}

}  // namespace reprise::feature_pairs
