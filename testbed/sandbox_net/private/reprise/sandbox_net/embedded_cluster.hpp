#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox_net/certificates.hpp>
#include <reprise/sandbox_net/server_addresses.hpp>
#include <reprise/sandbox_net/server_options.hpp>

namespace reprise::sandbox {

/// A server with its own thread, for tests, examples and the command line.
/// ```
///     auto started = embedded_cluster::start(std::move(options));
/// ```
/// All members may be called from any thread, but not from inside `with_cluster` or `on_notice`.
class embedded_cluster {
public:
    /// Returns once all ports are listening. A cluster without buckets and users gets the bucket
    /// "default" and the user "app" with the password "secret". The error is a message for people.
    static std::expected<std::unique_ptr<embedded_cluster>, std::string> start(
        server_options options = {});
    embedded_cluster(const embedded_cluster&) = delete;
    embedded_cluster& operator=(const embedded_cluster&) = delete;
    /// Calls stop(): closes all connections, removes the authority's file and ends the thread.
    ~embedded_cluster();

    /// The addresses at the start. Valid as long as this object, even after stop().
    const server_addresses& addresses() const noexcept;
    /// The name and the password of the first user.
    const std::string& username() const noexcept;
    const std::string& password() const noexcept;

    /// Runs `work` on the server's thread between two requests, waits for it, then sends what the
    /// changes made due. Rethrows what `work` throws. Does nothing after stop().
    void with_cluster(const std::function<void(cluster&)>& work);

    /// Adds a node that listens; it gets vbuckets in the next rebalance. The error is a message for
    /// people.
    std::expected<added_node, std::string> add_node();
    /// Begins a rebalance and returns. The server's thread then takes one step every `interval`.
    std::expected<void, cluster_errc> rebalance(
        const rebalance_options& options = {},
        std::chrono::milliseconds interval = std::chrono::milliseconds(5));
    /// Begins a graceful failover of a node, which loses no data, and returns in the same way.
    std::expected<void, cluster_errc> graceful_failover(
        node_id node, std::chrono::milliseconds interval = std::chrono::milliseconds(5));
    /// Waits until no rebalance is running and returns how the last one ended. Empty if it took
    /// longer than `timeout` or the cluster was stopped.
    std::optional<rebalance_progress> wait_rebalance(std::chrono::milliseconds timeout);

    std::expected<certificate_pem, std::string> issue_client_certificate(std::string_view user);
    std::size_t session_count();

    /// Does nothing if the cluster is already stopped.
    void stop() noexcept;

private:
    struct parts;
    explicit embedded_cluster(std::unique_ptr<parts> made) noexcept;

    std::unique_ptr<parts> parts_;
};

}  // namespace reprise::sandbox
