#include <reprise/wire/connection_string.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include <reprise/base/enum_table.hpp>
#include <reprise/base/percent_encoding.hpp>

namespace reprise::wire {

namespace {

using errc = connection_string_errc;

constexpr std::uint16_t kv_port_plain = 11210;
constexpr std::uint16_t kv_port_tls = 11207;

// `position` is always an offset in the user's text.
std::unexpected<connection_string_error> refuse(
    errc code, std::size_t position, std::string field, std::string detail) {
    return std::unexpected(
        connection_string_error{code, position, std::move(field), std::move(detail), {}});
}

// Views into the given text, split at the separators. The data pointers give the positions.
struct string_parts {
    std::string_view scheme;
    std::string_view hosts;
    std::string_view bucket;
    std::string_view query;
};

// Only splits the text. The readers below check the parts.
string_parts cut(std::string_view text) noexcept {
    string_parts parts;
    if (const std::size_t end = text.find("://"); end != std::string_view::npos) {
        parts.scheme = text.substr(0, end);
        text.remove_prefix(end + 3);
    }
    if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
        parts.query = text.substr(mark + 1);
        text = text.substr(0, mark);
    }
    const std::size_t slash = text.find('/');
    parts.hosts = text.substr(0, slash);
    if (slash != std::string_view::npos) {
        parts.bucket = text.substr(slash + 1);
    }
    return parts;
}

std::string lower_case(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](char each) {
        return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    });
    return out;
}

// Rejects the schemes of other clients with the reason.
std::expected<transport, connection_string_error> read_scheme(std::string_view scheme) {
    const std::string name = lower_case(scheme);
    if (name == "couchbase") {
        return transport::plain;
    }
    if (name == "couchbases") {
        return transport::tls;
    }
    std::string detail = "'" + std::string(scheme) + "://' is not supported";
    if (name == "http" || name == "https") {
        detail += ": this client bootstraps over the key-value protocol";
    } else if (name == "couchbase2") {
        detail += ": this client does not support Protostellar";
    }
    detail += "; use couchbase:// or, for TLS, couchbases://";
    return refuse(errc::scheme_unsupported, 0, "scheme", std::move(detail));
}

// Leaves bytes above ASCII to the resolver.
bool is_host_character(char each) noexcept {
    const auto byte = static_cast<unsigned char>(each);
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           (each >= '0' && each <= '9') || each == '-' || each == '.' || each == '_' ||
           byte >= 0x80;
}

// Rejects 0, which is not a port to connect to.
std::expected<std::optional<std::uint16_t>, connection_string_error> read_port(
    std::string_view text, std::size_t position) {
    std::uint16_t port = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || result.ec != std::errc{} || result.ptr != text.data() + text.size() ||
        port == 0) {
        return refuse(errc::port_invalid, position, "port", "not a number from 1 to 65535");
    }
    return port;
}

// Reads one entry of the host list, without separators.
std::expected<bootstrap_address, connection_string_error> read_host_entry(
    std::string_view entry, std::size_t position) {
    if (entry.empty()) {
        return refuse(errc::host_missing, position, "host", "empty");
    }
    if (const std::size_t mode = entry.find('='); mode != std::string_view::npos) {
        return refuse(
            errc::mode_refused, position + mode, "host",
            "'" + std::string(entry.substr(mode)) +
                "' is not supported; there is only one way to bootstrap");
    }
    bootstrap_address address;
    std::string_view rest;
    if (entry.front() == '[') {
        const std::size_t end = entry.find(']');
        if (end == std::string_view::npos) {
            return refuse(errc::host_invalid, position, "host", "unclosed bracket");
        }
        address.host = entry.substr(1, end - 1);
        rest = entry.substr(end + 1);
        if (address.host.find(':') == std::string::npos || !is_ip_address(address.host)) {
            return refuse(errc::host_invalid, position + 1, "host", "not an IPv6 address");
        }
        // A URI writes the `%` of a zone as `%25`.
        if (const std::size_t zone = address.host.find("%25"); zone != std::string::npos) {
            address.host.erase(zone + 1, 2);
        }
    } else {
        const std::size_t colon = entry.find(':');
        address.host = entry.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view{} : entry.substr(colon);
        if (address.host.empty()) {
            return refuse(errc::host_missing, position, "host", "empty");
        }
        if (rest.find(':', 1) != std::string_view::npos) {
            return refuse(
                errc::host_invalid, position, "host",
                "more than one colon: an IPv6 address needs brackets");
        }
        const auto bad = std::ranges::find_if_not(address.host, is_host_character);
        if (bad != address.host.end()) {
            return refuse(
                errc::host_invalid, position + static_cast<std::size_t>(bad - address.host.begin()),
                "host", "a character that no host name contains");
        }
    }
    if (rest.empty()) {
        return address;
    }
    const std::size_t port_position =
        position + static_cast<std::size_t>(rest.data() - entry.data());
    if (rest.front() != ':') {
        return refuse(errc::host_invalid, port_position, "host", "text after the bracket");
    }
    const auto port = read_port(rest.substr(1), port_position + 1);
    if (!port) {
        return std::unexpected(port.error());
    }
    address.port = *port;
    return address;
}

