#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/control.hpp>
#include <reprise/sandbox_net/server.hpp>
#include <reprise/wire/cluster_node.hpp>

#include "front_clock.hpp"
#include "port_set.hpp"
#include "rebalance_runner.hpp"
#include "session_table.hpp"
#include "tls_identity.hpp"

namespace reprise::sandbox::detail {

// The implementation of `server`: the cluster and its ports. Runs on one thread.
class server_core final : public std::enable_shared_from_this<server_core>, public control_front {
public:
    server_core(boost::asio::io_context& io, server_options options, sandbox::cluster brain);
    server_core(const server_core&) = delete;
    server_core& operator=(const server_core&) = delete;
    ~server_core();

    std::expected<void, std::string> start();
    void stop() noexcept;

    const server_options& options() const noexcept { return options_; }
    const server_addresses& addresses() const noexcept { return addresses_; }
    sandbox::cluster& brain() noexcept { return brain_; }
    const tls_identity* tls() const noexcept { return tls_.get(); }
    session_table& sessions() noexcept { return sessions_; }
    time_point now() const noexcept { return clock_.now(); }
    front_clock::steady::time_point to_steady(time_point when) const noexcept {
        return clock_.to_steady(when);
    }
    bool is_stopped() const noexcept { return is_stopped_; }
    void notice(std::string_view text) const;

    // --- for sessions ------------------------------------------------------------------------

    // Acts on everything that a call into the cluster made due elsewhere.
    void settle();
    bool is_up(node_id node) const noexcept;

    // --- topology ----------------------------------------------------------------------------

    std::expected<node_id, std::string> add_node() override;
    void run_rebalance(std::chrono::milliseconds interval) override;
    rebalance_runner& rebalance() noexcept { return rebalance_; }

private:
    // Opens the ports of the node with this number; all of them or none.
    std::expected<node_ports, std::string> listen_node(std::size_t number);
    std::expected<void, std::string> listen_all();
    std::expected<void, std::string> publish();
    // Opens and closes ports for the nodes that changed since the last call.
    void update_ports();
    // Opens and closes ports as their nodes need it, again a little later if one cannot be opened.
    void open_wanted_ports();
    void on_accepted(const port_role& role, boost::asio::ip::tcp::socket socket);

    // --- disturbances (server_disturbances.cpp) ----------------------------------------------

    // A channel with the node's TLS disturbance; null: the connection was refused.
    std::shared_ptr<channel> make_disturbed_channel(
        const port_role& role, boost::asio::ip::tcp::socket socket);
    // Waits for the peer's first byte, then resets the connection.
    void reset_on_first_byte(boost::asio::ip::tcp::socket socket);
    // Notifies all listeners and sessions that the nodes changed.
    void update_disturbances();
    void wake_connections();
    void return_memory();

    server_options options_;
    front_clock clock_;
    sandbox::cluster brain_;
    std::unique_ptr<tls_identity> tls_;
    server_addresses addresses_;
    port_set ports_;
    std::uint64_t node_generation_seen_ = 0;
    std::uint64_t removal_generation_seen_ = 0;

    session_table sessions_;
    std::set<std::shared_ptr<boost::asio::ip::tcp::socket>> doomed_;  // see reset_on_first_byte
    boost::asio::steady_timer port_timer_;
    rebalance_runner rebalance_;

    bool is_settling_ = false;
    bool is_stopped_ = false;
};

}  // namespace reprise::sandbox::detail
