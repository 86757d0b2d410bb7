#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <reprise/couchbase_types/operation_observer.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// The thread that runs the client's I/O.
enum class thread_mode : std::uint8_t {
    /// A thread of the client's own, or several (cluster_options::io_threads). Handlers without an
    /// executor run there. While no other operation is open, a blocking call runs the I/O itself.
    own_thread,
    /// The calling threads: blocking calls and cluster::drive run the I/O. Nothing happens between
    /// calls: no keep-alive, no new configuration, no timeout of asynchronous operations. The next
    /// call first processes what has arrived. This is the fastest mode for synchronous programs.
    caller_drives,
    // For your own executor see `connect` in <reprise/couchbase/asio.hpp>.
};

/// Options of TLS (couchbases://). Files are PEM.
struct tls_options {
    /// Trusted certificates, as a file or as text; you may set both. Without either the client uses
    /// those that the system trusts.
    std::string ca_file{};
    std::string ca_pem{};
    /// The client's own certificate and its key, which replace user name and password. Set both or
    /// neither.
    std::string certificate_file{};
    std::string key_file{};
    /// False: the client accepts any certificate. That protects from listeners, but not from an
    /// attacker who answers in the server's place. For tests.
    bool is_verified = true;
};

/// Retry budgets of single services. Retries of a service are paid from its own bucket, so that a
/// service in trouble cannot use up what the others need. Copies of a budget share its bucket. A
/// service without a budget uses the client's, if there is one.
struct service_budgets {
    std::optional<driver::token_bucket_budget> key_value{};
    std::optional<driver::token_bucket_budget> query{};
    std::optional<driver::token_bucket_budget> analytics{};
    std::optional<driver::token_bucket_budget> search{};
    std::optional<driver::token_bucket_budget> views{};
    std::optional<driver::token_bucket_budget> management{};
};

/// Credentials for cluster::replace_credentials: user name and password, or a bearer token.
struct credentials {
    std::string username{};
    std::string password{};
    std::string bearer_token{};
};

/// Options of a client. The connection string takes precedence, so that an operator can change an
/// option without a build. Durations are steady time, positive and at most 366 days. If a field is
/// out of its range, connect fails with errc::option_invalid and names the field. Each option has a
/// row in src/cluster_options.cpp: its range and its name in connection strings.
struct cluster_options {
    std::string username{};
    std::string password{};
    /// Used with OAUTHBEARER instead of user name and password. Like PLAIN it is sent over TLS
    /// only.
    std::string bearer_token{};
    tls_options tls{};
    /// Allows PLAIN and bearer tokens without TLS and a verified certificate, where whatever
    /// answers can read them. Even then PLAIN is used only if the server offers nothing else.
    /// `allow_plain_without_tls` in a connection string.
    bool allow_plain_without_tls = false;
    /// Allows requests to HTTP services without TLS on other machines. Every such request shows the
    /// password or token. By default the client sends them without TLS only to this machine itself
    /// (it judges by the address, never by the name); to any other machine the call fails with
    /// errc::plain_http_not_allowed. TLS without a verified certificate (tls.is_verified) shows the
    /// password to whatever answers, so it needs this option, too, also on this machine. This
    /// option and the one above are independent, and key-value does not need this one.
    bool allow_plain_http = false;
    /// A host name without a port is looked up in DNS SRV records first, and an impostor of the
    /// name server can name any host. By default a host gets credentials only if its name is the
    /// given one or ends in '.' plus it, or if its certificate is valid for the given name. True:
    /// every host is trusted under its own name. `trust_srv_targets` in a connection string.
    bool trust_srv_targets = false;
    /// A seed that refuses the credentials without a verified certificate, or whose certificate is
    /// not valid, may be an impostor. Its refusal counts once every other seed has answered,
    /// failed, or been silent for this time. `seed_silence_max` in a connection string.
    duration seed_silence_max = std::chrono::milliseconds{1500};
    /// The number of rounds of key stretching (SCRAM) that a server may ask for in a login, 4096 to
    /// 10,000,000. A login that asks for more is refused. `scram_iterations_max` in a connection
    /// string.
    std::uint32_t scram_iterations_max = 100'000;
    /// Sends HELLO after authentication instead of first, for old servers that answer it only then.
    /// `hello_after_authentication=true` in a connection string.
    bool hello_after_authentication = false;

