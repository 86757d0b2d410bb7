#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <reprise/sandbox_net/certificates.hpp>

namespace reprise::sandbox::certificates_test {

struct x509_free {
    void operator()(X509* certificate) const { X509_free(certificate); }
};
using x509 = std::unique_ptr<X509, x509_free>;

x509 parse(const std::string& pem) {
    BIO* memory = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    x509 certificate(PEM_read_bio_X509(memory, nullptr, nullptr, nullptr));
    BIO_free(memory);
    return certificate;
}

// The result of OpenSSL's verification of `leaf` when only `authority` is trusted.
int verify(const std::string& leaf, const std::string& authority) {
    const x509 leaf_certificate = parse(leaf);
    const x509 authority_certificate = parse(authority);
    X509_STORE* store = X509_STORE_new();
    X509_STORE_add_cert(store, authority_certificate.get());
    X509_STORE_CTX* context = X509_STORE_CTX_new();
    X509_STORE_CTX_init(context, store, leaf_certificate.get(), nullptr);
    X509_verify_cert(context);
    const int verdict = X509_STORE_CTX_get_error(context);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    return verdict;
}

TEST(certificates, names_the_loopback_hosts_and_is_trusted) {
    const auto authority = certificate_authority::make();
    ASSERT_TRUE(authority) << authority.error();
    const auto issued = authority->issue_server_certificate();
    ASSERT_TRUE(issued) << issued.error();
    EXPECT_EQ(verify(issued->certificate, authority->certificate()), X509_V_OK);
    const x509 certificate = parse(issued->certificate);
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), "127.0.0.1", 0), 1);
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), "::1", 0), 1);
    EXPECT_EQ(X509_check_host(certificate.get(), "localhost", 0, 0, nullptr), 1);
    EXPECT_EQ(EVP_PKEY_get_id(X509_get0_pubkey(certificate.get())), EVP_PKEY_EC);
}

TEST(certificates, has_exactly_the_requested_fault) {
    const auto authority = certificate_authority::make();
    ASSERT_TRUE(authority);
    const auto elsewhere = authority->issue_server_certificate(certificate_fault::wrong_host);
    const auto expired = authority->issue_server_certificate(certificate_fault::expired);
    const auto stranger = authority->issue_server_certificate(certificate_fault::untrusted);
    ASSERT_TRUE(elsewhere && expired && stranger);
    const std::string& trusted = authority->certificate();
    EXPECT_EQ(verify(elsewhere->certificate, trusted), X509_V_OK);
    EXPECT_EQ(X509_check_ip_asc(parse(elsewhere->certificate).get(), "127.0.0.1", 0), 0);
    EXPECT_EQ(verify(expired->certificate, trusted), X509_V_ERR_CERT_HAS_EXPIRED);
    EXPECT_EQ(X509_check_ip_asc(parse(expired->certificate).get(), "127.0.0.1", 0), 1);
    EXPECT_NE(verify(stranger->certificate, trusted), X509_V_OK);
    EXPECT_EQ(X509_check_ip_asc(parse(stranger->certificate).get(), "127.0.0.1", 0), 1);
}

TEST(certificates, refuses_a_user_name_that_is_too_long_for_a_certificate) {
    const auto authority = certificate_authority::make();
    ASSERT_TRUE(authority);
    EXPECT_TRUE(authority->issue_client_certificate("app"));
    EXPECT_FALSE(authority->issue_client_certificate(std::string(65, 'a')));
}

}  // namespace reprise::sandbox::certificates_test
