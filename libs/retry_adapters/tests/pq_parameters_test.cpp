#include <gtest/gtest.h>

#include <string>

#include <reprise/retry/adapters/pq_parameters.hpp>

namespace {

using reprise::adapters::fault_of_pq_parameter;

// "could not translate host name "secret@db"" was in histories: the rest of a password with an '@'.
TEST(pq_parameters, host_or_port_with_a_part_of_a_password_is_refused_without_it) {
    for (const char* host : {"secret@db", "db,secret@db", "secret@", "secret@db,db"}) {
        const char* const fault = fault_of_pq_parameter("host", host);
        ASSERT_NE(fault, nullptr) << host;
        EXPECT_EQ(std::string(fault).find("secret"), std::string::npos);
    }
    for (const char* port : {"secret", "5432,secret", "5432x"}) {
        const char* const fault = fault_of_pq_parameter("port", port);
        ASSERT_NE(fault, nullptr) << port;
        EXPECT_EQ(std::string(fault).find("secret"), std::string::npos);
    }
}

TEST(pq_parameters, ordinary_values_are_accepted) {
    for (const char* host :
         {"", "db", "a,b", "a,,b", "::1", "/tmp/a@b", "@abstract", "a,/tmp/a@b"}) {
        EXPECT_EQ(fault_of_pq_parameter("host", host), nullptr) << host;
    }
    for (const char* port : {"", "5432", "5432,5433", "5432, 5433"}) {
        EXPECT_EQ(fault_of_pq_parameter("port", port), nullptr) << port;
    }
    EXPECT_EQ(fault_of_pq_parameter("password", "a@b"), nullptr);
    EXPECT_EQ(fault_of_pq_parameter("user", "ada@example.org"), nullptr);
}

// It was ignored, so that the second host was never reached.
TEST(pq_parameters, limit_for_connecting_is_refused_unless_it_is_none) {
    EXPECT_NE(fault_of_pq_parameter("connect_timeout", "2"), nullptr);
    EXPECT_EQ(fault_of_pq_parameter("connect_timeout", "0"), nullptr);
    EXPECT_EQ(fault_of_pq_parameter("connect_timeout", ""), nullptr);
}

// A part of the password was in the error: could not translate host name "secret".
TEST(pq_parameters, url_with_a_second_at_sign_is_refused) {
    using reprise::adapters::fault_of_pq_text;
    for (const char* url :
         {"postgresql://app:my@secret/word@db/shop", "postgres://app:my@secret@db",
          "postgres://app:my@secret/word@db?sslmode=require"}) {
        ASSERT_NE(fault_of_pq_text(url), nullptr) << url;
        EXPECT_EQ(std::string(fault_of_pq_text(url)).find("secret"), std::string::npos);
    }
    for (const char* parameters :
         {"", "postgresql://", "postgresql://db/a%40b", "postgresql://app:my%40secret@db/shop",
          "postgresql://app@db/shop?application_name=a@b", "user=a@b password=c@d",
          "host=@abstract user=a@b"}) {
        EXPECT_EQ(fault_of_pq_text(parameters), nullptr) << parameters;
    }
}

// What followed it, such as sslmode=require, did not count.
TEST(pq_parameters, text_with_a_zero_is_refused) {
    using namespace std::string_literals;
    EXPECT_NE(reprise::adapters::fault_of_pq_text("host=db\0 sslmode=require"s), nullptr);
}

}  // namespace
