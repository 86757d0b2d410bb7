#include <reprise/sim/scenario.hpp>
#include <reprise/sim/situation.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "scenario/duration_text.hpp"

namespace reprise::sim {

namespace {

std::string counted(std::size_t count, std::string_view what) {
    std::string text = std::to_string(count) + " ";
    text += what;
    if (count != 1) {
        text += "s";
    }
    return text;
}

std::string describe_cluster(const scenario& plan) {
    std::string text = "cluster: " + counted(plan.node_count, "node");
    if (plan.spare_node_count != 0) {
        text += " and " + std::to_string(plan.spare_node_count) + " spare";
    }
    text += plan.has_hostile_seed ? ", a hostile seed" : "";
    text += ", " + counted(plan.replica_count, "replica");
    text += ", " + counted(plan.vbucket_count, "vbucket");
    return text + (plan.is_ephemeral ? ", ephemeral\n" : "\n");
}

std::string describe_network(const planned_network& network) {
    std::string text = "network: latency " + duration_text(network.latency);
    if (network.jitter != duration::zero()) {
        text += " + up to " + duration_text(network.jitter);
    }
    if (network.tail != 0) {
        text += ", ten times that for " + std::to_string(network.tail) + " in 1000";
    }
    text += ", takes " + std::to_string(network.send_room) + " bytes";
    if (network.split != 0) {
        text += ", cuts " + std::to_string(network.split) + " %";
    }
    if (network.slow_report != 0) {
        text += ", reports " + std::to_string(network.slow_report) + " % later";
    }
    return text + "\n";
}

// Describes only what differs from the defaults.
std::string describe_limits(const planned_client& client) {
    const planned_client usual;
    std::string text;
    const auto add = [&text](std::string_view what, std::size_t value, std::size_t common) {
        if (value != common) {
            text += ", ";
            text += what;
            text += " " + std::to_string(value);
        }
    };
    add("loops", client.loop_count, usual.loop_count);
    add("connections per node", client.connections_per_node, usual.connections_per_node);
    add("credit", client.pipeline_credit, usual.pipeline_credit);
    add("parked at most", client.parked_count_max, usual.parked_count_max);
    add("ready at most", client.ready_count_max, usual.ready_count_max);
    add("bytes per write", client.write_size_max, usual.write_size_max);
    if (client.budget_units > 0) {
        text += ", budget " + std::to_string(static_cast<std::uint64_t>(client.budget_units));
        text += client.refunds_last_cost ? " (refunds the last cost)" : "";
    }
    if (client.breaker) {
        text += ", breaker " + std::to_string(client.breaker->percent) + " % of ";
        text += std::to_string(client.breaker->volume) + " in ";
        text += duration_text(client.breaker->window);
        text += ", sleep " + duration_text(client.breaker->sleep);
    }
    return text;
}

std::string describe_client(const planned_client& client, std::size_t number, bool has_calls) {
    std::string text = "client " + std::to_string(number) + ": ";
    text += to_string(client.strategy);
    text += ", timeouts " + duration_text(client.kv_timeout);
    text += " / durable " + duration_text(client.kv_durable_timeout);
    text += " / connect " + duration_text(client.connect_timeout);
    text += " / bootstrap " + duration_text(client.bootstrap_timeout);
    if (has_calls) {
        text += " / HTTP " + duration_text(client.http_timeout);
        text += ", at most " + counted(client.http_connections_max, "connection");
        text += " to a service";
    }
    text += ", polls every " + duration_text(client.config_poll_interval);
    if (client.not_my_vbucket_delay) {
        text += ", fixed not-my-vbucket delay " + duration_text(*client.not_my_vbucket_delay);
    }
    text += describe_limits(client);
    constexpr std::string_view identities[] = {"certificate", "password", "token"};
    text += ", ";
    text += identities[client.uses_bearer ? 2 : client.uses_scram ? 1 : 0];
    text += client.uses_tls ? ", TLS" : "";
    text += client.uses_srv ? ", SRV" : "";
    if (client.uses_srv && client.srv != srv_answer::honest) {
        text += " answered with ";
        text += to_string(client.srv);
    }
    text += client.hello_last ? ", HELLO last" : "";
    text += client.has_error_map ? "" : ", no error map";
    text += client.has_unordered ? "" : ", ordered";
    text += client.has_compression ? ", compression" : "";
    return text + "\n";
}

std::string describe_fault(const planned_fault& fault) {
    std::string text = "fault: +" + duration_text(fault.at) + " ";
    text += to_string(fault.kind);
    if (fault.length != duration::zero()) {
        text += " for " + duration_text(fault.length);
    }
    text += ", node " + std::to_string(fault.node) + ", client " + std::to_string(fault.client);
    return text + ", detail " + std::to_string(fault.detail) + "\n";
}

std::string describe_operation(const planned_operation& operation, std::size_t number) {
    constexpr std::string_view levels[] = {
        "", "majority", "majority and persist to active", "persist to majority"};
    std::string text = "operation " + std::to_string(number) + ": +";
    text += duration_text(operation.at) + " client " + std::to_string(operation.client) + " ";
    text += engine::to_string(operation.kind);
    if (operation.kind != engine::operation_kind::noop) {
        text += " key " + std::to_string(operation.key);
        text += operation.collection == 0 ? "" : " in c" + std::to_string(operation.collection);
    }
    if (operation.durability != 0) {
        text += ", ";
        text += levels[std::min<std::size_t>(operation.durability, 3)];
    }
    if (operation.timeout != duration::zero()) {
        text += ", timeout " + duration_text(operation.timeout);
    }
    if (operation.cancel_after != duration::zero()) {
        text += ", canceled after " + duration_text(operation.cancel_after);
    }
    text += operation.uses_cas ? ", with CAS" : "";
    if (operation.strategy) {
        text += ", strategy ";
        text += to_string(*operation.strategy);
    }
    return text + "\n";
}

std::string describe_call(const planned_call& call, std::size_t number) {
    std::string text = "operation " + std::to_string(number) + ": +";
    text += duration_text(call.at) + " client " + std::to_string(call.client) + " ";
    text += to_string(call.kind);
    const bool is_range =
        call.kind == call_kind::select_range || call.kind == call_kind::analytics_range;
    if (is_range) {
        text += " of " + counted(call.row_count, "row");
    } else if (is_statement(call.kind)) {
        text += " key " + std::to_string(call.key);
    }
    if (call.prepared != prepared_choice::plain) {
        text += ", ";
        text += to_string(call.prepared);
    }
    if (call.taking != row_taking::at_end) {
        text += ", takes rows ";
        text += to_string(call.taking);
        text += call.taking == row_taking::later ? " (" + duration_text(call.take_after) + ")" : "";
        text +=
            call.rows_room == 0 ? "" : ", room for " + std::to_string(call.rows_room) + " bytes";
    }
    if (call.timeout != duration::zero()) {
        text += ", timeout " + duration_text(call.timeout);
    }
    if (call.cancel_after != duration::zero()) {
        text += ", canceled after " + duration_text(call.cancel_after);
    }
    if (call.strategy) {
        text += ", strategy ";
        text += to_string(*call.strategy);
    }
    return text + "\n";
}

// "get 12, upsert 30", in the order of the enumeration.
template <class Kind, std::size_t Count, class Planned>
std::string count_kinds(const std::vector<Planned>& planned) {
    using engine::to_string;
    std::array<std::size_t, Count> counts{};
    for (const Planned& each : planned) {
        ++counts[std::min(static_cast<std::size_t>(each.kind), Count - 1)];
    }
    std::string text;
    for (std::size_t index = 0; index < Count; ++index) {
        if (counts[index] != 0) {
            text += text.empty() ? "" : ", ";
            text += to_string(static_cast<Kind>(index));
            text += " " + std::to_string(counts[index]);
        }
    }
    return text;
}

}  // namespace

std::string_view to_string(fault_kind kind) noexcept {
    return base::name_of(kind);
}

std::string_view to_string(situation which) noexcept {
    return base::name_of(which);
}

std::string_view to_string(strategy_choice choice) noexcept {
    return base::name_of(choice);
}

std::string_view to_string(srv_answer answer) noexcept {
    return base::name_of(answer);
}

std::string to_string(const scenario& plan, std::size_t operation_lines_max) {
    std::string text = "seed " + std::to_string(plan.seed) + ", profile " + plan.profile;
    text += ", " + duration_text(plan.span) + "\n";
    text += describe_cluster(plan);
    text += describe_network(plan.network);
    for (std::size_t number = 0; number < plan.clients.size(); ++number) {
        text += describe_client(plan.clients[number], number, !plan.calls.empty());
    }
    for (const planned_fault& each : plan.faults) {
        text += describe_fault(each);
    }
    if (plan.operations.size() + plan.calls.size() > operation_lines_max) {
        if (!plan.operations.empty()) {
            text += counted(plan.operations.size(), "operation") + ": ";
            text +=
                count_kinds<engine::operation_kind, engine::operation_kind_count>(plan.operations) +
                "\n";
        }
        if (!plan.calls.empty()) {
            text += counted(plan.calls.size(), "call") + ": " +
                    count_kinds<call_kind, call_kind_count>(plan.calls) + "\n";
        }
        return text;
    }
    for (std::size_t number = 0; number < plan.operations.size(); ++number) {
        text += describe_operation(plan.operations[number], number);
    }
    for (std::size_t number = 0; number < plan.calls.size(); ++number) {
        text += describe_call(plan.calls[number], plan.operations.size() + number);
    }
    return text;
}

}  // namespace reprise::sim
