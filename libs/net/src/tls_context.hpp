#pragma once

#include <expected>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>

#include <reprise/engine/driver_action.hpp>
#include <reprise/net/client.hpp>

namespace reprise::net {

// Creates a context with the trusted issuers, the client's certificate and at least TLS 1.2. Errors
// name the file.
std::expected<boost::asio::ssl::context, setup_error> make_tls_context(
    const couchbase::tls_options& options);

// Sets the server name indication and the name that the certificate must have, or else `other_name`
// unless that is empty. Call it before the handshake. Returns false if OpenSSL rejects a name.
bool set_server_name(
    SSL* session, const std::string& server_name, bool is_verified,
    const std::string& other_name = {});

struct handshake_failure {
    engine::connect_failure failure = engine::connect_failure::other;
    std::string text;
};

// Classifies a failed handshake. A broken connection is `reset`, never a TLS failure.
handshake_failure classify_handshake(SSL* session, const boost::system::error_code& ec);

// Whether the peer ended the session with a TLS alert, for example because it rejected our
// certificate late.
bool is_tls_alert(const boost::system::error_code& ec) noexcept;

// Classifies as refused, unreachable, reset, timed out, or other.
engine::connect_failure classify_connect(const boost::system::error_code& ec) noexcept;

}  // namespace reprise::net
