#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <reprise/engine/ids.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/scram.hpp>

// Actions that the engine requests from its driver, and the types that the driver reports back.

namespace reprise::engine {

// Look up the SRV records of `name` and answer once with `on_resolved`.
struct resolve_srv_action {
    resolution_id resolution{};
    std::string name{};  // "_couchbase._tcp.example.com"
};

// The size of a read, in bytes, as long as reads do not fill their space.
inline constexpr std::size_t read_size_default = std::size_t{64} * 1024;

// A place for the next bytes of a large answer, in the block that its result will share.
struct read_place {
    base::block_ref block{};
    base::mutable_byte_view bytes{};  // empty: there is none; read into any other memory
};

// Open a connection: resolve `host`, try its addresses, and do the TLS handshake if required.
// Answer with exactly one of on_connected and on_connect_failed.
struct connect_action {
    connection_id connection{};
    std::string host{};  // name or address, without brackets
    std::uint16_t port = 0;
    wire::transport transport = wire::transport::plain;
    // For SNI and certificate verification.
    std::string server_name{};
    // A second name for which the certificate may be valid. Empty: there is none.
    std::string other_name{};
    // The largest read, in bytes, unless a read_action changes it.
    std::size_t read_size_max = read_size_default;
};

// There are bytes to write: call begin_write once no write is outstanding on the connection. Issued
// at most once between two calls of begin_write.
struct write_action {
    connection_id connection{};
    // An HTTP request starts: bytes that have already arrived cannot answer it, so report them
    // before begin_write.
    bool is_request_start = false;
};

// Close the connection, even while it is being opened. It still ends with one on_connect_failed or
// on_closed.
struct close_action {
    connection_id connection{};
};

// Pause or resume reading from an open connection. Bytes that were already on their way may still
// be reported. Connections start with reading enabled.
struct read_action {
    connection_id connection{};
    bool is_paused = false;
    // The largest read from now on, in bytes. Large reads are cheaper for large answers.
    std::size_t size_max_bytes = read_size_default;
};

// Stretch a password (wire::derive_key). This takes milliseconds or longer, so it must not run on
// the event loop. Answer once with on_key_derived. At most two are pending at a time.
struct derive_key_action {
    derivation_id derivation{};
    wire::key_derivation wanted{};
};

using driver_action = std::variant<
    resolve_srv_action, connect_action, write_action, close_action, read_action, derive_key_action>;
using action_list = std::vector<driver_action>;

// Why a connection could not be opened.
enum class connect_failure : std::uint8_t {
    refused,
    unreachable,  // no route, network down
    timed_out,
    name_not_found,  // no address, or the name service did not answer
    no_descriptors,  // the process or the system has no file descriptor left
    reset,           // closed or reset, possibly during the TLS handshake
    canceled,        // by close_action
    tls_untrusted,   // the certificate's issuer is not trusted
    tls_wrong_host,  // the certificate is for another name
    tls_expired,     // expired, or not valid yet
    tls_alert,       // the peer refused the handshake, e.g. our certificate
    tls_protocol,    // any other explicit TLS failure
    other,
};

// Why an open connection ended.
enum class close_reason : std::uint8_t {
    end_of_stream,  // the peer closed
    reset,          // the peer reset
    io_error,       // any other error of the socket
    tls_alert,      // the peer refused TLS after the handshake (late client certificate check)
    requested,      // by close_action
};

[[nodiscard]] std::string_view to_string(connect_failure failure) noexcept;
[[nodiscard]] std::string_view to_string(close_reason reason) noexcept;
// Whether this is an explicit TLS failure, as opposed to a connection that broke during the
// handshake.
[[nodiscard]] bool is_tls_failure(connect_failure failure) noexcept;

}  // namespace reprise::engine