    /// Default timeouts of key-value operations without and with durability.
    duration kv_timeout = std::chrono::milliseconds{2500};
    duration kv_durable_timeout = std::chrono::seconds{10};
    /// Default timeouts of the HTTP services, from the start of a call to the last byte of its
    /// answer.
    duration query_timeout = std::chrono::seconds{75};
    duration analytics_timeout = std::chrono::seconds{75};
    duration search_timeout = std::chrono::seconds{75};
    duration view_timeout = std::chrono::seconds{75};
    duration management_timeout = std::chrono::seconds{75};
    /// Time for one attempt to connect to a node: name resolution, TCP and TLS together.
    duration connect_timeout = std::chrono::seconds{2};
    /// The interval at which the client asks each node for a new configuration if the server does
    /// not push it.
    duration config_poll_interval = std::chrono::milliseconds{2500};
    /// Shortest time between two polls of one bucket, whatever requested them; may be zero.
    duration config_poll_floor = std::chrono::milliseconds{50};
    /// A fixed delay after "not my vbucket", as in RFC 0005. Absent: 1, 10, 50, ... ms.
    std::optional<duration> not_my_vbucket_delay{};
    /// A new configuration sends every request that waits after "not my vbucket" within this time,
    /// unless the connections are full. `revision_delay_max=100ms` in a connection string.
    duration revision_delay_max = std::chrono::milliseconds{100};
    /// A bucket that this client never opened is reported as missing if every data node that can be
    /// asked has answered nothing but "not found" for this long: nodes that start answer so, too.
    /// `missing_bucket_patience=2s` in a connection string.
    duration missing_bucket_patience = std::chrono::seconds{2};

    /// Null: fail_fast_on_terminal_error_strategy. budgeted_strategy adds jitter and a budget.
    std::shared_ptr<driver::retry_strategy> strategy{};
    /// Pays for the retries of all services, except those that are always made. Copies share one
    /// bucket, so several clients, or loops around them, can use one budget. If it is empty, the
    /// operation fails with its own error, and the history has the reason why it was not retried.
    /// Absent: retries are free.
    std::optional<driver::token_bucket_budget> retry_budget{};
    /// Replaces it for single services: `.service_retry_budgets = {.query = mine}`.
    service_budgets service_retry_budgets{};
    /// Gives each endpoint a circuit breaker: while it is not closed, requests wait as
    /// CIRCUIT_BREAKER_OPEN and are not sent. The probe is a NOOP of the client's own, or for HTTP
    /// a GET of the service's health path. Absent: none.
    std::optional<driver::circuit_breaker_options> circuit_breaker{};
    /// Whether the end of a request (no error: success) counts against its endpoint. Called for
    /// each request that was sent, on a thread of the client; must not throw. Null: only timeouts
    /// count.
    std::function<bool(const std::error_code& outcome)> is_breaker_failure{};
    /// Receives every retry decision and every change of a connection, on a thread of the client.
    std::shared_ptr<log_sink> log{};
    /// Writes document keys to the log, and document keys and statements into the texts of errors.
    /// Documents and passwords are never logged.
    bool log_keys = false;
    /// 0: every decision is logged. Otherwise this many for each reason and second; one message at
    /// the end of the second sums up the others.
    std::size_t log_decisions_per_second_max = 0;
    /// Notified of operations from their start to their end, e.g. `client_metrics` and
    /// `operation_tracing`. Null ones are left out.
    std::vector<std::shared_ptr<operation_observer>> operation_observers{};

