// Checks of key-value requests, answers and the ends of connections as the network saw them: RH-16,
// VB-02 to VB-04, the pipeline credit and the opaques.

#include "checks/request_checks.hpp"

#include <algorithm>
#include <string>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using engine::operation_kind;
using wire::opcode;
using wire::status;

// Smaller numbers belong to the bootstrap.
constexpr std::uint32_t operation_opaque_min = 0x100;
// In sim_link::owners: the first answer has arrived.
constexpr std::uint32_t answered_bit = 0x8000'0000U;
constexpr duration tick_of_requests = std::chrono::milliseconds{1};

// The number of the operation that used this opaque, plus one; 0: none.
std::uint32_t owner_of(const sim_link& link, std::uint32_t opaque) noexcept {
    const std::size_t at = opaque - operation_opaque_min;
    return opaque >= operation_opaque_min && at < link.owners.size()
               ? link.owners[at] & ~answered_bit
               : 0;
}

bool is_last_request(
    const operation_record& record, std::uint32_t link, std::uint32_t opaque) noexcept {
    return record.sent_count != 0 && record.last.link == link && record.last.opaque == opaque;
}

}  // namespace

request_checks::request_checks(
    world& owner, client_views& views, wait_checks& waits, document_checks& documents,
    trust_checks& trust)
    : world_(owner), views_(views), waits_(waits), documents_(documents), trust_(trust) {}

void request_checks::on_request(std::uint32_t client, const couchbase::operation_attempt& sent) {
    sim_client& owner = *world_.clients[client];
    owner.client_id = sent.which.client;
    operation_record& record = world_.records.at(owner.number_of(sent.which.id));
    ++request_count_;
    const std::uint32_t index = world_.net.find(client, sent.connection);
    if (index == no_link) {
        return world_.record.report(
            checker::routing, record.number, "sent on a connection that does not exist");
    }
    sim_link& link = world_.net.link(index);
    if (link.hostile) {
        return trust_.on_trusted(index, "sends an operation to it");
    }
    world_.record.mix(sent.opaque + (std::uint64_t{record.number} << 32U));
    if (world_.record.is_tracing()) {
        world_.record.line(
            "operation " + std::to_string(record.number) + ": " +
            std::string(sent.which.operation) + " " + world_.key_text(record.plan) +
            " sent to node " + std::to_string(link.node.value) + ", connection " +
            std::to_string(sent.connection) + ", opaque " + std::to_string(sent.opaque));
    }
    views_.refresh(client);
    if (record.calls != 0) {
        world_.record.report(checker::completion, record.number, "sent after its end");
    }
    if (sent.retries != record.retries || record.sent_count > record.retries) {
        world_.record.report(
            checker::repetition, record.number, "sent without a decision to do so");
    }
    check_repetition(record);
    waits_.check_not_early(record);
    if (world_.now > std::max(record.deadline, owner.stalled_until) + tick_of_requests) {
        world_.record.report(checker::deadline, record.number, "sent after its deadline");
    }
    check_route(record, link);

    const std::size_t at = sent.opaque - operation_opaque_min;
    if (sent.opaque < operation_opaque_min || sent.opaque <= link.opaque_last) {
        world_.record.report(
            checker::opaque, record.number,
            "opaque " + std::to_string(sent.opaque) + " is used again");
    }
    link.opaque_last = std::max(link.opaque_last, sent.opaque);
    if (sent.opaque >= operation_opaque_min) {
        link.owners.resize(std::max(link.owners.size(), at + 1));
        link.owners[at] = record.number + 1;
    }
    ++link.on_wire;
    if (link.on_wire > owner.plan().pipeline_credit) {
        world_.record.report(
            checker::credit, record.number,
            std::to_string(link.on_wire) + " requests on a connection with credit for " +
                std::to_string(owner.plan().pipeline_credit));
    }
    record.is_backing_off = false;
    record.last = {};
    record.last.link = index;
    record.last.opaque = sent.opaque;
    record.last.sent = world_.now;
    ++record.sent_count;
}

// Invariant 2: a write is repeated only if the server reported that it did nothing, or if it was
// never sent.
void request_checks::check_repetition(const operation_record& record) {
    const sent_request& last = record.last;
    if (record.sent_count == 0 || last.is_unsent) {
        return;
    }
    const auto code = static_cast<status>(last.status);
    if (last.is_answered) {
        const bool is_decoded = code != status::sync_write_ambiguous && !wire::is_success(code);
        if (!record.is_idempotent && !is_decoded) {
            world_.record.report(
                checker::repetition, record.number, "sent again although it may have been applied");
        }
    } else if (!record.is_idempotent) {
        world_.record.report(
            checker::repetition, record.number,
            "sent again, and no server reported that nothing was done");
    } else if (!last.is_decided) {
        world_.record.report(checker::repetition, record.number, "on the wire twice");
    }
}

