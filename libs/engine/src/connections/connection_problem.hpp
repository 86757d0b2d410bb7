#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <reprise/base/bytes.hpp>
#include <reprise/engine/driver_action.hpp>
#include <reprise/wire/status.hpp>

// Why there is no connection, in words for people: kept by links and pools, shown in errors,
// histories, diagnostics and the log. The address stands beside it and is not part of the words.

namespace reprise::engine {

// Texts that others sent, as part of a message: control characters are written out, and what is
// longer than this is cut. Bytes.
inline constexpr std::size_t foreign_text_size_max = 256;
[[nodiscard]] std::string shown(std::string_view text);

// "connection refused", "cannot resolve nosuch.invalid". `detail` is the driver's and may be empty.
[[nodiscard]] std::string connect_problem(
    connect_failure failure, std::string_view host, std::string_view detail);

// Whether the first bytes that a peer sends cannot begin a frame of the key-value protocol.
[[nodiscard]] bool is_stranger(base::byte_view first_bytes) noexcept;

// What a peer is whose first bytes are no frame: "this is a TLS port", "not a Couchbase server".
[[nodiscard]] std::string stranger_problem(base::byte_view first_bytes);

// The peer closed before the bootstrap was done; `has_answered`: it had sent a frame.
[[nodiscard]] std::string closed_problem(close_reason reason, bool has_answered, bool is_over_tls);

// "the server gave no configuration (0x01)"
[[nodiscard]] std::string configuration_refusal(wire::status status);

}  // namespace reprise::engine
