#include "tls_context.hpp"

#include <array>
#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* object) const noexcept {
        Free(object);
    }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using context_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using session_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;

// Self-signed, valid for an hour; `alternative` is like "DNS:host.example", empty for none.
certificate_ptr make_certificate(
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

std::string to_pem(X509* certificate) {
    BIO* out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(out, certificate);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out, &text);
    std::string pem(text, static_cast<std::size_t>(size));
    BIO_free(out);
    return pem;
}

// A handshake in memory with a server that shows this certificate and that the client trusts: what
// became of the client's check of the name.
long check_name(
    const std::string& common, const std::string& alternative, const std::string& server_name) {
    const key_ptr key(EVP_EC_gen("P-256"));
    const certificate_ptr certificate = make_certificate(key.get(), common, alternative);
    tls_options options;
    options.ca_pem = to_pem(certificate.get());
    auto client_context = make_tls_context(options);
    EXPECT_TRUE(client_context.has_value());
    const context_ptr server_context(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(server_context.get(), certificate.get());
    SSL_CTX_use_PrivateKey(server_context.get(), key.get());
    const session_ptr client(SSL_new(client_context->native_handle()));
    const session_ptr server(SSL_new(server_context.get()));
    BIO* client_side = nullptr;
    BIO* server_side = nullptr;
    BIO_new_bio_pair(&client_side, 0, &server_side, 0);
    SSL_set_bio(client.get(), client_side, client_side);
    SSL_set_bio(server.get(), server_side, server_side);
    EXPECT_TRUE(set_server_name(client.get(), server_name, true));
    SSL_set_connect_state(client.get());
    SSL_set_accept_state(server.get());
    for (int turn = 0; turn < 10; ++turn) {
        SSL_do_handshake(client.get());
        SSL_do_handshake(server.get());
    }
    return SSL_get_verify_result(client.get());
}

TEST(tls_context, takes_a_name_from_the_alternative_names) {
    EXPECT_EQ(check_name("other", "DNS:host.example", "host.example"), X509_V_OK);
    EXPECT_EQ(
        check_name("host.example", "DNS:other", "host.example"), X509_V_ERR_HOSTNAME_MISMATCH);
}

TEST(tls_context, never_falls_back_to_the_common_name) {
    EXPECT_EQ(check_name("host.example", "", "host.example"), X509_V_ERR_HOSTNAME_MISMATCH);
    EXPECT_EQ(
        check_name("host.example", "IP:127.0.0.1", "host.example"), X509_V_ERR_HOSTNAME_MISMATCH);
}

}  // namespace
}  // namespace reprise::net
