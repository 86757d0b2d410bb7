// Compares what is reported to users with what happened: invariants 1, 3, 4 and 5, RH-16, RH-29,
// RH-30, RH-32, VB-01, liveness.

#include "checks/result_checks.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using couchbase::errc;
using engine::operation_kind;
using wire::status;

constexpr duration tick_of_results = std::chrono::milliseconds{1};

// RH-18, stated independently.
bool is_repeatable(operation_kind kind) noexcept {
    switch (kind) {
        case operation_kind::get:
        case operation_kind::exists:
        case operation_kind::lookup_in:
        case operation_kind::get_replica:
        case operation_kind::lookup_in_replica:
        case operation_kind::noop:
        case operation_kind::range_scan:
        case operation_kind::range_scan_cancel:
            return true;
        default:  // all others change a document, its expiry or its lock
            return false;
    }
}

bool is_timeout(const engine::operation_result& result) noexcept {
    return result.ec == errc::ambiguous_timeout || result.ec == errc::unambiguous_timeout;
}

std::string describe(const engine::operation_result& result) {
    return result.ec ? "'" + result.ec.message() + "'" : std::string("success");
}

// The precision of histories.
duration in_us(duration time) noexcept {
    return std::chrono::floor<std::chrono::microseconds>(time);
}

}  // namespace

result_checks::result_checks(
    world& owner, const client_views& views, budget_checks& budgets, document_checks& documents,
    call_checks& calls)
    : world_(owner), views_(views), budgets_(budgets), documents_(documents), calls_(calls) {}

void result_checks::on_started(operation_record& record) {
    record.is_idempotent =
        record.call ? is_readonly(record.call->plan.kind) : is_repeatable(record.plan.kind);
    if (!record.is_idempotent) {
        documents_.begin(record);
    }
    const client_view& view = views_[record.plan.client];
    if (!view.maps.empty()) {
        record.revision_decided = view.maps.back().revision();
    }
}

void result_checks::on_done(operation_record& record, const engine::operation_result& result) {
    if (record.calls != 1) {
        return world_.record.report(checker::completion, record.number, "ends for the second time");
    }
    if (result.ec && record.is_backing_off) {
        budgets_.return_charge(record);
    }
    record.is_backing_off = false;
    if (static_cast<bool>(result.ec) != (result.error != nullptr)) {
        return world_.record.report(
            checker::completion, record.number,
            "an error without details, or details without an error");
    }
    succeeded_count_ += result.ec ? 0U : 1U;
    if (!result.ec && world_.is_default_restored && !record.call && record.plan.collection == 0) {
        world_.situations.note(situation::default_collection_restored);
    }
    ambiguous_count_ += is_reported_ambiguous(result) ? 1U : 0U;
    if (!result.ec != record.is_success_reported) {
        world_.record.report(
            checker::strategy, record.number, "its strategy got a different result than its user");
    }
    check_time(record, result);
    if (record.call) {
        calls_.on_done(record, result);
    } else {
        check_ambiguity(record, result);
        check_answer(record, result);
    }
    check_history(record, result);
    check_final_round(record, result);
    documents_.settle(record, result);
}

// Invariant 4. A stalled thread cannot keep a deadline.
void result_checks::check_time(
    const operation_record& record, const engine::operation_result& result) {
    const time_point stalled = world_.clients[record.plan.client]->stalled_until;
    if (world_.now > std::max(record.deadline, stalled) + tick_of_results) {
        world_.record.report(
            checker::deadline, record.number,
            describe(result) + " comes " +
                std::to_string((world_.now - record.deadline).count() / 1000) +
                " us after its deadline");
    }
    // A service may have had less time and report that.
    const bool is_refused = result.history && !result.history->entries.empty() &&
                            result.history->entries.back().refusal() != refusal_reason::none;
    const bool is_from_server =
        record.call && record.last.is_answered && (!record.last.is_decided || is_refused);
    if (is_timeout(result) && world_.now < record.deadline && !is_from_server) {
        world_.record.report(checker::deadline, record.number, "a timeout before its deadline");
    }
}

