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

// A server with a thread of its own, for tests, examples and the command line.
//
//     auto cluster = embedded_cluster::start({.cluster = {...}}).value();
//     connect(cluster->addresses().connection_string);
//
// All members may be called from any thread, but not from inside `with_cluster` or `on_notice`.
class embedded_cluster {
public:
    // Returns once everything listens. A cluster without buckets and users gets the bucket
    // "default" and the user "app" with the password "secret". The error is for people.
    static std::expected<std::unique_ptr<embedded_cluster>, std::string> start(
        server_options options = {});
    embedded_cluster(const embedded_cluster&) = delete;
    embedded_cluster& operator=(const embedded_cluster&) = delete;
    // Stops: closes all connections, removes the authority's file, ends the thread.
    ~embedded_cluster();

    // As they were at the start. Valid as long as this object, also after stop().
    const server_addresses& addresses() const noexcept;
    // The first user's.
    const std::string& username() const noexcept;
    const std::string& password() const noexcept;

    // Runs `work` on the server's thread between two requests, waits for it, then sends what the
    // changes made due. Does nothing after stop(). What `work` throws is thrown here.
    void with_cluster(const std::function<void(cluster&)>& work);

    // A node joins, listening; it gets vbuckets by the next rebalance. The error is for people.
    std::expected<added_node, std::string> add_node();
    // Begins a rebalance that takes one step each `interval` on the server's thread, and returns.
    std::expected<void, cluster_errc> rebalance(
        const rebalance_options& options = {},
        std::chrono::milliseconds interval = std::chrono::milliseconds(5));
    // The same for a node that is to be failed over without loss.
    std::expected<void, cluster_errc> graceful_failover(
        node_id node, std::chrono::milliseconds interval = std::chrono::milliseconds(5));
    // Waits until no rebalance is running; tells how the last one ended. Empty: it took longer than
    // `timeout`, or the cluster was stopped.
    std::optional<rebalance_progress> wait_rebalance(std::chrono::milliseconds timeout);

    std::expected<certificate_pem, std::string> issue_client_certificate(std::string_view user);
    std::size_t session_count();

    // Doing so twice does no harm.
    void stop() noexcept;

private:
    struct parts;
    explicit embedded_cluster(std::unique_ptr<parts> made) noexcept;

    std::unique_ptr<parts> parts_;
};

}  // namespace reprise::sandbox
