#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include <reprise/net/client_options.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::net {

enum class fetch_errc : std::uint8_t {
    setup,        // the options cannot be used
    unreachable,  // no such name, refused, closed
    tls,          // the handshake failed; the text says why
    timeout,      // not done in time
    answer        // malformed, or the server has no error map
};

struct fetch_failure {
    fetch_errc code = fetch_errc::unreachable;
    std::string text;  // for people; begins with "host:port: "
};

// The text of the first seed's error map, by a short conversation before any login: a client never
// shows the maps of its nodes. TLS is set up as for the client's own connections. Takes no longer
// than `timeout`, from the name to the last byte. Blocks; starts no thread. After a failure a
// look-up of a name may still be under way: the program is expected to end soon.
[[nodiscard]] std::expected<std::string, fetch_failure> fetch_error_map(
    const client_options& options, duration timeout);

}  // namespace reprise::net
