#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/curl.hpp>
#include <reprise/testing/virtual_clock.hpp>

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

// Twenty downloads that users canceled kept all others away from a service that worked.
TEST(curl_result, what_the_program_ended_itself_does_not_open_a_circuit_breaker) {
    const auto ended_twenty_times_with = [](CURLcode code) {
        const auto breaker = std::make_shared<reprise::circuit_breaker>();
        for (int call = 0; call < 20; ++call) {
            static_cast<void>(reprise::retry(
                reprise::attempts(1).breaker(breaker), [&] { return ended_with(code, true); }));
        }
        return breaker->state();
    };
    for (const CURLcode code :
         {CURLE_ABORTED_BY_CALLBACK, CURLE_READ_ERROR, CURLE_URL_MALFORMAT, CURLE_WRITE_ERROR,
          CURLE_FAILED_INIT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_SSL_CERTPROBLEM,
          CURLE_LOGIN_DENIED}) {
        EXPECT_EQ(ended_twenty_times_with(code), reprise::circuit_state::closed) << code;
    }
    for (const CURLcode code : {CURLE_RECV_ERROR, CURLE_PEER_FAILED_VERIFICATION}) {
        EXPECT_EQ(ended_twenty_times_with(code), reprise::circuit_state::open) << code;
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

TEST(curl_result, every_code_of_libcurl_is_in_the_table_with_its_name) {
    for (int code = CURLE_OK; code < CURL_LAST; ++code) {
        const auto* const row =
            reprise::detail::find_row(reprise::adapters::detail::curl_rows, code);
        ASSERT_NE(row, nullptr) << curl_easy_strerror(static_cast<CURLcode>(code));
    }
    const auto name_of = [](CURLcode code) {
        return reprise::detail::find_row(reprise::adapters::detail::curl_rows, code)->name;
    };
    EXPECT_EQ(name_of(CURLE_COULDNT_CONNECT), "CURLE_COULDNT_CONNECT");
    EXPECT_EQ(name_of(CURLE_OPERATION_TIMEDOUT), "CURLE_OPERATION_TIMEDOUT");
    EXPECT_EQ(name_of(CURLE_RECV_ERROR), "CURLE_RECV_ERROR");
    EXPECT_EQ(name_of(CURLE_HTTP2_STREAM), "CURLE_HTTP2_STREAM");
    EXPECT_EQ(name_of(CURLE_UNRECOVERABLE_POLL), "CURLE_UNRECOVERABLE_POLL");
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

// A service that asked for a pause was called again at once if its answer broke off.
TEST(curl_result, a_wait_counts_also_if_the_body_of_its_answer_is_truncated) {
    curl_result result = answered(503, "GET");
    result.code = CURLE_PARTIAL_FILE;
    result.retry_after = "3";
    EXPECT_EQ(result.retry_facts().safety, retry_safety::maybe);
    EXPECT_EQ(result.retry_facts().minimum_wait, std::chrono::seconds{3});
    result.status = 200;
    EXPECT_EQ(result.retry_facts().minimum_wait, std::nullopt) << "no failure asked for it";
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

// The order was placed, the page that shows it was busy, and the order was placed again.
TEST(curl_result, post_that_a_redirect_turned_into_a_get_is_not_sent_twice) {
    for (const int status : {503, 429}) {
        curl_result shown = answered(status, "GET");
        EXPECT_NE(shown.retry_facts().safety, retry_safety::no);
        shown.is_redirected = true;
        EXPECT_EQ(shown.retry_facts().safety, retry_safety::no) << status;
        shown.repeat = reprise::repeatability::repeatable;
        EXPECT_EQ(shown.retry_facts().safety, retry_safety::maybe) << status;
    }
    curl_result lost = ended_with(CURLE_COULDNT_CONNECT, true);
    lost.is_redirected = true;
    EXPECT_EQ(lost.retry_facts().safety, retry_safety::no);
    curl_result put = answered(503, "PUT");
    put.is_redirected = true;
    EXPECT_EQ(put.retry_facts().safety, retry_safety::maybe);
}

// With CURLOPT_CUSTOMREQUEST or CURLOPT_POSTREDIR, libcurl sends a POST to the page that a 303
// names. The order was placed, the page was busy (429), and the order was placed again.
TEST(curl_result, request_that_kept_its_method_after_a_redirect_is_not_sent_twice) {
    for (const int status : {408, 429}) {
        for (const char* const method : {"POST", "PATCH"}) {
            curl_result shown = answered(status, method);
            EXPECT_EQ(shown.retry_facts().safety, retry_safety::yes);
            shown.is_redirected = true;
            EXPECT_EQ(shown.retry_facts().safety, retry_safety::no) << method << ' ' << status;
            shown.repeat = reprise::repeatability::repeatable;
            EXPECT_EQ(shown.retry_facts().safety, retry_safety::maybe) << method << ' ' << status;
        }
    }
    curl_result put = answered(429, "PUT");
    put.is_redirected = true;
    EXPECT_EQ(put.retry_facts().safety, retry_safety::maybe);
}

// Once, the filter turned the adapter's `no` into `maybe`, and the order was placed three times.
TEST(curl_result, SM_10_a_filter_does_not_send_a_post_twice) {
    reprise::testing::virtual_clock clock;
    const auto sent = [&](const char* method, reprise::repeatability mark) {
        int count = 0;
        const auto is_busy = [](const curl_result& result) { return result.status == 503; };
        const curl_result last = reprise::retry(
            reprise::attempts(3).when(is_busy), {.repeat = mark, .clock = &clock}, [&] {
                ++count;
                return answered(503, method);
            });
        EXPECT_EQ(last.status, 503);
        return count;
    };
    for (const auto mark :
         {reprise::repeatability::unspecified, reprise::repeatability::repeatable,
          reprise::repeatability::not_repeatable}) {
        EXPECT_EQ(sent("POST", mark), 1);
    }
    EXPECT_EQ(sent("GET", reprise::repeatability::unspecified), 3);
}

/// The handle kept a pointer to a variable of `curl_perform`, and the next transfer of the program
/// wrote there.
TEST(curl_perform, next_transfer_of_the_program_writes_to_the_standard_output_as_by_default) {
    const auto page = std::filesystem::path(testing::TempDir()) / "reprise_curl_page.txt";
    std::ofstream(page) << "21 degrees";
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, ("file://" + page.string()).c_str());
    const curl_result first = reprise::adapters::curl_perform(curl.get(), {});
    EXPECT_EQ(first.body, "21 degrees");
    testing::internal::CaptureStdout();
    const CURLcode second = curl_easy_perform(curl.get());
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "21 degrees");
    EXPECT_EQ(second, CURLE_OK);
    EXPECT_EQ(first.body, "21 degrees");
    std::filesystem::remove(page);
}

// A mail that was delivered, but not confirmed in time, was delivered three times: libcurl counts
// the bytes of HTTP requests only, and calls every upload a PUT.
TEST(curl_perform, transfer_of_another_protocol_counts_as_sent_and_has_no_method) {
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    const auto folder = std::filesystem::path(testing::TempDir()).generic_string();
    curl_easy_setopt(curl.get(), CURLOPT_URL, ("file://" + folder).c_str());
    curl_result ended = reprise::adapters::curl_perform(curl.get(), {});
    EXPECT_TRUE(ended.is_sent);
    EXPECT_EQ(ended.method, "");
    for (const CURLcode code :
         {CURLE_OPERATION_TIMEDOUT, CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR}) {
        ended.code = code;
        ended.repeat = reprise::repeatability::unspecified;
        EXPECT_EQ(ended.retry_facts().safety, retry_safety::no);
        ended.repeat = reprise::repeatability::repeatable;
        EXPECT_EQ(ended.retry_facts().safety, retry_safety::maybe);
    }
}

TEST(curl_result, describes_its_failure_in_words) {
    curl_result result;
    result.status = 503;
    EXPECT_EQ(result.message(), "HTTP 503");
    result.code = CURLE_COULDNT_CONNECT;
    EXPECT_EQ(result.message(), curl_easy_strerror(CURLE_COULDNT_CONNECT));
}

// A date in Retry-After used to be compared with the date of the machine, also in virtual time.
TEST(curl_perform, transfer_ends_at_the_date_of_the_calls_clock) {
    using namespace std::chrono_literals;
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, "file:///reprise/no/such/file");
    reprise::testing::virtual_clock clock;
    clock.advance(24h);
    curl_result ended = reprise::retry(
        reprise::attempts(1), {.clock = &clock}, [&](const reprise::attempt& current) {
            return reprise::adapters::curl_perform(curl.get(), current);
        });
    EXPECT_EQ(ended.ended_at, std::chrono::sys_days{std::chrono::year{2000} / 1 / 2});
    ended.code = CURLE_OK;
    ended.status = 503;
    ended.retry_after = "Sun, 02 Jan 2000 00:00:07 GMT";
    EXPECT_EQ(ended.retry_facts().minimum_wait, 7s);
}

}  // namespace
