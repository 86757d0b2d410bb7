#pragma once

#include <expected>
#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include <reprise/sandbox_net/certificates.hpp>
#include <reprise/sandbox_net/server_options.hpp>

namespace reprise::sandbox::detail {

// The authority of one run, its certificate in a file, and the TLS context made from it. The
// destructor removes the file.
class tls_identity {
public:
    static std::expected<std::unique_ptr<tls_identity>, std::string> make(
        const server_tls_options& options);
    tls_identity(const tls_identity&) = delete;
    tls_identity& operator=(const tls_identity&) = delete;
    ~tls_identity();

    boost::asio::ssl::context& context() noexcept { return context_; }
    const std::string& ca_path() const noexcept { return ca_path_; }
    const certificate_authority& authority() const noexcept { return authority_; }

private:
    explicit tls_identity(certificate_authority authority);
    std::expected<void, std::string> prepare(const server_tls_options& options);

    certificate_authority authority_;
    boost::asio::ssl::context context_;
    std::string ca_path_;
};

}  // namespace reprise::sandbox::detail
