#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include <reprise/retry.hpp>

#include "http_clients.hpp"
#include "misbehaving_server.hpp"

// Which connections libcurl uses for the requests of one transfer, and what it reports of protocols
// other than HTTP.

namespace adapters {
namespace {

using namespace std::chrono_literals;
using reprise::adapters::curl_perform;
using curl_handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

constexpr reprise::adapters::curl_options only_once{
    .repeat = reprise::repeatability::not_repeatable};

/// A handle that has an idle connection to the server. It sends its next request by POST and
/// follows redirects.
curl_handle post_after_a_get(const misbehaving_server& idle) {
    curl_handle curl(curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, idle.url().c_str());
    EXPECT_EQ(curl_perform(curl.get(), {}).status, 200);
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, "n=1");
    curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
    return curl;
}

// Only the first request of a transfer had a new connection: the order went to the server of the
// redirect over an idle one, which closed without an answer, and libcurl placed it again.
TEST(curl_connections, post_that_is_not_repeatable_is_sent_once_to_where_it_is_redirected) {
    misbehaving_server shop({answers_one(200), answers(200)});
    misbehaving_server door({answers(307, "Location: " + shop.url() + "\r\n")});
    const auto curl = post_after_a_get(shop);
    curl_easy_setopt(curl.get(), CURLOPT_URL, door.url().c_str());
    EXPECT_EQ(curl_perform(curl.get(), {}, only_once).status, 200);
    EXPECT_EQ(
        shop.requests(),
        (std::vector<std::string>{"GET /report HTTP/1.1", "POST /report HTTP/1.1"}));
}

// The same after a challenge: the first POST of the round has no body and is not executed.
TEST(curl_connections, post_that_is_not_repeatable_is_sent_once_with_its_authentication) {
    misbehaving_server shop(
        {answers_one(200), answers(401, "WWW-Authenticate: Digest realm=\"x\", nonce=\"1\"\r\n"),
         answers(200)});
    const auto curl = post_after_a_get(shop);
    curl_easy_setopt(curl.get(), CURLOPT_HTTPAUTH, CURLAUTH_DIGEST);
    curl_easy_setopt(curl.get(), CURLOPT_USERPWD, "bob:secret");
    EXPECT_EQ(curl_perform(curl.get(), {}, only_once).status, 200);
    EXPECT_EQ(
        shop.requests(),
        (std::vector<std::string>{
            "GET /report HTTP/1.1", "POST /report HTTP/1.1", "POST /report HTTP/1.1"}));
}

TEST(curl_connections, request_that_is_not_repeatable_leaves_the_idle_ones_to_the_others) {
    misbehaving_server server({answers_all(200)});
    const curl_handle curl(curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, server.url().c_str());
    for (const reprise::adapters::curl_options& each :
         {reprise::adapters::curl_options(), {}, only_once, only_once, {}}) {
        EXPECT_EQ(curl_perform(curl.get(), {}, each).status, 200);
    }
    EXPECT_EQ(server.requests().size(), 5U);
    EXPECT_EQ(server.connection_count(), 3U);
}

TEST(curl_connections, share_of_the_program_is_not_used_and_no_longer_in_use_afterwards) {
    misbehaving_server server({answers_all(200)});
    CURLSH* const share = curl_share_init();
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
    const curl_handle curl(curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, server.url().c_str());
    curl_easy_setopt(curl.get(), CURLOPT_SHARE, share);
    EXPECT_EQ(curl_perform(curl.get(), {}).status, 200);
    EXPECT_EQ(curl_share_cleanup(share), CURLSHE_IN_USE);
    EXPECT_EQ(curl_perform(curl.get(), {}, only_once).status, 200);
    EXPECT_EQ(server.connection_count(), 2U);
    EXPECT_EQ(curl_share_cleanup(share), CURLSHE_OK);
}

curl_socket_t open_socket(void* open_count, curlsocktype, curl_sockaddr* address) {
    ++*static_cast<int*>(open_count);
    return ::socket(address->family, address->socktype, address->protocol);
}

int close_socket(void* open_count, curl_socket_t socket) {
    --*static_cast<int*>(open_count);
    return ::close(socket);
}

TEST(curl_connections, request_that_is_not_repeatable_leaves_none_open) {
    misbehaving_server shop({answers_all(200)});
    misbehaving_server door({answers(307, "Location: " + shop.url() + "\r\n")});
    int open_count = 0;
    const curl_handle curl(curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, door.url().c_str());
    curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl.get(), CURLOPT_OPENSOCKETDATA, &open_count);
    curl_easy_setopt(curl.get(), CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(curl.get(), CURLOPT_CLOSESOCKETDATA, &open_count);
    EXPECT_EQ(curl_perform(curl.get(), {}, only_once).status, 200);
    EXPECT_EQ(open_count, 0);
    EXPECT_EQ(curl_perform(curl.get(), {}).status, 200);
    EXPECT_EQ(open_count, 1) << "an ordinary one keeps its connection";
}

/// Accepts a mail and counts it as delivered, but never says so.
void accept_mail(int client, std::atomic<int>& delivered) {
    const auto say = [client](std::string_view line) {
        static_cast<void>(::send(client, line.data(), line.size(), MSG_NOSIGNAL));
    };
    say("220 mail.example\r\n");
    std::string text;
    std::array<char, 4096> chunk{};
    while (const auto size = ::recv(client, chunk.data(), chunk.size(), 0)) {
        if (size < 0) {
            return;
        }
        text.append(chunk.data(), static_cast<std::size_t>(size));
        if (text.ends_with("\r\n.\r\n")) {
            ++delivered;
            text.clear();
        } else if (text == "DATA\r\n") {
            say("354 go on\r\n");
        } else if (text.starts_with("DATA\r\n")) {
            continue;
        } else if (text.ends_with("\r\n")) {
            say("250 fine\r\n");
            text.clear();
        }
    }
}

std::size_t read_mail(char* to, std::size_t, std::size_t size_max, void* from) {
    auto& rest = *static_cast<std::string_view*>(from);
    const std::size_t size = std::min(size_max, rest.size());
    std::memcpy(to, rest.data(), size);
    rest.remove_prefix(size);
    return size;
}

// libcurl counts the bytes of HTTP requests only: a mail whose delivery was not confirmed in time
// seemed not to be sent, and was delivered three times.
TEST(curl_protocols, mail_that_was_not_confirmed_in_time_is_not_sent_again) {
    std::atomic<int> delivered = 0;
    misbehaving_server server(
        {talks([&delivered](int client) { accept_mail(client, delivered); })});
    const curl_handle curl(curl_easy_init(), curl_easy_cleanup);
    curl_slist* const to = curl_slist_append(nullptr, "<ada@shop.example>");
    std::string_view rest;
    curl_easy_setopt(curl.get(), CURLOPT_URL, ("smtp://127.0.0.1:" + server.port()).c_str());
    curl_easy_setopt(curl.get(), CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_MAIL_RCPT, to);
    curl_easy_setopt(curl.get(), CURLOPT_READFUNCTION, read_mail);
    curl_easy_setopt(curl.get(), CURLOPT_READDATA, &rest);
    const auto attempts = [&](reprise::repeatability repeat) {
        reprise::retry_history history;
        const auto last = reprise::retry(
            reprise::attempts(3).every(0ms),
            {.attempt_timeout = 100ms, .repeat = repeat, .history = &history},
            [&](const reprise::attempt& current) {
                rest = "Subject: order\r\n\r\nOne lamp.\r\n";
                return curl_perform(curl.get(), current);
            });
        EXPECT_EQ(last.code, CURLE_OPERATION_TIMEDOUT);
        return history.failed_attempts();
    };
    EXPECT_EQ(attempts(reprise::repeatability::not_repeatable), 1U);
    EXPECT_LE(delivered, 1);
    EXPECT_EQ(attempts(reprise::repeatability::unspecified), 1U);
    EXPECT_LE(delivered, 2);
    EXPECT_EQ(attempts(reprise::repeatability::repeatable), 3U);
    curl_slist_free_all(to);
}

}  // namespace
}  // namespace adapters
