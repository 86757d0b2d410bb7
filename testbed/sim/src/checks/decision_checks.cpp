// Checks of questions to strategies and of retry decisions: RH-02, RH-03, RH-10, RH-12, RH-13,
// RH-16, RH-25 to RH-28, RH-32, RH-33, RH-48, VB-02, VB-05, EM-11.

#include "checks/decision_checks.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <reprise/engine/reason_table.hpp>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using couchbase::errc;
using couchbase::retry_reason;

// In the long run a request follows not-my-vbucket no faster than this, whichever map it uses.
constexpr duration redirect_pause = hurry_distance / 2;

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

decision_checks::decision_checks(
    world& owner, client_views& views, budget_checks& budgets, wait_checks& waits)
    : world_(owner), views_(views), budgets_(budgets), waits_(waits) {}

void decision_checks::on_asked(std::uint32_t operation, const driver::retry_question& asked) {
    const couchbase::request_snapshot& request = couchbase::request_of(asked);
    const retry_reason reason = couchbase::reason_of(asked);
    operation_record& record = world_.records.at(operation);
    const auto name = [reason] { return std::string(couchbase::to_string(reason)); };
    views_.refresh(record.plan.client);
    if (record.calls != 0) {
        world_.record.report(
            checker::completion, record.number, "its strategy is asked after its end");
    }
    if (is_always_retried(reason) || reason == retry_reason::unknown ||
        is_lost_write(record, reason)) {
        world_.record.report(
            checker::strategy, record.number,
            "asked about " + name() + ", which it does not decide");
    }
    if (record.is_asked) {
        world_.record.report(
            checker::strategy, record.number,
            "asked again before its first answer was carried out");
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
        world_.record.report(
            checker::strategy, record.number, "asked with wrong facts about " + name());
    }
    if (request.server_rule) {
        // EM-11: another status restarts the count.
        const std::uint32_t before = request.status == record.status_last ? record.status_count : 0;
        if (request.server_rule->retries != before) {
            world_.record.report(
                checker::error_map, record.number,
                "status " + std::to_string(request.status) + " was met " + std::to_string(before) +
                    " times before, not " + std::to_string(request.server_rule->retries));
        }
    }
    if (couchbase::info(reason).is_terminal()) {
        check_terminal(record, reason);
    }
    if (!couchbase::info(reason).is_terminal()) {
        waits_.check_not_early(record);
    }
    check_stage(record, reason, engine::detail::stage_of(reason), request.status);
    record.is_backing_off = false;  // it is waiting for the answer now
    record.is_asked = true;
    record.asked_reason = reason;
    record.has_strategy_failed = false;
    record.answer.reset();
}

void decision_checks::on_strategy_answer(std::uint32_t operation, const driver::retry_sink& sink) {
    operation_record& record = world_.records.at(operation);
    switch (sink.current()) {
        case driver::retry_sink::state::answered:
            record.answer = sink.action();
            break;
        case driver::retry_sink::state::failed:
        case driver::retry_sink::state::open:
            record.has_strategy_failed = true;
            break;
        case driver::retry_sink::state::deferred:
            break;
    }
}

void decision_checks::on_late_answer(
    std::uint32_t operation, std::optional<driver::retry_action> action) {
    operation_record& record = world_.records.at(operation);
    record.has_strategy_failed = !action;
    record.answer = action;
    record.decided = world_.now;
    waits_.on_late_answer(record);
}

// RH-13: a capped retry is charged when it is woken; if it cannot pay, it is not made.
bool decision_checks::is_refused_when_woken(
    const operation_record& record, const couchbase::decision_record& decision) const {
    return record.is_capped && !record.is_asked && !decision.is_retried &&
           decision.refusal == refusal_reason::budget_exhausted;
}

void decision_checks::on_success_reported(std::uint32_t operation) {
    operation_record& record = world_.records.at(operation);
    if (record.is_success_reported) {
        world_.record.report(checker::strategy, record.number, "its success is reported twice");
    }
    record.is_success_reported = true;
    budgets_.on_success(record);
}

