/// `reprise config` and `reprise error-map`: what a cluster publishes about itself, live or from a
/// file.

#include <memory>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <reprise/base/printable.hpp>
#include <reprise/json/write.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/vbucket.hpp>

#include "commands/codes.hpp"
#include "commands/commands.hpp"
#include "config_fetch.hpp"
#include "kv_access.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

struct config_options {
    kv_access_options access;
    std::string file;
    std::string key;
    std::string host = "127.0.0.1";
    std::string code;
    bool json = false;
};

using configuration = wire::cluster_configuration;

[[nodiscard]] wire::cluster_configuration_ptr load_configuration(const config_options& options) {
    if (options.file.empty()) {
        const kv_access access = open_access(options.access, access_kind::reads);
        return fetch_configuration(access);
    }
    wire::parse_configuration_options reading;
    reading.source_host = options.host;
    reading.revision_required = false;
    const auto parsed = wire::parse_cluster_configuration(read_input(options.file), reading);
    if (!parsed) {
        throw failure(fmt::format("{}: {}", options.file, wire::to_string(parsed.error())));
    }
    return *parsed;
}

[[nodiscard]] std::string node_text(
    const configuration& at, std::optional<wire::node_index> index) {
    if (!index) {
        return "no node";
    }
    const auto& node = at.nodes()[*index];
    const auto endpoint = node.endpoint(wire::service::key_value, wire::transport::plain);
    return fmt::format(
        "node {} ({})", *index,
        base::printable(
            endpoint ? wire::to_host_port(endpoint->host, endpoint->port) : node.hostname));
}

[[nodiscard]] std::string services_text(const wire::cluster_node& node) {
    std::string text;
    for (std::size_t slot = 0; slot < wire::service_count; ++slot) {
        const auto service = static_cast<wire::service>(slot);
        const auto plain = node.ports.port(service, wire::transport::plain);
        const auto tls = node.ports.port(service, wire::transport::tls);
        if (plain != 0 || tls != 0) {
            text += fmt::format("  {} {}/{}", wire::to_string(service), plain, tls);
        }
    }
    return text;
}

void print_configuration(const configuration& at) {
    print(fmt::format(
        "{} revision {}.{}\n",
        at.is_global() ? "cluster" : fmt::format("bucket {}", base::printable(at.bucket_name())),
        at.revision().epoch, at.revision().rev));
    for (std::size_t index = 0; index < at.nodes().size(); ++index) {
        const auto& node = at.nodes()[index];
        print(fmt::format(
            "node {} {}{}{}\n", index, base::printable(node.hostname),
            index < at.kv_node_count() ? "" : " (no data)", services_text(node)));
        for (const auto& other : node.alternates) {
            print(fmt::format(
                "    on network {}: {}\n", base::printable(other.network),
                base::printable(other.hostname)));
        }
    }
    if (at.vbucket_count() > 0) {
        print(fmt::format(
            "{} vbuckets, {} replicas, {}\n", at.vbucket_count(), at.replica_count(),
            at.has_forward_map() ? "with a fast-forward map: a rebalance is running"
                                 : "no fast-forward map"));
    }
    if (!at.bucket_capabilities().empty()) {
        print(wrap(base::printable(
            fmt::format("capabilities: {}", fmt::join(at.bucket_capabilities(), " ")))));
    }
}

void print_configuration_json(const configuration& at) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("bucket", at.bucket_name());
    out.member("epoch", at.revision().epoch);
    out.member("revision", at.revision().rev);
    out.member("vbuckets", at.vbucket_count());
    out.member("replicas", at.replica_count());
    out.member("has_forward_map", at.has_forward_map());
    out.key("nodes").begin_array();
    for (std::size_t index = 0; index < at.nodes().size(); ++index) {
        const auto& node = at.nodes()[index];
        out.begin_object();
        out.member("host", node.hostname);
        out.member("has_data", index < at.kv_node_count());
        const auto port = [&](wire::transport over) {
            return node.ports.port(wire::service::key_value, over);
        };
        out.member("kv", port(wire::transport::plain));
        out.member("kv_tls", port(wire::transport::tls));
        out.end_object();
    }
    out.end_array().end_object();
    print(text + "\n");
}

void print_place(const configuration& at, const std::string& key) {
    const auto vbucket = wire::vbucket_of(key, at.vbucket_count()).value;
    print(fmt::format("key '{}' is in vbucket {} of {}\n", key, vbucket, at.vbucket_count()));
    print(fmt::format("  active now: {}\n", node_text(at, at.active_node(vbucket))));
    for (std::size_t replica = 1; replica <= at.replica_count(); ++replica) {
        print(fmt::format(
            "  replica {}: {}\n", replica, node_text(at, at.replica_node(vbucket, replica))));
    }
    print(
        at.has_forward_map()
            ? fmt::format(
                  "  active in the fast-forward map: {}\n", node_text(at, at.forward_node(vbucket)))
            : std::string("  no fast-forward map: it does not move\n"));
}

// A node's number; null if there is none.
void write_node(json::writer& out, std::optional<wire::node_index> index) {
    if (index) {
        out.value(*index);
    } else {
        out.value(nullptr);
    }
}

