#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

// What a server says about an error, in the value of the response; every member may be missing.
struct error_context {
    std::string context;  // for people; empty when not sent
    std::string ref;      // the id to look up in the server's logs; empty when not sent
    // The manifest the node judged by; comes with unknown_collection and unknown_scope.
    std::optional<std::uint64_t> manifest_uid;

    friend bool operator==(const error_context&, const error_context&) = default;
};

// Limits of what is kept for the user. Longer texts are cut, on a character boundary. Bytes.
inline constexpr std::size_t error_context_text_size_max = 4096;

// {"error":{"context":"...","ref":"..."},"manifest_uid":"1f"}, members that are not set left out;
// nothing set gives an empty string, which is a legal error body.
std::string encode_error_context(const error_context& context);

// Reads such a body. Other members are ignored. Error: error_body_malformed.
std::expected<error_context, wire_errc> parse_error_context(base::byte_view body);

// The context of an error response, as a client takes it: an empty one unless the status may have
// an error body, the datatype has the JSON bit and the body is well formed. Compressed bodies must
// be inflated first and given to `parse_error_context`.
error_context error_context_of(const frame_view& response);

}  // namespace reprise::wire