// VB-02 to VB-04. If there was only one map since the decision to send, exactly one node is right;
// otherwise any map since may have queued it.
void request_checks::check_route(operation_record& record, const sim_link& link) {
    const client_view& view = views_[record.plan.client];
    if (record.plan.kind == operation_kind::noop) {
        return;
    }
    if (view.maps.empty()) {
        return world_.record.report(checker::routing, record.number, "sent without a map");
    }
    const auto node = static_cast<std::int32_t>(link.node.value);
    const std::uint16_t vbucket = world_.vbucket_of(record.plan);
    const known_map& newest = view.maps.back();
    const bool is_replica = engine::reads_replica(record.plan.kind);
    const bool is_exact = record.revision_decided ? *record.revision_decided == newest.revision()
                                                  : view.maps.size() == 1;
    if (!is_exact) {
        bool is_known = false;
        for (auto map = view.maps.rbegin(); map != view.maps.rend() && !is_known; ++map) {
            is_known = is_replica ? map->replica(vbucket) == node
                                  : map->active(vbucket) == node || map->forward(vbucket) == node;
            if (record.revision_decided && map->revision() == *record.revision_decided) {
                break;
            }
        }
        record.revision.reset();
        record.went_forward = false;
        if (!is_known) {
            world_.record.report(
                checker::routing, record.number, "sent to a node that is not in any map");
        }
        return;
    }
    const std::int32_t active = newest.active(vbucket);
    const std::int32_t forward = newest.forward(vbucket);
    const bool is_same_map = record.sent_count != 0 && record.revision == newest.revision();
    const bool is_unclear = record.sent_count != 0 && !record.revision;
    bool goes_forward = is_same_map && record.went_forward;
    if (is_same_map && !goes_forward && record.last.is_answered &&
        static_cast<status>(record.last.status) == status::not_my_vbucket) {
        const auto refused =
            static_cast<std::int32_t>(world_.net.link(record.last.link).node.value);
        goes_forward = forward >= 0 && forward != refused;
    }
    if (is_unclear && forward >= 0 && node == forward && node != active) {
        goes_forward = true;
    }
    const std::int32_t wanted =
        is_replica ? newest.replica(vbucket) : (goes_forward ? forward : active);
    if (node != wanted) {
        world_.record.report(
            checker::routing, record.number,
            "sent to node " + std::to_string(node) + ", the " +
                (is_replica ? "replica" : (goes_forward ? "forward" : "current")) + " map says " +
                std::to_string(wanted));
    }
    record.revision = newest.revision();
    record.went_forward = !is_replica && goes_forward;
}

void request_checks::on_answer(std::uint32_t index, const sim_link::answer_mark& answer) {
    sim_link& link = world_.net.link(index);
    if (answer.opaque < operation_opaque_min) {
        return link.hostile ? trust_.on_hostile_answer(index, answer)
                            : views_.on_bootstrap_answer(index, answer);
    }
    const auto code = static_cast<status>(answer.status);
    if (answer.op == opcode::get_collection_id &&
        (code == status::unknown_collection || code == status::unknown_scope)) {
        views_[link.client].name_missing = world_.now;
    }
    const std::uint32_t owner = owner_of(link, answer.opaque);
    if (owner == 0) {
        return;  // the client's own request
    }
    std::uint32_t& entry = link.owners[answer.opaque - operation_opaque_min];
    if ((entry & answered_bit) != 0) {
        return;  // a second time
    }
    entry |= answered_bit;
    --link.on_wire;
    operation_record& record = world_.records.at(owner - 1);
    if (is_last_request(record, index, answer.opaque)) {
        record.last.is_answered = true;
        record.last.status = answer.status;
        record.last.cas = answer.cas;
        record.last.answered = world_.now;
        if (code == status::unknown_collection && record.plan.collection == 0) {
            world_.situations.note(situation::default_collection_dropped);
        }
    }
}

// The connection has ended; requests that begin at `sent_end` or later were never sent. What the
// client had already decided (because it closed the connection itself) does not change.
void request_checks::on_link_end(std::uint32_t index, std::uint64_t sent_end) {
    sim_link& link = world_.net.link(index);
    for (const sim_link::request_mark& mark : link.requests) {
        const std::uint32_t owner = owner_of(link, mark.opaque);
        if (owner == 0 || mark.offset < sent_end) {
            continue;
        }
        sent_request& last = world_.records.at(owner - 1).last;
        if (is_last_request(world_.records.at(owner - 1), index, mark.opaque) &&
            !last.is_answered && !last.is_decided) {
            last.is_unsent = true;
        }
    }
    for (std::size_t at = 0; at < link.owners.size(); ++at) {
        const std::uint32_t owner = link.owners[at];
        if (owner == 0 || (owner & answered_bit) != 0) {
            continue;
        }
        operation_record& record = world_.records.at(owner - 1);
        if (is_last_request(record, index, static_cast<std::uint32_t>(at) + operation_opaque_min) &&
            !record.last.is_unsent) {
            record.last.is_lost = true;
        }
    }
    link.on_wire = 0;
}

// The servers' side of the ledger.
void request_checks::on_audit(const sandbox::audit_entry& entry) {
    if (entry.op == opcode::select_bucket && entry.fate == sandbox::answer_fate::withheld &&
        entry.fault_id == 0) {
        world_.situations.note(situation::restart_in_silence);
    }
    if (!entry.client_id || !entry.client_connection_id) {
        return;
    }
    const auto client = std::ranges::find_if(
        world_.clients, [&](const auto& each) { return each->client_id == *entry.client_id; });
    if (client == world_.clients.end()) {
        return;
    }
    const std::uint32_t index = world_.net.find(
        static_cast<std::uint32_t>(client - world_.clients.begin()), *entry.client_connection_id);
    const std::uint32_t owner =
        index == no_link ? 0 : owner_of(world_.net.link(index), entry.opaque);
    if (owner == 0) {
        return;
    }
    operation_record& record = world_.records.at(owner - 1);
    if (!entry.is_applied) {
        const bool is_pending = entry.fate == sandbox::answer_fate::pending;
        record.was_lied_to = record.was_lied_to ||
                             (entry.fault_id != 0 && !is_pending && wire::is_success(entry.status));
        return;
    }
    if (world_.record.is_tracing()) {
        world_.record.line(
            "operation " + std::to_string(record.number) + " applied by node " +
            std::to_string(entry.node.value));
    }
    documents_.on_applied(record, entry);
}

}  // namespace reprise::sim