// Hosts are separated by commas or semicolons. An error never repeats the text of a password.
std::expected<std::vector<bootstrap_address>, connection_string_error> read_hosts(
    std::string_view hosts, std::size_t position) {
    if (hosts.find('@') != std::string_view::npos) {
        return refuse(
            errc::user_info_refused, position, "host",
            "user name and password do not belong in a connection string");
    }
    std::vector<bootstrap_address> addresses;
    while (true) {
        const std::size_t end = hosts.find_first_of(",;");
        auto address = read_host_entry(hosts.substr(0, end), position);
        if (!address) {
            return std::unexpected(address.error());
        }
        addresses.push_back(std::move(*address));
        if (end == std::string_view::npos) {
            return addresses;
        }
        hosts.remove_prefix(end + 1);
        position += end + 1;
    }
}

// Decodes percent escapes. Returns nothing if an escape is invalid or is a NUL (%00), which no name
// contains.
std::optional<std::string> decode_name(std::string_view text) {
    return text.find("%00") == std::string_view::npos ? base::percent_decode(text) : std::nullopt;
}

// A string without a slash, or with nothing after it, names no bucket.
std::expected<std::string, connection_string_error> read_bucket(
    std::string_view text, std::size_t position) {
    if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
        return refuse(
            errc::bucket_invalid, position + slash, "bucket", "only one name may follow the hosts");
    }
    auto name = decode_name(text);
    if (!name) {
        return refuse(errc::bucket_invalid, position, "bucket", "invalid percent escape");
    }
    return std::move(*name);
}

// Splits `name=value{&name=value}` and decodes the values.
std::expected<std::vector<connection_parameter>, connection_string_error> read_parameters(
    std::string_view query, std::size_t position) {
    std::vector<connection_parameter> parameters;
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        const std::string_view name = pair.substr(0, pair.find('='));
        const std::size_t value_start = std::min(name.size() + 1, pair.size());
        if (std::ranges::find(parameters, name, &connection_parameter::name) != parameters.end()) {
            return refuse(errc::parameter_repeated, position, std::string(name), "given twice");
        }
        auto value = decode_name(pair.substr(value_start));
        if (!value) {
            return refuse(
                errc::parameter_invalid, position + value_start, std::string(name),
                "invalid percent escape");
        }
        parameters.push_back(
            {std::string(name), std::move(*value), position, position + value_start});
        const std::size_t step = std::min(pair.size() + 1, query.size());
        query.remove_prefix(step);
        position += step;
    }
    return parameters;
}

}  // namespace

std::uint16_t connection_string::default_port() const noexcept {
    return security == transport::tls ? kv_port_tls : kv_port_plain;
}

bool connection_string::is_dns_srv_eligible() const noexcept {
    return hosts.size() == 1 && !hosts.front().port && !is_ip_address(hosts.front().host);
}

std::string connection_string::dns_srv_name() const {
    const std::string prefix =
        security == transport::tls ? "_couchbases._tcp." : "_couchbase._tcp.";
    return hosts.empty() ? prefix : prefix + hosts.front().host;
}

std::string_view to_string(connection_string_errc code) noexcept {
    static constexpr base::enumerator_texts<connection_string_errc> texts({
        {errc::empty, "empty connection string"},
        {errc::too_long, "connection string too long"},
        {errc::scheme_unsupported, "unsupported scheme"},
        {errc::user_info_refused, "user info not allowed"},
        {errc::host_missing, "host missing"},
        {errc::host_invalid, "invalid host"},
        {errc::port_invalid, "invalid port"},
        {errc::mode_refused, "bootstrap mode not allowed"},
        {errc::bucket_invalid, "invalid bucket"},
        {errc::parameter_unknown, "unknown parameter"},
        {errc::parameter_repeated, "repeated parameter"},
        {errc::parameter_invalid, "invalid parameter value"},
    });
    return texts[code];
}

std::string to_string(const connection_string_error& error) {
    std::string text;
    if (!error.field.empty()) {
        text += error.field + " at " + std::to_string(error.position) + ": ";
    }
    text += to_string(error.code);
    if (!error.detail.empty()) {
        text += ": " + error.detail;
    }
    if (!error.suggestion.empty()) {
        text += "; did you mean " + error.suggestion + "?";
    }
    return text;
}

std::expected<connection_string, connection_string_error> parse_connection_string(
    std::string_view text) {
    if (text.empty()) {
        return refuse(errc::empty, 0, "", "");
    }
    if (text.size() > connection_string_size_max) {
        return refuse(
            errc::too_long, connection_string_size_max, "", std::to_string(text.size()) + " bytes");
    }
    const string_parts parts = cut(text);
    const auto position = [&](std::string_view part) {
        return part.data() == nullptr ? text.size()
                                      : static_cast<std::size_t>(part.data() - text.data());
    };
    connection_string result;
    if (text.find("://") != std::string_view::npos) {
        const auto security = read_scheme(parts.scheme);
        if (!security) {
            return std::unexpected(security.error());
        }
        result.security = *security;
    }
    auto hosts = read_hosts(parts.hosts, position(parts.hosts));
    if (!hosts) {
        return std::unexpected(hosts.error());
    }
    result.hosts = std::move(*hosts);
    auto bucket = read_bucket(parts.bucket, position(parts.bucket));
    if (!bucket) {
        return std::unexpected(bucket.error());
    }
    result.bucket = std::move(*bucket);
    auto parameters = read_parameters(parts.query, position(parts.query));
    if (!parameters) {
        return std::unexpected(parameters.error());
    }
    result.parameters = std::move(*parameters);
    return result;
}

}  // namespace reprise::wire
