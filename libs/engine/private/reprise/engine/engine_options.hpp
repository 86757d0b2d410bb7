#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/connection_string.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::engine {

// The options of the user, the nodes to start with, and what users do not set. Durations are steady
// time. Every field except `seeds` has a sensible default. The engine does not read the user's
// credentials; see take_credentials.
struct engine_options : couchbase::cluster_options {
    // The nodes to connect to first. A missing port means the transport's default port.
    std::vector<wire::bootstrap_address> seeds{};
    // If not empty, the engine looks up the seeds in the name service (SRV) first and falls back to
    // `seeds`.
    std::string dns_srv_name{};
    wire::transport transport = wire::transport::plain;
    // Sent in HELLO; at most 200 bytes.
    std::string agent = "reprise";

    // From connected until the bootstrap is done.
    duration bootstrap_timeout = std::chrono::seconds{10};
    // Delay between two attempts to connect to a node: exponential with equal jitter.
    duration reconnect_delay_min = std::chrono::milliseconds{50};
    duration reconnect_delay_max = std::chrono::seconds{5};
    // Timeout of the client's own requests (configuration, collection ids).
    duration internal_timeout = std::chrono::milliseconds{2500};
    // A silent connection with pending requests is probed with NOOP after this time ...
    duration probe_after = std::chrono::seconds{1};
    // ... and closed if nothing arrives within this time after the probe.
    duration probe_timeout = std::chrono::seconds{2};
    // Requests on the wire of one connection at once, including timed-out ones without an answer;
    // 1..65536.
    std::size_t pipeline_credit = 1024;
    // A write takes no further request once it has this many bytes.
    std::size_t write_size_max_bytes = std::size_t{256} * 1024;
    // A value of at least this many bytes is written from where it is; smaller ones are copied, so
    // that many of them make one piece.
    std::size_t large_value_size_min_bytes = std::size_t{4} * 1024;
    // How many operations may wait for credit on one connection. Beyond that the socket counts as
    // not writable.
    std::size_t ready_count_max = 65536;

    bool enable_error_map = true;  // XERROR and GET_ERROR_MAP
    wire::compression_options compression{};
    bool enable_unordered_execution = true;
    bool enable_server_duration = true;
};

// Returns the name of the first option that is out of range or contradicts another one. Empty if
// the options are valid. An engine requires valid options and does not check them again.
[[nodiscard]] std::optional<driver::settings_error> check(const engine_options& options);

// Takes the nodes and the parameters of a connection string, which override the options.
[[nodiscard]] std::expected<void, wire::connection_string_error> apply(
    const wire::connection_string& given, engine_options& to);

// Moves the credentials out of the options, so that replaced ones are kept nowhere.
[[nodiscard]] credentials take_credentials(engine_options& from);

// Whether the client's certificate is its identity. The TLS handshake has then established it, and
// neither SASL nor an authorization header is sent.
[[nodiscard]] inline bool has_client_certificate(const engine_options& options) noexcept {
    return !options.tls.certificate_file.empty();
}

// Whether the other side is known: TLS with a verified certificate.
[[nodiscard]] inline bool is_server_verified(const engine_options& options) noexcept {
    return options.transport == wire::transport::tls && options.tls.is_verified;
}

// The default timeout of one operation, from its start to the last byte of the answer.
[[nodiscard]] duration timeout_of(
    wire::service service, const couchbase::cluster_options& options) noexcept;

}  // namespace reprise::engine
