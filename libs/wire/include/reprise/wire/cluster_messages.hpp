#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/configuration_revision.hpp>
#include <reprise/wire/message.hpp>

// Messages about the cluster configuration and about names of collections. How they are encoded and
// decoded: see message.hpp. The JSON in their values is read elsewhere; a value may be snappy
// compressed (look at the frame's datatype), and for a configuration the JSON bit may be missing.

namespace reprise::wire {

// get_cluster_config. With `known` (needs HELLO 0x1d) the server answers an empty value when it has
// nothing newer; a client without any configuration must leave it out. The answer is a
// value_response. Error: revision_invalid (rev < 1 or above 2^63-1, where the protocol's field
// ends; epoch < 1 other than -1).
struct get_cluster_config_request {
    std::optional<configuration_revision> known;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_cluster_config_request, wire_errc> decode(const frame_view&);
};

// Pushed by a server (magic 0x82, opcode 0x01) after HELLO 0x0d or 0x1f. Not answered.
struct cluster_map_change_notification {
    // Older servers send no epoch. A negative epoch means not initialised: ignore the message.
    std::optional<std::int64_t> epoch;
    std::uint64_t rev = 0;
    std::string_view bucket;                        // empty for the global configuration
    base::byte_view config;                         // JSON; empty in the brief form: fetch it
    wire::datatype datatype = wire::datatype::raw;  // of `config`

    std::expected<void, wire_errc> encode(base::byte_writer&) const;
    static std::expected<cluster_map_change_notification, wire_errc> decode(const frame_view&);
};

// get_collection_id. CAS and vbucket must be 0. Servers also accept the path as key; so does
// decode.
struct get_collection_id_request {
    std::string_view path;  // "scope.collection"; an empty part means _default

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_collection_id_request, wire_errc> decode(const frame_view&);
};

struct collection_id_response {
    std::uint64_t manifest_uid = 0;  // the manifest that was looked at
    collection_id collection{};

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<collection_id_response, wire_errc> decode(const frame_view&);
};

// get_scope_id. CAS and vbucket must be 0.
struct get_scope_id_request {
    std::string_view scope;  // a ".collection" tail is ignored by servers

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_scope_id_request, wire_errc> decode(const frame_view&);
};

struct scope_id_response {
    std::uint64_t manifest_uid = 0;
    scope_id scope{};

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<scope_id_response, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
