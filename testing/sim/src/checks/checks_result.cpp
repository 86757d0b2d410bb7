// Compares what is reported to users with what happened: invariants 1, 3 and 4, RH-16, RH-29,
// RH-30, VB-01.

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "checks/inspection.hpp"
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
        case operation_kind::noop:
        case operation_kind::range_scan:
        case operation_kind::range_scan_cancel:
            return true;
        case operation_kind::get_and_touch:
        case operation_kind::get_and_lock:
        case operation_kind::unlock:
        case operation_kind::touch:
        case operation_kind::upsert:
        case operation_kind::insert:
        case operation_kind::replace:
        case operation_kind::remove:
        case operation_kind::append:
        case operation_kind::prepend:
        case operation_kind::increment:
        case operation_kind::decrement:
        case operation_kind::mutate_in:
            break;
    }
    return false;
}

bool is_timeout(const engine::operation_result& result) noexcept {
    return result.ec == errc::ambiguous_timeout || result.ec == errc::unambiguous_timeout;
}

bool is_reported_ambiguous(const engine::operation_result& result) noexcept {
    return result.error != nullptr && result.error->is_ambiguous;
}

std::string describe(const engine::operation_result& result) {
    return result.ec ? "'" + result.ec.message() + "'" : std::string("success");
}

// The precision of histories.
duration in_us(duration time) noexcept {
    return std::chrono::floor<std::chrono::microseconds>(time);
}

}  // namespace

void inspection::on_started(operation_record& record) {
    record.is_idempotent =
        record.call ? is_readonly(record.call->plan.kind) : is_repeatable(record.plan.kind);
    if (!record.is_idempotent) {
        ledger_.begin(record.number);
    }
    const client_view& view = views_[record.plan.client];
    if (!view.maps.empty()) {
        record.revision_decided = view.maps.back().revision();
    }
}

void inspection::on_done(operation_record& record, const engine::operation_result& result) {
    if (record.calls != 1) {
        return report(checker::completion, record, "ends for the second time");
    }
    if (result.ec && record.is_backing_off) {
        return_charge(record);
    }
    record.is_backing_off = false;
    if (static_cast<bool>(result.ec) != (result.error != nullptr)) {
        return report(
            checker::completion, record, "an error without details, or details without an error");
    }
    succeeded_count_ += result.ec ? 0U : 1U;
    if (!result.ec && world_.is_default_restored && !record.call && record.plan.collection == 0) {
        world_.situations.note(situation::default_collection_restored);
    }
    ambiguous_count_ += is_reported_ambiguous(result) ? 1U : 0U;
    if (!result.ec != record.is_success_reported) {
        report(checker::strategy, record, "its strategy got a different result than its user");
    }
    check_time(record, result);
    if (record.call) {
        check_call(record, result);
    } else {
        check_ambiguity(record, result);
        check_answer(record, result);
    }
    check_history(record, result);
    check_final_round(record, result);
    settle(record, result);
}

// Invariant 3. A success that a fault rule invented proves nothing about the client.
void inspection::settle(const operation_record& record, const engine::operation_result& result) {
    if (record.is_idempotent) {
        return;
    }
    auto outcome = sandbox::write_outcome::not_applied;
    // The document to remove may not have existed.
    const bool may_be_nothing =
        record.call && record.call->plan.kind == call_kind::remove && !result.ec;
    if (record.was_lied_to || is_reported_ambiguous(result) || may_be_nothing) {
        outcome = sandbox::write_outcome::unknown;
    } else if (!result.ec) {
        outcome = sandbox::write_outcome::applied;
    }
    ledger_.settle(record.number, outcome);
}

