#include "tls_context.hpp"

#include <string>
#include <string_view>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include <reprise/wire/connection_string.hpp>

namespace reprise::net {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

// A server without TLS on this port also closes the connection.
constexpr std::string_view closed_in_handshake =
    "closed during the TLS handshake: is this a TLS port?";

setup_error unreadable(const std::string& what, const error_code& ec) {
    return {setup_errc::certificate_unreadable, what + ": " + ec.message()};
}

error_code add_trust(
    ssl::context& context, const couchbase::tls_options& options, std::string& what) {
    error_code ec;
    if (!options.is_verified) {
        return ec;
    }
    if (options.ca_file.empty() && options.ca_pem.empty()) {
        what = "the system's trusted certificates";
        (void)context.set_default_verify_paths(ec);
        return ec;
    }
    if (!options.ca_file.empty()) {
        what = "CA file " + options.ca_file;
        (void)context.load_verify_file(options.ca_file, ec);
    }
    if (!ec && !options.ca_pem.empty()) {
        what = "CA certificates given as PEM text";
        (void)context.add_certificate_authority(boost::asio::buffer(options.ca_pem), ec);
    }
    return ec;
}

error_code add_identity(
    ssl::context& context, const couchbase::tls_options& options, std::string& what) {
    error_code ec;
    if (options.certificate_file.empty()) {
        return ec;
    }
    what = "certificate file " + options.certificate_file;
    (void)context.use_certificate_chain_file(options.certificate_file, ec);
    if (!ec) {
        what = "key file " + options.key_file;
        (void)context.use_private_key_file(options.key_file, ssl::context::pem, ec);
    }
    return ec;
}

engine::connect_failure classify_verify_result(long result) noexcept {
    switch (result) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return engine::connect_failure::tls_wrong_host;
        case X509_V_ERR_CERT_HAS_EXPIRED:
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return engine::connect_failure::tls_expired;
        default:  // every other result of OpenSSL's check
            return engine::connect_failure::tls_untrusted;
    }
}

bool is_ssl_error(const error_code& ec) noexcept {
    return ec.category() == boost::asio::error::get_ssl_category();
}

}  // namespace

std::expected<ssl::context, setup_error> make_tls_context(const couchbase::tls_options& options) {
    if (options.certificate_file.empty() != options.key_file.empty()) {
        return std::unexpected(setup_error{
            setup_errc::option_invalid,
            "a client certificate needs both certificate and key file"});
    }
    ssl::context context(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    context.set_verify_mode(options.is_verified ? ssl::verify_peer : ssl::verify_none);
    std::string what;
    if (const error_code ec = add_trust(context, options, what)) {
        return std::unexpected(unreadable(what, ec));
    }
    if (const error_code ec = add_identity(context, options, what)) {
        return std::unexpected(unreadable(what, ec));
    }
    // Releases the buffers of idle sessions, because most of many connections are idle.
    SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
    return context;
}

bool set_server_name(
    SSL* session, const std::string& server_name, bool is_verified, const std::string& other_name) {
    const bool is_address = wire::is_ip_address(server_name);
    // RFC 6066 allows only names.
    if (!is_address && SSL_set_tlsext_host_name(session, server_name.c_str()) != 1) {
        return false;
    }
    if (!is_verified) {
        return true;
    }
    if (is_address) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), server_name.c_str()) == 1;
    }
    // A certificate without alternative names matches no host, because the common name is free
    // text.
    SSL_set_hostflags(
        session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return SSL_set1_host(session, server_name.c_str()) == 1 &&
           (other_name.empty() || SSL_add1_host(session, other_name.c_str()) == 1);
}

bool is_tls_alert(const error_code& ec) noexcept {
    return is_ssl_error(ec) &&
           ERR_GET_REASON(static_cast<unsigned long>(ec.value())) >= SSL_AD_REASON_OFFSET;
}

handshake_failure classify_handshake(SSL* session, const error_code& ec) {
    if (!is_ssl_error(ec)) {
        // For end of stream and `stream_truncated` the peer sent no TLS alert.
        const bool is_end = ec == boost::asio::error::eof || ec == ssl::error::stream_truncated;
        return {
            is_end ? engine::connect_failure::reset : classify_connect(ec),
            is_end ? std::string(closed_in_handshake) : ec.message()};
    }
    const long verified = SSL_get_verify_result(session);
    const int reason = ERR_GET_REASON(static_cast<unsigned long>(ec.value()));
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && verified != X509_V_OK) {
        return {classify_verify_result(verified), X509_verify_cert_error_string(verified)};
    }
    if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        return {engine::connect_failure::reset, std::string(closed_in_handshake)};
    }
    // These reasons mean that the server's answer was not TLS.
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
        reason == SSL_R_PACKET_LENGTH_TOO_LONG) {
        return {
            engine::connect_failure::tls_protocol,
            "the server does not speak TLS on this port: use couchbase:// or another port"};
    }
    return {
        is_tls_alert(ec) ? engine::connect_failure::tls_alert
                         : engine::connect_failure::tls_protocol,
        ec.message()};
}

engine::connect_failure classify_connect(const error_code& ec) noexcept {
    namespace error = boost::asio::error;
    if (ec == error::connection_refused) {
        return engine::connect_failure::refused;
    }
    if (ec == error::timed_out) {
        return engine::connect_failure::timed_out;
    }
    if (ec == error::host_unreachable || ec == error::network_unreachable ||
        ec == error::network_down) {
        return engine::connect_failure::unreachable;
    }
    if (ec == error::connection_reset || ec == error::broken_pipe ||
        ec == error::connection_aborted) {
        return engine::connect_failure::reset;
    }
    if (ec == error::no_descriptors || ec == boost::system::errc::too_many_files_open_in_system) {
        return engine::connect_failure::no_descriptors;
    }
    return ec == error::operation_aborted ? engine::connect_failure::canceled
                                          : engine::connect_failure::other;
}

}  // namespace reprise::net
