#include <reprise/sandbox_net/ready_file.hpp>

#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/sandbox/port_name.hpp>

#include "whole_file.hpp"

namespace reprise::sandbox {

namespace {

// Every port that a node can have: each service, plain and over TLS.
std::vector<std::pair<wire::service, wire::transport>> all_ports() {
    std::vector<std::pair<wire::service, wire::transport>> ports;
    for (const wire::service which : wire::list_services(wire::is_used_service)) {
        ports.emplace_back(which, wire::transport::plain);
        ports.emplace_back(which, wire::transport::tls);
    }
    return ports;
}

json::value text_or_null(const std::string& text) {
    return text.empty() ? json::value() : json::value(text);
}

// Empty if the member is missing or not a string.
std::string text_of(const json::value* member) {
    return member != nullptr ? std::string(member->as_string().value_or("")) : std::string();
}

std::expected<std::vector<node_ports>, std::string> read_nodes(const json::value* member) {
    const json::array* elements = member != nullptr ? member->as_array() : nullptr;
    if (elements == nullptr) {
        return std::unexpected("'nodes' is missing or not an array");
    }
    std::vector<node_ports> nodes;
    for (const json::value& element : *elements) {
        node_ports& ports = nodes.emplace_back();
        for (const auto& [which, over] : all_ports()) {
            const std::string name = port_name(which, over);
            const json::value* port = element.find(name);
            if (port == nullptr || port->is_null()) {
                continue;
            }
            const auto number = port->as_uint64();
            if (!number || *number > 65535) {
                return std::unexpected("a node's '" + name + "' is not a port");
            }
            ports.set(which, over, static_cast<std::uint16_t>(*number));
        }
    }
    return nodes;
}

std::expected<ready_info, std::string> from_json(const json::value& root) {
    ready_info info;
    info.addresses.connection_string = text_of(root.find("connection_string"));
    info.addresses.connection_string_tls = text_of(root.find("connection_string_tls"));
    info.addresses.ca_path = text_of(root.find("ca_path"));
    if (const json::value* control = root.find("control"); control != nullptr) {
        info.addresses.control_url = text_of(control->find("url"));
        info.addresses.control_token = text_of(control->find("token"));
        info.addresses.console_url = text_of(control->find("console"));
    }
    if (info.addresses.connection_string.empty()) {
        return std::unexpected("'connection_string' is missing or not a string");
    }
    if (info.addresses.control_url.empty() || info.addresses.control_token.empty()) {
        return std::unexpected("'control' has no 'url' or no 'token'");
    }
    auto nodes = read_nodes(root.find("nodes"));
    if (!nodes) {
        return std::unexpected(nodes.error());
    }
    info.addresses.nodes = *std::move(nodes);
    if (const json::value* pid = root.find("pid"); pid != nullptr) {
        info.pid = pid->as_int64().value_or(0);
    }
    return info;
}

}  // namespace

std::string to_json(const ready_info& info) {
    json::array nodes;
    for (const node_ports& ports : info.addresses.nodes) {
        json::object node;
        for (const auto& [which, over] : all_ports()) {
            const std::uint16_t port = ports.port(which, over);
            // Omit an optional service that the node does not have.
            if (port != 0 || wire::facts_of(which).is_on_every_node) {
                node.set(port_name(which, over), port != 0 ? json::value(port) : json::value());
            }
        }
        nodes.emplace_back(std::move(node));
    }
    json::object control{
        {"url", info.addresses.control_url}, {"token", info.addresses.control_token}};
    if (!info.addresses.console_url.empty()) {
        control.set("console", info.addresses.console_url);
    }
    return json::serialize(
               json::object{
                   {"connection_string", info.addresses.connection_string},
                   {"connection_string_tls", text_or_null(info.addresses.connection_string_tls)},
                   {"ca_path", text_or_null(info.addresses.ca_path)},
                   {"nodes", std::move(nodes)},
                   {"control", std::move(control)},
                   {"pid", info.pid}},
               json::layout::indented) +
           "\n";
}

std::expected<void, std::string> write_ready_file(const std::string& path, const ready_info& info) {
    return detail::write_whole_file(path, to_json(info), 0600);
}

std::int64_t find_ready_file_owner(const std::string& path) {
    const auto info = read_ready_file(path);
    // A process that we may not signal is running, too.
    const bool is_running =
        info && info->pid > 0 && (::kill(static_cast<pid_t>(info->pid), 0) == 0 || errno == EPERM);
    return is_running ? info->pid : 0;
}

std::expected<ready_info, std::string> read_ready_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return std::unexpected("cannot read " + path + "; is the sandbox running?");
    }
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto parsed = json::parse(text);
    if (!parsed) {
        return std::unexpected(path + ": " + to_string(parsed.error()));
    }
    auto info = from_json(parsed->root);
    if (!info) {
        return std::unexpected(path + ": " + info.error());
    }
    return info;
}

}  // namespace reprise::sandbox
