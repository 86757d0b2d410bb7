#include "sandbox/topology.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/value.hpp>

#include "output/output.hpp"
#include "sandbox/call.hpp"
#include "sandbox/tables.hpp"

namespace reprise::app {

namespace {

/// The pace of a rebalance or a graceful failover, as typed.
struct pace_options {
    std::string interval = "5ms";
    bool step = false;
};

/// The options of all commands below `topology`; each uses some of them.
struct topology_options {
    remote_options remote;
    std::uint32_t node = 0;
    std::vector<std::uint32_t> eject;
    pace_options pace;
    std::uint64_t count = 1;
    bool graceful = false;
    bool lose_data = false;
    std::string silence = "0";
    std::string absence = "0";
};

/// The state of the rebalance in one line.
[[nodiscard]] std::string rebalance_line(const json::value& answer) {
    const json::value* rebalance = answer.find("rebalance");
    if (rebalance == nullptr) {
        return "";
    }
    const std::string kind =
        cell(*rebalance, "kind") == "rebalance" ? "rebalance" : "graceful failover";
    const std::string moves =
        fmt::format("{} of {} moves", cell(*rebalance, "done"), cell(*rebalance, "total"));
    if (cell(*rebalance, "running") == "true") {
        const std::string next =
            rebalance->find("bucket") == nullptr
                ? "the end"
                : fmt::format(
                      "vbucket {} of {}", cell(*rebalance, "vbucket"), cell(*rebalance, "bucket"));
        return fmt::format("{} running, {} done, next: {}\n", kind, moves, next);
    }
    const std::string end = cell(*rebalance, "end");
    return end == "none" ? "no rebalance yet\n" : fmt::format("last {} {}, {}\n", kind, end, moves);
}

[[nodiscard]] std::string topology_table(const json::value& answer) {
    return member_table(
               list_of(answer, "nodes"),
               {"node", "state", "joining", "active", "replica", "host", "kv", "kv tls",
                "management"},
               {"node", "state", "joining", "active", "replica", "host", "kv", "kv_tls",
                "management"}) +
           "\n" + rebalance_line(answer);
}

[[nodiscard]] std::string print_added(const json::value& answer) {
    const std::string tls = cell(answer, "kv_tls");
    return fmt::format(
        "node {} added: key-value {}{}, management {}\n", cell(answer, "node"), cell(answer, "kv"),
        tls == "0" ? "" : ", over TLS " + tls, cell(answer, "management"));
}

[[nodiscard]] std::string step_table(const json::value& answer) {
    const json::array& steps = list_of(answer, "steps");
    const std::string moved = steps.empty() ? ""
                                            : member_table(
                                                  steps, {"bucket", "vbucket", "from", "to"},
                                                  {"bucket", "vbucket", "from", "to"});
    return moved + rebalance_line(answer);
}

/// Describes the result, or "done" if there is nothing to describe.
[[nodiscard]] std::string print_outcome(const json::value& answer) {
    return answer.find("rebalance") == nullptr ? print_done(answer) : rebalance_line(answer);
}

/// A command below `topology`; commands share the code for their options.
class topology_command {
public:
    topology_command(CLI::App& parent, const std::string& name, const std::string& text)
        : app_(parent.add_subcommand(name, text)) {
        add_remote_options(*app_, {typed_, &typed_->remote});
    }

    topology_command& takes_node(const std::string& text) {
        constexpr std::uint32_t node_max = 32767;
        app_->add_option("node", typed_->node, text)
            ->required()
            ->check(CLI::Range(std::uint32_t{0}, node_max));
        return *this;
    }
    topology_command& takes_pace() {
        auto* interval = app_->add_option(
            "--interval", typed_->pace.interval, "Move one vbucket per interval (5ms)");
        app_->add_flag(
                "--step", typed_->pace.step, "Move nothing; use 'topology step' to move vbuckets")
            ->excludes(interval);
        return *this;
    }
    CLI::App& app() const noexcept { return *app_; }
    topology_options& typed() const noexcept { return *typed_; }

