// Checks of the HTTP services: what is sent where, which rows are delivered, and what is reported
// to users. RH-16, RH-29, RH-43, RH-45, and the three invariants of writes.

#include "checks/call_checks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <reprise/http/message.hpp>
#include <reprise/services/query_outcome.hpp>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using couchbase::errc;

constexpr duration tick_of_calls = std::chrono::milliseconds{1};
constexpr int prepared_unknown = 4040;

std::string node_and_service(const sim_link& link) {
    return "node " + std::to_string(link.node.value) + ", " +
           std::string(wire::to_string(link.http->service)) + ", connection " +
           std::to_string(link.id.value);
}

bool names_address(
    const wire::cluster_configuration& map, const engine::connect_action& action) noexcept {
    return std::ranges::any_of(map.nodes(), [&](const wire::cluster_node& node) {
        bool is_there = false;
        for (std::size_t index = 0; index < wire::service_count; ++index) {
            const auto service = static_cast<wire::service>(index);
            is_there = is_there || node.ports.port(service, action.transport) == action.port;
        }
        return is_there && node.hostname == action.host;
    });
}

// The probes of breakers.
bool is_canary(const sim_link& link, std::string_view line) {
    return line ==
           "GET " + std::string(wire::facts_of(link.http->service).health_path) + " HTTP/1.1";
}

bool is_range(call_kind kind) noexcept {
    return facts_of(kind).rows == row_rule::numbers;
}

// RH-20, RH-42, stated independently: the codes of the query service that are sent before anything
// is executed. They refuse the request, its text, its names, or the user's rights and limits.
bool is_code_of_refusal(std::int64_t code, std::string_view text) noexcept {
    constexpr std::array<std::int64_t, 11> single = {1191, 1192,  1193,  1194,  1197, 1201,
                                                     2120, 12003, 12004, 12021, 13014};
    if (code == 5000) {
        return text.find("queryport.indexNotFound") != std::string_view::npos;
    }
    const std::int64_t thousand = code / 1000;
    return (code >= 1000 && code < 1080) || thousand == 3 || (thousand == 4 && code != 4036) ||
           code / 100 == 100 || std::ranges::find(single, code) != single.end();
}

// Whether an answer proves that a write was not executed: by the code of its first error, or by its
// status if it contains none that can be read.
bool proves_no_effect(call_kind kind, const services::http_answer& answer) {
    const bool is_refusal = answer.status >= 300 && answer.status < 500;
    if (!is_statement(kind)) {
        return is_refusal;
    }
    const auto outcome = services::parse_query_outcome(answer.body);
    if (!outcome || outcome->errors.empty()) {
        return is_refusal;
    }
    return is_code_of_refusal(outcome->errors.front().code, outcome->errors.front().message);
}

}  // namespace

call_checks::call_checks(
    world& owner, client_views& views, wait_checks& waits, document_checks& documents)
    : world_(owner), views_(views), waits_(waits), documents_(documents) {}

// Nothing is ever sent to an address that is not in a configuration.
bool call_checks::on_connect(std::uint32_t client, const engine::connect_action& action) {
    const client_view& view = views_.refresh(client);
    const bool is_known =
        std::ranges::any_of(
            view.maps,
            [&](const known_map& map) { return names_address(*map.configuration, action); }) ||
        std::ranges::any_of(
            view.global_maps, [&](const auto& map) { return names_address(*map, action); });
    if (!is_known) {
        world_.record.report(
            checker::routing, std::nullopt,
            "client " + std::to_string(client) + " connects to " + action.host + ":" +
                std::to_string(action.port) + ", which is not in any configuration");
    }
    return is_known;
}

void call_checks::on_composed(std::uint32_t operation, const services::service_call& call) {
    const operation_record& record = world_.records.at(operation);
    call_record& made = *record.call;
    made.request_line = call.method + " " + call.target + " HTTP/1.1";
    made.prepares = call.body.find("\"statement\":\"PREPARE ") != std::string::npos;
    made.is_preparing =
        made.prepares && call.body.find("\"auto_execute\":true") == std::string::npos;
    made.prepared_before = views_[record.plan.client].prepared_count;
}

