#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace reprise::net::testing {

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* object) const noexcept {
        Free(object);
    }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;

inline key_ptr make_key() {
    return key_ptr(EVP_EC_gen("P-256"));
}

// Creates a self-signed certificate that is valid for an hour. `alternative` is for example
// "DNS:host.example", or empty.
inline certificate_ptr make_certificate(
    EVP_PKEY* key, const std::string& common, const std::string& alternative) {
    certificate_ptr made(X509_new());
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_NAME* name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(
        name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(common.c_str()), -1, -1,
        0);
    X509_set_issuer_name(made.get(), name);
    X509_set_pubkey(made.get(), key);
    if (!alternative.empty()) {
        X509_EXTENSION* extension =
            X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative.c_str());
        X509_add_ext(made.get(), extension, -1);
        X509_EXTENSION_free(extension);
    }
    X509_sign(made.get(), key, EVP_sha256());
    return made;
}

inline std::string to_pem(X509* certificate) {
    BIO* out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(out, certificate);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out, &text);
    std::string pem(text, static_cast<std::size_t>(size));
    BIO_free(out);
    return pem;
}

}  // namespace reprise::net::testing
