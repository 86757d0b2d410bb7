#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/couchbase/retry_strategy.hpp>
#include <reprise/couchbase_types/attempt_observer.hpp>
#include <reprise/couchbase_types/circuit_breaker_options.hpp>
#include <reprise/couchbase_types/hello_order.hpp>
#include <reprise/couchbase_types/log_sink.hpp>
#include <reprise/couchbase_types/service_budgets.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

// Who moves the client's bytes.
enum class thread_mode : std::uint8_t {
    // A thread of the client's own. Handlers without an executor run there.
    own_thread,
    // The threads that call: blocking calls and cluster::drive. Nothing moves between calls (no
    // keep-alive, no configuration, no timeout of asynchronous operations); the next call first
    // takes what has piled up. The fastest for plain synchronous programs.
    caller_drives,
    // For your own executor see `connect` in <reprise/couchbase/asio.hpp>.
};

// How TLS (couchbases://) is done. Files are PEM.
struct tls_options {
    // Who is trusted; both may be given. Neither: what the system trusts.
    std::string ca_file{};
    std::string ca_pem{};
    // Says who the client is instead of user name and password; give both or neither.
    std::string certificate_file{};
    std::string key_file{};
    // False: any certificate is taken, which protects from nobody who can answer. For tests.
    bool is_verified = true;
};

// Who the client is, for cluster::replace_credentials: user name and password, or a bearer token.
struct credentials {
    std::string username{};
    std::string password{};
    std::string bearer_token{};
};

// Everything that can be set for a client. What the connection string sets wins, so that an
// operator can change it without a build. Durations are steady time, above zero and at most 366
// days; a field out of its range is client_errc::option_invalid from connect, by name.
struct cluster_options {
    std::string username{};
    std::string password{};
    // OAUTHBEARER instead of user name and password. Over TLS only, as PLAIN.
    std::string bearer_token{};
    tls_options tls{};
    // PLAIN and tokens are readable for whoever answers: without TLS and a verified certificate
    // they are sent only if this allows it, and PLAIN even then only if the server offers nothing
    // else. `allow_plain_without_tls` in a connection string.
    bool allow_plain_without_tls = false;
    // Every request to an HTTP service shows the password or token. Without TLS that is done only
    // towards this machine itself (by the address connected to, never by its name); to any other
    // machine such calls fail with errc::plain_http_not_allowed unless this is set. It has nothing
    // to do with the option above, and key-value nothing with this one. With TLS nothing is shown;
    // tls.is_verified = false asks for TLS that protects from listeners alone, and is obeyed.
    bool allow_plain_http = false;
    // Rounds of key stretching (SCRAM) that a server may ask a login for, 4096 to 10,000,000; more
    // are refused. `scram_iterations_max` in a connection string.
    std::uint32_t scram_iterations_max = 100'000;
    // When a new connection says HELLO. Old servers answer it only after authentication.
    // `hello_after_authentication=true` in a connection string.
    hello_order hello = hello_order::first;

    // Default time for an operation, and for one with durability.
    duration kv_timeout = std::chrono::milliseconds{2500};
    duration kv_durable_timeout = std::chrono::seconds{10};
    // Default time for a call of each HTTP service, from its start to the last byte of the answer.
    duration query_timeout = std::chrono::seconds{75};
    duration analytics_timeout = std::chrono::seconds{75};
    duration search_timeout = std::chrono::seconds{75};
    duration view_timeout = std::chrono::seconds{75};
    duration management_timeout = std::chrono::seconds{75};
    // For one attempt to reach a node: name, TCP and TLS together.
    duration connect_timeout = std::chrono::seconds{2};
    // How often each node is asked for news of the cluster where the server does not push them.
    duration config_poll_interval = std::chrono::milliseconds{2500};
    // Fixed wait after "not my vbucket", as RFC 0005 has it; absent: 1, 10, 50, ... ms.
    std::optional<duration> not_my_vbucket_delay{};

    // Null: fail_fast_on_terminal_error_strategy.
    std::shared_ptr<retry_strategy> strategy{};
    // Retries of all services are paid from it, except those that are always retried;
    // copies share one bucket, so that several clients, or loops around them, can draw from it.
    // Empty: the operation's own error, with the refusal in its history. Absent: retries are free.
    std::optional<token_bucket_budget> retry_budget{};
    // Instead of it, for single services: `.service_retry_budgets = {.query = mine}`.
    service_budgets service_retry_budgets{};
    // A breaker for each endpoint that stops to answer; absent: none.
    std::optional<circuit_breaker_options> circuit_breaker{};
    // Told of every retry decision and connection; called on the client's thread.
    std::shared_ptr<log_sink> log{};
    // Document keys in the log; never documents or passwords.
    bool log_keys = false;
    // 0: every decision is logged. Otherwise this many for each reason and second; the
    // others of that second are summed up in one message when it ends.
    std::size_t log_decisions_per_second_max = 0;
    // Told of every request that is sent, retries included; called on the client's thread.
    std::shared_ptr<attempt_observer> observer{};

    thread_mode threads = thread_mode::own_thread;
    // Connections to each node for each bucket, 1 to 64.
    std::size_t kv_connections_per_node = 1;
    // Connections being opened at once, to all nodes and services, 1 to 65,536. Those that
    // operations wait for come first.
    std::size_t connecting_count_max = 64;
    // Connections to one HTTP service of one node, 1 to 1024; further calls wait for one of them.
    std::size_t http_connections_per_node_max = 12;
    // An HTTP connection without a request for so long is closed. Some servers close after 5 s.
    duration idle_http_connection_timeout = std::chrono::seconds{1};
    // Statements run with query_options::adhoc = false that are kept prepared, the least recently
    // used one goes first. 1 to 1,000,000.
    std::size_t prepared_statement_count_max = 5000;
    // Prepare and run a statement in one request where the cluster says that it can (6.5 and
    // later); false: always in two.
    bool enhanced_prepared_statements = true;
    // Operations that wait for a retry or a connection; beyond it errc::retry_queue_full.
    std::size_t parked_count_max = 32768;
    // Operations handed over and not yet taken by the client's thread; beyond it
    // client_errc::submission_queue_full.
    std::size_t submission_count_max = 65536;

    // Which of the nodes' addresses are used: `auto`, `default`, `external` or another name.
    std::string network = "auto";
    // Name servers, "address[:port],..."; empty: the system's.
    std::string dns_servers{};
    // For one question to one name server; it is asked twice. 1 ms to 60 s.
    duration dns_timeout = std::chrono::milliseconds{1000};
    bool enable_compression = true;
    bool enable_mutation_tokens = true;
};

namespace detail {

// The timeout of each HTTP service, by its name.
struct service_timeout_field {
    std::string_view name;
    duration cluster_options::* timeout;
};

inline constexpr auto service_timeout_fields = std::to_array<service_timeout_field>({
    {"query_timeout", &cluster_options::query_timeout},
    {"analytics_timeout", &cluster_options::analytics_timeout},
    {"search_timeout", &cluster_options::search_timeout},
    {"view_timeout", &cluster_options::view_timeout},
    {"management_timeout", &cluster_options::management_timeout},
});

}  // namespace detail

}  // namespace reprise::couchbase
