#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <reprise/engine/engine_options.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::net {

// Who runs the loop. A third way, the caller's executor, is given to client::make itself.
enum class thread_mode : std::uint8_t {
    own_thread,     // a thread of the client's own
    caller_drives,  // whoever calls `call` or `drive`; nothing moves between calls
};

// Files are PEM. Used for connections whose transport is TLS.
struct tls_options {
    // Trusted issuers; both may be given; neither: what the system trusts.
    std::string ca_file{};
    std::string ca_pem{};
    // The client's own certificate chain and key; both or neither.
    std::string certificate_file{};
    std::string key_file{};
    // False: neither issuer nor host name is checked.
    bool is_verified = true;
};

struct dns_options {
    // "address[:port],..."; empty: the system's.
    std::string servers{};
    // For one question to one server.
    duration timeout = std::chrono::milliseconds{1000};
    // How often a question is asked; each round waits longer.
    int tries = 2;
    bool ipv4_only = false;
};

struct client_options {
    engine::engine_options engine{};
    engine::credentials identity{};
    tls_options tls{};
    dns_options dns{};
    thread_mode threads = thread_mode::own_thread;
    // TCP keep-alive probes after so much silence; zero: off. Whole seconds count.
    duration keepalive_time = std::chrono::seconds{60};
    // Operations handed over by other threads and not yet taken.
    std::size_t submission_count_max = 65536;
};

}  // namespace reprise::net
