#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include <curl/curl.h>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/curl.hpp>

#include "misbehaving_server.hpp"

// What a transfer of the adapter leaves on the handle for the next transfer of the program.

namespace adapters {
namespace {

using namespace std::chrono_literals;
using curl_handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

curl_handle make_handle(const misbehaving_server& server) {
    curl_handle curl(curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, server.url().c_str());
    return curl;
}

/// How many connections the transfer opened.
long connections_of_a_transfer(CURL* curl) {
    EXPECT_EQ(curl_easy_perform(curl), CURLE_OK);
    long count = -1;
    curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &count);
    return count;
}

TEST(curl_options, transfers_of_the_program_share_a_connection_after_one_that_was_not_repeatable) {
    const misbehaving_server server({answers_all(200)});
    const curl_handle curl = make_handle(server);
    const auto last = reprise::adapters::curl_perform(
        curl.get(), {}, {.repeat = reprise::repeatability::not_repeatable});
    EXPECT_EQ(last.status, 200);
    EXPECT_EQ(connections_of_a_transfer(curl.get()), 1) << "that transfer closed its own";
    EXPECT_EQ(connections_of_a_transfer(curl.get()), 0);
    EXPECT_EQ(server.connection_count(), 2U);
}

/// Ends a transfer that has run for a while, unless a time limit ends it before.
int end_after_a_while(void* started, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const auto& since = *static_cast<std::chrono::steady_clock::time_point*>(started);
    return std::chrono::steady_clock::now() - since > 100ms ? 1 : 0;
}

TEST(curl_options, transfer_of_the_program_is_not_limited_after_one_of_an_attempt) {
    const misbehaving_server server({is_silent()});
    const curl_handle curl = make_handle(server);
    const auto limited = reprise::adapters::curl_perform(curl.get(), {.timeout = 1ms});
    EXPECT_EQ(limited.code, CURLE_OPERATION_TIMEDOUT);
    auto started = std::chrono::steady_clock::now();
    curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &started);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, end_after_a_while);
    EXPECT_EQ(curl_easy_perform(curl.get()), CURLE_ABORTED_BY_CALLBACK);
}

}  // namespace
}  // namespace adapters
