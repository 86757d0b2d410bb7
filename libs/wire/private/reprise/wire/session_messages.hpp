#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/hello_feature.hpp>
#include <reprise/wire/message.hpp>

// Messages that set up and maintain a connection. See message.hpp for encoding and decoding. noop,
// quit, version and sasl_list_mechanisms are `empty_request`; their answers are `empty_response` or
// `value_response`.

namespace reprise::wire {

/// hello: `agent` is the key field, either plain text or the JSON that `make_agent_key` builds.
/// encode writes the features in ascending order of code. decode ignores unknown codes, as a server
/// does.
struct hello_request {
    std::string_view agent;
    hello_feature_set features;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<hello_request, wire_errc> decode(const frame_view&);
};

/// Answer to hello: the features that the server enabled, a subset of those requested.
struct hello_response {
    hello_feature_set features;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<hello_response, wire_errc> decode(const frame_view&);
};

inline constexpr std::size_t agent_size_max = 200;

/// Identifies the client of a connection. The two ids identify the connection in the logs of both
/// sides.
struct agent_identity {
    std::string agent;
    std::optional<std::uint64_t> client_id;      ///< one per client instance
    std::optional<std::uint64_t> connection_id;  ///< one per connection
};

/// Returns {"a":"<agent>","i":"<16 hex>/<16 hex>"}. Truncates the agent to 200 bytes at a character
/// boundary. Omits "i" unless both ids are set.
std::string make_agent_key(const agent_identity& identity);

/// Parses a HELLO key: as JSON if it starts with '{', otherwise all of it is the agent. Fails with
/// agent_invalid.
std::expected<agent_identity, wire_errc> parse_agent_key(std::string_view key);

/// sasl_auth, sasl_step. CAS, vbucket and datatype must be 0.
struct sasl_request {
    opcode op = opcode::sasl_auth;
    std::string_view mechanism;  ///< for example "SCRAM-SHA512"
    base::byte_view data;        ///< the mechanism's message

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<sasl_request, wire_errc> decode(const frame_view&);
};

/// select_bucket. "@no bucket@" deselects the bucket.
struct select_bucket_request {
    std::string_view bucket;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<select_bucket_request, wire_errc> decode(const frame_view&);
};

/// get_error_map: carries the newest map version that the client understands. The answer is a
/// value_response.
struct get_error_map_request {
    std::uint16_t version_max = 2;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_error_map_request, wire_errc> decode(const frame_view&);
};

/// stat: requests a group of statistics, or the main ones if it is empty. `arguments` is optional
/// JSON.
struct stat_request {
    std::string_view group;
    base::byte_view arguments;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<stat_request, wire_errc> decode(const frame_view&);
};

/// verbosity: sets the server's log level.
struct verbosity_request {
    std::uint32_t level = 0;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<verbosity_request, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