// RH-16, RH-29: ambiguous exactly if the server may have acted.
void result_checks::check_ambiguity(
    const operation_record& record, const engine::operation_result& result) {
    if (!result.ec) {
        return;
    }
    const bool is_ambiguous = is_reported_ambiguous(result);
    const sent_request& last = record.last;
    const bool is_out = record.sent_count != 0 && !last.is_answered && !last.is_unsent;
    const auto code = static_cast<status>(last.status);
    const bool is_unread =
        last.is_answered && wire::is_success(code) && result.ec == errc::decoding_failure;
    const bool is_server_ambiguous = last.is_answered && code == status::sync_write_ambiguous;
    const bool may_have_acted =
        !record.is_idempotent && (is_out || is_unread || is_server_ambiguous);
    if (is_ambiguous != may_have_acted) {
        world_.record.report(
            checker::ambiguity, record.number,
            "reported " + describe(result) + (is_ambiguous ? ", ambiguous" : ", not ambiguous") +
                ", but the server " + (may_have_acted ? "may have acted" : "cannot have acted"));
    }
    if (is_timeout(result) && (result.ec == errc::ambiguous_timeout) != is_ambiguous) {
        world_.record.report(
            checker::ambiguity, record.number, "the timeout's name contradicts its ambiguity");
    }
}

void result_checks::check_answer(
    const operation_record& record, const engine::operation_result& result) {
    const sent_request& last = record.last;
    const auto code = static_cast<status>(last.status);
    if (result.ec) {
        const std::optional<std::uint16_t> shown = result.error->status;
        if (shown == static_cast<std::uint16_t>(status::not_my_vbucket) &&
            result.ec != errc::retry_queue_full) {
            world_.record.report(
                checker::routing, record.number, "not-my-vbucket is reported to its user");
        }
        // There was no decision about this answer, so it must be the error itself.
        const bool is_plain = record.sent_count != 0 && last.is_answered && !last.is_decided;
        if (is_plain && shown && !result.error->failed_path && *shown != last.status) {
            world_.record.report(
                checker::answer, record.number, "shows a status that no server sent");
        }
        return;
    }
    if (record.sent_count == 0 || !last.is_answered || last.is_decided) {
        return world_.record.report(checker::answer, record.number, "a success without an answer");
    }
    const bool is_absent = record.plan.kind == operation_kind::exists && code == status::key_enoent;
    if (!wire::is_success(code) && !is_absent) {
        world_.record.report(
            checker::answer, record.number, "a success, but the server reported otherwise");
    }
    if (!is_absent && result.cas != last.cas) {
        world_.record.report(checker::answer, record.number, "its CAS is not that of the answer");
    }
    const bool is_counter = record.plan.kind == operation_kind::increment ||
                            record.plan.kind == operation_kind::decrement;
    if (is_counter && !documents_.is_lossy() && record.counter &&
        result.counter != *record.counter) {
        world_.record.report(
            checker::answer, record.number,
            "the counter is reported as " + std::to_string(result.counter) + " instead of " +
                std::to_string(*record.counter));
    }
}

