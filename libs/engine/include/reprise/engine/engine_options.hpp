#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/engine/http_options.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/retry_strategy.hpp>
#include <reprise/retry/settings.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/connection_string.hpp>
#include <reprise/wire/scram.hpp>

namespace reprise::engine {

// Who the client is. With `has_client_certificate` the TLS handshake has said it and no SASL is
// spoken; with a bearer token OAUTHBEARER is used; otherwise user name and password.
struct credentials {
    std::string username{};
    std::string password{};
    std::string bearer_token{};
    bool has_client_certificate = false;
};

// Everything that can be set. Durations are steady time; every field has a sensible default except
// `seeds`.
struct engine_options {
    // Where to begin; ports that are missing are the transport's default.
    std::vector<wire::bootstrap_address> seeds{};
    // Non-empty: ask the name service for the seeds first (SRV), and fall back to `seeds`.
    std::string dns_srv_name{};
    wire::transport transport = wire::transport::plain;
    // Whether the driver checks who issued a node's certificate, and for which name. Without it TLS
    // keeps nothing secret from whoever answers. Not used without TLS.
    bool is_tls_verified = true;
    // `auto`, or the network whose addresses are used.
    std::string network = "auto";
    // Said in HELLO, at most 200 bytes.
    std::string agent = "reprise";

    duration kv_timeout = std::chrono::milliseconds{2500};
    duration kv_durable_timeout = std::chrono::seconds{10};
    // From the connect action until the driver says connected (TLS included).
    duration connect_timeout = std::chrono::seconds{2};
    // From connected until the bootstrap is done.
    duration bootstrap_timeout = std::chrono::seconds{10};
    // Pause between two attempts to connect to a node: exponential with equal jitter.
    duration reconnect_delay_min = std::chrono::milliseconds{50};
    duration reconnect_delay_max = std::chrono::seconds{5};
    duration config_poll_interval = std::chrono::milliseconds{2500};
    // Least time between two polls of one bucket, whatever asked for them.
    duration config_poll_floor = std::chrono::milliseconds{50};
    // Waiting time of the client's own requests (configuration, collection ids).
    duration internal_timeout = std::chrono::milliseconds{2500};
    // A connection with requests in flight that is silent for so long is probed with NOOP ...
    duration probe_after = std::chrono::seconds{1};
    // ... and closed if nothing comes for so long after that.
    duration probe_timeout = std::chrono::seconds{2};
    // Fixed wait after not-my-vbucket, as RFC 0005 has it; absent: the controlled backoff.
    std::optional<duration> not_my_vbucket_delay{};

    std::size_t kv_connections_per_node = 1;  // for each bucket; 1..64
    // Connections being opened at once, to all nodes and services: until the bootstrap is done, of
    // HTTP until they are connected. Those that operations wait for come first. 1..65536.
    std::size_t connecting_count_max = 64;
    // Requests on the wire of one connection at once, unanswered timed-out ones included; 1..65536.
    std::size_t pipeline_credit = 1024;
    // Bytes gathered for one write before no further request is added.
    std::size_t write_size_max_bytes = std::size_t{256} * 1024;
    // Operations waiting for a retry, or for a connection, at once.
    std::size_t parked_count_max = 32768;
    // Operations waiting for credit on one connection; beyond it the socket counts as not writable.
    std::size_t ready_count_max = 65536;

    // Null: fail_fast_on_terminal_error_strategy.
    std::shared_ptr<retry_strategy> strategy{};
    // Retries are paid from it; absent: free. Never charged for reasons that are always retried.
    std::optional<token_bucket_budget> retry_budget{};
    // Instead of it, for single services.
    service_budgets service_retry_budgets{};
    // A breaker for each endpoint; absent: none.
    std::optional<circuit_breaker_options> circuit_breaker{};
    std::shared_ptr<log_sink> log{};
    bool log_keys = false;
    // 0: every decision is logged. Otherwise this many for each reason and second; the
    // others of that second are summed up in one message when it ends.
    std::size_t log_decisions_per_second_max = 0;
    // Told of every request that is handed to a connection; null: nobody is.
    std::shared_ptr<attempt_observer> observer{};

    http_options http{};

    hello_order hello = hello_order::first;
    // PLAIN and bearer tokens are readable for whoever answers: without verified TLS they are sent
    // only if this allows it, and PLAIN even then only if the server offers nothing else.
    bool allow_plain_without_tls = false;
    // Rounds of key stretching that a server may ask a login for; 4096 to 10,000,000. Fewer than
    // 4096 are always refused.
    std::uint32_t scram_iterations_max = wire::scram_iterations_max;
    // Every HTTP request shows the password or the token: without TLS only to this machine itself
    // (the address connected to, whatever its name), or if asked for. TLS without verification was
    // asked for, too.
    bool allow_plain_http = false;
    bool enable_error_map = true;    // XERROR and GET_ERROR_MAP
    bool enable_compression = true;  // snappy, if the server agrees
    wire::compression_options compression{};
    bool enable_mutation_tokens = true;
    bool enable_unordered_execution = true;
    bool enable_server_duration = true;
};

// The longest duration an option may have; time points are computed from it.
inline constexpr duration duration_option_max = std::chrono::hours{24 * 366};

// The first option that is out of its range or contradicts another one, by the field's name; empty
// if the options can be used. An engine expects options that pass and does not ask again.
[[nodiscard]] std::optional<settings_error> check(const engine_options& options);

}  // namespace reprise::engine
