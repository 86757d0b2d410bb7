#include <reprise/sandbox_net/certificates.hpp>

#include <utility>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace reprise::sandbox {

namespace {

template <auto free_function>
struct openssl_free {
    template <class Object>
    void operator()(Object* object) const noexcept {
        free_function(object);
    }
};

using key_ptr = std::unique_ptr<EVP_PKEY, openssl_free<EVP_PKEY_free>>;
using x509_ptr = std::unique_ptr<X509, openssl_free<X509_free>>;
using bio_ptr = std::unique_ptr<BIO, openssl_free<BIO_free_all>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, openssl_free<X509_EXTENSION_free>>;

constexpr long day_seconds = 24L * 60 * 60;

// The content of a certificate. Without an issuer it is self-signed.
struct certificate_request {
    std::string common_name;
    std::string subject_alternative_names;  // empty: none
    bool is_authority = false;
    bool is_for_client = false;
    long valid_from_seconds = -day_seconds;  // from now
    long valid_to_seconds = 7 * day_seconds;
    X509* issuer = nullptr;
    EVP_PKEY* issuer_key = nullptr;
};

std::unexpected<std::string> openssl_failure(const char* what) {
    const char* reason = ERR_reason_error_string(ERR_get_error());
    return std::unexpected(
        std::string(what) + ": " + (reason != nullptr ? reason : "no reason given by OpenSSL"));
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& text) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const extension_ptr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, text.c_str()));
    return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool add_extensions(X509* certificate, X509* issuer, const certificate_request& request) {
    if (request.is_authority) {
        return add_extension(
                   certificate, issuer, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
               add_extension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign") &&
               add_extension(certificate, issuer, NID_subject_key_identifier, "hash");
    }
    return add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
           add_extension(
               certificate, issuer, NID_ext_key_usage,
               request.is_for_client ? "clientAuth" : "serverAuth") &&
           add_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
           add_extension(certificate, issuer, NID_authority_key_identifier, "keyid") &&
           (request.subject_alternative_names.empty() ||
            add_extension(
                certificate, issuer, NID_subject_alt_name, request.subject_alternative_names));
}

x509_ptr make_certificate(EVP_PKEY* key, const certificate_request& request) {
    x509_ptr certificate(X509_new());
    std::uint64_t serial = 0;
    if (!certificate || RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) {
        return nullptr;
    }
    X509* const made = certificate.get();
    X509* const issuer = request.issuer != nullptr ? request.issuer : made;
    EVP_PKEY* const issuer_key = request.issuer_key != nullptr ? request.issuer_key : key;
    X509_NAME* const subject = X509_get_subject_name(made);
    const bool is_filled =
        X509_set_version(made, X509_VERSION_3) == 1 &&
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), serial >> 1 | 1) == 1 &&
        X509_gmtime_adj(X509_getm_notBefore(made), request.valid_from_seconds) != nullptr &&
        X509_gmtime_adj(X509_getm_notAfter(made), request.valid_to_seconds) != nullptr &&
        X509_set_pubkey(made, key) == 1 &&
        X509_NAME_add_entry_by_txt(
            subject, "CN", MBSTRING_UTF8,
            reinterpret_cast<const unsigned char*>(request.common_name.c_str()),
            static_cast<int>(request.common_name.size()), -1, 0) == 1 &&
        X509_set_issuer_name(made, X509_get_subject_name(issuer)) == 1 &&
        add_extensions(made, issuer, request) && X509_sign(made, issuer_key, EVP_sha256()) > 0;
    return is_filled ? std::move(certificate) : nullptr;
}

template <class Write>
std::string to_pem(Write write) {
    const bio_ptr memory(BIO_new(BIO_s_mem()));
    if (!memory || write(memory.get()) != 1) {
        return {};
    }
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &text);
    return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::string certificate_text(X509* certificate) {
    return to_pem([&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

std::string key_text(EVP_PKEY* key) {
    return to_pem([&](BIO* out) {
        return PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
}

std::expected<certificate_pem, std::string> issue(const certificate_request& request) {
    const key_ptr key(EVP_EC_gen("P-256"));
    if (!key) {
        return openssl_failure("cannot create an EC key");
    }
    const x509_ptr certificate = make_certificate(key.get(), request);
    if (!certificate) {
        return openssl_failure("cannot create a certificate");
    }
    certificate_pem pem{certificate_text(certificate.get()), key_text(key.get())};
    if (pem.certificate.empty() || pem.private_key.empty()) {
        return openssl_failure("cannot write a certificate");
    }
    return pem;
}

}  // namespace

struct certificate_authority::keys {
    key_ptr key;
    x509_ptr certificate;
    std::string text;
};

certificate_authority::certificate_authority(std::unique_ptr<keys> made) noexcept
    : keys_(std::move(made)) {}
certificate_authority::certificate_authority(certificate_authority&&) noexcept = default;
certificate_authority& certificate_authority::operator=(certificate_authority&&) noexcept = default;
certificate_authority::~certificate_authority() = default;

std::expected<certificate_authority, std::string> certificate_authority::make() {
    auto made = std::make_unique<keys>();
    made->key.reset(EVP_EC_gen("P-256"));
    if (!made->key) {
        return openssl_failure("cannot create an EC key");
    }
    certificate_request request;
    request.common_name = "sandbox authority";
    request.is_authority = true;
    made->certificate = make_certificate(made->key.get(), request);
    if (!made->certificate) {
        return openssl_failure("cannot create a certificate");
    }
    made->text = certificate_text(made->certificate.get());
    return certificate_authority(std::move(made));
}

const std::string& certificate_authority::certificate() const noexcept {
    return keys_->text;
}

std::expected<certificate_pem, std::string> certificate_authority::issue_server_certificate(
    certificate_fault fault) const {
    if (fault == certificate_fault::untrusted) {
        auto stranger = make();
        if (!stranger) {
            return std::unexpected(stranger.error());
        }
        return stranger->issue_server_certificate();
    }
    certificate_request request;
    request.common_name = "sandbox";
    request.subject_alternative_names = fault == certificate_fault::wrong_host
                                            ? "DNS:elsewhere.invalid"
                                            : "IP:127.0.0.1,IP:::1,DNS:localhost";
    if (fault == certificate_fault::expired) {
        request.valid_from_seconds = -2 * day_seconds;
        request.valid_to_seconds = -day_seconds;
    }
    request.issuer = keys_->certificate.get();
    request.issuer_key = keys_->key.get();
    return issue(request);
}

std::expected<certificate_pem, std::string> certificate_authority::issue_client_certificate(
    std::string_view user) const {
    certificate_request request;
    request.common_name = std::string(user);
    request.is_for_client = true;
    request.issuer = keys_->certificate.get();
    request.issuer_key = keys_->key.get();
    return issue(request);
}

}  // namespace reprise::sandbox
