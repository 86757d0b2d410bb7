#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/configuration_revision.hpp>

namespace reprise::sandbox {

/// An HTTP request to a node's management port, as a codec delivers it.
struct management_request {
    std::string method = "GET";
    std::string target{};         // path and query, percent-encoded as received
    std::string authorization{};  // value of that header; empty if it was not sent
    std::string body{};           // form-encoded for POST
    /// The user of a verified client certificate; replaces `authorization`.
    std::string certificate_user{};
};

struct management_response {
    int status = 200;
    std::string content_type = "application/json";
    std::string body{};
    /// Set for a stream: keep the response open (chunked) after `body`, and send what
    /// `next_stream_document` returns whenever cluster_topology::configuration_generation
    /// changes.
    struct stream {
        std::string bucket{};  // empty: the global configuration
        wire::configuration_revision sent{};
    };
    std::optional<stream> continues;
};

/// Follows every document of a stream.
inline constexpr std::string_view stream_separator = "\n\n\n\n";

/// Answers a request on the management port like handle_service, but without rules and audit. All
/// paths except `/` require basic or bearer credentials. It answers 401 without credentials, 403 if
/// the user's roles do not permit the request, 404 if the target does not exist, and 405 for a
/// known path with another method. Refusals are objects: {"errors":{"<field>":"<text>"}}.
/// docs/sandbox.md lists the paths. A change wakes up connections like any other change. Never
/// throws on input.
management_response handle_management(
    cluster& cluster, node_id node, const management_request& request);

/// Returns the next document of a stream, including the separator, and advances `stream.sent` if
/// the node has a newer configuration. Empty: nothing new, or the bucket is gone.
std::optional<std::string> next_stream_document(
    const cluster& cluster, node_id node, management_response::stream& stream);

}  // namespace reprise::sandbox
