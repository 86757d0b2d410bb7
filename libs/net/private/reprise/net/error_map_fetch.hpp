#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include <reprise/engine/engine_options.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::net {

enum class fetch_errc : std::uint8_t {
    setup,        ///< the options are unusable
    unreachable,  ///< no such name, connection refused or closed
    tls,          ///< the handshake failed; the text explains why
    timeout,      ///< the timeout expired
    answer        ///< the answer is malformed, or the server has no error map
};

struct fetch_failure {
    fetch_errc code = fetch_errc::unreachable;
    std::string text;  ///< a readable explanation that starts with "host:port: "
};

/// Fetches the text of the first seed's error map over a short-lived connection, without a login.
/// It exists because a client does not expose the error maps of its nodes. It uses TLS like the
/// client's own connections. `timeout` covers everything from the name lookup to the last byte.
/// Blocks and starts no thread. After a failure a name lookup may still be running, so the program
/// is expected to end soon.
[[nodiscard]] std::expected<std::string, fetch_failure> fetch_error_map(
    const engine::engine_options& options, duration timeout);

}  // namespace reprise::net
