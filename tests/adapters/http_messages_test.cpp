#include <gtest/gtest.h>

#include <optional>

#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "http_clients.hpp"
#include "misbehaving_server.hpp"

// What HTTP allows between a request and its answer: answers without a body, interim answers,
// answers that break off, redirects on a kept connection.

namespace adapters {
namespace {

using namespace std::chrono_literals;

template <class Client>
class http_messages : public testing::Test {};
using clients = testing::Types<curl_client, beast_client>;
TYPED_TEST_SUITE(http_messages, clients);

/// One call with at most three attempts, which wait on a clock of their own.
template <class Client>
struct counted_call {
    explicit counted_call(const Client& client) {
        reprise::testing::virtual_clock clock;
        reprise::standard_strategy strategy({.attempts_max = 3, .backoff = {.base = 1ms}});
        last = reprise::retry(
            strategy, {.attempt_timeout = 5s, .history = &history, .clock = &clock}, client);
        waits = clock.waits();
    }

    typename Client::result last;
    reprise::retry_history history;
    std::vector<reprise::duration> waits;
};

// Beast waited for the body that the answer to a GET would have, until the server closed.
TYPED_TEST(http_messages, answer_to_a_head_has_no_body) {
    misbehaving_server server(
        {sends("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n")});
    const counted_call made(TypeParam{"HEAD", server.port()});
    EXPECT_EQ(TypeParam::status(made.last), 200);
    EXPECT_EQ(made.history.failed_attempts(), 0U);
    EXPECT_EQ(server.requests(), std::vector<std::string>{"HEAD /r HTTP/1.1"});
}

// Beast took the first interim answer for the answer, so that a 503 after it was a success.
TYPED_TEST(http_messages, interim_answers_are_not_the_answer) {
    const std::string interim =
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\nRetry-After: 900\r\n\r\n";
    misbehaving_server server(
        {sends(interim + answers(503, "Retry-After: 7\r\n").text),
         sends(interim + answers(200, "", "fine").text)});
    const counted_call made(TypeParam{"GET", server.port()});
    EXPECT_EQ(TypeParam::status(made.last), 200);
    EXPECT_EQ(TypeParam::body(made.last), "fine");
    EXPECT_EQ(made.waits, std::vector<reprise::duration>{7s});
}

// A server that sent interim answers without end held an exchange that had no limit forever.
TEST(beast_messages, interim_answers_without_an_answer_are_a_failure) {
    using reprise::adapters::beast_errc;
    std::string allowed;
    for (unsigned count = 0; count < reprise::adapters::beast_interim_answers_max; ++count) {
        allowed += "HTTP/1.1 103 Early Hints\r\nRetry-After: 900\r\n\r\n";
    }
    const behaviour more = sends("HTTP/1.1 103 Early Hints\r\n\r\n" + allowed + answers(200).text);
    {
        misbehaving_server server({sends(allowed + answers(200, "", "fine").text)});
        const counted_call made(beast_client{"GET", server.port()});
        EXPECT_EQ(beast_client::body(made.last), "fine");
        EXPECT_EQ(made.history.failed_attempts(), 0U);
    }
    misbehaving_server gets({more, answers(200, "", "fine")});
    const counted_call get(beast_client{"GET", gets.port()});
    EXPECT_EQ(beast_client::body(get.last), "fine");
    EXPECT_EQ(get.history.failed_attempts(), 1U);
    EXPECT_LT(get.waits.at(0), 900s) << "no answer asked for it";

    misbehaving_server posts({more, answers(200)});
    const counted_call post(beast_client{"POST", posts.port()});
    EXPECT_EQ(post.last.error, beast_errc::too_many_interim_answers);
    EXPECT_EQ(post.last.stage, reprise::adapters::beast_stage::reading);
    EXPECT_EQ(post.last.message(), "too many interim answers");
    EXPECT_EQ(
        reprise::adapters::beast_error_facts(post.last.error).safety, reprise::retry_safety::maybe);
    EXPECT_EQ(posts.requests().size(), 1U);
}

// A firewall that starts to refuse an open connection answers with 'port unreachable'. Linux
// reports that as ECONNREFUSED when the connection times out, and the order was placed twice.
TEST(beast_messages, open_connection_that_is_refused_has_sent_the_request) {
    using reprise::adapters::beast_stage;
    const auto facts_at = [](beast_stage stage, const char* method) {
        reprise::adapters::beast_result<> result;
        result.error = boost::asio::error::connection_refused;
        result.stage = stage;
        result.method = method;
        return result.retry_facts().safety;
    };
    EXPECT_EQ(facts_at(beast_stage::connecting, "POST"), reprise::retry_safety::yes);
    for (const beast_stage stage : {beast_stage::writing, beast_stage::reading}) {
        EXPECT_EQ(facts_at(stage, "POST"), reprise::retry_safety::no);
        EXPECT_EQ(facts_at(stage, "GET"), reprise::retry_safety::maybe);
    }
}

// A machine without a free descriptor, or whose name server failed, has sent nothing, and yet such
// a failure was final with the standard strategy and for calls that are not repeatable.
TEST(beast_messages, every_failure_to_connect_has_sent_nothing) {
    namespace error = boost::asio::error;
    for (const boost::system::error_code code :
         {boost::system::error_code(error::no_recovery),
          error::make_error_code(error::no_descriptors),
          error::make_error_code(error::access_denied),
          error::make_error_code(error::host_unreachable)}) {
        reprise::adapters::beast_result<> result;
        result.stage = reprise::adapters::beast_stage::connecting;
        result.error = code;
        result.method = "POST";
        EXPECT_EQ(result.retry_facts().safety, reprise::retry_safety::yes) << code.message();
        EXPECT_EQ(result.retry_facts().fault, reprise::failure_fault::other) << code.message();
        result.stage = reprise::adapters::beast_stage::writing;
        EXPECT_EQ(result.retry_facts().safety, reprise::retry_safety::no) << code.message();
    }
    reprise::adapters::beast_result<> result;
    result.stage = reprise::adapters::beast_stage::connecting;
    result.error = error::make_error_code(error::operation_aborted);
    EXPECT_EQ(result.retry_facts().safety, std::nullopt) << "the loop decides why it was canceled";
    result.error = error::make_error_code(error::service_not_found);
    EXPECT_EQ(result.retry_facts().safety, std::nullopt) << "a mistake of the caller";
    result.error = error::make_error_code(error::host_not_found);
    EXPECT_EQ(result.retry_facts().safety, reprise::retry_safety::no);
}

// A client that fills in a result and forgets the stage stated that nothing had been sent.
TEST(beast_messages, failure_without_a_stage_may_have_sent_the_request) {
    reprise::adapters::beast_result<> result;
    result.error = boost::asio::error::connection_refused;
    result.method = "POST";
    EXPECT_EQ(result.retry_facts().safety, reprise::retry_safety::no);
}

// Beast forgot what had arrived of an answer that broke off.
TYPED_TEST(http_messages, wait_that_an_answer_asks_for_counts_also_if_its_body_breaks_off) {
    misbehaving_server server(
        {sends("HTTP/1.1 503 Status\r\nRetry-After: 7\r\nContent-Length: 1000\r\n\r\nhalf"),
         answers(200, "", "fine")});
    const counted_call made(TypeParam{"GET", server.port()});
    EXPECT_EQ(TypeParam::body(made.last), "fine");
    EXPECT_EQ(made.waits, std::vector<reprise::duration>{7s});
}

// libcurl follows a redirect on the connection that it has, which counts as reused: when it closed,
// libcurl sent the POST a second time.
TEST(curl_messages, post_that_is_not_repeatable_is_sent_once_also_to_where_it_is_redirected) {
    misbehaving_server server(
        {{behaviour::kind::answer_one,
          "HTTP/1.1 307 Status\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"},
         reads_and_closes()});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, server.url().c_str());
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, "n=1");
    curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
    const auto last = reprise::adapters::curl_perform(
        curl.get(), {}, {.repeat = reprise::repeatability::not_repeatable});
    EXPECT_EQ(last.code, CURLE_GOT_NOTHING);
    EXPECT_EQ(
        server.requests(),
        (std::vector<std::string>{"POST /report HTTP/1.1", "POST /there HTTP/1.1"}));
}

// A 303 names the page that shows the order which was placed. With CURLOPT_CUSTOMREQUEST libcurl
// sends a POST there, too, and a 429 placed the order again.
TEST(curl_messages, post_that_was_redirected_is_not_repeated_when_the_next_request_is_refused) {
    misbehaving_server server({answers(303, "Location: /shown\r\n"), answers(429), answers(200)});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, server.url().c_str());
    curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, "POST");
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, "n=1");
    curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
    const auto last = reprise::retry(
        reprise::attempts(3).every(0ms), {.repeat = reprise::repeatability::not_repeatable},
        [&](const reprise::attempt& a) { return reprise::adapters::curl_perform(curl.get(), a); });
    EXPECT_EQ(last.status, 429);
    EXPECT_EQ(
        server.requests(),
        (std::vector<std::string>{"POST /report HTTP/1.1", "POST /shown HTTP/1.1"}));
}

}  // namespace
}  // namespace adapters
