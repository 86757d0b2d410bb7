#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace reprise::sandbox {

// What is wrong, on purpose, with the certificate a server shows.
enum class certificate_fault : std::uint8_t {
    none,
    wrong_host,  // names another host
    expired,     // was valid yesterday
    untrusted    // signed by an authority nobody was told of
};

// A certificate and its private key, each as PEM text. The key is not encrypted: it opens nothing
// but a test cluster of this run.
struct certificate_pem {
    std::string certificate;
    std::string private_key;
};

// An authority made for one run: EC P-256 keys, valid for a week, known to nobody else. Making one
// takes about a millisecond. Errors are OpenSSL's words, for people.
class certificate_authority {
public:
    static std::expected<certificate_authority, std::string> make();
    certificate_authority(certificate_authority&&) noexcept;
    certificate_authority& operator=(certificate_authority&&) noexcept;
    ~certificate_authority();

    // The authority's own certificate: what a client must trust. PEM.
    const std::string& certificate() const noexcept;

    // For 127.0.0.1, ::1 and localhost, unless the fault says otherwise.
    std::expected<certificate_pem, std::string> issue_server_certificate(
        certificate_fault fault = certificate_fault::none) const;
    // Names `user` as its common name, at most 64 bytes; longer is an error. A server that takes
    // client certificates logs that user in without a password.
    std::expected<certificate_pem, std::string> issue_client_certificate(
        std::string_view user) const;

private:
    struct keys;
    explicit certificate_authority(std::unique_ptr<keys> made) noexcept;

    std::unique_ptr<keys> keys_;
};

}  // namespace reprise::sandbox
