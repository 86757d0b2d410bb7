// Checks after every iteration, after the faults, and at the end: invariants 1 and 5, VB-06, VB-09,
// RH-32, RH-33, liveness.

#include <algorithm>
#include <string>
#include <utility>

#include "checks/inspection.hpp"
#include "world/world.hpp"

namespace reprise::sim {
namespace {

using couchbase::retry_reason;

constexpr duration timer_tick = std::chrono::milliseconds{1};

// Hosts have the names "node0", "node1", ..., perhaps in a domain.
std::int32_t number_of_host(std::string_view host) {
    std::int32_t number = 0;
    for (const char digit : host.substr(4, host.find('.') - 4)) {
        number = number * 10 + (digit - '0');
    }
    return number;
}

std::int32_t node_at(
    const std::vector<std::int32_t>& nodes, std::optional<wire::node_index> position) {
    return position && *position < nodes.size() ? nodes[*position] : -1;
}

// A map without data ports is not a topology yet: the previous one still counts.
bool has_data_port(const wire::cluster_configuration& map) {
    return std::ranges::any_of(map.nodes(), [](const wire::cluster_node& node) {
        return node.ports.port(wire::service::key_value, wire::transport::plain) != 0;
    });
}

bool has_collection(const wire::collections_manifest& manifest, std::uint32_t id) {
    return id != 0 && std::ranges::any_of(manifest.scopes, [id](const auto& scope) {
               return std::ranges::find(scope.collections, id, &wire::manifest_collection::id) !=
                      scope.collections.end();
           });
}

}  // namespace

std::int32_t inspection::known_map::active(std::size_t vbucket) const {
    return node_at(nodes, configuration->active_node(vbucket));
}

std::int32_t inspection::known_map::forward(std::size_t vbucket) const {
    return node_at(nodes, configuration->forward_node(vbucket));
}

std::int32_t inspection::known_map::replica(std::size_t vbucket) const {
    return node_at(nodes, configuration->replica_node(vbucket, 1));
}

inspection::inspection(world& owner)
    : world_(owner),
      views_(owner.plan.clients.size()),
      documents_((1 + named_collection_count) * document_key_count) {
    for (std::size_t client = 0; client < views_.size(); ++client) {
        client_view& view = views_[client];
        view.is_auth_refused.assign(owner.plan.node_slots(), 0);
        view.is_tls_failed.assign(owner.plan.node_slots(), 0);
        view.is_bucket_missing.assign(owner.plan.node_slots(), 0);
        view.has_refused_auth.assign(owner.plan.node_slots(), 0);
        view.has_failed_tls.assign(owner.plan.node_slots(), 0);
        view.is_service_tls_failed.assign(owner.plan.node_slots() * wire::service_count, 0);
        view.budget_level = milli_units(owner.plan.clients[client].budget_units);
    }
}

void inspection::report(checker what, const operation_record& record, std::string text) {
    world_.record.report(what, record.number, std::move(text));
}

inspection::client_view& inspection::refresh(std::uint32_t client) {
    client_view& view = views_[client];
    if (!world_.plan.calls.empty()) {
        auto global = world_.clients[client]->engine().configuration({});
        if (global && (view.global_maps.empty() || view.global_maps.back() != global)) {
            view.global_maps.push_back(std::move(global));
            forget_left(view);
        }
    }
    auto newest = world_.clients[client]->engine().configuration(bucket_name);
    if (newest == nullptr || (!view.maps.empty() && view.maps.back().configuration == newest)) {
        return view;
    }
    if (newest->bucket_name() != bucket_name ||
        (!view.maps.empty() && newest->revision() <= view.maps.back().revision())) {
        world_.record.report(
            checker::configuration, std::nullopt,
            "client " + std::to_string(client) + " takes " + to_string(newest->revision()) +
                " of '" + newest->bucket_name() + "' over " +
                (view.maps.empty() ? "nothing" : to_string(view.maps.back().revision())));
    }
    known_map added;
    for (const wire::cluster_node& node : newest->nodes()) {
        added.nodes.push_back(number_of_host(node.hostname));
    }
    added.configuration = std::move(newest);
    view.maps.push_back(std::move(added));
    view.is_map_new = true;
    return view;
}

// Errors of calls about a node end once neither the cluster's map nor the bucket's contains it.
void inspection::forget_left(client_view& view) {
    std::vector<std::uint8_t> is_named(view.has_refused_auth.size(), 0);
    const auto name = [&](const wire::cluster_configuration& map) {
        for (const wire::cluster_node& node : map.nodes()) {
            if (const std::int32_t number = number_of_host(node.hostname); number >= 0) {
                is_named[static_cast<std::size_t>(number)] = 1;
            }
        }
    };
    if (view.maps.empty() || view.global_maps.empty()) {
        return;
    }
    name(*view.maps.back().configuration);
    name(*view.global_maps.back());
    for (std::size_t node = 0; node < is_named.size(); ++node) {
        view.has_refused_auth[node] &= is_named[node];
        view.has_failed_tls[node] &= is_named[node];
    }
}

void inspection::after_engine_run(std::uint32_t client) {
    sim_client& owner = *world_.clients[client];
    client_view& view = refresh(client);
    const engine::engine_statistics now = owner.engine().statistics();
    const std::string name = "client " + std::to_string(client);
    if (now.operations_open != owner.open_count) {
        world_.record.report(
            checker::completion, std::nullopt,
            name + " works on " + std::to_string(now.operations_open) +
                " operations, but its user waits for " + std::to_string(owner.open_count));
    }
    if (now.operations_parked > owner.plan().parked_count_max) {
        world_.record.report(
            checker::credit, std::nullopt,
            name + " parks " + std::to_string(now.operations_parked) + " operations");
    }
    if (owner.is_closed() &&
        now.operations_parked + now.operations_ready + now.connections_open != 0) {
        world_.record.report(checker::leak, std::nullopt, name + " is closed, but not empty");
    }
    check_budget(client);
    check_late_answers(client);
    if (view.is_map_new && has_data_port(*view.maps.back().configuration)) {
        // A node that leaves the topology loses its states.
        const auto& nodes = view.maps.back().nodes;
        for (std::size_t node = 0; node < view.is_auth_refused.size(); ++node) {
            if (std::ranges::find(nodes, static_cast<std::int32_t>(node)) == nodes.end()) {
                if (view.is_auth_refused[node] != 0) {
                    world_.situations.note(situation::refusing_node_left);
                }
                if (view.is_tls_failed[node] != 0) {
                    world_.situations.note(situation::untrusted_node_left);
                }
                view.is_auth_refused[node] = 0;
                view.is_tls_failed[node] = 0;
                view.is_bucket_missing[node] = 0;
            }
        }
        forget_left(view);
    }
    const bool is_new_map = std::exchange(view.is_map_new, false);
    const bool is_new_connection = view.opened_last == world_.now;
    const bool is_overdue =
        world_.now > std::max(owner.stalled_until, add_saturated(view.overdue_from, timer_tick));
    if (is_new_map || is_new_connection || is_overdue) {
        check_wake_ups(client, is_new_map, is_new_connection);
    }
}

// Capped retries that were woken have paid since the last iteration; all others have paid nothing.
// A return to a full budget is lost, and what was charged afterwards is missing then.
void inspection::check_budget(std::uint32_t client) {
    const auto& bucket = world_.clients[client]->bucket;
    if (!bucket) {
        return;
    }
    client_view& view = views_[client];
    const std::int64_t level = bucket->milli_level();
    const std::int64_t full = milli_units(world_.plan.clients[client].budget_units);
    const std::int64_t expected = view.budget_level + std::exchange(view.returned, 0);
    const auto pending = static_cast<std::int64_t>(view.capped.size()) * price_of_retry;
    const std::int64_t least = std::min(expected, full - std::exchange(view.charged, 0)) - pending;
    const std::int64_t most = std::min(expected + std::exchange(view.perhaps_returned, 0), full);
    if (level < least || level > most) {
        world_.record.report(
            checker::budget, std::nullopt,
            "client " + std::to_string(client) + " has " + std::to_string(level) +
                " milli-units instead of " + std::to_string(expected));
    }
    view.budget_level = level;
    std::erase_if(view.capped, [&](std::uint32_t number) {
        const operation_record& record = world_.records.at(number);
        return record.calls != 0 || !record.is_capped || !record.is_backing_off;
    });
}

// RH-02: a deferred answer is carried out as soon as the client's thread receives it.
void inspection::check_late_answers(std::uint32_t client) {
    std::vector<std::uint32_t>& answered = views_[client].answered;
    if (answered.empty()) {
        return;
    }
    std::erase_if(answered, [this](std::uint32_t number) {
        const operation_record& record = world_.records.at(number);
        return record.calls != 0 || !record.is_asked;
    });
    const time_point stalled = world_.clients[client]->stalled_until;
    for (const std::uint32_t number : answered) {
        const operation_record& record = world_.records.at(number);
        if (world_.now > std::max(record.decided, stalled)) {
            report(checker::strategy, record, "its strategy has answered, but nothing happens");
        }
    }
}

bool inspection::is_idle(std::uint32_t client) {
    const client_view& view = views_[client];
    const planned_client& plan = world_.plan.clients[client];
    if (view.maps.empty()) {
        return false;
    }
    const known_map& newest = view.maps.back();
    const std::size_t node_count = newest.configuration->kv_node_count();
    std::vector<std::size_t> free(world_.plan.node_slots());
    for (std::uint32_t index = 0; index < world_.net.link_count(); ++index) {
        const sim_link& link = world_.net.link(index);
        if (link.client != client || link.state != link_state::open || link.http) {
            continue;
        }
        const auto progress = index < is_up_.size() ? is_up_[index] : link_progress::begun;
        if (progress == link_progress::of_cluster) {
            continue;
        }
        const bool is_up = progress == link_progress::open;
        const bool is_writing =
            link.is_writing || link.unreported != 0 || link.handed != link.taken;
        if (!is_up || is_writing || link.on_wire >= plan.pipeline_credit) {
            return false;
        }
        ++free[link.node.value];
    }
    for (std::size_t position = 0; position < node_count; ++position) {
        if (free[static_cast<std::size_t>(newest.nodes[position])] != plan.connections_per_node) {
            return false;
        }
    }
    return true;
}

// VB-06: an operation whose wait has ended is on the wire, unless the pipelines are full, and no
// operation waits longer than planned. Operations in named collections may wait for an id in the
// meantime, and so may all others once a server did not know the default collection.
void inspection::check_wake_ups(std::uint32_t client, bool is_new_map, bool is_new_connection) {
    if (!is_idle(client)) {
        return;
    }
    client_view& view = views_[client];
    const planned_client& plan = world_.plan.clients[client];
    std::erase_if(view.waiting, [this](std::uint32_t number) {
        const operation_record& record = world_.records.at(number);
        return record.calls != 0 || !record.is_backing_off;
    });
    view.overdue_from = time_point::max();
    for (const std::uint32_t number : view.waiting) {
        view.overdue_from = std::min(view.overdue_from, world_.records.at(number).due);
    }
    const wire::configuration_revision newest = view.maps.back().revision();
    const time_point stalled = world_.clients[client]->stalled_until;
    const bool is_ready_bounded = plan.ready_count_max < world_.records.size();
    for (const std::uint32_t number : view.waiting) {
        const operation_record& record = world_.records.at(number);
        const retry_reason reason = record.decisions.back().reason;
        const bool may_need_id = record.plan.collection != 0 || view.is_default_looked_up;
        if (may_need_id || record.plan.kind == engine::operation_kind::noop) {
            continue;
        }
        if (is_new_map && reason == retry_reason::kv_not_my_vbucket &&
            record.retries < hurry_count_free && record.revision_decided != std::optional(newest)) {
            report(checker::wake_up, record, "a new configuration did not wake it");
        }
        const bool waits_for_socket =
            reason == retry_reason::node_not_available ||
            reason == retry_reason::socket_closed_while_in_flight ||
            (reason == retry_reason::socket_not_available && !is_ready_bounded);
        // With one connection per node, the one it waited for is now open.
        if (is_new_connection && plan.connections_per_node == 1 && waits_for_socket &&
            record.decided < world_.now && record.revision_decided == std::optional(newest) &&
            view.maps.back().active(world_.vbucket_of(record.plan)) == view.opened_node &&
            !record.went_forward && record.plan.kind != engine::operation_kind::get_replica) {
            report(checker::wake_up, record, "a new connection did not wake it");
        }
        if (world_.now > std::max(stalled, record.due + timer_tick)) {
            report(checker::wake_up, record, "its retry is overdue, and nothing prevents it");
        }
    }
}

// Every operation had enough time, and every client had the time to learn of every change.
void inspection::after_settling() {
    for (const operation_record& record : world_.records.all()) {
        if (record.is_started && record.calls == 0) {
            report(checker::liveness, record, "has not ended long after its deadline");
        }
    }
    for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
        const client_view& view = views_[client];
        if (world_.clients[client]->is_closed() || view.maps.empty()) {
            continue;
        }
        for (const sandbox::node_id node : world_.cluster.nodes()) {
            const auto newest = world_.cluster.configuration_revision(node, bucket_name);
            if (newest && *newest > view.maps.back().revision()) {
                return world_.record.report(
                    checker::liveness, std::nullopt,
                    "client " + std::to_string(client) + " does not have configuration " +
                        to_string(*newest));
            }
        }
    }
}

