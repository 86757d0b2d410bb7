#pragma once

/// How the commands that use a cluster find it and log in.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <reprise/couchbase.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>

namespace reprise::app {

/// A command's access to documents.
enum class access_kind : std::uint8_t {
    reads,   ///< Changes nothing, or only documents that it creates itself.
    writes,  ///< Changes documents, so it matters which cluster it uses.
};

/// Arguments of the command line.
struct kv_access_options {
    std::string connection;  ///< Empty: REPRISE_CONNECT, or else an embedded cluster is started.
    std::string username;    ///< Empty: REPRISE_USERNAME, else "app".
    std::string password;
    std::string password_file;
    std::string bucket;
    std::string ca_file;             ///< Empty: REPRISE_CA_FILE, else what the system trusts.
    std::string timeout;             ///< "500ms", "2.5s"; empty: the client's default.
    bool is_sandbox = false;         ///< Use an embedded cluster, whatever REPRISE_CONNECT
                                     ///< contains.
    bool is_verbose = false;         ///< Write the client's log to standard error.
    bool allows_plain = false;       ///< Allow a login that sends the password in clear text.
    bool allows_plain_http = false;  ///< Allow the same over HTTP.
    bool needs_services = false;     ///< The embedded cluster must offer the HTTP services.
};

/// Adds `-c`, `--sandbox`, `-u`, `--password-file`, `--bucket`, ... to a command.
void add_access_options(CLI::App& command, kv_access_options& options);

/// The resolved access: a connection string and credentials, and the embedded cluster if there is
/// one.
struct kv_access {
    std::unique_ptr<sandbox::embedded_cluster> embedded;  ///< Null if a cluster was named.
    std::string connection;
    std::string bucket;
    couchbase::cluster_options client;
    std::optional<duration> timeout;
};

/// Starts the embedded cluster if necessary (and reports that on standard error). A command that
/// writes gets one only with `--sandbox`, because everything it stores there is lost when it ends.
/// Throws `usage_error` for invalid options and `failure` if a file cannot be read.
[[nodiscard]] kv_access open_access(const kv_access_options& options, access_kind kind);

/// Returns a client that is connecting. Throws `usage_error` for options that it refuses.
[[nodiscard]] couchbase::cluster connect(const kv_access& access);

/// A client that is destroyed before its embedded cluster.
struct opened_cluster {
    kv_access access;
    couchbase::cluster cluster;
};

/// `open_access` with the HTTP services, and `connect`.
[[nodiscard]] opened_cluster open_cluster(kv_access_options options, access_kind kind);

/// The largest file that is read. Documents have at most 20 MiB.
inline constexpr std::size_t input_size_max_bytes = std::size_t{64} * 1024 * 1024;

/// Reads a whole file, or standard input for `-`. Throws `failure`, also if it is larger than
/// `size_max_bytes`.
[[nodiscard]] std::string read_input(
    const std::string& path, std::size_t size_max_bytes = input_size_max_bytes);

/// Parses a time with its unit, such as `500ms`, `2.5s` or `1m`. Throws `usage_error` naming
/// `option`.
[[nodiscard]] duration parse_time(const std::string& text, const char* option);

}  // namespace reprise::app
