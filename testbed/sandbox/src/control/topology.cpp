#include "control/topology.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include <reprise/sandbox/port_name.hpp>

#include "control/answer.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr std::uint64_t interval_ms_max = 86'400'000;
constexpr std::uint64_t step_count_max = 1'000'000;

// One command while it is executed.
struct topology_call {
    cluster& target;
    field_reader& fields;
    control_front* front;
};

json::array node_list(const std::vector<node_id>& nodes) {
    json::array list;
    for (const node_id node : nodes) {
        list.push_back(node.value);
    }
    return list;
}

json::array row_list(const std::vector<std::int16_t>& row) {
    json::array list;
    for (const std::int16_t node : row) {
        list.push_back(node);
    }
    return list;
}

json::object describe_progress(const rebalance_progress& progress) {
    json::object described{
        {"running", progress.is_running}, {"kind", to_string(progress.kind)},
        {"end", to_string(progress.end)}, {"done", progress.moves_done},
        {"total", progress.moves_total},  {"leaving", node_list(progress.leaving)},
    };
    if (!progress.bucket.empty()) {
        described.set("bucket", progress.bucket);
        described.set("vbucket", progress.vbucket.value);
    }
    return described;
}

json::value answer_progress(const cluster& target) {
    return json::object{
        {"ok", true}, {"rebalance", describe_progress(target.topology().rebalance_status())}};
}

json::value on_topology(const topology_call& call) {
    if (!call.fields.finish()) {
        return control_refusal(call.fields.problem());
    }
    json::array nodes;
    for (const node_overview& shown : call.target.topology().overview()) {
        json::object described{
            {"node", shown.node.value},       {"state", to_string(shown.state)},
            {"joining", shown.is_joining},    {"active", shown.active_count},
            {"replica", shown.replica_count},
        };
        if (const wire::cluster_node* at = call.target.topology().endpoints_of(shown.node)) {
            described.set("host", at->hostname);
            set_ports(described, *at);
        }
        nodes.push_back(std::move(described));
    }
    return json::object{
        {"ok", true},
        {"nodes", std::move(nodes)},
        {"rebalance", describe_progress(call.target.topology().rebalance_status())},
    };
}

json::value on_node_add(const topology_call& call) {
    if (!call.fields.finish()) {
        return control_refusal(call.fields.problem());
    }
    node_id added{};
    if (call.front != nullptr) {
        const auto opened = call.front->add_node();
        if (!opened) {
            return control_refusal(opened.error());
        }
        added = *opened;
    } else {
        const auto joined = call.target.topology().add_node();
        if (!joined) {
            return control_refusal(to_string(joined.error()));
        }
        added = *joined;
    }
    json::object answer{{"ok", true}, {"node", added.value}};
    const wire::cluster_node& at = *call.target.topology().endpoints_of(added);
    answer.set("host", at.hostname);
    set_ports(answer, at);
    return answer;
}

json::value on_node_add_back(const topology_call& call) {
    const node_id node = call.fields.required_node("node");
    return call.fields.finish() ? control_result(call.target.topology().add_back(node))
                                : control_refusal(call.fields.problem());
}

std::optional<std::chrono::milliseconds> read_warmup(
    const topology_call& call, std::string_view name) {
    constexpr std::uint64_t warmup_ms_max = 3'600'000;
    const auto number = call.fields.bounded(name, warmup_ms_max);
    return number ? std::optional(std::chrono::milliseconds(static_cast<std::int64_t>(*number)))
                  : std::nullopt;
}

json::value on_node_restart(const topology_call& call) {
    const node_id node = call.fields.required_node("node");
    const bool keeps_data = call.fields.flag("keep_data").value_or(true);
    const auto kind = keeps_data ? restart_kind::with_data : restart_kind::without_data;
    const restart_warmup warmup{
        read_warmup(call, "silence_ms").value_or(std::chrono::milliseconds{0}),
        read_warmup(call, "absence_ms").value_or(std::chrono::milliseconds{0})};
    return call.fields.finish() ? control_result(call.target.topology().restart(node, kind, warmup))
                                : control_refusal(call.fields.problem());
}

// --- rebalance -----------------------------------------------------------------------------------

std::optional<std::chrono::milliseconds> read_interval(const topology_call& call) {
    const auto given = call.fields.number("interval_ms");
    if (given.value_or(0) > interval_ms_max) {
        call.fields.wrong("'interval_ms' must not exceed one day");
    }
    if (given && call.front == nullptr) {
        call.fields.wrong("'interval_ms' requires a server with a clock");
    }
    return given ? std::optional(std::chrono::milliseconds(static_cast<std::int64_t>(*given)))
                 : std::nullopt;
}

