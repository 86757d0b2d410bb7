#include "kv_access.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <reprise/sandbox_net/server.hpp>
#include <reprise/wire/connection_string.hpp>

#include "output.hpp"

namespace reprise::app {

namespace {

constexpr const char* password_variable = "REPRISE_PASSWORD";
constexpr const char* bucket_default = "travel";

[[nodiscard]] std::string find_password(const kv_access_options& options) {
    if (!options.password_file.empty()) {
        std::string text = read_input(options.password_file);
        text.erase(text.find_last_not_of("\r\n") + 1);  // editors end files with a line feed
        return text;
    }
    if (!options.password.empty()) {
        return options.password;
    }
    const char* given = std::getenv(password_variable);
    return given != nullptr ? given : "";
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
    sandbox::user_options user;
    user.name = "app";
    user.password = "secret";
    options.cluster.users = {user};
    auto started = sandbox::embedded_cluster::start(std::move(options));
    if (!started) {
        throw failure("the embedded cluster cannot start: " + started.error());
    }
    fmt::print(
        stderr,
        "reprise: no cluster given (-c): started an embedded one for this command, bucket '{}'\n",
        bucket);
    return std::move(*started);
}

}  // namespace

void add_access_options(CLI::App& command, kv_access_options& options) {
    command.add_option(
        "-c,--connect", options.connection,
        "Connection string; without it a cluster is started for this command");
    command.add_option("-u,--user", options.username, "User name")->capture_default_str();
    command.add_option(
        "--password-file", options.password_file,
        "File with the password, - for standard input; "
        "otherwise the variable REPRISE_PASSWORD");
    command.add_option(
        "--password", options.password,
        "Password; others on this machine can see it: prefer the two above");
    command.add_option(
        "-b,--bucket", options.bucket,
        "Bucket; otherwise that of the connection string, otherwise 'travel'");
    command.add_option("--ca-file", options.ca_file, "Trusted certificates for TLS (PEM)");
    command.add_option("--timeout", options.timeout, "For the whole operation: 500ms, 2.5s, 1m");
}

kv_access open_access(const kv_access_options& options) {
    kv_access access;
    access.bucket = options.bucket;
    if (!options.timeout.empty()) {
        access.timeout = parse_time(options.timeout, "--timeout");
    }
    access.client.username = options.username;
    access.client.tls.ca_file = options.ca_file;
    if (options.connection.empty()) {
        access.bucket = access.bucket.empty() ? bucket_default : access.bucket;
        access.embedded = start_embedded(access.bucket, options.needs_services);
        access.connection = access.embedded->addresses().connection_string;
        access.client.username = access.embedded->username();
        access.client.password = access.embedded->password();
        return access;
    }
    const auto parsed = wire::parse_connection_string(options.connection);
    if (!parsed) {
        throw usage_error("-c: " + wire::to_string(parsed.error()));
    }
    if (access.bucket.empty()) {
        access.bucket = parsed->bucket.empty() ? bucket_default : parsed->bucket;
    }
    access.connection = options.connection;
    access.client.password = find_password(options);
    return access;
}

opened_cluster open_cluster(kv_access_options options) {
    options.needs_services = true;
    kv_access access = open_access(options);
    auto connected = couchbase::cluster::connect(access.connection, access.client);
    if (!connected) {
        throw usage_error(connected.error().message());
    }
    return {std::move(access), std::move(*connected)};
}

std::string read_input(const std::string& path) {
    if (path == "-") {
        return {std::istreambuf_iterator<char>(std::cin), {}};
    }
    std::ifstream file(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file.good() && !file.eof()) {
        throw failure("cannot read " + path);
    }
    return text;
}

duration parse_time(const std::string& text, const char* option) {
    const auto parsed = wire::parse_duration(text);
    if (!parsed || parsed->count() <= 0) {
        throw usage_error(fmt::format("{}: '{}' is no time such as 500ms or 2.5s", option, text));
    }
    return *parsed;
}

}  // namespace reprise::app
