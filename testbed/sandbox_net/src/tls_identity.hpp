#pragma once

#include <expected>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include <reprise/sandbox/node_disturbance.hpp>
#include <reprise/sandbox_net/certificates.hpp>
#include <reprise/sandbox_net/server_options.hpp>

namespace reprise::sandbox::detail {

// The authority of one run, its certificate in a file, and the TLS context built from it. The
// destructor removes the file.
class tls_identity {
public:
    static std::expected<std::unique_ptr<tls_identity>, std::string> make(
        const server_tls_options& options);
    tls_identity(const tls_identity&) = delete;
    tls_identity& operator=(const tls_identity&) = delete;
    ~tls_identity();

    boost::asio::ssl::context& context() noexcept { return context_; }
    // A context whose handshakes fail in this way (not for `reset`). Created on first use.
    std::expected<boost::asio::ssl::context*, std::string> context_for(tls_disturbance how);
    const std::string& ca_path() const noexcept { return ca_path_; }
    const certificate_authority& authority() const noexcept { return authority_; }

private:
    explicit tls_identity(certificate_authority authority);
    std::expected<void, std::string> prepare(const server_tls_options& options);
    std::expected<void, std::string> fill(
        boost::asio::ssl::context& context, certificate_fault fault) const;

    certificate_authority authority_;
    bool takes_client_certificates_ = false;
    boost::asio::ssl::context context_;
    std::map<tls_disturbance, boost::asio::ssl::context> disturbed_;
    std::string ca_path_;
};

}  // namespace reprise::sandbox::detail
