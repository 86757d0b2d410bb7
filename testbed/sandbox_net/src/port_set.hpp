#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/cluster_node.hpp>

#include "listener.hpp"

namespace reprise::sandbox::detail {

// The purpose of a listening port.
struct port_role {
    enum class kind : std::uint8_t { key_value, service, control };
    kind what = kind::key_value;
    node_id node{};
    wire::transport over = wire::transport::plain;
    wire::service service = wire::service::key_value;  // of kind::service: which
};

// The announced ports of a server. A port may be closed on purpose; it stays reserved then, because
// the system would give a free port to others.
class port_set {
public:
    using on_accept = std::function<void(const port_role&, boost::asio::ip::tcp::socket)>;
    using on_notice = std::function<void(std::string_view)>;
    using role_test = std::function<bool(const port_role&)>;

    port_set(boost::asio::io_context& io, on_accept accepted, on_notice notice)
        : io_(io), accepted_(std::move(accepted)), notice_(std::move(notice)) {}

    // Adds an open port and returns its number. Port 0: any.
    std::expected<std::uint16_t, std::string> listen(const port_role& role, std::uint16_t port);
    // Removes all ports of a node.
    void close(node_id node) noexcept;
    void stop() noexcept;

    // Opens the wanted ports and closes the others. Returns false if a port cannot be opened now,
    // for example for lack of descriptors: try again later, because a node that is up again must
    // not stay unreachable.
    [[nodiscard]] bool update(const role_test& is_wanted);
    // Where the test returns true, new connections stay in the system's queue.
    void pause(const role_test& is_paused);

private:
    struct announced_port {
        port_role role;
        std::uint16_t port = 0;
        std::shared_ptr<listener> open;  // null while the port is closed on purpose
        std::shared_ptr<listener> held;  // reserves the port then
        bool has_failed = false;         // it should be listening, but could not be opened
    };

    std::expected<void, std::string> open_port(announced_port& at);
    void hold_port(announced_port& at);

    boost::asio::io_context& io_;
    on_accept accepted_;
    on_notice notice_;
    std::vector<announced_port> ports_;
};

}  // namespace reprise::sandbox::detail
