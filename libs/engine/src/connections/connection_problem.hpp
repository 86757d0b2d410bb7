#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <reprise/base/bytes.hpp>
#include <reprise/engine/driver_action.hpp>
#include <reprise/wire/status.hpp>

// Explains to people why there is no connection. Links and pools keep these texts; errors,
// histories, diagnostics and the log show them. The address is shown separately and is not part of
// the text.

namespace reprise::engine {

// Prepares text from a peer for a message: escapes control characters and cuts it at this many
// bytes.
inline constexpr std::size_t foreign_text_size_max = 256;
[[nodiscard]] std::string shown(std::string_view text);

// Returns for example "connection refused" or "cannot resolve nosuch.invalid". `detail` is the
// driver's text and may be empty.
[[nodiscard]] std::string connect_problem(
    connect_failure failure, std::string_view host, std::string_view detail);

// Whether these first bytes from a peer cannot be the start of a key-value frame.
[[nodiscard]] bool is_stranger(base::byte_view first_bytes) noexcept;

// Guesses what sent such bytes: "this is a TLS port", "not a Couchbase server".
[[nodiscard]] std::string stranger_problem(base::byte_view first_bytes);

// The peer closed the connection before the bootstrap was done. `has_answered`: it had sent a
// frame.
[[nodiscard]] std::string closed_problem(close_reason reason, bool has_answered, bool is_over_tls);

// Returns for example "the server gave no configuration (0x01)".
[[nodiscard]] std::string configuration_refusal(wire::status status);

}  // namespace reprise::engine
