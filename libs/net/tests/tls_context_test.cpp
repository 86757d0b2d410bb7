#include "tls_context.hpp"

#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <gtest/gtest.h>

#include "certificate.hpp"

namespace reprise::net {
namespace {

using namespace testing;

using context_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using session_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;

// Does a handshake in memory with a server that has this certificate, which the client trusts.
// Returns the result of the client's name check.
long check_name(
    const std::string& common, const std::string& alternative, const std::string& server_name) {
    const key_ptr key = make_key();
    const certificate_ptr certificate = make_certificate(key.get(), common, alternative);
    couchbase::tls_options options;
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
    for (int round = 0; round < 10; ++round) {
        SSL_do_handshake(client.get());
        SSL_do_handshake(server.get());
    }
    return SSL_get_verify_result(client.get());
}

TEST(tls_context, accepts_a_name_from_the_alternative_names) {
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
