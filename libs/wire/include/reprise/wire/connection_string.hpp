#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/cluster_node.hpp>

namespace reprise::wire {

// What a connection string may set after `?`. Empty means: not given, the client's default holds.
// The names are those of the string, in lower case. Durations are Go style (`2.5s`, `1m30s`,
// `100ms`) or a bare number of milliseconds; booleans `true`/`false`/`1`/`0`.
struct connection_parameters {
    using duration = std::optional<std::chrono::milliseconds>;

    duration kv_connect_timeout;
    duration kv_timeout;
    duration kv_durable_timeout;
    std::array<duration, service_count> service_timeouts;  // `query_timeout`, ...
    duration config_poll_interval;
    duration config_poll_floor;
    duration config_idle_redial_timeout;
    duration idle_http_connection_timeout;
    duration tcp_keepalive_time;
    std::optional<std::uint32_t> num_kv_connections;    // 1 to 64 per node
    std::optional<std::uint32_t> max_http_connections;  // per node; 0: no limit
    std::optional<std::uint32_t> scram_iterations_max;  // rounds a server may ask for
    std::optional<bool> enable_tcp_keepalives;
    std::optional<bool> enable_mutation_tokens;
    std::optional<bool> enable_dns_srv;
    std::optional<bool> force_ipv4;
    std::optional<bool> allow_plain_without_tls;
    std::optional<bool> hello_after_authentication;
    std::optional<bool> allow_plain_http;
    std::optional<bool> tls_verify;                // `none`/`peer`, or a boolean
    std::optional<std::string> network;            // `auto`, `default`, `external` or another name
    std::optional<std::string> trust_certificate;  // path of a PEM file

    friend bool operator==(const connection_parameters&, const connection_parameters&) = default;
};

// A parsed connection string: [scheme://]host[:port]{,host[:port]}[/bucket][?name=value{&...}]
struct connection_string {
    transport security = transport::plain;  // couchbase:// or, with TLS, couchbases://
    // At least one; hosts without brackets.
    std::vector<bootstrap_address> hosts;
    std::string bucket;  // empty if none was given
    connection_parameters parameters;

    // Key-value port used where a host has none: 11210, with TLS 11207.
    std::uint16_t default_port() const noexcept;
    // Exactly one host, a name and no address, without a port, and enable_dns_srv is not false.
    bool is_dns_srv_eligible() const noexcept;
    // "_couchbase._tcp.example.com"; meaningful only if eligible.
    std::string dns_srv_name() const;
};

enum class connection_string_errc : std::uint8_t {
    empty = 1,           // no text at all
    too_long,            // over connection_string_size_max
    scheme_unsupported,  // http, https, couchbase2 and every other scheme
    user_info_refused,   // user:password@ does not belong here
    host_missing,        // an empty entry in the list of hosts
    host_invalid,        // a character no host has, or an unclosed bracket
    port_invalid,        // no number, 0, or above 65535
    mode_refused,        // `=mode` after a host
    bucket_invalid,      // a further `/`, or a bad percent escape
    parameter_unknown,   // the detail may suggest another name
    parameter_repeated,  // given twice
    parameter_invalid    // a value that does not fit its type
};

std::string_view to_string(connection_string_errc code) noexcept;

struct connection_string_error {
    connection_string_errc code = connection_string_errc::empty;
    // Byte in the given text where the wrong part begins.
    std::size_t position = 0;
    std::string field;   // "scheme", "host", "port", "bucket" or the parameter's name
    std::string detail;  // for people; never repeats a password
    // The parameter probably meant; empty if none is close.
    std::string suggestion;
};

// "kv_timout at 31: unknown parameter; did you mean kv_timeout?"
std::string to_string(const connection_string_error& error);

inline constexpr std::size_t connection_string_size_max = 16384;

// Without a scheme `couchbase` is meant. Never throws on input.
std::expected<connection_string, connection_string_error> parse_connection_string(
    std::string_view text);

// A duration as above; at least 1 ms unless it is zero. Empty if it is no such text or does not
// fit 24 days.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept;

// The candidate with the smallest edit distance to `word`, if it is close enough to be a slip (a
// third of its letters at most); otherwise empty.
std::string_view closest_name(
    std::string_view word, const std::vector<std::string_view>& candidates);

// True for IPv4 dotted or IPv6 text.
bool is_ip_address(std::string_view host) noexcept;

}  // namespace reprise::wire
