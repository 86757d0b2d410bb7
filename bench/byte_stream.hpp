#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <openssl/ssl.h>
#include <unistd.h>

#include "loopback.hpp"

// Blocking streams of the benchmark of values: plain sockets, and TLS on them with OpenSSL alone.

namespace bench {

class plain_stream {
public:
    explicit plain_stream(int socket) : socket_(socket) {}
    plain_stream(const plain_stream&) = delete;
    plain_stream& operator=(const plain_stream&) = delete;
    ~plain_stream() { ::close(socket_); }

    // Returns the number of bytes, or 0 if the peer has closed.
    std::size_t receive(std::span<std::byte> to) const {
        const auto size = ::recv(socket_, to.data(), to.size(), 0);
        return size > 0 ? static_cast<std::size_t>(size) : 0;
    }
    // Returns false if the peer has closed.
    bool send(std::span<const std::byte> bytes) const {
        while (!bytes.empty()) {
            const auto size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (size <= 0) {
                return false;
            }
            bytes = bytes.subspan(static_cast<std::size_t>(size));
        }
        return true;
    }

private:
    int socket_;
};

using tls_context = std::unique_ptr<SSL_CTX, decltype([](SSL_CTX* each) { SSL_CTX_free(each); })>;

class tls_stream {
public:
    enum class side { client, server };

    tls_stream(SSL_CTX& context, int socket, side which) : plain_(socket), tls_(SSL_new(&context)) {
        SSL_set_fd(tls_.get(), socket);
        const int done = which == side::client ? SSL_connect(tls_.get()) : SSL_accept(tls_.get());
        is_open_ = done == 1;
    }

    // Whether the handshake succeeded.
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }

    std::size_t receive(std::span<std::byte> to) const {
        std::size_t size = 0;
        return SSL_read_ex(tls_.get(), to.data(), to.size(), &size) == 1 ? size : 0;
    }
    bool send(std::span<const std::byte> bytes) const {
        std::size_t size = 0;
        return SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &size) == 1;
    }

private:
    plain_stream plain_;  // closes the socket last
    bool is_open_ = false;
    std::unique_ptr<SSL, decltype([](SSL* each) { SSL_free(each); })> tls_;
};

}  // namespace bench
