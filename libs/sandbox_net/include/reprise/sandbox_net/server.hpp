#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox_net/server_options.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::sandbox {

namespace detail {
class server_core;
}

// Where one node listens. 0: not there.
struct node_ports {
    std::uint16_t key_value = 0;
    std::uint16_t key_value_tls = 0;
    std::uint16_t management = 0;
    std::uint16_t management_tls = 0;
};

// Where everything is and how to get in: what a client, a person or the ready file needs.
struct server_addresses {
    std::string connection_string;      // couchbase://127.0.0.1:p,...
    std::string connection_string_tls;  // couchbases://...; empty without TLS
    std::string ca_path;                // PEM; empty without TLS
    std::vector<node_ports> nodes;
    std::string control_url;    // http://127.0.0.1:p/control
    std::string control_token;  // wanted there as a bearer token; random for each server
};

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
    // Sends what the last changes of the cluster made due: pushed configurations, closed nodes.
    void notify();

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