json::value start_steps(
    const topology_call& call, const std::expected<void, cluster_errc>& begun,
    std::optional<std::chrono::milliseconds> interval) {
    if (!begun) {
        return control_refusal(to_string(begun.error()));
    }
    if (interval) {
        call.front->run_rebalance(*interval);
    }
    return answer_progress(call.target);
}

rebalance_options read_rebalance(field_reader& fields) {
    rebalance_options options;
    const json::value* given = fields.any("eject");
    if (given == nullptr) {
        return options;
    }
    const json::array* list = given->as_array();
    if (list == nullptr) {
        fields.wrong("'eject' must be a list of node numbers");
        return options;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        const auto node = (*list)[i].as_uint64();
        if (!node || *node > 0x7fff) {
            fields.wrong("'eject' must be a list of node numbers");
            return options;
        }
        options.eject.push_back(node_id{static_cast<std::uint32_t>(*node)});
    }
    return options;
}

json::value on_rebalance(const topology_call& call) {
    const rebalance_options options = read_rebalance(call.fields);
    const auto interval = read_interval(call);
    return call.fields.finish()
               ? start_steps(call, call.target.topology().begin_rebalance(options), interval)
               : control_refusal(call.fields.problem());
}

json::value on_failover(const topology_call& call) {
    const node_id node = call.fields.required_node("node");
    const bool is_graceful = call.fields.flag("graceful").value_or(false);
    const auto interval = read_interval(call);
    if (interval && !is_graceful) {
        call.fields.wrong("'interval_ms' requires 'graceful'");
    }
    if (!call.fields.finish()) {
        return control_refusal(call.fields.problem());
    }
    return is_graceful
               ? start_steps(call, call.target.topology().begin_graceful_failover(node), interval)
               : control_result(call.target.topology().failover(node));
}

json::value on_rebalance_step(const topology_call& call) {
    const std::uint64_t count = call.fields.number("count").value_or(1);
    if (count == 0 || count > step_count_max) {
        call.fields.wrong("'count' must be 1 to 1000000");
    }
    if (!call.fields.finish()) {
        return control_refusal(call.fields.problem());
    }
    json::array steps;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto step = call.target.topology().step_rebalance();
        if (!step) {
            return control_refusal(to_string(step.error()));
        }
        if (step->is_end) {
            break;
        }
        steps.push_back(json::object{
            {"bucket", step->bucket},
            {"vbucket", step->vbucket.value},
            {"from", row_list(step->from)},
            {"to", row_list(step->to)},
        });
    }
    return json::object{
        {"ok", true},
        {"steps", std::move(steps)},
        {"rebalance", describe_progress(call.target.topology().rebalance_status())},
    };
}

json::value on_rebalance_stop(const topology_call& call) {
    if (!call.fields.finish()) {
        return control_refusal(call.fields.problem());
    }
    const auto stopped = call.target.topology().stop_rebalance();
    return stopped ? answer_progress(call.target) : control_refusal(to_string(stopped.error()));
}

struct topology_command {
    std::string_view name;
    json::value (*run)(const topology_call&);
};

constexpr topology_command topology_commands[] = {
    {"topology", on_topology},
    {"node_add", on_node_add},
    {"node_add_back", on_node_add_back},
    {"node_restart", on_node_restart},
    {"failover", on_failover},
    {"rebalance", on_rebalance},
    {"rebalance_step", on_rebalance_step},
    {"rebalance_stop", on_rebalance_stop},
};

}  // namespace

void set_ports(json::object& described, const wire::cluster_node& at) {
    for (const wire::service_facts& facts : wire::service_table) {
        for (const wire::transport over : {wire::transport::plain, wire::transport::tls}) {
            const std::uint16_t port = at.ports.port(facts.which, over);
            if (facts.is_on_every_node || port != 0) {
                described.set(port_name(facts.which, over), port);
            }
        }
    }
}

std::optional<json::value> handle_topology_command(
    cluster& target, std::string_view command, field_reader& fields, control_front* front) {
    for (const topology_command& known : topology_commands) {
        if (known.name == command) {
            return known.run({target, fields, front});
        }
    }
    return std::nullopt;
}

}  // namespace reprise::sandbox::detail
