#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/curl.hpp>

#include "misbehaving_server.hpp"

// Transfers of libcurl whose protocol is not HTTP.

namespace adapters {
namespace {

/// Answers the commands of FTP, and refuses SITE.
void speak_ftp(int client) {
    const auto send = [client](std::string_view text) {
        return ::send(client, text.data(), text.size(), MSG_NOSIGNAL) > 0;
    };
    std::array<char, 256> bytes{};
    send("220 ready\r\n");
    for (;;) {
        const auto size = ::recv(client, bytes.data(), bytes.size(), 0);
        if (size <= 0) {
            return;
        }
        const std::string_view command(bytes.data(), static_cast<std::size_t>(size));
        send(
            command.starts_with("SITE")   ? "500 unknown\r\n"
            : command.starts_with("USER") ? "331 password\r\n"
            : command.starts_with("PASS") ? "230 logged in\r\n"
                                          : "257 \"/\"\r\n");
    }
}

// libcurl ignores the answer to a command that begins with an asterisk. The transfer had succeeded,
// and yet it was a failure ("HTTP 500") and was repeated.
TEST(curl_protocols, answers_of_ftp_are_no_statuses_of_http) {
    misbehaving_server server({talks(speak_ftp)});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> commands(
        curl_slist_append(nullptr, "*SITE UTIME"), curl_slist_free_all);
    curl_easy_setopt(curl.get(), CURLOPT_URL, ("ftp://127.0.0.1:" + server.port() + "/").c_str());
    curl_easy_setopt(curl.get(), CURLOPT_QUOTE, commands.get());
    curl_easy_setopt(curl.get(), CURLOPT_NOBODY, 1L);
    int calls = 0;
    const auto ended = reprise::retry(
        reprise::attempts(3).every({}), {.repeat = reprise::repeatability::repeatable},
        [&](const reprise::attempt& current) {
            ++calls;
            return reprise::adapters::curl_perform(curl.get(), current);
        });
    EXPECT_EQ(ended.code, CURLE_OK) << ended.message();
    EXPECT_FALSE(ended.is_failure());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(ended.status, 0);
}

}  // namespace
}  // namespace adapters
