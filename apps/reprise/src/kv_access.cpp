#include "kv_access.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <reprise/base/duration_text.hpp>
#include <reprise/sandbox_net/server.hpp>
#include <reprise/wire/connection_string.hpp>

#include "output/output.hpp"

namespace reprise::app {

namespace {

constexpr const char* connection_variable = "REPRISE_CONNECT";
constexpr const char* username_variable = "REPRISE_USERNAME";
constexpr const char* password_variable = "REPRISE_PASSWORD";
constexpr const char* ca_file_variable = "REPRISE_CA_FILE";
constexpr const char* username_default = "app";
constexpr const char* bucket_default = "travel";
// Far longer than any password. An endless device or pipe is refused before it fills the memory.
constexpr std::size_t password_size_max_bytes = 4096;

// The command line's value, else the variable's, else `otherwise`.
[[nodiscard]] std::string choose(
    const std::string& typed, const char* variable, const char* otherwise) {
    if (!typed.empty()) {
        return typed;
    }
    const char* given = std::getenv(variable);
    return given != nullptr && *given != '\0' ? given : otherwise;
}

// Writes the client's log to standard error, one line for each message.
class stderr_log final : public couchbase::log_sink {
    void on_decision(
        couchbase::log_level level, const couchbase::decision_record& record) noexcept override {
        write(level, to_string(record));
    }
    void on_message(couchbase::log_level level, std::string_view text) noexcept override {
        write(level, text);
    }
    static void write(couchbase::log_level level, std::string_view text) noexcept {
        const std::string line = fmt::format("{}: {}", to_string(level), text);
        level >= couchbase::log_level::warn ? complain(line) : notify(line);
    }
};

// One line break at the end belongs to the editor; everything else is the password.
[[nodiscard]] std::string read_password(const std::string& path) {
    std::string text = read_input(path, password_size_max_bytes);
    if (text.ends_with('\n')) {
        text.pop_back();
        if (text.ends_with('\r')) {
            text.pop_back();
        }
    }
    if (text.empty()) {
        throw usage_error(
            fmt::format("--password-file: {} is empty", path == "-" ? "standard input" : path));
    }
    return text;
}

[[nodiscard]] std::string find_password(const kv_access_options& options) {
    if (!options.password_file.empty()) {
        return read_password(options.password_file);
    }
    return choose(options.password, password_variable, "");
}

[[nodiscard]] std::unique_ptr<sandbox::embedded_cluster> start_embedded(
    const std::string& bucket, bool has_services) {
    sandbox::server_options options;
    if (!has_services) {
        options.services.clear();
    }
    sandbox::bucket_options made;
    made.name = bucket;
    options.cluster.buckets = {made};
    options.cluster.server_groups = {"Group 1", "Group 2"};
    sandbox::user_options user;
    user.name = "app";
    user.password = "secret";
    options.cluster.users = {user};
    options.on_notice = notify;
    auto started = sandbox::embedded_cluster::start(std::move(options));
    if (!started) {
        throw failure("the embedded cluster cannot start: " + started.error());
    }
    notify(fmt::format(
        "started an embedded cluster for this command, bucket '{}'; it ends with the command",
        bucket));
    return std::move(*started);
}

}  // namespace

void add_access_options(CLI::App& command, kv_access_options& options) {
    auto* connection = command.add_option(
        "-c,--connect", options.connection, "Connection string (default: REPRISE_CONNECT)");
    command
        .add_flag(
            "--sandbox", options.is_sandbox,
            "Use an embedded cluster that ends with this command; read-only commands do so "
            "if you name no cluster")
        ->excludes(connection);
    command.add_option(
        "-u,--user", options.username, "User name (default: REPRISE_USERNAME, then 'app')");
    auto* file = command.add_option(
        "--password-file", options.password_file,
        "File with the password, - for standard input; at most 4096 bytes; a line break at "
        "the end is ignored (default: REPRISE_PASSWORD)");
    command
        .add_option(
            "--password", options.password,
            "Password; visible to other users of this machine, so prefer the alternatives above")
        ->excludes(file);
    command.add_option(
        "-b,--bucket", options.bucket,
        "Bucket (default: that of the connection string, then 'travel')");
    command.add_option(
        "--ca-file", options.ca_file,
        "Trusted certificates for TLS, PEM (default: REPRISE_CA_FILE, then the system's)");
    command.add_option(
        "--timeout", options.timeout, "Timeout of the whole operation: 500ms, 2.5s, 1m");
    command.add_flag(
        "--allow-plain", options.allows_plain,
        "Log in with PLAIN, which sends the password in clear text, if a server without TLS "
        "offers nothing better; prefer couchbases://");
    command.add_flag(
        "--allow-plain-http", options.allows_plain_http,
        "Send the password in clear text to HTTP services on other machines, without TLS");
    command.add_flag("-v,--verbose", options.is_verbose, "Show the client's log on standard error");
}

kv_access open_access(const kv_access_options& options, access_kind kind) {
    kv_access access;
    access.bucket = options.bucket;
    if (!options.timeout.empty()) {
        access.timeout = parse_time(options.timeout, "--timeout");
    }
    if (options.is_verbose) {
        access.client.log = std::make_shared<stderr_log>();
    }
    access.client.allow_plain_without_tls = options.allows_plain;
    access.client.allow_plain_http = options.allows_plain_http;
    const std::string connection =
        options.is_sandbox ? "" : choose(options.connection, connection_variable, "");
    if (connection.empty()) {
        if (kind == access_kind::writes && !options.is_sandbox) {
            throw usage_error(
                "-c: this command writes, and no cluster is named; use -c CONNECTION_STRING or set "
                "REPRISE_CONNECT. --sandbox writes to an embedded cluster that ends with the "
                "command");
        }
        access.bucket = access.bucket.empty() ? bucket_default : access.bucket;
        access.embedded = start_embedded(access.bucket, options.needs_services);
        access.connection = access.embedded->addresses().connection_string;
        access.client.username = access.embedded->username();
        access.client.password = access.embedded->password();
        return access;
    }
    const auto parsed = wire::parse_connection_string(connection);
    if (!parsed) {
        throw usage_error(fmt::format(
            "{}: {}", options.connection.empty() ? connection_variable : "-c",
            wire::to_string(parsed.error())));
    }
    if (access.bucket.empty()) {
        access.bucket = parsed->bucket.empty() ? bucket_default : parsed->bucket;
    }
    access.connection = connection;
    access.client.username = choose(options.username, username_variable, username_default);
    access.client.password = find_password(options);
    access.client.tls.ca_file = choose(options.ca_file, ca_file_variable, "");
    return access;
}

couchbase::cluster connect(const kv_access& access) {
    auto connected = couchbase::cluster::connect(access.connection, access.client);
    if (!connected) {
        throw usage_error(connected.error().message());
    }
    return std::move(*connected);
}

opened_cluster open_cluster(kv_access_options options, access_kind kind) {
    options.needs_services = true;
    kv_access access = open_access(options, kind);
    couchbase::cluster cluster = connect(access);
    if (!options.bucket.empty()) {
        // Clusters without a configuration of their own name their services only in a bucket's.
        static_cast<void>(cluster.bucket(access.bucket));
    }
    return {std::move(access), std::move(cluster)};
}

std::string read_input(const std::string& path, std::size_t size_max_bytes) {
    const bool is_standard = path == "-";
    errno = 0;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
        is_standard ? nullptr : std::fopen(path.c_str(), "rbe"),
        [](std::FILE* file) { return std::fclose(file); });
    std::FILE* const file = is_standard ? stdin : opened.get();
    const std::string name = is_standard ? "standard input" : path;
    std::string text;
    std::array<char, 4096> chunk{};
    while (file != nullptr && text.size() <= size_max_bytes) {
        const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), file);
        text.append(chunk.data(), size);
        if (size < chunk.size()) {
            break;
        }
    }
    if (file == nullptr || std::ferror(file) != 0) {
        throw failure(
            fmt::format("cannot read {}: {}", name, std::generic_category().message(errno)));
    }
    if (text.size() > size_max_bytes) {
        throw failure(fmt::format("{} is larger than {} bytes", name, size_max_bytes));
    }
    return text;
}

duration parse_time(const std::string& text, const char* option) {
    const auto parsed = base::parse_milliseconds(text);
    // Connection strings accept a number of milliseconds without a unit. People who type one mean
    // seconds as often.
    const bool has_unit = !text.empty() && (text.back() < '0' || text.back() > '9');
    if (!parsed || !has_unit || parsed->count() <= 0) {
        throw usage_error(fmt::format(
            "{}: '{}' is not a time with its unit, such as 500ms or 2.5s", option, text));
    }
    return *parsed;
}

}  // namespace reprise::app
