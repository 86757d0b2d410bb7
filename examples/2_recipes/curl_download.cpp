/// Downloading with libcurl from a service that answers "429 Too Many Requests, Retry-After: 0"
/// twice. The service is a small HTTP server on the loopback, so that the example needs no network.

#include <arpa/inet.h>
#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <reprise/retry.hpp>
#include <string>
#include <string_view>
#include <thread>

using namespace std::chrono_literals;

// [result]
/// The outcome of one download.
struct download {
    CURLcode transfer = CURLE_OK;
    int status = 0;
    std::string retry_after;
    std::string body;
};

template <>
struct reprise::outcome_traits<download> {
    static bool is_failure(const download& result) noexcept {
        return result.transfer != CURLE_OK || result.status >= 400;
    }
    static failure_facts facts(const download& result) noexcept {
        if (result.transfer == CURLE_COULDNT_CONNECT) {
            return failure_facts::not_sent();
        }
        if (result.transfer == CURLE_OPERATION_TIMEDOUT) {
            return {.safety = retry_safety::maybe, .timeout = true};
        }
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        return http_facts(result.status, result.retry_after, now);
    }
};
// [/result]

std::size_t append(char* data, std::size_t, std::size_t size, void* out) {
    static_cast<std::string*>(out)->append(data, size);
    return size;
}

/// One attempt. It keeps to the time the loop leaves for it.
download fetch(const std::string& url, const reprise::attempt& current) {
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    download result;
    const auto limit = std::clamp<reprise::duration>(current.timeout, 1ms, 1h);  // 0: no limit.
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &result.body);
    curl_easy_setopt(
        curl.get(), CURLOPT_TIMEOUT_MS,
        static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(limit).count()));
    result.transfer = curl_easy_perform(curl.get());
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    result.status = static_cast<int>(status);
    curl_header* header = nullptr;
    if (curl_easy_header(curl.get(), "Retry-After", 0, CURLH_HEADER, -1, &header) == CURLHE_OK) {
        result.retry_after = header->value;
    }
    return result;
}

/// Answers three requests, one connection each, and ends.
class tiny_server {
public:
    tiny_server() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const name = reinterpret_cast<sockaddr*>(&address);
        if (listener_ < 0 || ::bind(listener_, name, size) != 0 || ::listen(listener_, 4) != 0 ||
            ::getsockname(listener_, name, &size) != 0) {
            throw std::system_error(errno, std::generic_category());
        }
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this] { serve(); });
    }
    tiny_server(const tiny_server&) = delete;
    tiny_server& operator=(const tiny_server&) = delete;
    ~tiny_server() {
        ::shutdown(listener_, SHUT_RDWR);  // Wakes a waiting accept.
        thread_.join();
        ::close(listener_);
    }

    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(port_) + "/report";
    }

private:
    void serve() const {
        constexpr std::string_view busy =
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\n"
            "Connection: close\r\n\r\n";
        constexpr std::string_view report =
            "HTTP/1.1 200 OK\r\nContent-Length: 14\r\nConnection: close\r\n\r\n21.5 degrees\r\n";
        for (const std::string_view answer : {busy, busy, report}) {
            const int client = ::accept(listener_, nullptr, nullptr);
            if (client < 0) {
                return;
            }
            std::array<char, 4096> request{};
            if (::recv(client, request.data(), request.size(), 0) > 0) {
                static_cast<void>(::send(client, answer.data(), answer.size(), MSG_NOSIGNAL));
            }
            ::close(client);
        }
    }

    int listener_;
    std::uint16_t port_ = 0;
    std::jthread thread_;
};

int main() {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const tiny_server server;
    reprise::standard_strategy strategy({.backoff = {.base = 20ms}});
    reprise::retry_history history;
    const download result = reprise::retry(
        strategy, {.timeout = 10s, .attempt_timeout = 3s, .history = &history},
        [&](const reprise::attempt& a) { return fetch(server.url(), a); });
    std::cout << result.status << ": " << result.body << history;
    curl_global_cleanup();
    return result.status == 200 && history.failed_attempts() == 2 ? 0 : 1;
}