// Invariant 4. A stalled thread cannot keep a deadline.
void inspection::check_time(
    const operation_record& record, const engine::operation_result& result) {
    const time_point stalled = world_.clients[record.plan.client]->stalled_until;
    if (world_.now > std::max(record.deadline, stalled) + tick_of_results) {
        report(
            checker::deadline, record,
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
        report(checker::deadline, record, "a timeout before its deadline");
    }
}

// RH-16, RH-29: ambiguous exactly if the server may have acted.
void inspection::check_ambiguity(
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
        report(
            checker::ambiguity, record,
            "reported " + describe(result) + (is_ambiguous ? ", ambiguous" : ", not ambiguous") +
                ", but the server " + (may_have_acted ? "may have acted" : "cannot have acted"));
    }
    if (is_timeout(result) && (result.ec == errc::ambiguous_timeout) != is_ambiguous) {
        report(checker::ambiguity, record, "the timeout's name contradicts its ambiguity");
    }
}

void inspection::check_answer(
    const operation_record& record, const engine::operation_result& result) {
    const sent_request& last = record.last;
    const auto code = static_cast<status>(last.status);
    if (result.ec) {
        const std::optional<std::uint16_t> shown = result.error->status;
        if (shown == static_cast<std::uint16_t>(status::not_my_vbucket) &&
            result.ec != errc::retry_queue_full) {
            report(checker::routing, record, "not-my-vbucket is reported to its user");
        }
        // There was no decision about this answer, so it must be the error itself.
        const bool is_plain = record.sent_count != 0 && last.is_answered && !last.is_decided;
        if (is_plain && shown && !result.error->failed_path && *shown != last.status) {
            report(checker::answer, record, "shows a status that no server sent");
        }
        return;
    }
    if (record.sent_count == 0 || !last.is_answered || last.is_decided) {
        return report(checker::answer, record, "a success without an answer");
    }
    const bool is_absent = record.plan.kind == operation_kind::exists && code == status::key_enoent;
    if (!wire::is_success(code) && !is_absent) {
        report(checker::answer, record, "a success, but the server reported otherwise");
    }
    if (!is_absent && result.cas != last.cas) {
        report(checker::answer, record, "its CAS is not that of the answer");
    }
    const bool is_counter = record.plan.kind == operation_kind::increment ||
                            record.plan.kind == operation_kind::decrement;
    if (is_counter && !is_store_lossy_ && record.counter && result.counter != *record.counter) {
        report(
            checker::answer, record,
            "the counter is reported as " + std::to_string(result.counter) + " instead of " +
                std::to_string(*record.counter));
    }
}

// RH-30: every decision, in order; the first 8 and the last 24 are kept.
void inspection::check_history(
    const operation_record& record, const engine::operation_result& result) {
    const std::size_t total = result.history ? result.history->entries.total() : 0;
    if (result.retry_attempts != record.retries || total != record.decisions.size()) {
        return report(
            checker::history, record,
            "reports " + std::to_string(result.retry_attempts) + " retries and " +
                std::to_string(total) + " decisions instead of " + std::to_string(record.retries) +
                " and " + std::to_string(record.decisions.size()));
    }
    if (result.error && result.error->retry_attempts != record.retries) {
        report(checker::history, record, "the error has a different retry count");
    }
    for (std::size_t index = 0; index < (result.history ? result.history->entries.size() : 0);
         ++index) {
        const history_entry& entry = result.history->entries[index];
        const std::size_t held = result.history->entries.size();
        const decision_note& note = record.decisions[index < 8 ? index : total - held + index];
        const bool is_same = entry.offset() == in_us(note.offset) &&
                             entry.delay() == in_us(note.delay) &&
                             entry.reason_as<couchbase::retry_reason>() == note.reason &&
                             entry.stage() == note.stage && entry.code() == note.status &&
                             entry.attempt() == note.attempt + 1U &&
                             (entry.refusal() == refusal_reason::none) == note.is_retried;
        if (!is_same) {
            return report(
                checker::history, record,
                "entry " + std::to_string(index) + " is not what was decided");
        }
    }
}

// All faults have ended, and all clients had time to notice.
void inspection::check_final_round(
    const operation_record& record, const engine::operation_result& result) {
    if (!record.is_final_round || !result.ec || result.ec == errc::document_not_found) {
        return;
    }
    if (record.call && is_store_lossy_) {
        return;  // the documents may have no node any more
    }
    report(
        checker::liveness, record,
        "fails although all faults have ended: " + couchbase::to_string(*result.error));
}

}  // namespace reprise::sim
