#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox_net/server_addresses.hpp>
#include <reprise/sandbox_net/server_options.hpp>

namespace reprise::sandbox {

namespace detail {
class server_core;
}

/// A cluster on loopback sockets, driven by the caller's io_context.
///
///     make(io, options) -> listening, configuration published -> io.run() on ONE thread -> stop()
///
/// All members, including the destructor, must be called on the thread that runs the io_context, or
/// while no thread runs it. After the destructor, the io_context contains only handlers that do
/// nothing.
class server {
public:
    /// Binds all ports, announces them in the cluster and starts to accept. The error names the
    /// option or address that failed.
    static std::expected<server, std::string> make(
        boost::asio::io_context& io, server_options options);
    server(server&&) noexcept;
    server& operator=(server&&) = delete;
    /// Calls stop().
    ~server();

    const server_addresses& addresses() const noexcept;

    /// Access to the cluster for reading and changing it. Call `notify` after a change.
    sandbox::cluster& cluster() noexcept;
    /// Acts on the latest changes of the cluster: opens or closes the ports of nodes that were
    /// added, went down or left, pushes configurations, closes connections.
    void notify();

    /// Adds a node. Its ports are open before any client learns of it. With fixed ports it uses the
    /// ones that follow those of earlier nodes and the control address. The error is a message for
    /// people.
    std::expected<added_node, std::string> add_node();
    /// Steps the running rebalance (cluster_topology::begin_rebalance,
    /// begin_graceful_failover)
    /// automatically, once every `interval`, until it is over. The first step follows after one
    /// interval. Another call changes the interval. Additional manual steps only make it faster.
    void run_rebalance(std::chrono::milliseconds interval);
    /// Calls `ended` once, as soon as no rebalance is running, which may be before this function
    /// returns. Never calls it if the server stops first.
    void when_rebalance_ends(std::function<void(const rebalance_progress&)> ended);

    /// Creates a certificate for a user, signed by this server's authority. Fails without TLS.
    std::expected<certificate_pem, std::string> issue_client_certificate(
        std::string_view user) const;

    /// The number of open connections over all ports.
    std::size_t session_count() const noexcept;

    /// Closes everything at once. Does nothing if the server is already stopped.
    void stop() noexcept;

private:
    explicit server(std::shared_ptr<detail::server_core> core) noexcept;

    std::shared_ptr<detail::server_core> core_;
};

}  // namespace reprise::sandbox
