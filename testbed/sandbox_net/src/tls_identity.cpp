#include "tls_identity.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <openssl/ssl.h>
#include <boost/asio/buffer.hpp>

#include "whole_file.hpp"

namespace reprise::sandbox::detail {

namespace {

namespace ssl = boost::asio::ssl;

// Creates a uniquely named file with this content and returns its path.
std::expected<std::string, std::string> write_temporary_file(std::string_view content) {
    std::error_code ec;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(ec);
    std::string path = (ec ? std::filesystem::path("/tmp") : folder) / "reprise-ca-XXXXXX";
    const int file = mkstemp(path.data());
    if (file < 0) {
        return std::unexpected(
            "cannot create a temporary file like " + path + ": " +
            std::generic_category().message(errno));
    }
    ::close(file);
    if (const auto written = write_whole_file(path, content, 0644); !written) {
        return std::unexpected(written.error());
    }
    return path;
}

certificate_fault fault_of(tls_disturbance how) noexcept {
    switch (how) {
        case tls_disturbance::untrusted:
            return certificate_fault::untrusted;
        case tls_disturbance::wrong_host:
            return certificate_fault::wrong_host;
        case tls_disturbance::expired:
            return certificate_fault::expired;
        case tls_disturbance::none:
        case tls_disturbance::alert:
        case tls_disturbance::reset:
            break;
    }
    return certificate_fault::none;
}

// OpenSSL calls it with the client's hello.
int refuse_hello(SSL* /*ssl*/, int* alert, void* /*argument*/) {
    *alert = SSL_AD_HANDSHAKE_FAILURE;
    return SSL_CLIENT_HELLO_ERROR;
}

}  // namespace

tls_identity::tls_identity(certificate_authority authority)
    : authority_(std::move(authority)), context_(ssl::context::tls_server) {}

tls_identity::~tls_identity() {
    if (!ca_path_.empty()) {
        std::error_code ignored;
        std::filesystem::remove(ca_path_, ignored);
    }
}

std::expected<std::unique_ptr<tls_identity>, std::string> tls_identity::make(
    const server_tls_options& options) {
    auto authority = certificate_authority::make();
    if (!authority) {
        return std::unexpected(authority.error());
    }
    std::unique_ptr<tls_identity> made(new tls_identity(*std::move(authority)));
    if (const auto prepared = made->prepare(options); !prepared) {
        return std::unexpected(prepared.error());
    }
    return made;
}

std::expected<void, std::string> tls_identity::fill(
    ssl::context& context, certificate_fault fault) const {
    const auto shown = authority_.issue_server_certificate(fault);
    if (!shown) {
        return std::unexpected(shown.error());
    }
    boost::system::error_code ec;
    (void)context.use_certificate_chain(boost::asio::buffer(shown->certificate), ec);
    if (!ec) {
        (void)context.use_private_key(
            boost::asio::buffer(shown->private_key), ssl::context::pem, ec);
    }
    if (!ec && takes_client_certificates_) {
        (void)context.add_certificate_authority(boost::asio::buffer(authority_.certificate()), ec);
        if (!ec) {
            (void)context.set_verify_mode(ssl::verify_peer, ec);
        }
    }
    if (ec) {
        return std::unexpected("cannot set up TLS: " + ec.message());
    }
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    // Resumed sessions would skip the client certificate; the speed of handshakes does not matter
    // here.
    SSL_CTX_set_session_cache_mode(context.native_handle(), SSL_SESS_CACHE_OFF);
    return {};
}

std::expected<ssl::context*, std::string> tls_identity::context_for(tls_disturbance how) {
    if (how == tls_disturbance::none) {
        return &context_;
    }
    if (const auto found = disturbed_.find(how); found != disturbed_.end()) {
        return &found->second;
    }
    ssl::context made(ssl::context::tls_server);
    if (const auto filled = fill(made, fault_of(how)); !filled) {
        return std::unexpected(filled.error());
    }
    if (how == tls_disturbance::alert) {
        SSL_CTX_set_client_hello_cb(made.native_handle(), &refuse_hello, nullptr);
    }
    return &disturbed_.emplace(how, std::move(made)).first->second;
}

std::expected<void, std::string> tls_identity::prepare(const server_tls_options& options) {
    takes_client_certificates_ = options.takes_client_certificates;
    if (const auto filled = fill(context_, options.fault); !filled) {
        return filled;
    }
    if (options.ca_path.empty()) {
        auto written = write_temporary_file(authority_.certificate());
        if (!written) {
            return std::unexpected(written.error());
        }
        ca_path_ = *std::move(written);
        return {};
    }
    // The destructor deletes the file, so it must be ours from the start.
    if (auto written = write_new_file(options.ca_path, authority_.certificate(), 0644); !written) {
        return written;
    }
    ca_path_ = options.ca_path;
    return {};
}

}  // namespace reprise::sandbox::detail