void print_place_json(const configuration& at, const std::string& key) {
    const auto vbucket = wire::vbucket_of(key, at.vbucket_count()).value;
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("key", key);
    out.member("vbucket", vbucket);
    out.member("vbuckets", at.vbucket_count());
    out.key("active");
    write_node(out, at.active_node(vbucket));
    out.key("replicas").begin_array();
    for (std::size_t replica = 1; replica <= at.replica_count(); ++replica) {
        write_node(out, at.replica_node(vbucket, replica));
    }
    out.end_array();
    out.key("forward");
    write_node(out, at.has_forward_map() ? at.forward_node(vbucket) : std::nullopt);
    out.end_object();
    print(text + "\n");
}

void run_config(const config_options& options) {
    const auto at = load_configuration(options);
    if (options.key.empty()) {
        options.json ? print_configuration_json(*at) : print_configuration(*at);
        return;
    }
    if (at->vbucket_count() == 0) {
        throw failure("this configuration has no vbucket map, so it cannot locate keys");
    }
    options.json ? print_place_json(*at, options.key) : print_place(*at, options.key);
}

[[nodiscard]] std::string spec_text(const wire::retry_spec& spec) {
    std::string delays;
    for (std::uint32_t retry = 0; retry < 6; ++retry) {
        delays += fmt::format("{}{}", retry == 0 ? "" : ", ", spec.delay(retry).count());
    }
    return fmt::format(
        "waits {}, ... ms{}", delays,
        spec.max_duration ? fmt::format(", for {} ms in total", spec.max_duration->count()) : "");
}

// The attributes that have an effect, then unknown ones.
[[nodiscard]] std::string attributes_text(const wire::error_map_entry& entry) {
    std::string text = wire::to_string(entry.attributes);
    for (const std::string& name : entry.unknown_attributes) {
        text += fmt::format("{}{} (unknown)", text.empty() ? "" : ", ", base::printable(name));
    }
    return text;
}

void print_entry(const wire::error_map_entry& entry) {
    print(fmt::format("0x{:02x} {}\n", entry.code, base::printable(entry.name)));
    print(indented(base::printable(entry.description)));
    print(fmt::format("    attributes: {}\n", attributes_text(entry)));
    print(fmt::format(
        "    {}{}\n", entry.is_retry_indicated() ? "a retry may help" : "no retry indicated",
        entry.retry ? ": " + spec_text(*entry.retry) : ""));
}

void print_map(const wire::error_map& map) {
    print(fmt::format(
        "error map version {}, revision {}, {} codes\n", map.version(), map.revision(),
        map.entries().size()));
    for (const auto& entry : map.entries()) {
        print(fmt::format(
            "0x{:02x} {:<32} {}\n", entry.code, base::printable(entry.name),
            attributes_text(entry)));
    }
}

void run_error_map(const config_options& options) {
    std::optional<std::uint16_t> code;
    if (!options.code.empty()) {
        code = parse_status_code(options.code);
        if (!code) {
            throw usage_error(fmt::format("'{}' is not a status code such as 0x86", options.code));
        }
    }
    const std::string text = options.file.empty()
                                 ? fetch_error_map(open_access(options.access, access_kind::reads))
                                 : read_input(options.file);
    const std::string from = options.file.empty() ? "the cluster's error map" : options.file;
    auto map = wire::parse_error_map(text);
    if (!map) {
        throw failure(fmt::format("{}: {}", from, wire::to_string(map.error())));
    }
    if (code) {
        const auto* entry = map->find(*code);
        if (entry == nullptr) {
            throw failure(
                fmt::format("{} does not have code 0x{:02x}", from, *code), exit_code::not_found);
        }
        map = wire::error_map(map->version(), map->revision(), {*entry});
    }
    if (options.json) {
        // A single code is printed as a map with one code, so that --file can read it, too.
        print(wire::encode_error_map(*map, map->version()) + "\n");
    } else if (code) {
        print_entry(map->entries().front());
    } else {
        print_map(*map);
    }
}

}  // namespace

void add_config_commands(CLI::App& app) {
    const auto options = std::make_shared<config_options>();
    CLI::App* config = app.add_subcommand("config", "Show a cluster's configuration");
    add_access_options(*config, options->access);
    config->add_option(
        "--file", options->file, "Read it from this file instead; - for standard input");
    config->add_option("--host", options->host, "With --file: the value of $HOST")
        ->capture_default_str();
    config->add_option("--key", options->key, "Show where this key is, now and after a rebalance");
    config->add_flag("--json", options->json, "Print JSON; nodes are identified by number");
    using enum exit_code;
    config->footer(
        exit_code_help({timeout, no_access, server_error}) +
        "\nExamples:\n"
        "  reprise config -c couchbase://host -u app -b travel\n"
        "  reprise config --key airline_10 --json -c couchbase://host -u app -b travel\n"
        "  reprise config --file saved.json --key airline_10");
    config->callback([options] { run_config(*options); });

    const auto map_options = std::make_shared<config_options>();
    CLI::App* map = app.add_subcommand("error-map", "Show a cluster's error map");
    map->add_option("code", map_options->code, "Show only this code: 0x86");
    add_access_options(*map, map_options->access);
    map->add_option(
        "--file", map_options->file, "Read it from this file instead; - for standard input");
    map->add_flag("--json", map_options->json, "Print JSON in the server's format");
    map->footer(
        exit_code_help({not_found, timeout, no_access}) +
        "\nExamples:\n"
        "  reprise error-map -c couchbase://host\n"
        "  reprise error-map 0x86 --json -c couchbase://host\n"
        "  reprise error-map 0x86 --file saved.json");
    map->callback([map_options] { run_error_map(*map_options); });
}

}  // namespace reprise::app