// The client has read a complete answer and decided what it means.
void call_checks::on_judged(
    std::uint32_t operation, const services::http_answer& answer,
    const services::exchange_result& verdict) {
    operation_record& record = world_.records.at(operation);
    call_record& call = *record.call;
    const sent_request& last = record.last;
    if (!last.is_corrupt && (!last.is_answered || last.status != answer.status)) {
        world_.record.report(
            checker::answer, record.number, "accepts an answer to another request");
    }
    record.last.is_disproved = !record.is_idempotent && proves_no_effect(call.plan.kind, answer);
    call.next_count += verdict.what == services::exchange_result::step::next ? 1U : 0U;
    call.delay_floor = duration::zero();
    if (const auto asked = http::find_header(answer.headers, "Retry-After")) {
        int seconds = 0;
        std::from_chars(asked->data(), asked->data() + asked->size(), seconds);
        call.delay_floor = std::chrono::seconds{seconds};
    }
    if (http::find_header(answer.headers, left_over_field)) {
        world_.record.report(
            checker::answer, record.number, "takes left-over bytes for its answer (RH-47)");
    }
    note_situation(record, answer);
    client_view& view = views_[record.plan.client];
    view.prepared_count += call.prepares ? 1U : 0U;
    if (verdict.server_code == prepared_unknown) {
        call.reported_unknown_at = world_.now;
        call.prepared_before_unknown = call.prepared_before;
    }
}

void call_checks::note_situation(
    const operation_record& record, const services::http_answer& answer) {
    if (answer.status == 400 &&
        answer.body.find("pindex not available") != std::string_view::npos) {
        world_.situations.note(situation::search_starts);
    }
    if (record.is_idempotent || !record.last.is_applied) {
        return;
    }
    const auto outcome = services::parse_query_outcome(answer.body);
    if (outcome && !outcome->errors.empty()) {
        const services::query_problem& first = outcome->errors.front();
        world_.situations.note(
            first.code != 1080       ? situation::error_after_effect
            : first.is_retry_advised ? situation::own_timeout_flagged
                                     : situation::own_timeout_unflagged);
    }
}

// RH-47: a connection with left-over bytes is closed. Bytes that the client has not read yet, since
// its user takes no rows, do not count.
void call_checks::after_bytes(std::uint32_t index) {
    const sim_link& link = world_.net.link(index);
    const service_side& side = *link.http;
    if (side.left_over && link.got_down > *side.left_over && !side.is_paused &&
        link.state == link_state::open) {
        world_.record.report(
            checker::answer, std::nullopt,
            "keeps a connection with left-over bytes (RH-47): " + node_and_service(link));
    }
}

void call_checks::on_sent(
    std::uint32_t index, std::optional<std::uint32_t> operation, std::string_view line) {
    sim_link& link = world_.net.link(index);
    if (!operation && is_canary(link, line) &&
        world_.plan.clients[link.client].breaker.has_value()) {
        if (world_.record.is_tracing()) {
            world_.record.line(
                "client " + std::to_string(link.client) + ": canary sent to " +
                node_and_service(link));
        }
        link.http->owner = 0;
        link.http->is_awaited = true;
        return;
    }
    ++request_count_;
    if (!operation || *operation >= world_.records.size() || !world_.records.at(*operation).call) {
        return world_.record.report(
            checker::routing, std::nullopt,
            "a request that belongs to no operation: " + std::string(line));
    }
    operation_record& record = world_.records.at(*operation);
    world_.record.mix(link.handed + (std::uint64_t{record.number} << 32U));
    if (world_.record.is_tracing()) {
        world_.record.line(
            "operation " + std::to_string(record.number) + ": " +
            std::string(to_string(record.call->plan.kind)) + ", " + std::string(line) +
            " sent to " + node_and_service(link));
    }
    views_.refresh(record.plan.client);
    check_request(record, link, line);
    check_repetition(record);
    waits_.check_not_early(record);
    const time_point stalled = world_.clients[record.plan.client]->stalled_until;
    if (world_.now > std::max(record.deadline, stalled) + tick_of_calls) {
        world_.record.report(checker::deadline, record.number, "sent after its deadline");
    }
    link.http->owner = record.number + 1;
    link.http->is_awaited = true;
    record.is_backing_off = false;
    record.last = {};
    record.last.link = index;
    record.last.sent = world_.now;
    record.last.is_corrupt = link.http->is_corrupt;
    record.last.is_harmless = record.call->is_preparing;
    ++record.sent_count;
}

void call_checks::check_request(
    const operation_record& record, const sim_link& link, std::string_view line) {
    if (record.calls != 0) {
        world_.record.report(checker::completion, record.number, "sent after its end");
    }
    if (line != record.call->request_line) {
        world_.record.report(
            checker::routing, record.number,
            "sends '" + std::string(line) + "' instead of '" + record.call->request_line + "'");
    }
    if (record.plan.client != link.client ||
        link.http->service != service_of(record.call->plan.kind)) {
        world_.record.report(
            checker::routing, record.number, "sent to another service: " + node_and_service(link));
    }
    if (link.http->is_paused) {
        world_.record.report(
            checker::credit, record.number, "sent on a connection that is not read");
    }
    if (link.http->is_awaited && !link.http->is_corrupt) {
        world_.record.report(
            checker::credit, record.number,
            "sent on a connection whose last answer is incomplete: " + node_and_service(link));
    }
}

