// The part of configuration_reader that reads nodes: nodesExt, and the older `nodes` with
// serverList.

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "configuration/configuration_reader.hpp"

namespace reprise::wire::detail {

namespace {

constexpr std::string_view host_placeholder = "$HOST";
constexpr std::size_t host_size_max = 255;
constexpr std::size_t alternate_count_max = 32;

// Null counts as absent.
const json::value* node_member(const json::value& source, std::string_view name) noexcept {
    const json::value* found = source.find(name);
    return found == nullptr || found->is_null() ? nullptr : found;
}

// Does not check names completely. It only rejects what cannot be a name or would confuse a URL.
bool is_host_text(std::string_view host) noexcept {
    return !host.empty() && host.size() <= host_size_max &&
           std::ranges::none_of(host, [](char each) {
               const auto byte = static_cast<unsigned char>(each);
               return byte <= 0x20 || byte == 0x7f || each == '/' || each == '@';
           });
}

// Some members have brackets around IPv6 and others do not.
std::string_view without_brackets(std::string_view host) noexcept {
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
        host.remove_prefix(1);
        host.remove_suffix(1);
    }
    return host;
}

// Turns "http://host:8092/bucket" into "host:8092".
std::string_view authority_of(std::string_view url) noexcept {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) {
        return {};
    }
    url.remove_prefix(scheme + 3);
    return url.substr(0, url.find('/'));
}

}  // namespace

// Prefers nodesExt. Older servers have only `nodes` and serverList.
bool configuration_reader::read_nodes() {
    const json::value* found = node_member(root_, "nodesExt");
    if (found != nullptr && found->as_array() == nullptr) {
        return fail_type("nodesExt", *found, "an array");
    }
    if (found == nullptr || found->as_array()->empty()) {
        if (facts_.bucket_name.empty()) {
            return fail(configuration_errc::missing_member, "nodesExt", "missing or empty");
        }
        return read_legacy_nodes();
    }
    const json::array& entries = *found->as_array();
    if (entries.size() > node_count_max) {
        return fail(
            configuration_errc::too_many_nodes, "nodesExt",
            std::to_string(entries.size()) + " nodes");
    }
    facts_.nodes.resize(entries.size());
    for (std::size_t index = 0; index < entries.size(); ++index) {
        const std::string path = "nodesExt[" + std::to_string(index) + "]";
        if (!read_node(entries[index], path, facts_.nodes[index])) {
            return false;
        }
    }
    return true;
}

bool configuration_reader::read_node(
    const json::value& source, const std::string& path, cluster_node& node) {
    if (source.as_object() == nullptr) {
        return fail_type(path, source, "an object");
    }
    const json::value* this_node = node_member(source, "thisNode");
    node.is_this_node = this_node != nullptr && this_node->as_bool() == true;
    return read_host(node_member(source, "hostname"), path + ".hostname", node.hostname) &&
           read_ports(node_member(source, "services"), path + ".services", node.ports) &&
           read_alternates(
               node_member(source, "alternateAddresses"), path + ".alternateAddresses", node) &&
           read_optional_text(source, "serverGroup", path, node.server_group) &&
           read_optional_text(source, "nodeUUID", path, node.node_uuid);
}

// If the server does not name its host, the host by which the client reached it is used.
bool configuration_reader::read_host(
    const json::value* source, const std::string& path, std::string& out) {
    if (source == nullptr) {
        out = options_.source_host;
        return true;
    }
    const auto text = source->as_string();
    if (!text) {
        return fail_type(path, *source, "a string");
    }
    out = *text == host_placeholder ? options_.source_host : std::string(without_brackets(*text));
    return is_host_text(out) ||
           fail(configuration_errc::host_invalid, path, "not a host name or address");
}

// Looks up known names only, because unknown services may have values of any type.
bool configuration_reader::read_ports(
    const json::value* source, const std::string& path, service_ports& out) {
    if (source == nullptr) {
        return true;
    }
    if (source->as_object() == nullptr) {
        return fail_type(path, *source, "an object");
    }
    for (std::size_t slot = 0; slot < service_count; ++slot) {
        for (const transport over : {transport::plain, transport::tls}) {
            const auto which = static_cast<service>(slot);
            const std::string_view name = port_member(which, over);
            const json::value* found = node_member(*source, name);
            if (found == nullptr) {
                continue;
            }
            const auto port = found->as_int64();
            if (!port) {
                return fail_type(path + "." + std::string(name), *found, "a port");
            }
            if (*port < 0 || *port > std::numeric_limits<std::uint16_t>::max()) {
                return fail(
                    configuration_errc::host_invalid, path + "." + std::string(name),
                    std::to_string(*port) + " is not a port");
            }
            out.set(which, over, static_cast<std::uint16_t>(*port));
        }
    }
    return true;
}

