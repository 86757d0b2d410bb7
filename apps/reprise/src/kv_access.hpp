#pragma once

/// How the commands that talk to a cluster find and enter it.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <reprise/couchbase.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>

namespace reprise::app {

/// What was given on the command line.
struct kv_access_options {
    std::string connection;  ///< Empty: a cluster of our own is started.
    std::string username = "app";
    std::string password;
    std::string password_file;
    std::string bucket;
    std::string ca_file;
    std::string timeout;          ///< "500ms", "2.5s"; empty: the client's default.
    bool needs_services = false;  ///< A cluster of our own offers the HTTP services.
};

/// Adds `-c`, `-u`, `--password-file`, `--bucket`, ... to a command.
void add_access_options(CLI::App& command, kv_access_options& options);

/// What it came to: a connection string and the rest, and the cluster behind it if it is ours.
struct kv_access {
    std::unique_ptr<sandbox::embedded_cluster> embedded;  ///< Null with `-c`.
    std::string connection;
    std::string bucket;
    couchbase::cluster_options client;
    std::optional<duration> timeout;
};

/// Starts the embedded cluster if need be (and says so on standard error). Throws `usage_error` for
/// options that make no sense, `failure` if a file cannot be read.
[[nodiscard]] kv_access open_access(const kv_access_options& options);

/// A client, ended before the cluster of our own.
struct opened_cluster {
    kv_access access;
    couchbase::cluster cluster;
};

/// `open_access` with the HTTP services, and a client of it that begins to connect.
[[nodiscard]] opened_cluster open_cluster(kv_access_options options);

/// The whole of a file, or of standard input for `-`. Throws `failure`.
[[nodiscard]] std::string read_input(const std::string& path);

/// A number of milliseconds as `500ms`, `2.5s`, `1m`. Throws `usage_error` naming `option`.
[[nodiscard]] duration parse_time(const std::string& text, const char* option);

}  // namespace reprise::app
