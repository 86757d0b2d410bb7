#pragma once

/// A Couchbase test cluster inside your process. It speaks the real protocols on sockets of
/// 127.0.0.1, so that any client can use it, and it fails on demand. This is the sandbox's only
/// installed header.
/// ```
///     auto cluster = reprise::sandbox::test_cluster::start({.buckets = {"travel"}}).value();
///     auto client = couchbase::cluster::connect(
///         cluster.connection_string(),
///         {.username = cluster.username(), .password = cluster.password()});
///     auto added = cluster.control(
///         R"({"command":"fault_add","ops":["get"],"effect":{"status":"0x86"}})");
/// ```

#if __cplusplus <= 202002L
#error "the sandbox needs C++23 (-std=c++23); the retry library alone needs C++20"
#else

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::sandbox {

class embedded_cluster;

/// Options of a test cluster.
struct test_cluster_options {
    /// Nodes at the start, 1 to 256.
    std::size_t node_count = 1;
    /// Replicas of each document, 0 to 3.
    std::size_t replica_count = 0;
    std::vector<std::string> buckets{"default"};
    /// An administrator. `control` can add other users.
    std::string username = "app";
    std::string password = "secret";
    /// True: the cluster listens with TLS too, with certificates made for this run.
    bool is_tls_enabled = false;
    /// Start of all randomness, such as faults with a probability.
    std::uint64_t seed = 1;
};

/// A running cluster with its own thread. The destructor stops it. All members may be called from
/// any thread.
class test_cluster {
public:
    /// Returns once everything listens. The error is for people.
    [[nodiscard]] static std::expected<test_cluster, std::string> start(
        const test_cluster_options& options = {});
    test_cluster(test_cluster&&) noexcept;
    test_cluster& operator=(test_cluster&&) noexcept;
    ~test_cluster();

    /// "couchbase://127.0.0.1:p,..."
    [[nodiscard]] const std::string& connection_string() const noexcept;
    /// "couchbases://127.0.0.1:p,..."; empty without TLS.
    [[nodiscard]] const std::string& connection_string_tls() const noexcept;
    /// PEM file of the authority that signed the certificates; empty without TLS.
    [[nodiscard]] const std::string& ca_path() const noexcept;
    [[nodiscard]] const std::string& username() const noexcept;
    [[nodiscard]] const std::string& password() const noexcept;

    /// Sends one command and returns its answer, both as JSON objects: faults, nodes that go down
    /// or join, rebalances, users, and the audit of every request. docs/sandbox_control.md
    /// lists the commands. Fails, with a text for people, if the command is not JSON, is unknown or
    /// was refused, and after `stop`.
    std::expected<std::string, std::string> control(std::string_view command);

    /// Closes all connections and ends the thread. Further calls do nothing.
    void stop() noexcept;

private:
    explicit test_cluster(std::unique_ptr<embedded_cluster> running) noexcept;

    std::unique_ptr<embedded_cluster> running_;
};

}  // namespace reprise::sandbox

#endif