// Invariant 2, and RH-45.
void call_checks::check_repetition(const operation_record& record) {
    const sent_request& last = record.last;
    if (record.sent_count > record.retries + record.call->next_count) {
        world_.record.report(
            checker::repetition, record.number, "sent without a decision to do so");
    }
    if (record.call->rows_taken != 0) {
        world_.record.report(
            checker::repetition, record.number, "sent again after rows were delivered");
    }
    if (record.sent_count == 0 || last.is_unsent || last.is_corrupt) {
        return;
    }
    if (last.is_applied) {
        world_.record.report(
            checker::repetition, record.number, "sent again although it was applied");
    }
    if (last.is_answered) {
        return;
    }
    if (!record.is_idempotent && !last.is_harmless) {
        world_.record.report(
            checker::repetition, record.number,
            "sent again, and no server reported that nothing was done");
    } else if (!last.is_decided) {
        world_.record.report(checker::repetition, record.number, "on the wire twice");
    }
}

void call_checks::on_answered(std::uint32_t index, const sim_link::answer_mark& answer) {
    sim_link& link = world_.net.link(index);
    if (link.http->owner == answer.opaque) {
        link.http->is_awaited = false;
    }
    if (answer.opaque == 0) {
        return;
    }
    operation_record& record = world_.records.at(answer.opaque - 1);
    if (record.last.link == index) {
        record.last.is_answered = true;
        record.last.status = answer.status;
        record.last.answered = world_.now;
    }
}

void call_checks::on_link_end(std::uint32_t index, std::uint64_t sent_end) {
    const service_side& side = *world_.net.link(index).http;
    if (side.owner == 0) {
        return;
    }
    sent_request& last = world_.records.at(side.owner - 1).last;
    if (last.link != index || last.is_answered || last.is_decided) {
        return;
    }
    if (side.offset >= sent_end) {
        last.is_unsent = true;
    } else {
        last.is_lost = true;
    }
}

void call_checks::on_corrupted(std::uint32_t index) {
    const service_side& side = *world_.net.link(index).http;
    if (side.owner != 0 && world_.records.at(side.owner - 1).last.link == index) {
        world_.records.at(side.owner - 1).last.is_corrupt = true;
    }
}

// The servers' side of the ledger.
void call_checks::on_audit(std::uint32_t index, const sandbox::service_audit_entry& entry) {
    const sim_link& link = world_.net.link(index);
    std::uint32_t number = 0;
    const std::string& text = entry.context_id;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || number >= world_.records.size() ||
        !world_.records.at(number).call) {
        return;
    }
    operation_record& record = world_.records.at(number);
    if (world_.record.is_tracing()) {
        world_.record.line(
            "operation " + std::to_string(number) +
            (entry.is_applied ? " applied by" : " seen by") + " " + node_and_service(link) + ": " +
            std::to_string(entry.status) +
            (entry.error_code == 0 ? "" : ", code " + std::to_string(entry.error_code)) +
            (entry.fault_id == 0 ? "" : ", disturbed"));
    }
    if (record.last.link == index) {
        record.last.is_corrupt = record.last.is_corrupt || link.http->is_corrupt;
        record.last.is_applied = record.last.is_applied || entry.is_applied;
        record.last.is_made_up = entry.fault_id != 0;
    }
    if (entry.is_applied) {
        documents_.on_statement_applied(record);
    }
    // After this answer the client must prepare the statement before it runs it again. Only a name
    // that it got after it had composed the request is new to it, and may be forgotten as well.
    const call_record& call = *record.call;
    const bool is_unknown = entry.error_code == prepared_unknown && entry.fault_id == 0;
    if (is_unknown && call.reported_unknown_at &&
        *call.reported_unknown_at > world_.prepared_forgotten &&
        call.prepared_before == call.prepared_before_unknown) {
        world_.record.report(
            checker::repetition, record.number, "runs a statement again that the server forgot");
    }
}

void call_checks::on_rows_reported(operation_record& record) {
    if (record.calls != 0) {
        world_.record.report(checker::completion, record.number, "notified of rows after its end");
    }
}

void call_checks::on_rows(operation_record& record, const engine::row_batch& rows) {
    world_.record.mix(rows.size() + (std::uint64_t{record.number} << 32U));
    if (world_.record.is_tracing()) {
        world_.record.line(
            "operation " + std::to_string(record.number) + " takes " + std::to_string(rows.size()) +
            " rows, " + std::to_string(record.call->rows_taken) + " before");
    }
    for (std::size_t index = 0; index < rows.size(); ++index) {
        check_row(record, rows[index]);
    }
}

