// Checks of questions to strategies and of retry decisions: RH-02, RH-03, RH-10, RH-12, RH-13,
// RH-16, RH-32, RH-33, VB-02, VB-05, EM-11.

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <reprise/engine/reason_table.hpp>

#include "checks/inspection.hpp"
#include "world/world.hpp"

namespace reprise::sim {
namespace {

using couchbase::errc;
using couchbase::retry_reason;

// RH-12, stated independently: 1, 10, 50, 100, 500, then 1000 ms.
duration ladder(std::uint32_t attempts) noexcept {
    constexpr std::array<int, 6> steps{1, 10, 50, 100, 500, 1000};
    return std::chrono::milliseconds{steps[std::min<std::size_t>(attempts, steps.size() - 1)]};
}

bool is_always_retried(retry_reason reason) noexcept {
    return reason == retry_reason::kv_not_my_vbucket ||
           reason == retry_reason::kv_collection_outdated ||
           reason == retry_reason::views_no_active_partition;
}

bool is_lost_write(const operation_record& record, retry_reason reason) noexcept {
    return reason == retry_reason::socket_closed_while_in_flight && !record.is_idempotent &&
           !record.last.is_harmless;
}

// The client's own strategies respect the delay that the server requests; others need not.
bool keeps_floor(const operation_record& record, const scenario& plan) noexcept {
    switch (record.plan.strategy.value_or(plan.clients[record.plan.client].strategy)) {
        case strategy_choice::never:
        case strategy_choice::at_once:
            return false;
        case strategy_choice::terminal_error:
        case strategy_choice::best_effort:
        case strategy_choice::jittered:
        case strategy_choice::server_directed:
        case strategy_choice::library:
        case strategy_choice::deferred:
        case strategy_choice::broken:
            break;
    }
    return true;
}

std::string text_of(duration time) {
    return std::to_string(time.count() / 1000) + " us";
}

couchbase::retry_reason_set reasons_of(const operation_record& record) noexcept {
    couchbase::retry_reason_set set;
    for (const decision_note& note : record.decisions) {
        if (note.is_retried) {
            set.insert(note.reason);
        }
    }
    return set;
}

}  // namespace

void inspection::on_asked(std::uint32_t operation, const retry_question& asked) {
    const couchbase::request_snapshot& request = couchbase::request_of(asked);
    const retry_reason reason = couchbase::reason_of(asked);
    operation_record& record = world_.records.at(operation);
    const std::string name(couchbase::to_string(reason));
    refresh(record.plan.client);
    if (record.calls != 0) {
        report(checker::completion, record, "its strategy is asked after its end");
    }
    if (is_always_retried(reason) || reason == retry_reason::unknown ||
        is_lost_write(record, reason)) {
        report(checker::strategy, record, "asked about " + name + ", which it does not decide");
    }
    if (record.is_asked) {
        report(checker::strategy, record, "asked again before its first answer was carried out");
    }
    const bool may_repeat =
        record.is_idempotent ||
        (reason == retry_reason::socket_closed_while_in_flight && record.last.is_harmless);
    if (asked.retry_attempts != record.retries || asked.deadline != record.deadline ||
        request.is_idempotent != may_repeat || asked.at.now != world_.now ||
        request.operation != name_of(record) ||
        asked.facts.minimum_wait.value_or(duration::zero()) !=
            (record.call ? record.call->delay_floor : duration::zero()) ||
        !(request.retry_reasons == reasons_of(record))) {
        report(checker::strategy, record, "asked with wrong facts about " + name);
    }
    if (request.server_rule) {
        // EM-11: another status restarts the count.
        const std::uint32_t before = request.status == record.status_last ? record.status_count : 0;
        if (request.server_rule->retries != before) {
            report(
                checker::error_map, record,
                "status " + std::to_string(request.status) + " was met " + std::to_string(before) +
                    " times before, not " + std::to_string(request.server_rule->retries));
        }
    }
    if (couchbase::info(reason).is_terminal) {
        check_terminal(record, reason);
    }
    if (!couchbase::info(reason).is_terminal) {
        check_not_early(record);
    }
    check_stage(record, reason, engine::detail::stage_of(reason), request.status);
    record.is_backing_off = false;  // it is waiting for the answer now
    record.is_asked = true;
    record.asked_reason = reason;
    record.has_strategy_failed = false;
    record.answer.reset();
}

void inspection::on_strategy_answer(std::uint32_t operation, const retry_sink& sink) {
    operation_record& record = world_.records.at(operation);
    switch (sink.current()) {
        case retry_sink::state::answered:
            record.answer = sink.action();
            break;
        case retry_sink::state::failed:
        case retry_sink::state::open:
            record.has_strategy_failed = true;
            break;
        case retry_sink::state::deferred:
            break;
    }
}

void inspection::on_late_answer(std::uint32_t operation, std::optional<retry_action> action) {
    operation_record& record = world_.records.at(operation);
    record.has_strategy_failed = !action;
    record.answer = action;
    record.decided = world_.now;
    views_[record.plan.client].answered.push_back(operation);
}

// A strategy with its own budget pays from that budget alone.
bool inspection::brings_budget(const operation_record& record) const {
    const planned_client& plan = world_.plan.clients[record.plan.client];
    return record.plan.strategy.value_or(plan.strategy) == strategy_choice::library;
}

bool inspection::is_paid_by_client(const operation_record& record) const {
    return world_.plan.clients[record.plan.client].budget_units > 0 && !brings_budget(record);
}

// Which of the capped retries have been woken since the last iteration, nobody has said.
bool inspection::can_be_poor(const operation_record& record) const {
    const client_view& view = views_[record.plan.client];
    const auto pending = static_cast<std::int64_t>(view.capped.size());
    return brings_budget(record) || (is_paid_by_client(record) &&
                                     view.budget_level - pending * price_of_retry < price_of_retry);
}

// RH-13: a capped retry is charged when it is woken; if it cannot pay, it is not made.
bool inspection::is_refused_when_woken(
    const operation_record& record, const couchbase::decision_record& decision) const {
    return record.is_capped && !record.is_asked && !decision.is_retried &&
           decision.refusal == refusal_reason::budget_exhausted;
}

void inspection::on_success_reported(std::uint32_t operation) {
    operation_record& record = world_.records.at(operation);
    if (record.is_success_reported) {
        report(checker::strategy, record, "its success is reported twice");
    }
    record.is_success_reported = true;
    const planned_client& plan = world_.plan.clients[record.plan.client];
    if (is_paid_by_client(record)) {
        if (record.is_capped) {
            record.cost = static_cast<std::uint32_t>(price_of_retry);  // woken, or not successful
        }
        const std::int64_t refund =
            plan.refunds_last_cost && record.retries != 0 ? record.cost : 1000;
        client_view& view = views_[record.plan.client];
        view.budget_level = std::min(milli_units(plan.budget_units), view.budget_level + refund);
    }
}

void inspection::on_decision(std::uint32_t client, const couchbase::decision_record& decision) {
    if (decision.id == 0) {
        return;  // the client's own request
    }
    operation_record& record = world_.records.at(world_.clients[client]->number_of(decision.id));
    const auto reason = static_cast<std::size_t>(decision.reason);
    const auto stage = static_cast<std::size_t>(decision.stage);
    world_.record.mix(record.number);
    world_.record.mix(reason * 1024 + stage * 64 + (decision.is_retried ? 1 : 0));
    world_.record.mix(static_cast<std::uint64_t>(decision.delay.count()));
    if (world_.record.is_tracing()) {
        world_.record.line(
            "operation " + std::to_string(record.number) + ": " + couchbase::to_string(decision));
    }
    refresh(client);
    if (decision.reason == retry_reason::kv_collection_outdated && record.plan.collection == 0) {
        views_[client].is_default_looked_up = true;
    }
    if (record.calls != 0) {
        report(checker::completion, record, "a decision about it after its end");
    }
    const bool is_too_late = is_refused_when_woken(record, decision);
    if (is_too_late) {
        --record.retries;
    }
    if (decision.attempt != record.retries) {
        report(checker::history, record, "the retry count is wrong");
    }
    if (!couchbase::info(decision.reason).is_terminal) {
        check_not_early(record);
    }
    if (carries_earlier_reason(decision) || is_too_late) {
        if (record.decisions.empty() || record.decisions.back().reason != decision.reason) {
            report(checker::history, record, "rejected for a reason that it never had");
        }
    } else if (!record.is_asked) {
        check_stage(record, decision.reason, decision.stage, decision.status);
    } else if (decision.stage != engine::detail::stage_of(decision.reason)) {
        report(checker::history, record, "raised at a different stage than in the question");
    }
    if (decision.is_retried) {
        check_allowed(record, decision, time_left(world_.now, record.deadline));
    } else if (!is_too_late) {
        check_refused(record, decision);
    } else if (!can_be_poor(record)) {
        report(checker::budget, record, "not made when it was woken, though it could be paid for");
    }
    record.decisions.push_back(
        {world_.now - record.started, decision.is_retried ? decision.delay : duration::zero(),
         decision.reason, decision.stage, decision.status, decision.attempt, decision.is_retried});
    if (decision.stage == attempt_stage::response) {
        const bool is_same = decision.status == record.status_last;
        record.status_count = is_same ? record.status_count + 1 : 1;
        record.status_last = decision.status;
    }
    record.is_backing_off = false;
    if (decision.is_retried) {
        take_retry(record, decision);
    }
    record.is_asked = false;
    record.answer.reset();
    record.has_strategy_failed = false;
}

void inspection::take_charge(operation_record& record) {
    client_view& view = views_[record.plan.client];
    const duration asked =
        record.answer ? record.answer->delay().value_or(duration::zero()) : duration::zero();
    record.is_capped =
        asked > duration::zero() && add_saturated(world_.now, asked) >= record.deadline;
    if (!is_paid_by_client(record)) {
        return;
    }
    if (record.is_capped) {
        view.capped.push_back(record.number);
        return;
    }
    view.budget_level -= price_of_retry;
    view.charged += price_of_retry;
    record.cost = static_cast<std::uint32_t>(price_of_retry);
}

// The last retry of this operation was decided and never sent. A capped one has taken something
// only if it was woken.
void inspection::return_charge(const operation_record& record) {
    if (!is_paid_by_client(record)) {
        return;
    }
    client_view& view = views_[record.plan.client];
    if (record.is_capped) {
        view.perhaps_returned += price_of_retry;
    } else {
        view.returned += record.cost;
    }
}

void inspection::take_retry(operation_record& record, const couchbase::decision_record& decision) {
    client_view& view = views_[record.plan.client];
    ++record.retries;
    record.cost = 0;
    record.is_capped = false;
    if (record.is_asked) {
        take_charge(record);
    }
    record.is_backing_off = true;
    record.decided = world_.now;
    record.due = world_.now + decision.delay;
    record.revision_decided.reset();
    if (!view.maps.empty()) {
        record.revision_decided = view.maps.back().revision();
    }
    if (record.call) {
        record.call->delay_floor = duration::zero();
        return;  // after its delay it may wait for a connection
    }
    view.waiting.push_back(record.number);
    view.overdue_from = std::min(view.overdue_from, record.due);
}

void inspection::check_allowed(
    operation_record& record, const couchbase::decision_record& decision, duration left) {
    if (decision.reason == retry_reason::unknown) {
        return report(checker::strategy, record, "retried for an unknown reason");
    }
    if (is_lost_write(record, decision.reason)) {
        return report(checker::repetition, record, "a write lost in flight is retried");
    }
    if (is_always_retried(decision.reason)) {
        check_always(record, decision, left);
    } else {
        check_asked(record, decision, left);
    }
}

std::optional<bool> inspection::is_at_once(const operation_record& record) {
    const client_view& view = views_[record.plan.client];
    if (record.plan.kind == engine::operation_kind::noop || view.maps.empty()) {
        return false;
    }
    if (!record.revision) {
        return std::nullopt;  // the map it was sent by is unknown
    }
    const known_map& newest = view.maps.back();
    if (newest.revision() > *record.revision) {
        return true;
    }
    if (record.plan.kind == engine::operation_kind::get_replica || record.went_forward) {
        return false;
    }
    const std::int32_t forward = newest.forward(world_.vbucket_of(record.plan));
    const auto refused = static_cast<std::int32_t>(world_.net.link(record.last.link).node.value);
    return forward >= 0 && forward != refused;
}

void inspection::check_always(
    operation_record& record, const couchbase::decision_record& decision, duration left) {
    duration planned = ladder(decision.attempt);
    if (decision.reason == retry_reason::kv_not_my_vbucket) {
        planned = world_.plan.clients[record.plan.client].not_my_vbucket_delay.value_or(planned);
        const std::optional<bool> at_once = is_at_once(record);
        // After a few retries, newer maps that closely follow each other are paced.
        const bool is_paced = record.retries >= hurry_count_free &&
                              decision.delay == std::min({planned, hurry_distance, left});
        if (is_paced) {
            planned = decision.delay;
        } else if (at_once.value_or(decision.delay == duration::zero())) {
            planned = duration::zero();
        }
        record.redirects_at_once += decision.delay == duration::zero() ? 1U : 0U;
        if (record.redirects_at_once > 10 + (world_.now - record.started) / redirect_pause) {
            report(checker::delay, record, "follows redirects without a pause");
        }
    }
    if (decision.delay != std::min(planned, left)) {
        report(
            checker::delay, record,
            std::string(couchbase::to_string(decision.reason)) + " waits " +
                text_of(decision.delay) + " instead of " + text_of(std::min(planned, left)));
    }
}

void inspection::check_asked(
    operation_record& record, const couchbase::decision_record& decision, duration left) {
    const std::string name(couchbase::to_string(decision.reason));
    if (!record.is_asked || record.asked_reason != decision.reason) {
        return report(checker::strategy, record, "no strategy was asked about " + name);
    }
    if (record.has_strategy_failed || !record.answer || !record.answer->delay()) {
        return report(checker::strategy, record, "retried against its strategy: " + name);
    }
    const duration planned = std::min(*record.answer->delay(), left);
    if (record.call && keeps_floor(record, world_.plan) &&
        decision.delay < std::min(record.call->delay_floor, left)) {
        report(
            checker::delay, record, name + " is retried before the time that the server requested");
    }
    if (decision.delay != planned) {
        report(
            checker::delay, record,
            name + " waits " + text_of(decision.delay) + " instead of " + text_of(planned));
    }
}

// RH-32: rejected only if there is no room to wait.
void inspection::check_queue_full(const operation_record& record) {
    sim_client& client = *world_.clients[record.plan.client];
    if (client.engine().statistics().operations_parked < client.plan().parked_count_max) {
        report(checker::credit, record, "rejected although there is room to wait");
    }
}

void inspection::check_refused(
    operation_record& record, const couchbase::decision_record& decision) {
    const std::string name(couchbase::to_string(decision.reason));
    if (decision.reason == retry_reason::unknown) {
        return;
    }
    if (is_lost_write(record, decision.reason)) {
        if (decision.error != errc::request_canceled) {
            report(
                checker::ambiguity, record, "a write lost in flight ends with a different error");
        }
        return;
    }
    if (decision.refusal == refusal_reason::rows_taken) {
        if (!record.call || record.call->rows_taken == 0) {
            report(checker::strategy, record, "given up because of rows that were not taken");
        }
        return;
    }
    const bool is_full = decision.error == errc::retry_queue_full;
    if (is_full) {
        check_queue_full(record);
    }
    if (is_always_retried(decision.reason)) {
        if (!is_full) {
            report(checker::strategy, record, name + " is always retried, but was not");
        }
        return;
    }
    const bool is_asked = record.is_asked && record.asked_reason == decision.reason;
    if (is_full && !is_asked && decision.stage == attempt_stage::dispatch) {
        return;  // no room to wait for its first attempt: no strategy decides this
    }
    if (!is_asked) {
        return report(
            checker::strategy, record, "given up for " + name + ", but no strategy was asked");
    }
    if (is_full && !(record.answer && !record.answer->delay())) {
        return;
    }
    if (record.has_strategy_failed) {
        if (decision.error != errc::strategy_failure) {
            report(
                checker::strategy, record, "its strategy failed, but the error is a different one");
        }
        return;
    }
    if (record.answer && !record.answer->delay()) {
        const std::error_code wanted = record.answer->error();
        if (wanted && wanted != make_error_code(decision.error)) {
            report(checker::strategy, record, "its strategy chose a different error");
        }
        return;
    }
    const bool is_poor = can_be_poor(record);
    const bool is_unpaid = decision.refusal == refusal_reason::budget_exhausted;
    if (!record.answer || !is_poor || !is_unpaid) {
        report(checker::strategy, record, "given up for " + name + " against its strategy");
    }
}

// If the client reports something about the attempt, it must match what the network saw.
void inspection::check_stage(
    operation_record& record, retry_reason reason, attempt_stage stage, std::uint16_t code) {
    const auto cell = engine::cell_of(reason, stage, class_of(record));
    const std::string name(couchbase::to_string(reason));
    if (cell.applicable != engine::reason_applicability::yes) {
        report(
            checker::history, record,
            name + " at stage " + std::string(to_string(stage)) + " for " +
                std::string(name_of(record)));
    }
    sent_request& last = record.last;
    const bool is_open = record.sent_count != 0 && !last.is_decided;
    if (is_open && last.is_corrupt) {
        last.is_decided = true;  // read as far as possible
        return;
    }
    const bool is_out = is_open && !last.is_answered && !last.is_unsent;
    switch (stage) {
        case attempt_stage::dispatch:
            if (is_out) {
                report(checker::repetition, record, name + ": treated as not sent, but it was");
            }
            break;
        case attempt_stage::network:
            if (is_open && last.is_answered && last.answered == world_.now) {
                // The client closed the connection while the answer was in its buffer.
                last.is_answered = false;
                last.is_lost = true;
            } else if (!is_out) {
                report(checker::history, record, name + ": treated as sent, but it was not");
            }
            break;
        case attempt_stage::response:
            if (!is_open || !last.is_answered || last.status != code) {
                report(checker::answer, record, name + ": no server reported this");
            }
            break;
    }
    last.is_decided = true;
}

}  // namespace reprise::sim
