#include <gtest/gtest.h>

#include <reprise/http/authorization.hpp>

namespace reprise::http {
namespace authorization_test {

TEST(base64, follows_the_published_examples) {
    EXPECT_EQ(encode_base64(""), "");
    EXPECT_EQ(encode_base64("f"), "Zg==");
    EXPECT_EQ(encode_base64("fo"), "Zm8=");
    EXPECT_EQ(encode_base64("foo"), "Zm9v");
    EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
    EXPECT_EQ(decode_base64("Zm9vYmE="), "fooba");
}

TEST(base64, gives_back_every_byte) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
        EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
    }
}

TEST(base64, refuses_what_is_not_base64) {
    EXPECT_FALSE(decode_base64("Zg"));
    EXPECT_FALSE(decode_base64("Zg= "));
    EXPECT_FALSE(decode_base64("Z==="));
    EXPECT_FALSE(decode_base64("Zg==Zg=="));
    EXPECT_FALSE(decode_base64("Z\ng="));
}

TEST(authorization, reads_the_basic_credentials_it_makes) {
    EXPECT_EQ(make_basic_authorization("app", "secret"), "Basic YXBwOnNlY3JldA==");
    const auto parsed = parse_basic_authorization("bAsIc  YXBwOnM6ZQ== ");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, (basic_credentials{"app", "s:e"}));
}

TEST(authorization, refuses_other_schemes_and_malformed_values) {
    for (const char* value :
         {"", "Basic", "Basic ", "Basic YXBw", "Basic !!!!", "Bearer YTpi", "BasicYTpi"}) {
        EXPECT_FALSE(parse_basic_authorization(value)) << value;
    }
}

TEST(authorization, gives_the_bearer_token) {
    EXPECT_EQ(parse_bearer_authorization("Bearer abc"), "abc");
    EXPECT_FALSE(parse_bearer_authorization("Bearer "));
    EXPECT_FALSE(parse_bearer_authorization("Basic abc"));
}

}  // namespace authorization_test
}  // namespace reprise::http
