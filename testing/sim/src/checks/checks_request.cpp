// Checks of requests, answers and the ends of connections as the network saw them: RH-16, VB-02 to
// VB-04, VB-06, RH-25 to RH-28, the pipeline credit and the opaques.

#include <algorithm>
#include <string>
#include <utility>

#include "checks/inspection.hpp"
#include "world/world.hpp"

namespace reprise::sim {
namespace {

using couchbase::retry_reason;
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

std::size_t service_slot(const sim_link& link) noexcept {
    return link.node.value * wire::service_count + static_cast<std::size_t>(link.http->service);
}

}  // namespace

void inspection::on_request(std::uint32_t client, const couchbase::attempt_record& sent) {
    sim_client& owner = *world_.clients[client];
    owner.client_id = sent.client;
    operation_record& record = world_.records.at(owner.number_of(sent.operation));
    ++request_count_;
    const std::uint32_t index = world_.net.find(client, sent.connection);
    if (index == no_link) {
        return report(checker::routing, record, "sent on a connection that does not exist");
    }
    sim_link& link = world_.net.link(index);
    if (link.hostile) {
        return on_trusted(index, "sends an operation to it");
    }
    world_.record.mix(sent.opaque + (std::uint64_t{record.number} << 32U));
    if (world_.record.is_tracing()) {
        world_.record.line(
            "operation " + std::to_string(record.number) + ": " + std::string(sent.kind) + " " +
            world_.key_text(record.plan) + " sent to node " + std::to_string(link.node.value) +
            ", connection " + std::to_string(sent.connection) + ", opaque " +
            std::to_string(sent.opaque));
    }
    refresh(client);
    if (record.calls != 0) {
        report(checker::completion, record, "sent after its end");
    }
    if (sent.attempt != record.retries || record.sent_count > record.retries) {
        report(checker::repetition, record, "sent without a decision to do so");
    }
    check_repetition(record);
    check_not_early(record);
    if (world_.now > std::max(record.deadline, owner.stalled_until) + tick_of_requests) {
        report(checker::deadline, record, "sent after its deadline");
    }
    check_route(record, link);

    const std::size_t at = sent.opaque - operation_opaque_min;
    if (sent.opaque < operation_opaque_min || sent.opaque <= link.opaque_last) {
        report(checker::opaque, record, "opaque " + std::to_string(sent.opaque) + " is used again");
    }
    link.opaque_last = std::max(link.opaque_last, sent.opaque);
    if (sent.opaque >= operation_opaque_min) {
        link.owners.resize(std::max(link.owners.size(), at + 1));
        link.owners[at] = record.number + 1;
    }
    ++link.on_wire;
    if (link.on_wire > owner.plan().pipeline_credit) {
        report(
            checker::credit, record,
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
void inspection::check_repetition(const operation_record& record) {
    const sent_request& last = record.last;
    if (record.sent_count == 0 || last.is_unsent) {
        return;
    }
    const auto code = static_cast<status>(last.status);
    if (last.is_answered) {
        const bool is_decoded = code != status::sync_write_ambiguous && !wire::is_success(code);
        if (!record.is_idempotent && !is_decoded) {
            report(checker::repetition, record, "sent again although it may have been applied");
        }
    } else if (!record.is_idempotent) {
        report(
            checker::repetition, record,
            "sent again, and no server reported that nothing was done");
    } else if (!last.is_decided) {
        report(checker::repetition, record, "on the wire twice");
    }
}

// A retry waits as long as planned. Only the end of its cause may wake it earlier.
void inspection::check_not_early(operation_record& record) {
    if (!record.is_backing_off || world_.now >= record.due || record.decisions.empty()) {
        return;
    }
    const client_view& view = views_[record.plan.client];
    const bool is_map_new =
        !view.maps.empty() && record.revision_decided != std::optional(view.maps.back().revision());
    const retry_reason reason = record.decisions.back().reason;
    // Calls that wait for a service try again after every change of the topology. Calls that could
    // not reach a node try another one as soon as a terminal state is known (RH-38); they may then
    // wait for a connection until the state has ended.
    const bool is_unreachable =
        reason == retry_reason::socket_not_available || reason == retry_reason::node_not_available;
    bool has_ended =
        record.call &&
        (reason == retry_reason::service_not_available ||
         reason == retry_reason::circuit_breaker_open ||
         (is_unreachable && (has_terminal_state(view) || view.terminal_last >= record.decided)));
    switch (record.call ? retry_reason::unknown : reason) {
        case retry_reason::kv_not_my_vbucket:
            has_ended = is_map_new;
            break;
        case retry_reason::circuit_breaker_open:
            has_ended = true;  // the client decides about canaries on its own
            break;
        case retry_reason::socket_not_available:
        case retry_reason::service_not_available:
        case retry_reason::node_not_available:
        case retry_reason::socket_closed_while_in_flight:
        case retry_reason::authentication_error:
        case retry_reason::tls_error:
        case retry_reason::bucket_access_error:
            // A breaker that closes wakes every operation that waits for the node. Operations that
            // have not been sent when the connection ends learn that early.
            has_ended = is_map_new || view.opened_last >= record.decided ||
                        world_.plan.clients[record.plan.client].breaker.has_value();
            break;
        default:  // all others wait only for their time
            break;
    }
    if (!has_ended) {
        report(
            checker::wake_up, record,
            std::to_string((record.due - world_.now).count() / 1000) +
                " us too early: " + std::string(couchbase::to_string(reason)));
    }
}

// VB-02 to VB-04. If there was only one map since the decision to send, exactly one node is right;
// otherwise any map since may have queued it.
void inspection::check_route(operation_record& record, const sim_link& link) {
    const client_view& view = views_[record.plan.client];
    if (record.plan.kind == operation_kind::noop) {
        return;
    }
    if (view.maps.empty()) {
        return report(checker::routing, record, "sent without a map");
    }
    const auto node = static_cast<std::int32_t>(link.node.value);
    const std::uint16_t vbucket = world_.vbucket_of(record.plan);
    const known_map& newest = view.maps.back();
    const bool is_replica = record.plan.kind == operation_kind::get_replica;
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
            report(checker::routing, record, "sent to a node that is not in any map");
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
        report(
            checker::routing, record,
            "sent to node " + std::to_string(node) + ", the " +
                (is_replica ? "replica" : (goes_forward ? "forward" : "current")) + " map says " +
                std::to_string(wanted));
    }
    record.revision = newest.revision();
    record.went_forward = !is_replica && goes_forward;
}

void inspection::on_answer(std::uint32_t index, const sim_link::answer_mark& answer) {
    sim_link& link = world_.net.link(index);
    if (answer.opaque < operation_opaque_min) {
        return on_bootstrap_answer(index, answer);
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

void inspection::on_bootstrap_answer(std::uint32_t index, const sim_link::answer_mark& answer) {
    const sim_link& link = world_.net.link(index);
    if (link.hostile) {
        return on_hostile_answer(index, answer);
    }
    client_view& view = views_[link.client];
    const std::size_t node = link.node.value;
    const auto code = static_cast<status>(answer.status);
    switch (answer.op) {
        case opcode::sasl_auth:
        case opcode::sasl_step:
            if (code == status::auth_error) {
                view.is_auth_refused[node] = 1;
                view.has_refused_auth[node] = 1;
                view.terminal_last = world_.now;
            }
            break;
        case opcode::select_bucket:
            is_up_.resize(std::max<std::size_t>(is_up_.size(), index + 1));
            is_up_[index] = link_progress::of_bucket;
            view.is_auth_refused[node] = 0;  // it follows a login
            view.has_refused_auth[node] = 0;
            if (code == status::success) {
                view.is_access_denied = false;
                view.was_bucket_selected = true;
                std::ranges::fill(view.is_bucket_missing, std::uint8_t{0});
            } else if (code == status::eaccess) {
                view.is_access_denied = true;
            } else if (code == status::key_enoent) {
                view.is_bucket_missing[node] = view.is_bucket_missing[node] == 0 ? 1 : 2;
                if (world_.now < world_.warming_until[node]) {
                    world_.situations.note(situation::bucket_not_there_yet);
                }
            }
            break;
        case opcode::get_cluster_config:  // the last step
            is_up_.resize(std::max<std::size_t>(is_up_.size(), index + 1));
            if (is_up_[index] != link_progress::of_bucket) {
                view.is_auth_refused[node] = 0;
                view.has_refused_auth[node] = 0;
                is_up_[index] = link_progress::of_cluster;  // opened for a call; belongs to no
                                                            // bucket
                break;
            }
            is_up_[index] = link_progress::open;
            view.opened_last = world_.now;
            view.opened_node = static_cast<std::int32_t>(node);
            break;
        default:  // the other steps say nothing that is checked
            break;
    }
}

void inspection::on_bytes(std::uint32_t index) {
    const sim_link& link = world_.net.link(index);
    client_view& view = views_[link.client];
    if (link.http) {
        view.is_service_tls_failed[service_slot(link)] = 0;
    } else {
        view.is_tls_failed[link.node.value] = 0;
        view.has_failed_tls[link.node.value] = 0;
    }
}

void inspection::on_connect_failed(std::uint32_t index, engine::connect_failure failure) {
    switch (failure) {
        case engine::connect_failure::tls_untrusted:
        case engine::connect_failure::tls_wrong_host:
        case engine::connect_failure::tls_expired:
        case engine::connect_failure::tls_alert:
        case engine::connect_failure::tls_protocol:
            return on_tls_alert(index);
        case engine::connect_failure::refused:
        case engine::connect_failure::unreachable:
        case engine::connect_failure::timed_out:
        case engine::connect_failure::name_not_found:
        case engine::connect_failure::no_descriptors:
        case engine::connect_failure::reset:
        case engine::connect_failure::canceled:
        case engine::connect_failure::other:
            return;  // proves nothing about TLS
    }
}

void inspection::on_tls_alert(std::uint32_t index) {
    const sim_link& link = world_.net.link(index);
    client_view& view = views_[link.client];
    view.terminal_last = world_.now;
    if (link.http) {
        view.is_service_tls_failed[service_slot(link)] = 1;
    } else {
        view.is_tls_failed[link.node.value] = 1;
        view.has_failed_tls[link.node.value] = 1;
    }
}

// The connection has ended; requests that begin at `sent_end` or later were never sent. What the
// client had already decided (because it closed the connection itself) does not change.
void inspection::on_link_end(std::uint32_t index, std::uint64_t sent_end) {
    sim_link& link = world_.net.link(index);
    if (link.http) {
        return on_call_link_end(index, sent_end);
    }
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
void inspection::on_audit(const sandbox::audit_entry& entry) {
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
    ledger_.on_applied(record.number);
    apply(record, entry);
}

// What the write does to the document; operation_records.hpp describes the values.
void inspection::apply(operation_record& record, const sandbox::audit_entry& entry) {
    document_view& document =
        documents_[record.plan.collection * document_key_count + record.plan.key];
    if (document.collection != entry.collection.value) {
        document = {};  // the collection was recreated
        document.collection = entry.collection.value;
    }
    const std::string value = value_of(record.plan, record.number);
    const std::uint64_t delta = delta_of(record.number);
    std::uint64_t counter =
        document.text.empty() ? 0 : std::strtoull(document.text.c_str(), nullptr, 10);
    switch (record.plan.kind) {
        case operation_kind::upsert:
        case operation_kind::insert:
        case operation_kind::replace:
            document.text = value;
            break;
        case operation_kind::remove:
            document.exists = false;
            document.text.clear();
            return;
        case operation_kind::append:
            document.text += value;
            break;
        case operation_kind::prepend:
            document.text.insert(0, value);
            break;
        case operation_kind::increment:
        case operation_kind::decrement: {
            const bool is_up = record.plan.kind == operation_kind::increment;
            const std::uint64_t down = counter < delta ? 0 : counter - delta;
            counter = !document.exists ? counter_initial : (is_up ? counter + delta : down);
            if (!is_store_lossy_) {
                record.counter = counter;
            }
            document.text = std::to_string(counter);
            break;
        }
        case operation_kind::mutate_in:
            if (document.exists) {
                document.text.insert(document.text.find(']'), "," + value);
            } else {
                document.text = "{\"" + std::string(list_path) + "\":[" + value + "]}";
            }
            break;
        case operation_kind::get:
        case operation_kind::get_and_touch:
        case operation_kind::get_and_lock:
        case operation_kind::unlock:
        case operation_kind::touch:
        case operation_kind::exists:
        case operation_kind::lookup_in:
        case operation_kind::get_replica:
        case operation_kind::noop:
        case operation_kind::range_scan:
        case operation_kind::range_scan_cancel:
            return;  // the text stays as it is
    }
    document.exists = true;
}

}  // namespace reprise::sim