// An alternate address without a hostname is useless, so it is an error.
bool configuration_reader::read_alternates(
    const json::value* source, const std::string& path, cluster_node& node) {
    if (source == nullptr) {
        return true;
    }
    const json::object* networks = source->as_object();
    if (networks == nullptr) {
        return fail_type(path, *source, "an object");
    }
    if (networks->size() > alternate_count_max) {
        return fail(
            configuration_errc::too_many_nodes, path,
            std::to_string(networks->size()) + " networks");
    }
    for (const json::member& each : *networks) {
        const std::string network_path = path + "." + each.name;
        if (each.content.as_object() == nullptr) {
            return fail_type(network_path, each.content, "an object");
        }
        const json::value* host = node_member(each.content, "hostname");
        if (host == nullptr) {
            return fail(configuration_errc::missing_member, network_path + ".hostname", "missing");
        }
        alternate_address address;
        address.network = each.name;
        if (!read_host(host, network_path + ".hostname", address.hostname) ||
            !read_ports(
                node_member(each.content, "ports"), network_path + ".ports", address.ports)) {
            return false;
        }
        node.alternates.push_back(std::move(address));
    }
    return true;
}

// "host:port", "[ipv6]:port" or "$HOST:port".
std::optional<configuration_reader::host_port> configuration_reader::split_host_port(
    std::string_view text) const {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    host_port result;
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, ec] =
        std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
    if (ec != std::errc{} || end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    const std::string_view host = text.substr(0, colon);
    const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (!is_bracketed && host.find(':') != std::string_view::npos) {
        return std::nullopt;  // an IPv6 address without brackets has no distinguishable port
    }
    result.host =
        host == host_placeholder ? options_.source_host : std::string(without_brackets(host));
    return is_host_text(result.host) ? std::optional(result) : std::nullopt;
}

// For servers without nodesExt: serverList has hosts and key-value ports in map order, and `nodes`,
// which has a different order, adds the other ports.
bool configuration_reader::read_legacy_nodes() {
    const json::value* servers = map_ == nullptr ? nullptr : node_member(*map_, "serverList");
    if (servers != nullptr && servers->as_array() != nullptr) {
        const json::array& list = *servers->as_array();
        if (list.size() > node_count_max) {
            return fail(
                configuration_errc::too_many_nodes, "vBucketServerMap.serverList",
                std::to_string(list.size()) + " nodes");
        }
        for (std::size_t index = 0; index < list.size(); ++index) {
            const std::string path = "vBucketServerMap.serverList[" + std::to_string(index) + "]";
            const auto text = list[index].as_string();
            if (!text) {
                return fail_type(path, list[index], "a string");
            }
            auto address = split_host_port(*text);
            if (!address) {
                return fail(configuration_errc::host_invalid, path, "not a host with a port");
            }
            cluster_node node;
            node.hostname = std::move(address->host);
            node.ports.set(service::key_value, transport::plain, address->port);
            facts_.nodes.push_back(std::move(node));
        }
    }
    const json::value* legacy = node_member(root_, "nodes");
    if (legacy == nullptr) {
        return true;
    }
    if (legacy->as_array() == nullptr) {
        return fail_type("nodes", *legacy, "an array");
    }
    const json::array& entries = *legacy->as_array();
    if (entries.size() > node_count_max) {
        return fail(
            configuration_errc::too_many_nodes, "nodes", std::to_string(entries.size()) + " nodes");
    }
    for (std::size_t index = 0; index < entries.size(); ++index) {
        cluster_node node;
        if (!read_legacy_node(entries[index], "nodes[" + std::to_string(index) + "]", node)) {
            return false;
        }
        merge_legacy_node(std::move(node));
    }
    return true;
}

// Here `hostname` includes the management port, and `ports.direct` is the key-value port.
bool configuration_reader::read_legacy_node(
    const json::value& source, const std::string& path, cluster_node& node) {
    if (source.as_object() == nullptr) {
        return fail_type(path, source, "an object");
    }
    std::string host_text;
    std::string views_url;
    if (!read_optional_text(source, "hostname", path, host_text) ||
        !read_optional_text(source, "couchApiBase", path, views_url)) {
        return false;
    }
    const auto address = split_host_port(host_text);
    if (!address) {
        return fail(configuration_errc::host_invalid, path + ".hostname", "not a host with a port");
    }
    node.hostname = address->host;
    node.ports.set(service::management, transport::plain, address->port);
    if (const auto views = split_host_port(authority_of(views_url))) {
        node.ports.set(service::views, transport::plain, views->port);
    }
    const json::value* ports = node_member(source, "ports");
    const json::value* direct = ports == nullptr ? nullptr : node_member(*ports, "direct");
    if (direct != nullptr) {
        const auto port = direct->as_uint64();
        if (!port || *port > std::numeric_limits<std::uint16_t>::max()) {
            return fail_type(path + ".ports.direct", *direct, "a port");
        }
        node.ports.set(service::key_value, transport::plain, static_cast<std::uint16_t>(*port));
    }
    return true;
}

// The key-value port distinguishes nodes on one host.
void configuration_reader::merge_legacy_node(cluster_node node) {
    const std::uint16_t kv_port = node.ports.port(service::key_value, transport::plain);
    for (cluster_node& existing : facts_.nodes) {
        const std::uint16_t existing_port =
            existing.ports.port(service::key_value, transport::plain);
        if (existing.hostname == node.hostname && (kv_port == 0 || kv_port == existing_port)) {
            node.ports.set(service::key_value, transport::plain, existing_port);
            existing.ports = node.ports;
            return;
        }
    }
    facts_.nodes.push_back(std::move(node));
}

}  // namespace reprise::wire::detail
