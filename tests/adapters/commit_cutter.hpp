#pragma once

/// A proxy in front of a PostgreSQL server that loses one COMMIT, the request or its answer, stops
/// reading in the middle of it, or reports in its place, as PgBouncer does, that it lost the
/// server.

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <atomic>

#include "server_process.hpp"

namespace adapters {

class commit_cutter {
public:
    enum class cut { request, answer, reading, report };

    /// `target` is the folder of the server's socket.
    commit_cutter(std::string target, cut what) : target_(std::move(target)), what_(what) {
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_un address = address_in(folder_.path().string());
        if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(listener_, 8) != 0) {
            throw std::runtime_error("the proxy cannot listen");
        }
        thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    }
    commit_cutter(const commit_cutter&) = delete;
    commit_cutter& operator=(const commit_cutter&) = delete;
    ~commit_cutter() {
        thread_.request_stop();
        thread_.join();
        ::close(listener_);
    }

    [[nodiscard]] std::string parameters() const {
        return "host=" + folder_.path().string() +
               " user=app dbname=postgres sslmode=disable "
               "gssencmode=disable";
    }
    [[nodiscard]] bool has_cut() const noexcept { return has_cut_; }

private:
    [[nodiscard]] static sockaddr_un address_in(const std::string& folder) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string name = folder + "/.s.PGSQL.5432";
        name.copy(address.sun_path, sizeof address.sun_path - 1);
        return address;
    }
    [[nodiscard]] static bool is_readable(int socket) {
        pollfd wanted{socket, POLLIN, 0};
        return ::poll(&wanted, 1, 20) > 0;
    }

    /// One connection at a time: the tests have one.
    void serve(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            if (!is_readable(listener_)) {
                continue;
            }
            const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const sockaddr_un address = address_in(target_);
            if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                0) {
                while (!stop.stop_requested() && pump(client, server, stop)) {
                }
            }
            ::close(client);
            ::close(server);
        }
    }
    /// Moves bytes for a moment; false when the connection ends.
    [[nodiscard]] bool pump(int client, int server, const std::stop_token& stop) {
        std::array<pollfd, 2> ends{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
        if (::poll(ends.data(), ends.size(), 20) <= 0) {
            return true;
        }
        std::array<char, 65536> bytes{};
        if (ends[0].revents != 0) {
            const auto size = ::recv(client, bytes.data(), bytes.size(), 0);
            if (size <= 0) {
                return false;
            }
            const std::string_view text(bytes.data(), static_cast<std::size_t>(size));
            const bool is_commit = !has_cut_ && text.find("commit") != std::string_view::npos;
            if (is_commit && what_ == cut::reading) {
                has_cut_ = true;
                while (!stop.stop_requested()) {
                    ::poll(nullptr, 0, 20);
                }
                return false;
            }
            if (is_commit && what_ == cut::request) {
                has_cut_ = true;
                return false;
            }
            send_all(server, text);
            if (is_commit) {
                static_cast<void>(::recv(server, bytes.data(), bytes.size(), 0));
                has_cut_ = true;
                if (what_ == cut::report) {
                    using namespace std::string_view_literals;
                    send_all(client, "E\0\0\0\x29SFATAL\0C08P01\0Mserver conn crashed?\0\0"sv);
                }
                return false;
            }
        }
        if (ends[1].revents != 0) {
            const auto size = ::recv(server, bytes.data(), bytes.size(), 0);
            if (size <= 0) {
                return false;
            }
            send_all(client, {bytes.data(), static_cast<std::size_t>(size)});
        }
        return true;
    }
    static void send_all(int to, std::string_view text) {
        while (!text.empty()) {
            const auto sent = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0) {
                return;
            }
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    temporary_folder folder_;
    std::string target_;
    cut what_;
    std::atomic<bool> has_cut_ = false;
    int listener_ = -1;
    std::jthread thread_;
};

}  // namespace adapters
