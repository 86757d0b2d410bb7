#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

// Clocks and sockets of the key-value benchmarks. They use only 127.0.0.1, and an error ends the
// program.

namespace bench {

// Reads CLOCK_MONOTONIC or CLOCK_THREAD_CPUTIME_ID.
inline double seconds_of(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

[[noreturn]] inline void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

inline sockaddr_in loopback_address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

inline int connect_to(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback_address(port);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        fail("connect");
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return socket;
}

// Opens a listening socket on a port that the system chooses.
inline int listen_on(std::uint16_t& port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback_address(0);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener, generic, size) != 0 || ::listen(listener, 16) != 0 ||
        ::getsockname(listener, generic, &size) != 0) {
        fail("listen");
    }
    port = ntohs(address.sin_port);
    return listener;
}

inline int accept_from(int listener) {
    const int socket = ::accept(listener, nullptr, nullptr);
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return socket;
}

}  // namespace bench
