#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace reprise::sandbox {

/// A deliberate fault of a server's certificate.
enum class certificate_fault : std::uint8_t {
    none,
    wrong_host,  // names another host
    expired,     // expired yesterday
    untrusted    // signed by an unknown authority
};

/// A certificate and its private key, both as PEM text. The key is not encrypted: it is valid only
/// for a test cluster of this run.
struct certificate_pem {
    std::string certificate;
    std::string private_key;
};

/// A certificate authority for one run: EC P-256 keys, valid for a week. Creating one takes about a
/// millisecond. Errors contain OpenSSL's message.
class certificate_authority {
public:
    static std::expected<certificate_authority, std::string> make();
    certificate_authority(certificate_authority&&) noexcept;
    certificate_authority& operator=(certificate_authority&&) noexcept;
    ~certificate_authority();

    /// The authority's own certificate (PEM), which clients must trust.
    const std::string& certificate() const noexcept;

    /// Valid for 127.0.0.1, ::1 and localhost, unless the fault changes that.
    std::expected<certificate_pem, std::string> issue_server_certificate(
        certificate_fault fault = certificate_fault::none) const;
    /// Has `user` as its common name; fails if that is longer than 64 bytes. A server that accepts
    /// client certificates logs that user in without a password.
    std::expected<certificate_pem, std::string> issue_client_certificate(
        std::string_view user) const;

private:
    struct keys;
    explicit certificate_authority(std::unique_ptr<keys> made) noexcept;

    std::unique_ptr<keys> keys_;
};

}  // namespace reprise::sandbox
