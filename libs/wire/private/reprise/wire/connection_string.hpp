#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/cluster_node.hpp>

namespace reprise::wire {

/// One `name=value` after `?`. The parser accepts any name; the client defines the parameters that
/// exist and their meaning: see couchbase_types/cluster_options.hpp.
struct connection_parameter {
    std::string name;
    std::string value;  ///< without percent escapes; empty if there is no `=`
    /// Byte offsets of name and value in the given text.
    std::size_t name_position = 0;
    std::size_t value_position = 0;

    friend bool operator==(const connection_parameter&, const connection_parameter&) = default;
};

/// A parsed connection string: [scheme://]host[:port]{,host[:port]}[/bucket][?name=value{&...}]
struct connection_string {
    transport security = transport::plain;  ///< plain for couchbase://, TLS for couchbases://
    /// Has at least one entry. Hosts have no brackets.
    std::vector<bootstrap_address> hosts;
    std::string bucket;                            ///< empty if the string names no bucket
    std::vector<connection_parameter> parameters;  ///< as written; no name occurs twice

    /// The key-value port of a host without a port: 11210, or 11207 with TLS.
    std::uint16_t default_port() const noexcept;
    /// Whether the string has exactly one host, which is a name without a port.
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
    parameter_unknown,   ///< the client has no such parameter; the suggestion may name another
    parameter_repeated,  ///< the parameter appears twice
    parameter_invalid    ///< an invalid percent escape, or a value that the client refuses
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

/// Whether the text is an IPv4 address in dotted form or an IPv6 address.
bool is_ip_address(std::string_view host) noexcept;

}  // namespace reprise::wire
