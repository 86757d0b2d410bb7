/// `reprise sandbox`: a test cluster on loopback sockets, and the commands that control it.

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <reprise/sandbox_net/ready_file.hpp>

#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "output/output.hpp"
#include "sandbox/remote.hpp"
#include "sandbox/start.hpp"
#include "sandbox/topology.hpp"

namespace reprise::app {

namespace {

/// "http://127.0.0.1:8093, https://127.0.0.1:18093" of the first node; empty without such ports.
[[nodiscard]] std::string service_line(
    std::string_view name, std::uint16_t plain, std::uint16_t tls) {
    std::string text;
    if (plain != 0) {
        text = fmt::format("http://127.0.0.1:{}", plain);
    }
    if (tls != 0) {
        text += fmt::format("{}https://127.0.0.1:{}", text.empty() ? "" : ", ", tls);
    }
    return text.empty() ? text : fmt::format("  {:<19}{}\n", name, text);
}

[[nodiscard]] std::string describe_services(const sandbox::node_ports& at) {
    std::string text;
    for (const wire::service which : wire::list_services(wire::is_http_service)) {
        text +=
            service_line(to_string(which), at.port(which), at.port(which, wire::transport::tls));
    }
    return text;
}

[[nodiscard]] std::string describe(
    const sandbox_start_options& typed, const sandbox::server_addresses& at) {
    std::string text = fmt::format(
        "A sandbox with {} nodes is running; stop it with Ctrl-C.\n\n"
        "  connection string  {}\n",
        typed.nodes, at.connection_string);
    if (!at.connection_string_tls.empty()) {
        text += fmt::format(
            "  over TLS           {}\n"
            "  trust this CA      {}\n",
            at.connection_string_tls, at.ca_path);
    }
    text += fmt::format(
        "  buckets            {}\n"
        "  user, password     {}, {}\n"
        "{}"
        "  control            {}\n",
        fmt::join(typed.buckets, ", "), typed.user, typed.password,
        describe_services(at.nodes.front()), at.control_url);
    if (!typed.ready_file.empty()) {
        text += fmt::format("  ready file         {}\n", typed.ready_file);
    } else {
        text += fmt::format("  control token      {}\n", at.control_token);
    }
    if (!at.console_url.empty()) {
        text += fmt::format("  console            {}\n", at.console_url);
    }
    return text;
}

enum class start_output : std::uint8_t { text, json, nothing };

void run_sandbox(const sandbox_start_options& typed, start_output output) {
    boost::asio::io_context io(1);
    boost::asio::signal_set signals(io, SIGINT, SIGTERM);
    if (!is_hangup_ignored()) {
        signals.add(SIGHUP);
    }
    running_sandbox running(io, typed);
    signals.async_wait([&](const boost::system::error_code&, int) {
        running.stop();
        io.stop();
    });
    if (output == start_output::text) {
        print(describe(typed, running.addresses()));
    } else if (output == start_output::json) {
        print(sandbox::to_json({running.addresses(), std::int64_t{::getpid()}}));
    }
    io.run();
}

void add_start_command(CLI::App& sandbox) {
    CLI::App* start = sandbox.add_subcommand("start", "Run a cluster until Ctrl-C or SIGTERM");
    const auto typed = std::make_shared<sandbox_start_options>();
    const auto is_quiet = std::make_shared<bool>(false);
    const auto is_json = std::make_shared<bool>(false);
    add_sandbox_options(*start, *typed);
    start->add_flag(
        "--console", typed->has_console, "Also serve a page with charts and fault buttons");
    auto* quiet = start->add_flag("--quiet", *is_quiet, "Print nothing");
    start
        ->add_flag("--json", *is_json, "Print the content of the ready file: all addresses as JSON")
        ->excludes(quiet);
    start->footer(
        exit_code_help() +
        "\nExamples:\n"
        "  reprise sandbox start --console\n"
        "  reprise sandbox start --nodes 4 --bucket travel --user app --password secret --tls\n"
        "  reprise sandbox start --port 11210 --collection inventory.airline --ready-file r.json");
    start->callback([=] {
        run_sandbox(
            *typed, *is_quiet  ? start_output::nothing
                    : *is_json ? start_output::json
                               : start_output::text);
    });
}

/// An example for a command whose help needs no more than one.
struct command_example {
    const char* group;  ///< Empty for a command of `sandbox` itself.
    const char* command;
    const char* arguments;
};

constexpr std::array single_examples = std::to_array<command_example>({
    {"", "status", ""},
    {"", "fault", " add --opcode get --status 0x86"},
    {"fault", "list", ""},
    {"fault", "remove", " 1"},
    {"fault", "forget-prepared", ""},
    {"fault", "nodes", ""},
    {"fault", "kill", " 1"},
    {"fault", "replay", " 1"},
    {"fault", "user", " app"},
    {"fault", "bucket", " travel"},
    {"fault", "collection", " travel inventory airline"},
    {"fault", "hold", " replication"},
    {"fault", "durability", ""},
    {"fault", "clear", ""},
    {"topology", "status", ""},
    {"topology", "add", ""},
    {"topology", "rebalance", " --interval 20ms"},
    {"topology", "failover", " 1 --graceful"},
    {"topology", "remove", " 1"},
    {"topology", "step", ""},
    {"topology", "stop", ""},
    {"topology", "add-back", " 1"},
    {"topology", "kill", " 1"},
    {"topology", "up", " 1"},
    {"topology", "restart", " 1"},
});

void add_single_examples(CLI::App& sandbox) {
    for (const auto& [group, command, arguments] : single_examples) {
        const std::string_view below = group;
        CLI::App& parent = below.empty() ? sandbox : *sandbox.get_subcommand(group);
        parent.get_subcommand(command)->footer(fmt::format(
            "Example:\n  reprise sandbox {}{}{}{} --ready-file r.json", group,
            below.empty() ? "" : " ", command, arguments));
    }
}

}  // namespace

void add_sandbox_command(CLI::App& app) {
    CLI::App* sandbox = app.add_subcommand(
        "sandbox", "Run a test cluster in one process, with faults on demand and an audit");
    sandbox->require_subcommand(1);
    sandbox->footer(
        "Examples:\n"
        "  reprise sandbox start --nodes 4 --bucket travel --ready-file r.json\n"
        "  reprise sandbox fault add --opcode get --status 0x86 --ready-file r.json\n"
        "  reprise sandbox fault service --service query --status 503 --ready-file r.json\n"
        "  reprise sandbox audit --ready-file r.json\n"
        "  reprise sandbox audit --services --twice --ready-file r.json\n"
        "  reprise sandbox topology rebalance --eject 1 --ready-file r.json\n"
        "  reprise sandbox run --bucket travel -- ./my_program");
    add_start_command(*sandbox);
    add_sandbox_run_command(*sandbox);
    add_sandbox_remote_commands(*sandbox);
    add_sandbox_topology_commands(*sandbox);
    add_single_examples(*sandbox);
}

}  // namespace reprise::app
