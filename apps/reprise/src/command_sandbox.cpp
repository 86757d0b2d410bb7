/// `reprise sandbox`: a test cluster on loopback sockets, and the commands that drive it.

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <reprise/sandbox_net/ready_file.hpp>
#include <reprise/sandbox_net/server.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "sandbox_remote.hpp"

namespace reprise::app {

namespace {

struct sandbox_start_options {
    std::size_t nodes = 4;
    std::size_t replicas = 1;
    std::vector<std::string> buckets{"travel"};
    std::string user = "app";
    std::string password = "secret";
    std::vector<std::string> collections;
    std::uint32_t scram_iterations = 4096;
    std::uint64_t seed = 1;
    bool tls = false;
    bool client_certificates = false;
    std::string certificate = "good";
    std::string ca_file;
    std::uint16_t port = 0;
    std::string ready_file;
    bool quiet = false;
};

/// Sorts "scope.name" into the scopes of every bucket.
[[nodiscard]] std::vector<sandbox::scope_options> make_scopes(
    const std::vector<std::string>& collections) {
    std::vector<sandbox::scope_options> scopes;
    for (const std::string& typed : collections) {
        const std::size_t dot = typed.find('.');
        if (dot == std::string::npos || dot == 0 || dot + 1 == typed.size()) {
            throw usage_error(fmt::format("--collection: '{}' is not scope.name", typed));
        }
        const std::string scope = typed.substr(0, dot);
        auto found = scopes.begin();
        while (found != scopes.end() && found->name != scope) {
            ++found;
        }
        if (found == scopes.end()) {
            found = scopes.insert(scopes.end(), {scope, {}});
        }
        found->collections.push_back(typed.substr(dot + 1));
    }
    return scopes;
}

[[nodiscard]] sandbox::certificate_fault parse_certificate(std::string_view word) {
    using sandbox::certificate_fault;
    if (word == "wrong-host") {
        return certificate_fault::wrong_host;
    }
    if (word == "expired") {
        return certificate_fault::expired;
    }
    return word == "untrusted" ? certificate_fault::untrusted : certificate_fault::none;
}

/// The option to blame for what is wrong with the cluster's options.
[[nodiscard]] std::string_view name_option(std::string_view problem) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> option_of_word{{
        {"node_count", "--nodes"},
        {"replica_count", "--replicas"},
        {"scram_iterations", "--scram-iterations"},
        {"user ", "--user"},
        {"scope", "--collection"},
        {"collection", "--collection"},
    }};
    for (const auto& [word, option] : option_of_word) {
        if (problem.contains(word)) {
            return option;
        }
    }
    return "--bucket";
}

[[nodiscard]] sandbox::server_options make_server_options(const sandbox_start_options& typed) {
    const bool wants_tls_detail =
        typed.certificate != "good" || typed.client_certificates || !typed.ca_file.empty();
    if (wants_tls_detail && !typed.tls) {
        throw usage_error("--certificate, --client-certificates, --ca-file: only with --tls");
    }
    sandbox::server_options options;
    options.cluster.node_count = typed.nodes;
    options.cluster.replica_count = typed.replicas;
    options.cluster.scram_iterations = typed.scram_iterations;
    options.cluster.seed = typed.seed;
    for (const std::string& name : typed.buckets) {
        sandbox::bucket_options bucket;
        bucket.name = name;
        bucket.scopes = make_scopes(typed.collections);
        options.cluster.buckets.push_back(std::move(bucket));
    }
    sandbox::user_options user;
    user.name = typed.user;
    user.password = typed.password;
    options.cluster.users.push_back(std::move(user));
    options.port = typed.port;
    options.tls.is_enabled = typed.tls;
    options.tls.ca_path = typed.ca_file;
    options.tls.fault = parse_certificate(typed.certificate);
    options.tls.takes_client_certificates = typed.client_certificates;
    if (const auto problem = find_problem(options.cluster)) {
        throw usage_error(fmt::format("{}: {}", name_option(*problem), *problem));
    }
    options.on_notice = [](std::string_view text) { fmt::print(stderr, "reprise: {}\n", text); };
    return options;
}

[[nodiscard]] std::string describe(
    const sandbox_start_options& typed, const sandbox::server_addresses& at) {
    std::string text = fmt::format(
        "Sandbox of {} nodes is running; stop it with Ctrl-C.\n\n"
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
        "  management         http://127.0.0.1:{}\n"
        "  control            {}\n",
        fmt::join(typed.buckets, ", "), typed.user, typed.password, at.nodes.front().management,
        at.control_url);
    if (!typed.ready_file.empty()) {
        text += fmt::format("  ready file         {}\n", typed.ready_file);
    } else {
        text += fmt::format("  control token      {}\n", at.control_token);
    }
    return text;
}

/// Removes the ready file at the end, however the end comes.
class ready_file_guard {
public:
    explicit ready_file_guard(std::string path) : path_(std::move(path)) {}
    ready_file_guard(const ready_file_guard&) = delete;
    ready_file_guard& operator=(const ready_file_guard&) = delete;
    ~ready_file_guard() {
        if (!path_.empty()) {
            std::error_code ignored;
            std::filesystem::remove(path_, ignored);
        }
    }

private:
    std::string path_;
};

void run_sandbox(const sandbox_start_options& typed) {
    boost::asio::io_context io(1);
    boost::asio::signal_set signals(io, SIGINT, SIGTERM);
    auto front = sandbox::server::make(io, make_server_options(typed));
    if (!front) {
        throw failure(fmt::format("sandbox start: {}", front.error()));
    }
    signals.async_wait([&](const boost::system::error_code&, int) {
        front->stop();
        io.stop();
    });
    if (!typed.ready_file.empty()) {
        const auto written = sandbox::write_ready_file(
            typed.ready_file, {front->addresses(), std::int64_t{::getpid()}});
        if (!written) {
            throw failure(fmt::format("--ready-file: {}", written.error()));
        }
    }
    const ready_file_guard guard(typed.ready_file);
    if (!typed.quiet) {
        print(describe(typed, front->addresses()));
    }
    io.run();
}

void add_start_command(CLI::App& sandbox) {
    CLI::App* start = sandbox.add_subcommand("start", "Runs a cluster until Ctrl-C or SIGTERM");
    const auto typed = std::make_shared<sandbox_start_options>();
    start->add_option("--nodes", typed->nodes, "Nodes, 1 to 256 (4)");
    start->add_option("--replicas", typed->replicas, "Copies beside the active one, 0 to 3 (1)");
    start->add_option("--bucket", typed->buckets, "Name of a bucket, repeatable (travel)")
        ->delimiter(',');
    start->add_option("--user", typed->user, "Who may log in (app)");
    start->add_option("--password", typed->password, "With which password (secret)");
    start->add_option("--collection", typed->collections, "scope.name in every bucket, repeatable")
        ->delimiter(',');
    start->add_option("--scram-iterations", typed->scram_iterations, "Password rounds (4096)");
    start->add_option("--seed", typed->seed, "Number that all randomness follows from (1)");
    start->add_flag("--tls", typed->tls, "TLS ports too, with certificates made for this run");
    start->add_option("--ca-file", typed->ca_file, "Where to write the CA (a temporary file)");
    start
        ->add_option(
            "--certificate", typed->certificate, "good, wrong-host, expired or untrusted (good)")
        ->check(CLI::IsMember({"good", "wrong-host", "expired", "untrusted"}));
    start->add_flag(
        "--client-certificates", typed->client_certificates,
        "Log in the user that a client certificate names");
    start->add_option(
        "--port", typed->port,
        "First port; each node uses four: key-value, key-value over TLS, management, management "
        "over TLS (any free ports)");
    start->add_option(
        "--ready-file", typed->ready_file,
        "JSON with all addresses, there as long as the sandbox can be used");
    start->add_flag("--quiet", typed->quiet, "Print nothing");
    start->footer(
        "Examples:\n"
        "  reprise sandbox start\n"
        "  reprise sandbox start --nodes 4 --bucket travel --user app --password secret --tls\n"
        "  reprise sandbox start --port 11210 --collection inventory.airline --ready-file r.json");
    start->callback([typed] { run_sandbox(*typed); });
}

}  // namespace

void add_sandbox_command(CLI::App& app) {
    CLI::App* sandbox = app.add_subcommand(
        "sandbox", "A test cluster in one process, with faults on demand and an audit");
    sandbox->require_subcommand(1);
    add_start_command(*sandbox);
    add_sandbox_remote_commands(*sandbox);
}

}  // namespace reprise::app
