#include "sandbox/start.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <reprise/lab/page.hpp>
#include <reprise/sandbox_net/ready_file.hpp>

#include "embedded.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

/// Sorts "scope.name" into scopes, which every bucket gets.
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

[[nodiscard]] std::vector<wire::service> parse_services(const std::vector<std::string>& words) {
    std::vector<wire::service> services;
    for (const wire::service each : wire::list_services(wire::is_optional_service)) {
        if (std::ranges::find(words, to_string(each)) != words.end()) {
            services.push_back(each);
        }
    }
    return services;
}

/// The values that `--services` accepts.
[[nodiscard]] std::vector<std::string> service_words() {
    std::vector<std::string> words{"none"};
    for (const wire::service each : wire::list_services(wire::is_optional_service)) {
        words.emplace_back(to_string(each));
    }
    return words;
}

/// The option that causes a problem of the cluster's options.
[[nodiscard]] std::string_view start_option_of(std::string_view problem) {
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
        throw usage_error("--certificate, --client-certificates, --ca-file: require --tls");
    }
    sandbox::server_options options;
    options.cluster.node_count = typed.nodes;
    options.cluster.replica_count = typed.replicas;
    options.cluster.server_groups = typed.server_groups;
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
    if (typed.has_console) {
        options.console_page = lab::make_page(embedded::console_page(), {});
    }
    if (!typed.services.empty()) {
        options.services = parse_services(typed.services);
    }
    options.tls.is_enabled = typed.tls;
    options.tls.ca_path = typed.ca_file;
    options.tls.fault = parse_certificate(typed.certificate);
    options.tls.takes_client_certificates = typed.client_certificates;
    if (const auto problem = find_problem(options.cluster)) {
        throw usage_error(fmt::format("{}: {}", start_option_of(*problem), *problem));
    }
    options.on_notice = notify;
    return options;
}

/// Other processes find the sandbox through its ready file, so the file belongs to the sandbox as
/// long as it runs. A file whose process has ended is replaced.
[[nodiscard]] sandbox_start_options checked(const sandbox_start_options& options) {
    const auto owner = options.ready_file.empty()
                           ? std::int64_t{0}
                           : sandbox::find_ready_file_owner(options.ready_file);
    if (owner != 0) {
        throw failure(fmt::format(
            "--ready-file: {} belongs to a running sandbox, process {}; stop that one or "
            "use another file",
            options.ready_file, owner));
    }
    return options;
}

[[nodiscard]] sandbox::server make_server(
    boost::asio::io_context& io, const sandbox_start_options& typed) {
    auto made = sandbox::server::make(io, make_server_options(typed));
    if (!made) {
        throw failure(fmt::format("the sandbox cannot start: {}", made.error()));
    }
    return std::move(*made);
}

}  // namespace

void add_sandbox_options(CLI::App& command, sandbox_start_options& options) {
    command.add_option("--nodes", options.nodes, "Number of nodes, 1 to 256 (4)");
    command.add_option("--replicas", options.replicas, "Number of replicas, 0 to 3 (1)");
    command
        .add_option(
            "--server-group", options.server_groups,
            "Name of a server group, repeatable; nodes are assigned to the groups in turn (none)")
        ->check(CLI::Validator(
            [](const std::string& name) { return name.empty() ? "is empty" : std::string(); }, ""))
        ->allow_extra_args(false)
        ->delimiter(',');
    command.add_option("--bucket", options.buckets, "Name of a bucket, repeatable (travel)")
        ->allow_extra_args(false)
        ->delimiter(',');
    command.add_option("--user", options.user, "User who may log in (app)");
    command.add_option("--password", options.password, "Password of the user (secret)");
    command
        .add_option("--collection", options.collections, "scope.name in every bucket, repeatable")
        ->allow_extra_args(false)
        ->delimiter(',');
    command.add_option(
        "--scram-iterations", options.scram_iterations, "Iterations of the password hash (4096)");
    command.add_option("--seed", options.seed, "Seed of all randomness (1)");
    command
        .add_option(
            "--services", options.services,
            "HTTP services in addition to management: " +
                wire::name_services(wire::is_optional_service) + ", or none (all)")
        ->check(CLI::IsMember(service_words()))
        ->allow_extra_args(false)
        ->delimiter(',');
    command.add_flag("--tls", options.tls, "Also open TLS ports, with certificates for this run");
    command.add_option(
        "--ca-file", options.ca_file, "File for the CA certificate (a temporary file)");
    command
        .add_option(
            "--certificate", options.certificate, "good, wrong-host, expired or untrusted (good)")
        ->check(CLI::IsMember({"good", "wrong-host", "expired", "untrusted"}));
    command.add_flag(
        "--client-certificates", options.client_certificates,
        "Accept client certificates and log in the user they name");
    command.add_option(
        "--port", options.port,
        "First port; each node uses two for key-value and two for each of " +
            wire::name_services(wire::is_http_service) +
            ", plain and over TLS; fewer with --services (any free ports)");
    command.add_option(
        "--ready-file", options.ready_file,
        "File for all addresses as JSON; exists as long as the sandbox runs");
}

running_sandbox::running_sandbox(boost::asio::io_context& io, const sandbox_start_options& options)
    : front_(make_server(io, checked(options))) {
    if (options.ready_file.empty()) {
        return;
    }
    const auto written = sandbox::write_ready_file(
        options.ready_file, {front_.addresses(), std::int64_t{::getpid()}});
    if (!written) {
        throw failure(fmt::format("--ready-file: {}", written.error()));
    }
    ready_file_ = options.ready_file;
}

running_sandbox::~running_sandbox() {
    // Not if another sandbox has replaced the file in the meantime.
    if (!ready_file_.empty() && sandbox::find_ready_file_owner(ready_file_) == ::getpid()) {
        std::error_code ignored;
        std::filesystem::remove(ready_file_, ignored);
    }
}

}  // namespace reprise::app