void decision_checks::on_decision(
    std::uint32_t client, const couchbase::decision_record& decision) {
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
    views_.refresh(client);
    if (decision.reason == retry_reason::kv_collection_outdated && record.plan.collection == 0) {
        views_[client].is_default_looked_up = true;
    }
    if (record.calls != 0) {
        world_.record.report(
            checker::completion, record.number, "a decision about it after its end");
    }
    const bool is_too_late = is_refused_when_woken(record, decision);
    if (is_too_late) {
        --record.retries;
    }
    if (decision.attempt != record.retries) {
        world_.record.report(checker::history, record.number, "the retry count is wrong");
    }
    if (!couchbase::info(decision.reason).is_terminal()) {
        waits_.check_not_early(record);
    }
    if (carries_earlier_reason(decision) || is_too_late) {
        if (record.decisions.empty() || record.decisions.back().reason != decision.reason) {
            world_.record.report(
                checker::history, record.number, "rejected for a reason that it never had");
        }
    } else if (!record.is_asked) {
        check_stage(record, decision.reason, decision.stage, decision.status);
    } else if (decision.stage != engine::detail::stage_of(decision.reason)) {
        world_.record.report(
            checker::history, record.number, "raised at a different stage than in the question");
    }
    if (decision.is_retried) {
        check_allowed(record, decision, driver::time_left(world_.now, record.deadline));
    } else if (!is_too_late) {
        check_refused(record, decision);
    } else if (!budgets_.can_be_poor(record)) {
        world_.record.report(
            checker::budget, record.number,
            "not made when it was woken, though it could be paid for");
    }
    record.decisions.push_back(
        {world_.now - record.started, decision.is_retried ? decision.delay : duration::zero(),
         decision.reason, decision.stage, decision.status, decision.attempt, decision.is_retried});
    if (decision.stage == attempt_stage::response) {
        const bool is_same = decision.status == record.status_last;
        record.status_count = is_same ? record.status_count + 1 : 1;
        record.status_last = decision.status;
    }
    end_backoff(record, decision);
    if (decision.is_retried) {
        take_retry(record, decision);
    }
    record.is_asked = false;
    record.answer.reset();
    record.has_strategy_failed = false;
}

void decision_checks::end_backoff(
    operation_record& record, const couchbase::decision_record& decision) {
    if (record.is_backing_off && carries_earlier_reason(decision)) {
        budgets_.return_charge(record);  // the last retry was not sent
    }
    record.is_backing_off = false;
}

void decision_checks::take_retry(
    operation_record& record, const couchbase::decision_record& decision) {
    const client_view& view = views_[record.plan.client];
    ++record.retries;
    record.cost = 0;
    record.is_capped = false;
    if (record.is_asked) {
        budgets_.take_charge(record);
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
    waits_.begin(record);
}

void decision_checks::check_allowed(
    operation_record& record, const couchbase::decision_record& decision, duration left) {
    if (decision.reason == retry_reason::unknown) {
        return world_.record.report(
            checker::strategy, record.number, "retried for an unknown reason");
    }
    if (is_lost_write(record, decision.reason)) {
        return world_.record.report(
            checker::repetition, record.number, "a write lost in flight is retried");
    }
    if (is_always_retried(decision.reason)) {
        check_always(record, decision, left);
    } else {
        check_asked(record, decision, left);
    }
}

std::optional<bool> decision_checks::is_at_once(const operation_record& record) {
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
    if (engine::reads_replica(record.plan.kind) || record.went_forward) {
        return false;
    }
    const std::int32_t forward = newest.forward(world_.vbucket_of(record.plan));
    const auto refused = static_cast<std::int32_t>(world_.net.link(record.last.link).node.value);
    return forward >= 0 && forward != refused;
}

void decision_checks::check_always(
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
            world_.record.report(
                checker::delay, record.number, "follows redirects without a pause");
        }
    }
    if (decision.delay != std::min(planned, left)) {
        world_.record.report(
            checker::delay, record.number,
            std::string(couchbase::to_string(decision.reason)) + " waits " +
                text_of(decision.delay) + " instead of " + text_of(std::min(planned, left)));
    }
}

void decision_checks::check_asked(
    operation_record& record, const couchbase::decision_record& decision, duration left) {
    const auto name = [&decision] { return std::string(couchbase::to_string(decision.reason)); };
    if (!record.is_asked || record.asked_reason != decision.reason) {
        return world_.record.report(
            checker::strategy, record.number, "no strategy was asked about " + name());
    }
    if (record.has_strategy_failed || !record.answer || !record.answer->delay()) {
        return world_.record.report(
            checker::strategy, record.number, "retried against its strategy: " + name());
    }
    const duration planned = std::min(*record.answer->delay(), left);
    if (record.call && keeps_floor(record, world_.plan) &&
        decision.delay < std::min(record.call->delay_floor, left)) {
        world_.record.report(
            checker::delay, record.number,
            name() + " is retried before the time that the server requested");
    }
    if (decision.delay != planned) {
        world_.record.report(
            checker::delay, record.number,
            name() + " waits " + text_of(decision.delay) + " instead of " + text_of(planned));
    }
}

// RH-32: rejected only if there is no room to wait.
void decision_checks::check_queue_full(const operation_record& record) {
    sim_client& client = *world_.clients[record.plan.client];
    if (client.loops().statistics().operations_parked < client.plan().parked_count_max) {
        world_.record.report(
            checker::credit, record.number, "rejected although there is room to wait");
    }
}

