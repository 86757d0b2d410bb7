#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/configuration_revision.hpp>

namespace reprise::sandbox {

// An HTTP request to a node's management port, as a codec delivers it.
struct management_request {
    std::string method = "GET";
    std::string target{};         // path and query, percent-encoded as received
    std::string authorization{};  // that header's value; empty if it was not sent
    std::string body{};           // form-encoded for POST
    // The user of a verified client certificate, instead of `authorization`.
    std::string certificate_user{};
};

struct management_response {
    int status = 200;
    std::string content_type = "application/json";
    std::string body{};
    // Set for a stream: keep the response open (chunked) after `body` and send what
    // `next_stream_document` gives whenever cluster::configuration_generation has changed.
    struct stream {
        std::string bucket{};  // empty: the global configuration
        wire::configuration_revision sent{};
    };
    std::optional<stream> continues;
};

// Every document of a stream is followed by this.
inline constexpr std::string_view stream_separator = "\n\n\n\n";

// Answers what is asked on the management port, as handle_service does, but without rules and
// audit. All paths but `/` want basic or bearer credentials: 401 without, 403 for what the user's
// roles do not permit, 404 for what does not exist, 405 for a known path with another method.
// Refusals are objects: {"errors":{"<field>":"<text>"}}. docs/sandbox.md lists the paths. A change
// wakes connections up, like any other. Never throws on input.
management_response handle_management(
    cluster& cluster, node_id node, const management_request& request);

// The next document of a stream, separator included, if the node knows a newer configuration than
// `stream.sent`, which is then moved on. Empty: nothing new (or the bucket is gone).
std::optional<std::string> next_stream_document(
    const cluster& cluster, node_id node, management_response::stream& stream);

}  // namespace reprise::sandbox
