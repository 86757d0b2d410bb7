#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>

#include <boost/asio/ssl/error.hpp>
#include <reprise/retry/failure_facts.hpp>

namespace reprise::net {
namespace {

namespace ssl = boost::asio::ssl;

/// An error as OpenSSL packs it and Asio passes it on.
boost::system::error_code openssl_error(int reason) {
    return {
        static_cast<int>(ERR_PACK(ERR_LIB_SSL, 0, reason)), boost::asio::error::get_ssl_category()};
}

// The core identifies the categories of Asio's TLS streams by name and number, without including
// them.
TEST(tls_error_facts, every_code_of_asios_tls_streams_is_in_the_tables) {
    struct expected_row {
        std::error_code code;
        std::string_view name;
        std::optional<retry_safety> safety;
    };
    const expected_row rows[]{
        {boost::system::error_code(ssl::error::stream_truncated), "stream_truncated",
         retry_safety::maybe},
        {boost::system::error_code(ssl::error::unspecified_system_error),
         "unspecified_system_error", retry_safety::maybe},
        {boost::system::error_code(ssl::error::unexpected_result), "unexpected_result",
         std::nullopt},
        {openssl_error(SSL_R_UNEXPECTED_EOF_WHILE_READING), "unexpected eof while reading",
         retry_safety::maybe},
    };
    for (const expected_row& expected : rows) {
        const reprise::detail::error_row* const row =
            reprise::detail::find_error(expected.code.category().name(), expected.code.value());
        ASSERT_NE(row, nullptr) << expected.name;
        EXPECT_EQ(row->name, expected.name);
        EXPECT_EQ(facts_of(expected.code).safety, expected.safety) << expected.name;
    }
}

TEST(tls_error_facts, a_refused_certificate_has_no_facts) {
    const std::error_code refused = openssl_error(SSL_R_CERTIFICATE_VERIFY_FAILED);
    EXPECT_EQ(facts_of(refused).safety, std::nullopt);
    EXPECT_EQ(facts_of(refused).fault, std::nullopt);
}

}  // namespace
}  // namespace reprise::net
