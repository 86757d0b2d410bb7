#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <reprise/engine/engine_options.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::net {

/// Who runs the loop. The third possibility, the caller's executor, is an argument of client::make.
enum class thread_mode : std::uint8_t {
    own_thread,     ///< the client's own thread
    caller_drives,  ///< callers of `call` or `drive`; nothing happens between calls
};

/// Applies to connections over TLS. Files are in PEM format.
struct tls_options {
    /// Trusted issuers. You may set both. If both are empty, the client trusts the system's
    /// certificates.
    std::string ca_file{};
    std::string ca_pem{};
    /// The client's own certificate chain and key. Set both or neither.
    std::string certificate_file{};
    std::string key_file{};
    /// If false, the client checks neither issuer nor host name.
    bool is_verified = true;
};

struct dns_options {
    /// "address[:port],...". Empty means the system's name servers.
    std::string servers{};
    /// The timeout of one query to one server.
    duration timeout = std::chrono::milliseconds{1000};
    /// How often a query is sent. Each try waits longer.
    int tries = 2;
    bool ipv4_only = false;
};

struct client_options {
    engine::engine_options engine{};
    engine::credentials identity{};
    tls_options tls{};
    dns_options dns{};
    thread_mode threads = thread_mode::own_thread;
    /// Idle time before TCP keep-alive probes, in whole seconds. Zero disables them.
    duration keepalive_time = std::chrono::seconds{60};
    /// How many operations from other threads may wait for the loop.
    std::size_t submission_count_max = 65536;
};

}  // namespace reprise::net
