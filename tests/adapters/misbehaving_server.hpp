#pragma once

/// A small HTTP server that misbehaves by plan: each connection gets the next behaviour, the last
/// one is repeated. It listens on the loopback and ends with its destructor.

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace adapters {

struct behaviour {
    enum class kind {
        answer,          ///< Reads the request and sends `text`, then closes.
        answer_one,      ///< The same, but closes when the next request has arrived.
        answer_all,      ///< Sends `text` to each request until the client closes.
        hang_up,         ///< Closes at once.
        read_and_close,  ///< Reads the request and closes without an answer.
        silent,          ///< Never answers; holds the connection until the end.
    } what = kind::answer;
    std::string text{};
};

/// A complete answer with this status, extra header lines (each with its line end) and body.
inline behaviour answers(
    int status, const std::string& headers = {}, const std::string& body = {}) {
    return {
        behaviour::kind::answer, "HTTP/1.1 " + std::to_string(status) + " Status\r\n" + headers +
                                     "Content-Length: " + std::to_string(body.size()) +
                                     "\r\nConnection: close\r\n\r\n" + body};
}
/// Keeps the connection, and closes it without an answer to the next request.
inline behaviour answers_one(int status) {
    return {
        behaviour::kind::answer_one,
        "HTTP/1.1 " + std::to_string(status) + " Status\r\nContent-Length: 0\r\n\r\n"};
}
/// Keeps the connection for all requests of the client.
inline behaviour answers_all(int status) {
    return {behaviour::kind::answer_all, answers_one(status).text};
}
inline behaviour sends(std::string text) {
    return {behaviour::kind::answer, std::move(text)};
}
inline behaviour hangs_up() {
    return {behaviour::kind::hang_up};
}
inline behaviour reads_and_closes() {
    return {behaviour::kind::read_and_close};
}
inline behaviour is_silent() {
    return {behaviour::kind::silent};
}

class misbehaving_server {
public:
    explicit misbehaving_server(std::vector<behaviour> plan)
        : plan_(std::move(plan)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const name = reinterpret_cast<sockaddr*>(&address);
        if (listener_ < 0 || ::bind(listener_, name, size) != 0 || ::listen(listener_, 16) != 0 ||
            ::getsockname(listener_, name, &size) != 0) {
            throw std::system_error(errno, std::generic_category());
        }
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    }
    misbehaving_server(const misbehaving_server&) = delete;
    misbehaving_server& operator=(const misbehaving_server&) = delete;
    ~misbehaving_server() {
        thread_.request_stop();
        ::shutdown(listener_, SHUT_RDWR);  // Wakes a waiting accept.
        thread_.join();
        ::close(listener_);
        std::ranges::for_each(held_, ::close);
    }

    [[nodiscard]] std::string port() const { return std::to_string(port_); }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + port() + "/report"; }
    /// The first lines of all requests that were read, after the first of them arrived: a client
    /// that gives up may be faster than this server. Waits 5 seconds at most.
    [[nodiscard]] std::vector<std::string> requests() const {
        std::unique_lock lock(mutex_);
        arrived_.wait_for(lock, std::chrono::seconds{5}, [this] { return !requests_.empty(); });
        return requests_;
    }
    [[nodiscard]] std::size_t connection_count() const {
        const std::scoped_lock lock(mutex_);
        return connection_count_;
    }

private:
    void serve(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (client < 0) {
                return;
            }
            std::size_t index = 0;
            {
                const std::scoped_lock lock(mutex_);
                index = std::min(connection_count_++, plan_.size() - 1);
            }
            misbehave(plan_[index], client);
        }
    }
    void misbehave(const behaviour& now, int client) {
        if (now.what != behaviour::kind::hang_up) {
            read_request(client);
        }
        if (now.what == behaviour::kind::answer || now.what == behaviour::kind::answer_one) {
            send_text(now, client);
        }
        if (now.what == behaviour::kind::answer_one) {
            read_request(client);
        }
        if (now.what == behaviour::kind::answer_all) {
            do {
                send_text(now, client);
            } while (read_request(client));
        }
        if (now.what == behaviour::kind::silent) {
            held_.push_back(client);
        } else {
            ::close(client);
        }
    }
    static void send_text(const behaviour& now, int client) {
        static_cast<void>(::send(client, now.text.data(), now.text.size(), MSG_NOSIGNAL));
    }
    /// Reads until the end of the header fields and of a body of the announced length. Gives up
    /// after two seconds. False if nothing arrived.
    bool read_request(int client) {
        std::string text;
        std::array<char, 4096> chunk{};
        pollfd readable{client, POLLIN, 0};
        while (!is_complete(text) && ::poll(&readable, 1, 2000) == 1) {
            const auto size = ::recv(client, chunk.data(), chunk.size(), 0);
            if (size <= 0) {
                break;
            }
            text.append(chunk.data(), static_cast<std::size_t>(size));
            if (text.front() == '\x16') {
                return true;  // A TLS handshake.
            }
        }
        if (!text.empty()) {
            const std::scoped_lock lock(mutex_);
            requests_.push_back(text.substr(0, text.find("\r\n")));
            arrived_.notify_all();
        }
        return !text.empty();
    }
    [[nodiscard]] static bool is_complete(const std::string& text) {
        const auto end = text.find("\r\n\r\n");
        if (end == std::string::npos) {
            return false;
        }
        const auto field = text.find("Content-Length: ");
        const auto length = field < end ? std::stoul(text.substr(field + 16)) : 0UL;
        return text.size() >= end + 4 + length;
    }

    std::vector<behaviour> plan_;
    int listener_;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    mutable std::condition_variable arrived_;
    std::vector<std::string> requests_;
    std::size_t connection_count_ = 0;
    std::vector<int> held_;
    std::jthread thread_;
};

}  // namespace adapters
