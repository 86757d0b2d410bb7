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

// A cluster on loopback sockets, driven by the caller's io_context.
//
//     make(io, options) -> listening, configuration published -> io.run() on ONE thread -> stop()
//
// All members, the destructor included, are called on the thread that runs the io_context, or while
// nobody runs it. Nothing is left behind in the io_context but handlers that do nothing.
class server {
public:
    // Binds all ports, tells the cluster about them, begins to accept. The error says, for people,
    // which option or address is the matter.
    static std::expected<server, std::string> make(
        boost::asio::io_context& io, server_options options);
    server(server&&) noexcept;
    server& operator=(server&&) = delete;
    // Stops.
    ~server();

    const server_addresses& addresses() const noexcept;

    // For reading and changing the cluster directly. After a change call `notify`.
    sandbox::cluster& cluster() noexcept;
    // Sees to what the last changes of the cluster made due: ports of nodes that came, went down or
    // left, pushed configurations, closed connections.
    void notify();

    // A node joins; its ports are open before anybody hears of it. With fixed ports it uses the
    // four that follow those of the nodes and the control address before it. The error is for
    // people.
    std::expected<added_node, std::string> add_node();
    // Steps the running rebalance (cluster::begin_rebalance, begin_graceful_failover) by itself,
    // one step each `interval`, the first after one, until it is over. A new call changes the
    // interval. Who steps in between only makes it faster.
    void run_rebalance(std::chrono::milliseconds interval);
    // Calls `ended` once, as soon as no rebalance is running: perhaps before it returns. Never if
    // the server stops before.
    void when_rebalance_ends(std::function<void(const rebalance_progress&)> ended);

    // A certificate for a user, signed by this server's authority. Error without TLS.
    std::expected<certificate_pem, std::string> issue_client_certificate(
        std::string_view user) const;

    // Open sockets of peers, all ports together.
    std::size_t session_count() const noexcept;

    // Closes everything at once. Doing so twice does no harm.
    void stop() noexcept;

private:
    explicit server(std::shared_ptr<detail::server_core> core) noexcept;

    std::shared_ptr<detail::server_core> core_;
};

}  // namespace reprise::sandbox
