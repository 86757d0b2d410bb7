#include <gtest/gtest.h>

#include <reprise/retry/adapters/http_method.hpp>

namespace {

using reprise::adapters::is_idempotent_method;

TEST(http_method, idempotent_methods_are_those_of_rfc_9110) {
    for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"}) {
        EXPECT_TRUE(is_idempotent_method(method)) << method;
    }
    for (const char* method : {"POST", "PATCH", "CONNECT", "get", "", "PROPFIND"}) {
        EXPECT_FALSE(is_idempotent_method(method)) << method;
    }
}

TEST(http_method, certain_refusal_stays_safe_for_every_method) {
    const reprise::failure_facts refused{.safety = reprise::retry_safety::yes};
    const auto facts = reprise::adapters::facts_after_sending(
        refused, "POST", reprise::repeatability::unspecified);
    EXPECT_EQ(facts.safety, reprise::retry_safety::yes);
}

TEST(http_method, unknown_outcome_of_a_post_is_final) {
    const auto facts =
        reprise::adapters::facts_after_sending({}, "POST", reprise::repeatability::unspecified);
    EXPECT_EQ(facts.safety, reprise::retry_safety::no);
}

}  // namespace
