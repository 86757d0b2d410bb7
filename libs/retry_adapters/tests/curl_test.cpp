#include <gtest/gtest.h>

#include <reprise/retry/adapters/curl.hpp>

namespace {

using reprise::retry_safety;
using reprise::adapters::curl_result;

curl_result ended_with(CURLcode code, bool is_sent, const char* method = "GET") {
    return {.code = code, .method = method, .is_sent = is_sent};
}
curl_result answered(int status, const char* method) {
    return {.status = status, .method = method, .is_sent = true};
}

TEST(curl_result, failure_to_connect_is_safe_to_repeat) {
    for (const CURLcode code :
         {CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_SSL_CONNECT_ERROR}) {
        EXPECT_EQ(ended_with(code, false, "POST").retry_facts().safety, retry_safety::yes);
    }
}

TEST(curl_result, failure_to_connect_after_a_redirect_of_a_post_is_not_repeated) {
    const auto facts = ended_with(CURLE_COULDNT_CONNECT, true, "POST").retry_facts();
    EXPECT_EQ(facts.safety, retry_safety::no);
}

TEST(curl_result, timeout_is_safe_only_before_anything_was_sent) {
    const auto early = ended_with(CURLE_OPERATION_TIMEDOUT, false, "POST").retry_facts();
    EXPECT_EQ(early.safety, retry_safety::yes);
    EXPECT_TRUE(early.timeout);
    const auto late = ended_with(CURLE_OPERATION_TIMEDOUT, true, "POST").retry_facts();
    EXPECT_EQ(late.safety, retry_safety::no);
    EXPECT_TRUE(late.timeout);
    EXPECT_EQ(ended_with(CURLE_OPERATION_TIMEDOUT, true).retry_facts().safety, retry_safety::maybe);
}

TEST(curl_result, broken_connection_is_repeated_only_for_idempotent_methods) {
    for (const CURLcode code :
         {CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE}) {
        EXPECT_EQ(ended_with(code, true, "PUT").retry_facts().safety, retry_safety::maybe);
        EXPECT_EQ(ended_with(code, true, "PATCH").retry_facts().safety, retry_safety::no);
    }
}

TEST(curl_result, local_mistake_is_never_repeated) {
    for (const CURLcode code :
         {CURLE_URL_MALFORMAT, CURLE_PEER_FAILED_VERIFICATION, CURLE_WRITE_ERROR,
          CURLE_ABORTED_BY_CALLBACK}) {
        EXPECT_EQ(ended_with(code, false).retry_facts().safety, retry_safety::no);
    }
}

TEST(curl_result, status_counts_also_where_libcurl_reports_it_as_an_error) {
    curl_result result = answered(429, "POST");
    result.code = CURLE_HTTP_RETURNED_ERROR;
    result.retry_after = "3";
    const auto facts = result.retry_facts();
    EXPECT_TRUE(facts.throttling);
    EXPECT_EQ(facts.safety, retry_safety::yes);
    EXPECT_EQ(facts.minimum_wait, std::chrono::seconds{3});
    EXPECT_EQ(facts.code, 429U);
}

TEST(curl_result, truncated_body_of_an_error_answer_counts_as_a_broken_connection) {
    curl_result result = answered(429, "POST");
    result.code = CURLE_PARTIAL_FILE;
    EXPECT_EQ(result.retry_facts().safety, retry_safety::no);
}

TEST(curl_result, stated_repeatability_wins_over_the_method) {
    curl_result post = answered(503, "POST");
    EXPECT_EQ(post.retry_facts().safety, retry_safety::no);
    post.repeat = reprise::repeatability::repeatable;
    EXPECT_EQ(post.retry_facts().safety, retry_safety::maybe);
    curl_result get = answered(503, "GET");
    get.repeat = reprise::repeatability::not_repeatable;
    EXPECT_EQ(get.retry_facts().safety, retry_safety::no);
}

}  // namespace
