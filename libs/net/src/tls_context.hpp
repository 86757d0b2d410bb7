#pragma once

#include <expected>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>

#include <reprise/engine/driver_action.hpp>
#include <reprise/net/client.hpp>

namespace reprise::net {

// A context with trust, the client's certificate and TLS 1.2 as the least. Errors name the file.
std::expected<boost::asio::ssl::context, setup_error> make_tls_context(const tls_options& options);

// Server name indication and the check of the certificate's name, before the handshake. False if
// OpenSSL refused the name.
bool set_server_name(SSL* session, const std::string& server_name, bool is_verified);

struct handshake_failure {
    engine::connect_failure failure = engine::connect_failure::other;
    std::string text;
};

// What a failed handshake means. A connection that broke is `reset`, never a TLS failure.
handshake_failure classify_handshake(SSL* session, const boost::system::error_code& ec);

// The peer said in TLS that it ends the session (a late refusal of our certificate, for example).
bool is_tls_alert(const boost::system::error_code& ec) noexcept;

// Refused, unreachable, reset, timed out, or other.
engine::connect_failure classify_connect(const boost::system::error_code& ec) noexcept;

}  // namespace reprise::net