// RH-30: every decision, in order; the first 8 and the last 24 are kept.
void result_checks::check_history(
    const operation_record& record, const engine::operation_result& result) {
    const std::size_t total = result.history ? result.history->entries.total() : 0;
    if (result.retry_attempts != record.retries || total != record.decisions.size()) {
        return world_.record.report(
            checker::history, record.number,
            "reports " + std::to_string(result.retry_attempts) + " retries and " +
                std::to_string(total) + " decisions instead of " + std::to_string(record.retries) +
                " and " + std::to_string(record.decisions.size()));
    }
    if (result.error && result.error->retry_attempts != record.retries) {
        world_.record.report(
            checker::history, record.number, "the error has a different retry count");
    }
    for (std::size_t index = 0; index < (result.history ? result.history->entries.size() : 0);
         ++index) {
        const retry_history::entry& entry = result.history->entries[index];
        const std::size_t held = result.history->entries.size();
        const decision_note& note = record.decisions[index < 8 ? index : total - held + index];
        const bool is_same = entry.offset() == in_us(note.offset) &&
                             entry.delay() == in_us(note.delay) &&
                             entry.reason_as<couchbase::retry_reason>() == note.reason &&
                             entry.stage() == note.stage && entry.code() == note.status &&
                             entry.attempt() == note.attempt + 1U &&
                             (entry.refusal() == refusal_reason::none) == note.is_retried;
        if (!is_same) {
            return world_.record.report(
                checker::history, record.number,
                "entry " + std::to_string(index) + " is not what was decided");
        }
    }
}

// All faults have ended, and all clients had time to notice. A client that connects for the first
// time may still refuse what it has no room to keep (RH-32), and only that.
void result_checks::check_final_round(
    const operation_record& record, const engine::operation_result& result) {
    if (!record.is_final_round || !result.ec || result.ec == errc::document_not_found) {
        return;
    }
    const sim_client& owner = *world_.clients[record.plan.client];
    if (result.ec == errc::retry_queue_full && owner.open_count >= owner.plan().parked_count_max) {
        return;
    }
    if (record.call && documents_.is_lossy()) {
        return;  // the documents may have no node any more
    }
    world_.record.report(
        checker::liveness, record.number,
        "fails although all faults have ended: " + couchbase::to_string(*result.error));
}

void result_checks::after_engine_run(std::uint32_t client) {
    sim_client& owner = *world_.clients[client];
    const engine::engine_statistics now = owner.loops().statistics();
    const auto name = [client] { return "client " + std::to_string(client); };
    if (now.operations_open != owner.open_count) {
        world_.record.report(
            checker::completion, std::nullopt,
            name() + " works on " + std::to_string(now.operations_open) +
                " operations, but its user waits for " + std::to_string(owner.open_count));
    }
    if (now.operations_parked > owner.plan().parked_count_max) {
        world_.record.report(
            checker::credit, std::nullopt,
            name() + " parks " + std::to_string(now.operations_parked) + " operations");
    }
    if (owner.is_closed() &&
        now.operations_parked + now.operations_ready + now.connections_open != 0) {
        world_.record.report(checker::leak, std::nullopt, name() + " is closed, but not empty");
    }
}

// Every operation had enough time, and every client had the time to learn of every change.
void result_checks::after_settling() {
    for (const operation_record& record : world_.records.all()) {
        if (record.is_started && record.calls == 0) {
            world_.record.report(
                checker::liveness, record.number, "has not ended long after its deadline");
        }
    }
    for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
        const client_view& view = views_[client];
        if (world_.clients[client]->is_closed() || view.maps.empty()) {
            continue;
        }
        for (const sandbox::node_id node : world_.cluster.topology().nodes()) {
            const auto newest = world_.cluster.topology().configuration_revision(node, bucket_name);
            if (newest && *newest > view.maps.back().revision()) {
                return world_.record.report(
                    checker::liveness, std::nullopt,
                    "client " + std::to_string(client) + " does not have configuration " +
                        to_string(*newest));
            }
        }
    }
}

void result_checks::at_end() {
    for (const operation_record& record : world_.records.all()) {
        if (record.is_started && record.calls != 1) {
            world_.record.report(
                checker::completion, record.number,
                "has ended " + std::to_string(record.calls) + " times");
        }
    }
    for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
        if (world_.net.open_count(client) != 0 || world_.net.is_connecting(client)) {
            world_.record.report(
                checker::leak, std::nullopt,
                "client " + std::to_string(client) + " has not closed all connections");
        }
    }
}

}  // namespace reprise::sim
