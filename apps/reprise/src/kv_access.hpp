#pragma once

/// How the commands that talk to a cluster find and enter it.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <reprise/couchbase.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>

namespace reprise::app {

/// What a command may do to documents.
enum class access_kind : std::uint8_t {
    reads,   ///< Nothing, or only to documents of its own.
    writes,  ///< Change them: it matters where.
};

/// What was given on the command line.
struct kv_access_options {
    std::string connection;  ///< Empty: REPRISE_CONNECT, else a cluster of our own is started.
    std::string username;    ///< Empty: REPRISE_USERNAME, else "app".
    std::string password;
    std::string password_file;
    std::string bucket;
    std::string ca_file;             ///< Empty: REPRISE_CA_FILE, else what the system trusts.
    std::string timeout;             ///< "500ms", "2.5s"; empty: the client's default.
    bool is_sandbox = false;         ///< A cluster of our own, whatever REPRISE_CONNECT says.
    bool is_verbose = false;         ///< The client's log goes to standard error.
    bool allows_plain = false;       ///< The password may be sent in clear text to log in.
    bool allows_plain_http = false;  ///< The same over HTTP.
    bool needs_services = false;     ///< A cluster of our own offers the HTTP services.
};

/// Adds `-c`, `--sandbox`, `-u`, `--password-file`, `--bucket`, ... to a command.
void add_access_options(CLI::App& command, kv_access_options& options);

/// What it came to: a connection string and the rest, and the cluster behind it if it is ours.
struct kv_access {
    std::unique_ptr<sandbox::embedded_cluster> embedded;  ///< Null if another cluster was named.
    std::string connection;
    std::string bucket;
    couchbase::cluster_options client;
    std::optional<duration> timeout;
};

/// Starts the embedded cluster if need be (and says so on standard error). A command that writes
/// gets one only with `--sandbox`: what it stores there is gone when it ends, which nobody wants by
/// accident. Throws `usage_error` for options that make no sense, `failure` if a file cannot be
/// read.
[[nodiscard]] kv_access open_access(const kv_access_options& options, access_kind kind);

/// A client that begins to connect. Throws `usage_error` for options that it refuses.
[[nodiscard]] couchbase::cluster connect(const kv_access& access);

/// A client, ended before the cluster of our own.
struct opened_cluster {
    kv_access access;
    couchbase::cluster cluster;
};

/// `open_access` with the HTTP services, and `connect`.
[[nodiscard]] opened_cluster open_cluster(kv_access_options options, access_kind kind);

/// The largest file that is read: documents have at most 20 MiB.
inline constexpr std::size_t input_size_max_bytes = std::size_t{64} * 1024 * 1024;

/// The whole of a file, or of standard input for `-`. Throws `failure`, also if it is larger than
/// `size_max_bytes`.
[[nodiscard]] std::string read_input(
    const std::string& path, std::size_t size_max_bytes = input_size_max_bytes);

/// A number of milliseconds as `500ms`, `2.5s`, `1m`. Throws `usage_error` naming `option`.
[[nodiscard]] duration parse_time(const std::string& text, const char* option);

}  // namespace reprise::app
