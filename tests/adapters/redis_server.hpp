#pragma once

/// Redis servers of a test's own, and nodes whose answers a test scripts.

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/retry/adapters/hiredis.hpp>

#include "server_process.hpp"

namespace adapters {

using namespace std::chrono_literals;
using reprise::adapters::redis_connection;
using reprise::adapters::redis_error;
using reprise::adapters::redis_reply;

/// A port that was free a moment ago, below those that the kernel gives out.
inline int free_port() {
    static std::atomic<int> next = 10000 + ::getpid() % 20000;
    for (;; ++next) {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(next));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const bool is_free =
            ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        ::close(socket);
        if (is_free) {
            return next++;
        }
    }
}

class redis_server {
public:
    explicit redis_server(const std::vector<std::string>& options = {})
        : process_(
              command(folder_.path().string(), port_, options), folder_.path() / "log", SIGKILL) {
        process_.start();
        EXPECT_TRUE(becomes_ready([&] { return ask({"PING"}) != "(lost)"; }));
    }
    [[nodiscard]] int port() const noexcept { return port_; }
    void stop(int signal) { process_.stop(signal); }
    void start() { process_.start(); }
    /// One command of the test itself, without retries.
    std::string ask(const std::vector<std::string>& words) const {
        redis_connection connection({"127.0.0.1", port_});
        try {
            const redis_reply reply = connection.command({.timeout = 5s}, words);
            return reply->str != nullptr ? std::string(reply->str, reply->len)
                                         : std::to_string(reply->integer);
        } catch (const redis_error& error) {
            return error.is_unknown() || error.what() == std::string("Connection refused")
                       ? "(lost)"
                       : error.what();
        }
    }

private:
    static std::vector<std::string> command(
        const std::string& folder, int port, const std::vector<std::string>& options) {
        std::vector<std::string> words{"redis-server", "--port",    std::to_string(port),
                                       "--bind",       "127.0.0.1", "--dir",
                                       folder,         "--save",    ""};
        words.insert(words.end(), options.begin(), options.end());
        return words;
    }

    temporary_folder folder_;
    int port_ = free_port();
    server_process process_;
};

/// An attempt with this time, which starts now.
inline reprise::attempt limited_to(reprise::duration time, std::uint32_t number = 1) {
    reprise::attempt current{.number = number, .timeout = time};
    current.deadline = current.now() + time;
    return current;
}

/// A socket that listens on this port, with room for `waiting_max` connections before it accepts.
inline int listen_on(int port, int waiting_max) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener, waiting_max), 0);
    return listener;
}

/// Passes each connection to the next function of its plan, and closes it.
class scripted_node {
public:
    using behaviour = std::function<void(int client)>;

    explicit scripted_node(std::vector<behaviour> plan, int port = free_port())
        : plan_(std::move(plan)), port_(port) {
        thread_ = std::jthread([this] {
            for (const behaviour& next : plan_) {
                const int client = ::accept(listener_, nullptr, nullptr);
                if (client >= 0) {
                    next(client);
                    ::close(client);
                }
            }
        });
    }
    ~scripted_node() {
        ::shutdown(listener_, SHUT_RDWR);  // Wakes a waiting accept.
        thread_.join();
        ::close(listener_);
    }
    scripted_node(const scripted_node&) = delete;
    scripted_node& operator=(const scripted_node&) = delete;
    [[nodiscard]] int port() const noexcept { return port_; }

    static bool read_command(int client) {
        std::array<char, 256> chunk{};
        return ::recv(client, chunk.data(), chunk.size(), 0) > 0;
    }
    static bool send_text(int client, std::string_view text) {
        return ::send(client, text.data(), text.size(), MSG_NOSIGNAL) > 0;
    }

private:
    std::vector<behaviour> plan_;
    int port_;
    int listener_ = listen_on(port_, 4);
    std::jthread thread_;
};

}  // namespace adapters