// Each row must be delivered once and in order, whenever it is taken.
void call_checks::check_row(operation_record& record, std::string_view row) {
    call_record& call = *record.call;
    const std::uint64_t index = call.rows_taken++;
    ++row_count_;
    bool is_right = true;
    switch (facts_of(call.plan.kind).rows) {
        case row_rule::numbers:
            is_right = (index < call.plan.row_count || record.last.is_made_up) &&
                       row == std::to_string(index);
            break;
        case row_rule::key:
            is_right = index == 0 && row == "{\"id\":\"q" + std::to_string(call.plan.key) + "\"}";
            break;
        case row_rule::document: {
            std::uint32_t writer = 0;
            const auto read = std::from_chars(row.data(), row.data() + row.size(), writer);
            is_right = index == 0 && read.ec == std::errc{} && writer < world_.records.size() &&
                       world_.records.at(writer).call &&
                       world_.records.at(writer).call->plan.key == call.plan.key;
            break;
        }
        case row_rule::each_once:
            is_right = std::ranges::find(call.rows_seen, row) == call.rows_seen.end();
            call.rows_seen.emplace_back(row);
            break;
        case row_rule::none:
            is_right = false;
            break;
    }
    if (!is_right && (is_range(call.plan.kind) || !record.last.is_made_up)) {
        world_.record.report(
            checker::answer, record.number,
            "row " + std::to_string(index) + " is '" + std::string(row.substr(0, 80)) + "'");
    }
}

void call_checks::on_done(operation_record& record, const engine::operation_result& result) {
    if (!result.http) {
        return world_.record.report(
            checker::answer, record.number, "a result without its HTTP part");
    }
    check_ambiguity(record, result);
    const sent_request& last = record.last;
    if (result.ec) {
        const std::optional<std::uint16_t> shown = result.error->status;
        const bool is_plain = record.sent_count != 0 && last.is_answered && !last.is_decided;
        if (is_plain && !last.is_corrupt && shown && *shown != last.status) {
            world_.record.report(
                checker::answer, record.number, "shows a status that no server sent");
        }
        return;
    }
    if (record.sent_count == 0 || last.is_decided || (!last.is_answered && !last.is_corrupt)) {
        return world_.record.report(checker::answer, record.number, "a success without an answer");
    }
    if (!last.is_corrupt && (last.status < 200 || last.status >= 300)) {
        world_.record.report(
            checker::answer, record.number, "a success, but the server reported otherwise");
    }
    check_rows(record, result);
}

// A success must deliver every row.
void call_checks::check_rows(operation_record& record, const engine::operation_result& result) {
    const call_record& call = *record.call;
    on_rows(record, result.http->rows);
    const bool is_exact = is_range(call.plan.kind) || call.plan.kind == call_kind::insert_returning;
    const std::uint64_t wanted = is_range(call.plan.kind) ? call.plan.row_count : 1;
    if ((is_exact && call.rows_taken != wanted) || result.http->row_count != call.rows_taken) {
        world_.record.report(
            checker::answer, record.number,
            "a success with " + std::to_string(call.rows_taken) + " rows, but counts " +
                std::to_string(result.http->row_count) +
                (is_exact ? " instead of " + std::to_string(wanted) : std::string()));
    }
}

// RH-16, RH-29: ambiguous exactly if the server may have acted. Only an answer can prove that it
// did not, and only if the client could read it.
void call_checks::check_ambiguity(
    const operation_record& record, const engine::operation_result& result) {
    if (!result.ec) {
        return;
    }
    const sent_request& last = record.last;
    const bool is_ambiguous = result.error->is_ambiguous;
    const bool is_timeout =
        result.ec == errc::ambiguous_timeout || result.ec == errc::unambiguous_timeout;
    if (is_timeout && (result.ec == errc::ambiguous_timeout) != is_ambiguous) {
        world_.record.report(
            checker::ambiguity, record.number, "the timeout's name contradicts its ambiguity");
    }
    if (last.is_applied && !is_ambiguous && !record.is_idempotent) {
        world_.record.report(
            checker::ambiguity, record.number,
            "reported '" + result.ec.message() + "', not ambiguous, but a server applied it");
    }
    const bool is_sent = record.sent_count != 0 && !last.is_unsent;
    const bool may_have_acted =
        !record.is_idempotent && !last.is_harmless && is_sent && !last.is_disproved;
    if (is_ambiguous != may_have_acted) {
        world_.record.report(
            checker::ambiguity, record.number,
            "reported '" + result.ec.message() +
                (is_ambiguous ? "', ambiguous" : "', not ambiguous") + ", but the server " +
                (may_have_acted ? "may have acted" : "cannot have acted"));
    }
}

}  // namespace reprise::sim
