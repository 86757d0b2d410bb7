#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/configuration_revision.hpp>
#include <reprise/wire/message.hpp>

// Messages about the cluster configuration and about collection names. See message.hpp for encoding
// and decoding. Other code parses the JSON in their values. A value may be compressed with Snappy
// (check the frame's datatype), and a configuration may lack the JSON bit.

namespace reprise::wire {

/// get_cluster_config. If `known` is set (this needs HELLO 0x1d), the server answers with an empty
/// value unless it has something newer. A client without a configuration must leave it out. The
/// answer is a value_response. Fails with revision_invalid if rev is below 1 or above 2^63-1 (the
/// limit of the protocol's field), or if epoch is below 1 and not -1.
struct get_cluster_config_request {
    std::optional<configuration_revision> known;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_cluster_config_request, wire_errc> decode(const frame_view&);
};

/// A server pushes it (magic 0x82, opcode 0x01) after HELLO 0x0d or 0x1f. The client does not
/// answer.
struct cluster_map_change_notification {
    /// Older servers send no epoch. If it is negative, the server is not initialised: ignore the
    /// message.
    std::optional<std::int64_t> epoch;
    std::uint64_t rev = 0;
    std::string_view bucket;  ///< empty for the global configuration
    /// JSON; empty in the brief form: fetch the configuration
    base::byte_view config;
    wire::datatype datatype = wire::datatype::raw;  ///< of `config`

    std::expected<void, wire_errc> encode(base::byte_writer&) const;
    static std::expected<cluster_map_change_notification, wire_errc> decode(const frame_view&);
};

/// get_collection_id. CAS and vbucket must be 0. Servers also accept the path as the key, and so
/// does decode.
struct get_collection_id_request {
    std::string_view path;  ///< "scope.collection"; an empty part means _default

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_collection_id_request, wire_errc> decode(const frame_view&);
};

struct collection_id_response {
    std::uint64_t manifest_uid = 0;  ///< the manifest that the server consulted
    collection_id collection{};

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<collection_id_response, wire_errc> decode(const frame_view&);
};

/// get_scope_id. CAS and vbucket must be 0.
struct get_scope_id_request {
    std::string_view scope;  ///< servers ignore a ".collection" suffix

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<get_scope_id_request, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
