#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <reprise/engine/ids.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/scram.hpp>

// What the engine asks its driver to do, and the words in which the driver reports back.

namespace reprise::engine {

// Ask the name service for the SRV records of `name`; answer with `on_resolved`, once.
struct resolve_srv_action {
    resolution_id resolution{};
    std::string name{};  // "_couchbase._tcp.example.com"
};

// Open a connection: resolve `host`, try its addresses, do the TLS handshake if asked for. Answer
// with exactly one of on_connected and on_connect_failed.
struct connect_action {
    connection_id connection{};
    std::string host{};  // name or address, without brackets
    std::uint16_t port = 0;
    wire::transport transport = wire::transport::plain;
    // For SNI and for the check of the certificate.
    std::string server_name{};
};

// There are bytes for this connection: call begin_write when no write is outstanding on it. Given
// at most once between two calls of begin_write.
struct write_action {
    connection_id connection{};
};

// Close it, also while it is being opened. Still ends with one on_connect_failed or on_closed.
struct close_action {
    connection_id connection{};
};

// One read brings at most so much unless a read_action says otherwise. Bytes.
inline constexpr std::size_t read_size_default = std::size_t{64} * 1024;

// Stop reading from an open connection, or go on. Bytes that were already on their way may still be
// reported. Reading is on at first.
struct read_action {
    connection_id connection{};
    bool is_paused = false;
    // What one read may bring from now on; larger reads cost less where much is coming. Bytes.
    std::size_t size_max_bytes = read_size_default;
};

// Stretch a password (wire::derive_key), which takes milliseconds and more: where it stalls
// nobody, never on the loop. Answer with on_key_derived, once. At most two are out at a time.
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
    name_not_found,  // the name service has no address, or could not be asked
    no_descriptors,  // this process, or the system, has no file descriptor left
    reset,           // closed or reset, also during the TLS handshake
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
// An explicit TLS failure, as opposed to a connection that broke during the handshake.
[[nodiscard]] bool is_tls_failure(connect_failure failure) noexcept;

}  // namespace reprise::engine
