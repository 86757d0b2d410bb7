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

// Messages that set up and look after a connection. How they are encoded and decoded: see
// message.hpp. noop, quit, version, sasl_list_mechanisms are `empty_request`; their answers are
// `empty_response` or `value_response`.

namespace reprise::wire {

// hello: `agent` is the key field as it stands, plain text or the JSON that `make_agent_key`
// builds. Features are written ascending by code. decode ignores codes that are not known, as a
// server does.
struct hello_request {
    std::string_view agent;
    hello_feature_set features;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<hello_request, wire_errc> decode(const frame_view&);
};

// Answer to hello: what the server enabled, a subset of what was asked.
struct hello_response {
    hello_feature_set features;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<hello_response, wire_errc> decode(const frame_view&);
};

inline constexpr std::size_t agent_size_max = 200;

// Who speaks on a connection. The pair of ids names the connection in both sides' logs.
struct agent_identity {
    std::string agent;
    std::optional<std::uint64_t> client_id;      // one per client instance
    std::optional<std::uint64_t> connection_id;  // one per connection
};

// {"a":"<agent>","i":"<16 hex>/<16 hex>"}. The agent is cut at 200 bytes, on a character boundary;
// "i" is left out unless both ids are given.
std::string make_agent_key(const agent_identity& identity);

// Reads a HELLO key: JSON when it starts with '{', otherwise the whole of it is the agent. Error:
// agent_invalid.
std::expected<agent_identity, wire_errc> parse_agent_key(std::string_view key);

// sasl_auth, sasl_step. CAS, vbucket and datatype must be 0.
struct sasl_request {
    opcode op = opcode::sasl_auth;
    std::string_view mechanism;  // e.g. "SCRAM-SHA512"
    base::byte_view data;        // what the mechanism says

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<sasl_request, wire_errc> decode(const frame_view&);
};

// select_bucket. "@no bucket@" unbinds.
struct select_bucket_request {
    std::string_view bucket;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<select_bucket_request, wire_errc> decode(const frame_view&);
};

// get_error_map: the newest map version the client understands. The answer is a value_response.
struct get_error_map_request {
    std::uint16_t version_max = 2;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_error_map_request, wire_errc> decode(const frame_view&);
};

// stat: a group of statistics, the main ones when empty. `arguments` is optional JSON.
struct stat_request {
    std::string_view group;
    base::byte_view arguments;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<stat_request, wire_errc> decode(const frame_view&);
};

// One statistic. The server answers with many of these; an empty one ends the list.
struct stat_response {
    std::string_view name;
    base::byte_view value;

    bool is_last() const noexcept { return name.empty() && value.empty(); }
    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<stat_response, wire_errc> decode(const frame_view&);
};

// verbosity: the server's log level.
struct verbosity_request {
    std::uint32_t level = 0;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<verbosity_request, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
