#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>
#include <reprise/couchbase.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/sandbox_net/server.hpp>

// Lets tests store literals as plain text. Users must choose between JSON and text.
template <std::size_t Size>
struct reprise::couchbase::codec<char[Size]> {
    static encoded_value encode(const char (&text)[Size]) {
        return encoded_value::view(std::string_view(text), document_format::string);
    }
};

namespace live {

using namespace std::chrono_literals;
using reprise::couchbase::plain_text;
namespace couchbase = reprise::couchbase;
namespace sandbox = reprise::sandbox;

inline constexpr const char* bucket_name = "travel";

// A small cluster: two nodes, 16 vbuckets, few hash iterations, the bucket `travel` with the
// collection inventory.airline, and the user app/secret.
inline sandbox::server_options small_options() {
    sandbox::server_options options;
    options.cluster.node_count = 2;
    options.cluster.vbucket_count = 16;
    sandbox::bucket_options bucket;
    bucket.name = bucket_name;
    bucket.scopes = {{"inventory", {"airline"}}};
    options.cluster.buckets = {bucket};
    sandbox::user_options user;
    user.name = "app";
    user.password = "secret";
    options.cluster.users = {user};
    return options;
}

inline std::unique_ptr<sandbox::embedded_cluster> start(
    sandbox::server_options options = small_options()) {
    auto started = sandbox::embedded_cluster::start(std::move(options));
    if (!started) {
        throw std::runtime_error(started.error());
    }
    return std::move(*started);
}

inline couchbase::cluster_options app_options() {
    return {.username = "app", .password = "secret", .kv_timeout = 10s, .connect_timeout = 5s};
}

inline couchbase::cluster_options app_options_in(couchbase::thread_mode mode) {
    auto options = app_options();
    options.threads = mode;
    return options;
}

// A client of `server`. Throws if the arguments are invalid.
inline couchbase::cluster connect(
    const sandbox::embedded_cluster& server,
    const couchbase::cluster_options& options = app_options()) {
    auto made = couchbase::cluster::connect(server.addresses().connection_string, options);
    if (!made) {
        throw std::runtime_error(made.error().message());
    }
    return std::move(*made);
}

// A running cluster and a client of it.
struct live_client {
    std::unique_ptr<sandbox::embedded_cluster> server;
    couchbase::cluster cluster;
};

inline live_client connected(
    std::unique_ptr<sandbox::embedded_cluster> server = start(),
    const couchbase::cluster_options& options = app_options()) {
    auto cluster = connect(*server, options);
    return {std::move(server), std::move(cluster)};
}

inline couchbase::collection documents(const couchbase::cluster& cluster) {
    return cluster.bucket(bucket_name).default_collection();
}

// For assertions: the error's message, or nothing.
template <class Result>
std::string words(const Result& result) {
    return result ? std::string() : result.error().message();
}

// Fails the test at this line, and ends it.
[[noreturn]] inline void fail_at(const std::source_location& line, const std::string& problem) {
    ADD_FAILURE_AT(line.file_name(), static_cast<int>(line.line())) << problem;
    throw std::runtime_error("the test has failed");
}

// The value of a call that must succeed. Otherwise the test fails with its line and the error.
template <class Result>
typename Result::value_type must(
    Result result, const std::source_location& line = std::source_location::current()) {
    if (!result) {
        if constexpr (requires { result.error().message(); }) {
            fail_at(line, words(result));
        }
        fail_at(line, "failed");
    }
    if constexpr (!std::is_void_v<typename Result::value_type>) {
        return *std::move(result);
    }
}

// The error of a call that must fail.
template <class Result>
typename Result::error_type must_fail(
    const Result& result, const std::source_location& line = std::source_location::current()) {
    if (result) {
        fail_at(line, "succeeded");
    }
    return result.error();
}

inline void add_fault(sandbox::embedded_cluster& server, const sandbox::fault_rule& rule) {
    server.with_cluster([&](sandbox::cluster& cluster) { cluster.faults().add(rule); });
}

// Matches every request of this opcode from now on.
inline sandbox::fault_rule fault(
    reprise::wire::opcode op, sandbox::fault_effect effect = sandbox::fault_status{}) {
    sandbox::fault_rule rule;
    rule.ops = {op};
    rule.effect = std::move(effect);
    return rule;
}

inline std::size_t count_requests(
    sandbox::embedded_cluster& server, const sandbox::audit_filter& filter) {
    std::size_t count = 0;
    server.with_cluster([&](sandbox::cluster& cluster) { count = cluster.audit().count(filter); });
    return count;
}
// How many requests of this opcode the server received, for one key or for all.
inline std::size_t request_count(
    sandbox::embedded_cluster& server, reprise::wire::opcode op, const std::string& key = {}) {
    sandbox::audit_filter filter;
    filter.op = op;
    filter.key_pattern = key;
    return count_requests(server, filter);
}
// How many of them it applied.
inline std::size_t applied_count(
    sandbox::embedded_cluster& server, reprise::wire::opcode op, const std::string& key) {
    sandbox::audit_filter filter;
    filter.op = op;
    filter.key_pattern = key;
    filter.is_applied = true;
    return count_requests(server, filter);
}

// Waits until the condition holds, at most half a minute. Returns whether it does.
template <class Condition>
bool await(const Condition& holds) {
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!holds()) {
        if (std::chrono::steady_clock::now() >= until) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

}  // namespace live
