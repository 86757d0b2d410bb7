#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <reprise/engine/http_options.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/circuit_breaker_fsm.hpp>
#include <reprise/retry/retry_strategy.hpp>
#include <reprise/retry/settings.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/connection_string.hpp>
#include <reprise/wire/scram.hpp>

namespace reprise::engine {

// The client's identity. With `has_client_certificate`, the TLS handshake has established it and
// SASL is skipped. With a bearer token the client uses OAUTHBEARER, otherwise the user name and
// password.
struct credentials {
    std::string username{};
    std::string password{};
    std::string bearer_token{};
    bool has_client_certificate = false;
};

// All options. Durations are steady time. Every field except `seeds` has a sensible default.
struct engine_options {
    // The nodes to connect to first. A missing port means the transport's default port.
    std::vector<wire::bootstrap_address> seeds{};
    // If not empty, the engine looks up the seeds in the name service (SRV) first and falls back to
    // `seeds`.
    std::string dns_srv_name{};
    // Trusts every host that an SRV record names under its own name. Otherwise a host outside the
    // name in `dns_srv_name` gets no credentials unless its certificate is valid for that name.
    bool trust_srv_targets = false;
    wire::transport transport = wire::transport::plain;
    // Whether the driver verifies the issuer and the name of a node's certificate. Without
    // verification, TLS does not protect secrets from an impostor. Ignored without TLS.
    bool is_tls_verified = true;
    // `auto`, or the name of the network whose addresses are used.
    std::string network = "auto";
    // Sent in HELLO; at most 200 bytes.
    std::string agent = "reprise";

    duration kv_timeout = std::chrono::milliseconds{2500};
    duration kv_durable_timeout = std::chrono::seconds{10};
    // From the connect action until the driver reports the connection, including TLS.
    duration connect_timeout = std::chrono::seconds{2};
    // From connected until the bootstrap is done.
    duration bootstrap_timeout = std::chrono::seconds{10};
    // Delay between two attempts to connect to a node: exponential with equal jitter.
    duration reconnect_delay_min = std::chrono::milliseconds{50};
    duration reconnect_delay_max = std::chrono::seconds{5};
    duration config_poll_interval = std::chrono::milliseconds{2500};
    // Shortest time between two polls of one bucket, whatever requested them.
    duration config_poll_floor = std::chrono::milliseconds{50};
    // Timeout of the client's own requests (configuration, collection ids).
    duration internal_timeout = std::chrono::milliseconds{2500};
    // A silent connection with pending requests is probed with NOOP after this time ...
    duration probe_after = std::chrono::seconds{1};
    // ... and closed if nothing arrives within this time after the probe.
    duration probe_timeout = std::chrono::seconds{2};
    // If a seed without a verified certificate refuses the client, or its certificate is not valid,
    // that counts only once every other seed has answered, failed, or been silent for this time.
    duration seed_silence_max = std::chrono::milliseconds{1500};
    // Fixed delay after not-my-vbucket, as in RFC 0005. Empty: the controlled backoff.
    std::optional<duration> not_my_vbucket_delay{};
    // A new revision sends every request that waits after not-my-vbucket within this time, unless
    // the pipelines are full.
    duration revision_delay_max = std::chrono::milliseconds{100};
    // A bucket that was never open counts as missing if every data node that can be asked has
    // answered nothing but 'not found' for this long.
    duration missing_bucket_patience = std::chrono::seconds{2};

    std::size_t kv_connections_per_node = 1;  // for each bucket; 1..64
    // How many connections may be opening at once, to all nodes and services. A key-value
    // connection counts until its bootstrap is done, an HTTP connection until it is connected.
    // Connections that operations wait for are opened first. 1..65536.
    std::size_t connecting_count_max = 64;
    // Requests on the wire of one connection at once, including timed-out ones without an answer;
    // 1..65536.
    std::size_t pipeline_credit = 1024;
    // A write takes no further request once it has this many bytes.
    std::size_t write_size_max_bytes = std::size_t{256} * 1024;
    // How many operations may wait for a retry or a connection at once.
    std::size_t parked_count_max = 32768;
    // How many operations may wait for credit on one connection. Beyond that the socket counts as
    // not writable.
    std::size_t ready_count_max = 65536;

    // Null: fail_fast_on_terminal_error_strategy.
    std::shared_ptr<retry_strategy> strategy{};
    // The budget that pays for retries. Empty: retries are free. Reasons that are always retried
    // never charge it.
    std::optional<token_bucket_budget> retry_budget{};
    // Budgets for single services, which replace `retry_budget`.
    service_budgets service_retry_budgets{};
    // Enables a breaker for each endpoint. Empty: no breakers.
    std::optional<circuit_breaker_options> circuit_breaker{};
    // Whether the end of a request counts against its endpoint. Null: only timeouts do.
    std::function<bool(const std::error_code& outcome)> is_breaker_failure{};
    std::shared_ptr<log_sink> log{};
    bool log_keys = false;
    // Limits how many decisions are logged for each reason and second. The others of that second
    // are summarized in one message when it ends. 0: every decision is logged.
    std::size_t log_decisions_per_second_max = 0;
    // Notified of every request that is passed to a connection. May be null.
    std::shared_ptr<attempt_observer> observer{};
    // Notified of operations from their start to their end. None is null.
    std::vector<std::shared_ptr<operation_observer>> operation_observers{};

    http_options http{};

    hello_order hello = hello_order::first;
    // A server that answers can read PLAIN passwords and bearer tokens. Without verified TLS they
    // are sent only if this is set, and PLAIN only if the server offers no other mechanism.
    bool allow_plain_without_tls = false;
    // The most iterations of key stretching that a server may request for a login; 4096 to
    // 10,000,000. Fewer than 4096 are always refused.
    std::uint32_t scram_iterations_max = wire::scram_iterations_max;
    // Every HTTP request contains the password or the token. Without TLS, the client sends it only
    // to this machine itself (judged by the numeric address), and with TLS only if certificates are
    // verified, unless this is set.
    bool allow_plain_http = false;
    bool enable_error_map = true;    // XERROR and GET_ERROR_MAP
    bool enable_compression = true;  // snappy, if the server agrees
    wire::compression_options compression{};
    bool enable_mutation_tokens = true;
    bool enable_unordered_execution = true;
    bool enable_server_duration = true;
};

// The longest duration of an option. The engine adds durations to time points.
inline constexpr duration duration_option_max = std::chrono::hours{24 * 366};

// Returns the name of the first option that is out of range or contradicts another one. Empty if
// the options are valid. An engine requires valid options and does not check them again.
[[nodiscard]] std::optional<settings_error> check(const engine_options& options);

}  // namespace reprise::engine
