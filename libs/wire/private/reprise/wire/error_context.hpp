#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

/// A server's report about an error, in the value of the response. Any member may be missing.
struct error_context {
    std::string context;  ///< readable text; empty if not sent
    std::string ref;      ///< the id to look up in the server's logs; empty if not sent
    /// The manifest that the node consulted. Sent with unknown_collection and unknown_scope.
    std::optional<std::uint64_t> manifest_uid;

    friend bool operator==(const error_context&, const error_context&) = default;
};

/// Longer texts are truncated at a character boundary. In bytes.
inline constexpr std::size_t error_context_text_size_max = 4096;

/// Returns {"error":{"context":"...","ref":"..."},"manifest_uid":"1f"} without the members that are
/// not set. If none is set, returns an empty string, which is a legal error body.
std::string encode_error_context(const error_context& context);

/// Parses such a body and ignores other members. Fails with error_body_malformed.
std::expected<error_context, wire_errc> parse_error_context(base::byte_view body);

/// Returns the context of an error response. It is empty unless the status may have an error body,
/// the datatype has the JSON bit and the body is well formed. Inflate a compressed body first and
/// pass it to `parse_error_context`.
error_context error_context_of(const frame_view& response);

}  // namespace reprise::wire
