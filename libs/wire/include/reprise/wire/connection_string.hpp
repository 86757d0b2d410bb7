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

/// The parameters that a connection string may set after `?`. An empty parameter was not given: the
/// client's default applies. Each member has the name of its parameter, in lower case. Durations
/// use Go's notation (`2.5s`, `1m30s`, `100ms`) or are a bare number of milliseconds. Booleans are
/// `true`, `false`, `1` or `0`.
struct connection_parameters {
    using duration = std::optional<std::chrono::milliseconds>;

    duration kv_connect_timeout;
    duration kv_timeout;
    duration kv_durable_timeout;
    std::array<duration, service_count> service_timeouts;  ///< `query_timeout`, ...
    duration config_poll_interval;
    duration config_poll_floor;
    duration revision_delay_max;
    duration missing_bucket_patience;
    duration config_idle_redial_timeout;
    duration idle_http_connection_timeout;
    duration tcp_keepalive_time;
    duration seed_silence_max;
    std::optional<std::uint32_t> num_kv_connections;    ///< per node, 1 to 64
    std::optional<std::uint32_t> max_http_connections;  ///< per node; 0 means no limit
    /// The maximum that the client accepts from a server.
    std::optional<std::uint32_t> scram_iterations_max;
    std::optional<bool> enable_tcp_keepalives;
    std::optional<bool> enable_mutation_tokens;
    std::optional<bool> enable_dns_srv;
    std::optional<bool> trust_srv_targets;
    std::optional<bool> force_ipv4;
    std::optional<bool> allow_plain_without_tls;
    std::optional<bool> hello_after_authentication;
    std::optional<bool> allow_plain_http;
    std::optional<bool> tls_verify;      ///< `none`/`peer`, or a boolean
    std::optional<std::string> network;  ///< `auto`, `default`, `external` or another name
    std::optional<std::string> preferred_server_group;  ///< for reads of replicas
    std::optional<std::string> trust_certificate;       ///< path to a PEM file

    friend bool operator==(const connection_parameters&, const connection_parameters&) = default;
};

/// A parsed connection string: [scheme://]host[:port]{,host[:port]}[/bucket][?name=value{&...}]
struct connection_string {
    transport security = transport::plain;  ///< plain for couchbase://, TLS for couchbases://
    /// Has at least one entry. Hosts have no brackets.
    std::vector<bootstrap_address> hosts;
    std::string bucket;  ///< empty if the string names no bucket
    connection_parameters parameters;

    /// The key-value port of a host without a port: 11210, or 11207 with TLS.
    std::uint16_t default_port() const noexcept;
    /// Whether the string has exactly one host, which is a name without a port, and enable_dns_srv
    /// is not false.
    bool is_dns_srv_eligible() const noexcept;
    /// Returns for example "_couchbase._tcp.example.com". Meaningful only if is_dns_srv_eligible().
    std::string dns_srv_name() const;
};

enum class connection_string_errc : std::uint8_t {
    empty = 1,           ///< the text is empty
    too_long,            ///< longer than connection_string_size_max
    scheme_unsupported,  ///< http, https, couchbase2 or any other scheme
    user_info_refused,   ///< user:password@ is not allowed here
    host_missing,        ///< the list of hosts has an empty entry
    host_invalid,        ///< a character that no host name contains, or an unclosed bracket
    port_invalid,        ///< not a number, 0, or above 65535
    mode_refused,        ///< `=mode` after a host
    bucket_invalid,      ///< a second `/`, or an invalid percent escape
    parameter_unknown,   ///< no such parameter; the suggestion may name another
    parameter_repeated,  ///< the parameter appears twice
    parameter_invalid    ///< the value does not fit the parameter's type
};

std::string_view to_string(connection_string_errc code) noexcept;

struct connection_string_error {
    connection_string_errc code = connection_string_errc::empty;
    /// Byte offset of the invalid part in the given text.
    std::size_t position = 0;
    std::string field;   ///< "scheme", "host", "port", "bucket" or the name of the parameter
    std::string detail;  ///< a readable explanation; never contains a password
    /// The parameter that was probably meant. Empty if none is close.
    std::string suggestion;
};

/// Returns for example "kv_timout at 31: unknown parameter; did you mean kv_timeout?"
std::string to_string(const connection_string_error& error);

inline constexpr std::size_t connection_string_size_max = 16384;

/// A string without a scheme means `couchbase`. Never throws on bad input.
std::expected<connection_string, connection_string_error> parse_connection_string(
    std::string_view text);

/// Parses a duration as described above. A duration other than zero must be at least 1 ms. Returns
/// nothing if the text is malformed or the duration exceeds 24 days.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept;

/// Whether the text is an IPv4 address in dotted form or an IPv6 address.
bool is_ip_address(std::string_view host) noexcept;

}  // namespace reprise::wire