void inspection::at_end() {
    for (const operation_record& record : world_.records.all()) {
        if (record.is_started && record.calls != 1) {
            report(
                checker::completion, record,
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
    for (const sandbox::ledger_finding& found : ledger_.findings()) {
        world_.record.report(
            checker::ledger, static_cast<std::uint32_t>(found.write),
            std::string(sandbox::to_string(found.fault)));
    }
    if (!is_store_lossy_) {
        check_documents();
        check_call_documents();
    }
}

void inspection::forget_default_documents() {
    std::fill_n(documents_.begin(), document_key_count, document_view{});
}

void inspection::check_documents() {
    const wire::collections_manifest* manifest = world_.cluster.manifest(bucket_name);
    for (std::size_t index = 0; manifest != nullptr && index < documents_.size(); ++index) {
        const document_view& document = documents_[index];
        const bool is_default = index < document_key_count;
        if (!is_default && !has_collection(*manifest, document.collection)) {
            continue;  // never used, or dropped with its collection
        }
        planned_operation name;
        name.key = static_cast<std::uint16_t>(index % document_key_count);
        const std::string key = world_.key_text(name);
        const auto stored = world_.cluster.find_document(
            bucket_name, wire::collection_id{document.collection}, key, world_.server_now());
        const bool is_there = stored && !stored->is_deleted;
        if (is_there != document.exists || (is_there && stored->value != document.text)) {
            world_.record.report(
                checker::documents, std::nullopt,
                key + " of collection " + std::to_string(document.collection) + " is " +
                    (is_there ? "'" + stored->value + "'" : "missing") + " instead of " +
                    (document.exists ? "'" + document.text + "'" : "missing"));
        }
    }
}

}  // namespace reprise::sim
