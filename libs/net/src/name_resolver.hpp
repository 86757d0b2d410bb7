#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <reprise/net/client.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::net {

// Queries name servers through c-ares on the loop. Nothing blocks, except that c-ares reads the
// system's hosts file. Use it only on the loop.
class name_resolver {
public:
    // The addresses in the order to try them. If there are none, the failure has the reason.
    struct addresses {
        std::vector<boost::asio::ip::tcp::endpoint> endpoints;
        std::string failure;
    };
    using address_callback = std::function<void(addresses)>;
    using srv_callback = std::function<void(std::vector<wire::bootstrap_address>)>;

    // Sends a query `try_count` times; each try waits longer.
    [[nodiscard]] static std::expected<std::unique_ptr<name_resolver>, setup_error> make(
        const boost::asio::any_io_executor& executor, const couchbase::cluster_options& options,
        int try_count = 2);
    ~name_resolver();

    // Calls the callback once: from inside this call, later, or from `stop`. The callback may stop
    // or destroy the resolver. A numeric address resolves to itself.
    void find_addresses(const std::string& host, std::uint16_t port, address_callback done);
    // Returns the records sorted by priority, then by weight. The list is empty if there are no
    // records or no server answers. The target "." has an empty host.
    void find_srv(const std::string& name, srv_callback done);
    // Fails all open queries and starts no new ones. Called from a callback, it takes effect when
    // the callback returns.
    void stop();

    struct state;  // used by the callbacks of c-ares

private:
    explicit name_resolver(std::shared_ptr<state> shared) noexcept : state_(std::move(shared)) {}
    std::shared_ptr<state> state_;
};

}  // namespace reprise::net