    thread_mode threads = thread_mode::own_thread;
    /// Threads of the client's own, 1 to 64, each with its own loop and its own connections. The
    /// key of a document determines the thread of all operations on it; HTTP services use the first
    /// one. With more than one, handlers without an executor, observers, the log and strategies are
    /// called by several threads at once. Limits, budgets and circuit breakers stay those of the
    /// client. Needs thread_mode::own_thread. `io_threads=2` in a connection string.
    std::size_t io_threads = 1;
    /// Connections to each node for each bucket and each of `io_threads`, 1 to 64.
    std::size_t kv_connections_per_node = 1;
    /// Connections being opened at once, to all nodes and services, 1 to 65,536. Those that
    /// operations wait for come first.
    std::size_t connecting_count_max = 64;
    /// Connections to one HTTP service of one node, 1 to 1024. Further calls wait for one of them.
    std::size_t http_connections_per_node_max = 12;
    /// An HTTP connection without a request is closed after this time. Some servers close it after
    /// 5 s.
    duration idle_http_connection_timeout = std::chrono::seconds{1};
    /// The number of statements with query_options::adhoc = false that are kept prepared, 1 to
    /// 1,000,000. The least recently used one is dropped first.
    std::size_t prepared_statement_count_max = 5000;
    /// Prepares and runs a statement in one request if the cluster can do that (6.5 and later).
    /// False: always in two.
    bool enhanced_prepared_statements = true;
    /// Operations that wait for a retry or a connection. Beyond it operations fail with
    /// errc::retry_queue_full.
    std::size_t parked_count_max = 32768;
    /// Operations that wait for a thread of the client to take them. Beyond it operations fail with
    /// errc::submission_queue_full.
    std::size_t submission_count_max = 65536;

    /// Looks up the nodes in DNS SRV records if the connection string has one host name without a
    /// port.
    bool enable_dns_srv = true;
    /// Asks for IPv4 addresses only. `force_ipv4=true` in a connection string.
    bool force_ipv4 = false;
    /// Probes idle TCP connections after `tcp_keepalive_time`, at least 1 s, in whole seconds.
    bool enable_tcp_keepalives = true;
    duration tcp_keepalive_time = std::chrono::seconds{60};
    /// Selects one of the nodes' addresses: `auto`, `default`, `external` or another name.
    std::string network = "auto";
    /// The server group (a zone, a rack) of this program, for reads with
    /// read_preference::selected_server_group. Empty: none. `preferred_server_group` in a
    /// connection string.
    std::string preferred_server_group{};
    /// Name servers, "address[:port],...". Empty: the system's.
    std::string dns_servers{};
    /// Time for one query to one name server, 1 ms to 60 s. Each server is asked twice.
    duration dns_timeout = std::chrono::milliseconds{1000};
    /// Compresses documents (snappy) if the server can.
    bool enable_compression = true;
    /// Asks servers for mutation_result::token.
    bool enable_mutation_tokens = true;
};

/// Returns the first option that is out of its range or contradicts another one. Nothing: the
/// options are valid. What depends on the connection string is checked by connect.
[[nodiscard]] std::optional<driver::settings_error> check(const cluster_options& options);

namespace detail {

// Why a parameter of a connection string is refused.
struct parameter_refusal {
    bool is_unknown = false;
    std::string text{};        // what is wrong
    std::string suggestion{};  // the parameter that was probably meant, if there is one
};

// Sets the option that has this name in connection strings.
[[nodiscard]] std::optional<parameter_refusal> set_parameter(
    cluster_options& options, std::string_view name, std::string_view text);

// The first option for TLS that differs from its default. `is_parameter_for_tls` is the same
// question about a parameter.
[[nodiscard]] std::optional<std::string_view> find_tls_option(const cluster_options& options);
[[nodiscard]] bool is_parameter_for_tls(std::string_view name) noexcept;

// A service that the client uses. The engine checks the rows against its own table.
struct used_service {
    std::string_view name;
    std::string_view report_name;  // in metrics and reports, as in all SDKs
    std::optional<driver::token_bucket_budget> service_budgets::* budget;
    duration cluster_options::* timeout;
};

inline constexpr auto used_services = std::to_array<used_service>({
    {"key_value", "kv", &service_budgets::key_value, &cluster_options::kv_timeout},
    {"query", "query", &service_budgets::query, &cluster_options::query_timeout},
    {"analytics", "analytics", &service_budgets::analytics, &cluster_options::analytics_timeout},
    {"search", "search", &service_budgets::search, &cluster_options::search_timeout},
    {"views", "views", &service_budgets::views, &cluster_options::view_timeout},
    {"management", "mgmt", &service_budgets::management, &cluster_options::management_timeout},
});

}  // namespace detail

}  // namespace reprise::couchbase
