#include <gtest/gtest.h>

#include <reprise/http/authorization.hpp>

namespace reprise::http::authorization_test {

TEST(authorization, parses_the_basic_credentials_it_makes) {
    EXPECT_EQ(make_basic_authorization("app", "secret"), "Basic YXBwOnNlY3JldA==");
    const auto parsed = parse_basic_authorization("bAsIc  YXBwOnM6ZQ== ");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, (basic_credentials{"app", "s:e"}));
}

TEST(authorization, rejects_other_schemes_and_malformed_values) {
    for (const char* value :
         {"", "Basic", "Basic ", "Basic YXBw", "Basic !!!!", "Bearer YTpi", "BasicYTpi"}) {
        EXPECT_FALSE(parse_basic_authorization(value)) << value;
    }
}

TEST(authorization, returns_the_bearer_token) {
    EXPECT_EQ(parse_bearer_authorization("Bearer abc"), "abc");
    EXPECT_FALSE(parse_bearer_authorization("Bearer "));
    EXPECT_FALSE(parse_bearer_authorization("Basic abc"));
}

}  // namespace reprise::http::authorization_test