    /// `make` converts the options to the command to send.
    template <class Make>
    void runs(Make make, table_function table) {
        app_->callback(
            [typed = typed_, make, table] { run_remote(typed->remote, make(*typed), table); });
    }

private:
    CLI::App* app_;
    std::shared_ptr<topology_options> typed_ = std::make_shared<topology_options>();
};

void set_pace(json::object& command, const pace_options& pace) {
    const std::uint64_t interval_ms = parse_milliseconds("--interval", pace.interval);
    if (!pace.step) {
        command.set("interval_ms", interval_ms);
    }
}

[[nodiscard]] json::value make_rebalance(
    const std::vector<std::uint32_t>& eject, const pace_options& pace) {
    json::object command{{"command", "rebalance"}};
    command.set("eject", json::array(eject.begin(), eject.end()));
    set_pace(command, pace);
    return command;
}

[[nodiscard]] json::value make_failover(const topology_options& typed) {
    json::object command{{"command", "failover"}, {"node", typed.node}};
    if (typed.graceful) {
        command.set("graceful", true);
        set_pace(command, typed.pace);
    } else if (typed.pace.step) {
        throw usage_error("--step: requires --graceful");
    }
    return command;
}

/// A command whose only argument is a node.
void add_node_command(
    CLI::App& topology, const std::string& name, const std::string& text,
    std::string_view control_name) {
    topology_command command(topology, name, text);
    command.takes_node("Number of the node");
    command.runs(
        [control_name](const topology_options& typed) -> json::value {
            return json::object{{"command", control_name}, {"node", typed.node}};
        },
        print_done);
}

void add_rebalance_commands(CLI::App& topology) {
    topology_command rebalance(topology, "rebalance", "Distribute vbuckets evenly over the nodes");
    rebalance.takes_pace();
    rebalance.app()
        .add_option("--eject", rebalance.typed().eject, "Node that leaves at the end, repeatable")
        ->allow_extra_args(false)
        ->delimiter(',');
    rebalance.runs(
        [](const topology_options& typed) { return make_rebalance(typed.eject, typed.pace); },
        rebalance_line);

    topology_command remove(topology, "remove", "Rebalance a node out of the cluster");
    remove.takes_node("Number of the node").takes_pace();
    remove.runs(
        [](const topology_options& typed) { return make_rebalance({typed.node}, typed.pace); },
        rebalance_line);

    topology_command step(topology, "step", "Move the next vbucket of a rebalance");
    step.app().add_option("--count", step.typed().count, "Number of vbuckets to move (1)");
    step.runs(
        [](const topology_options& typed) -> json::value {
            return json::object{{"command", "rebalance_step"}, {"count", typed.count}};
        },
        step_table);

    topology_command stop(topology, "stop", "Stop a rebalance where it is");
    stop.runs(
        [](const topology_options&) -> json::value {
            return json::object{{"command", "rebalance_stop"}};
        },
        rebalance_line);
}

void add_failover_command(CLI::App& topology) {
    topology_command failover(
        topology, "failover", "Fail a node over: promote replicas on other nodes at once");
    failover.takes_node("Number of the node").takes_pace();
    failover.app().add_flag(
        "--graceful", failover.typed().graceful, "Move one vbucket at a time, without losing data");
    failover.runs(make_failover, print_outcome);
}

void add_restart_command(CLI::App& topology) {
    topology_command restart(topology, "restart", "Stop a node and start it again");
    restart.takes_node("Number of the node");
    restart.app().add_flag(
        "--lose-data", restart.typed().lose_data,
        "Lose all data, as if it had been in memory only");
    restart.app().add_option(
        "--silence", restart.typed().silence,
        "Do not answer SELECT_BUCKET for this time after the start");
    restart.app().add_option(
        "--absence", restart.typed().absence,
        "Answer SELECT_BUCKET with 0x01 and searches with 400 for this time after the start");
    restart.runs(
        [](const topology_options& typed) -> json::value {
            return json::object{
                {"command", "node_restart"},
                {"node", typed.node},
                {"keep_data", !typed.lose_data},
                {"silence_ms", parse_milliseconds("--silence", typed.silence)},
                {"absence_ms", parse_milliseconds("--absence", typed.absence)}};
        },
        print_done);
}

}  // namespace

void add_sandbox_topology_commands(CLI::App& sandbox) {
    CLI::App* topology =
        sandbox.add_subcommand("topology", "Add, remove, kill and rebalance nodes");
    topology->require_subcommand(1);
    topology->footer(
        "Examples:\n"
        "  reprise sandbox topology add --ready-file r.json\n"
        "  reprise sandbox topology rebalance --interval 20ms --ready-file r.json\n"
        "  reprise sandbox topology failover 1 --graceful --ready-file r.json\n"
        "  reprise sandbox topology status --ready-file r.json");

    topology_command status(*topology, "status", "Show nodes, their vbuckets and the rebalance");
    status.runs(
        [](const topology_options&) -> json::value {
            return json::object{{"command", "topology"}};
        },
        topology_table);
    topology_command add(*topology, "add", "Add a node, which is empty until a rebalance");
    add.runs(
        [](const topology_options&) -> json::value {
            return json::object{{"command", "node_add"}};
        },
        print_added);
    add_rebalance_commands(*topology);
    add_failover_command(*topology);
    add_node_command(
        *topology, "add-back", "Add a failed-over node again, without data", "node_add_back");
    add_node_command(
        *topology, "kill", "Kill a node: reset its connections and take it down", "node_kill");
    add_node_command(*topology, "up", "Bring a killed node back with its data", "node_up");
    add_restart_command(*topology);
}

}  // namespace reprise::app