void decision_checks::check_refused(
    operation_record& record, const couchbase::decision_record& decision) {
    const auto name = [&decision] { return std::string(couchbase::to_string(decision.reason)); };
    if (decision.reason == retry_reason::unknown) {
        return;
    }
    if (is_lost_write(record, decision.reason)) {
        if (decision.error != errc::request_canceled) {
            world_.record.report(
                checker::ambiguity, record.number,
                "a write lost in flight ends with a different error");
        }
        return;
    }
    if (decision.refusal == refusal_reason::partly_delivered) {
        if (!record.call || record.call->rows_taken == 0) {
            world_.record.report(
                checker::strategy, record.number, "given up because of rows that were not taken");
        }
        return;
    }
    const bool is_full = decision.error == errc::retry_queue_full;
    if (is_full) {
        check_queue_full(record);
    }
    if (is_always_retried(decision.reason)) {
        if (!is_full) {
            world_.record.report(
                checker::strategy, record.number, name() + " is always retried, but was not");
        }
        return;
    }
    const bool is_asked = record.is_asked && record.asked_reason == decision.reason;
    if (is_full && !is_asked && decision.stage == attempt_stage::dispatch) {
        return;  // no room to wait for its first attempt: no strategy decides this
    }
    if (!is_asked) {
        return world_.record.report(
            checker::strategy, record.number,
            "given up for " + name() + ", but no strategy was asked");
    }
    if (is_full && !(record.answer && !record.answer->delay())) {
        return;
    }
    if (record.has_strategy_failed) {
        if (decision.error != errc::strategy_failure) {
            world_.record.report(
                checker::strategy, record.number,
                "its strategy failed, but the error is a different one");
        }
        return;
    }
    if (record.answer && !record.answer->delay()) {
        const std::error_code wanted = record.answer->error();
        if (wanted && wanted != make_error_code(decision.error)) {
            world_.record.report(
                checker::strategy, record.number, "its strategy chose a different error");
        }
        return;
    }
    const bool is_poor = budgets_.can_be_poor(record);
    const bool is_unpaid = decision.refusal == refusal_reason::budget_exhausted;
    if (!record.answer || !is_poor || !is_unpaid) {
        world_.record.report(
            checker::strategy, record.number, "given up for " + name() + " against its strategy");
    }
}

// If the client reports something about the attempt, it must match what the network saw.
void decision_checks::check_stage(
    operation_record& record, retry_reason reason, attempt_stage stage, std::uint16_t code) {
    const auto cell = engine::cell_of(reason, stage, class_of(record));
    const auto name = [reason] { return std::string(couchbase::to_string(reason)); };
    if (cell.applicable != engine::reason_applicability::yes) {
        world_.record.report(
            checker::history, record.number,
            name() + " at stage " + std::string(to_string(stage)) + " for " +
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
                world_.record.report(
                    checker::repetition, record.number,
                    name() + ": treated as not sent, but it was");
            }
            break;
        case attempt_stage::network:
            if (is_open && last.is_answered && last.answered == world_.now) {
                // The client closed the connection while the answer was in its buffer.
                last.is_answered = false;
                last.is_lost = true;
            } else if (!is_out) {
                world_.record.report(
                    checker::history, record.number, name() + ": treated as sent, but it was not");
            }
            break;
        case attempt_stage::response:
            if (!is_open || !last.is_answered || last.status != code) {
                world_.record.report(
                    checker::answer, record.number, name() + ": no server reported this");
            }
            break;
    }
    last.is_decided = true;
}

// RH-25 to RH-28: a server's answer must have caused the state, and the cause must not have been
// fixed since.
void decision_checks::check_terminal(const operation_record& record, retry_reason reason) {
    const client_view& view = views_[record.plan.client];
    bool has_cause = true;
    switch (reason) {
        case retry_reason::authentication_error:
            has_cause = any_of(record.call ? view.has_refused_auth : view.is_auth_refused);
            break;
        case retry_reason::tls_error:
            has_cause = record.call
                            ? any_of(view.has_failed_tls) || any_of(view.is_service_tls_failed)
                            : any_of(view.is_tls_failed);
            break;
        case retry_reason::bucket_access_error:
            has_cause = view.is_access_denied;
            if (!has_cause && view.was_bucket_selected) {
                break;  // an open bucket is never missing (RH-27)
            }
            if (!has_cause && view.maps.empty()) {
                has_cause = any_of(view.is_bucket_missing);
            } else if (!has_cause) {
                has_cause = views_.is_bucket_gone(record.plan.client);
            }
            break;
        case retry_reason::scope_not_found:
        case retry_reason::collection_not_found:
            has_cause = view.name_missing == world_.now;
            break;
        default:  // no other reason is terminal: it has no such cause
            break;
    }
    const bool is_refusal =
        reason == retry_reason::authentication_error || reason == retry_reason::tls_error;
    if (is_refusal && !record.call && view.maps.empty() &&
        !views_.is_refusal_proven(record.plan.client) &&
        views_.may_seed_answer(record.plan.client)) {
        world_.record.report(
            checker::terminal, record.number,
            std::string(couchbase::to_string(reason)) + " while another seed may still answer");
    }
    if (!has_cause) {
        world_.record.report(
            checker::terminal, record.number,
            std::string(couchbase::to_string(reason)) + " without a cause that still exists");
    }
}

}  // namespace reprise::sim
