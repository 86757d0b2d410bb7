#include <utility>

#include "server_core.hpp"

// The effects of node disturbances on sockets.

namespace reprise::sandbox::detail {

namespace {

using tcp = boost::asio::ip::tcp;

}  // namespace

std::shared_ptr<channel> server_core::make_disturbed_channel(
    const port_role& role, tcp::socket socket) {
    const tls_disturbance how = brain_.disturbances().of(role.node).tls;
    if (how == tls_disturbance::reset) {
        reset_on_first_byte(std::move(socket));
        return nullptr;
    }
    const auto context = tls_->context_for(how);
    if (!context) {
        notice("cannot break a TLS handshake: " + context.error());
        return nullptr;
    }
    return make_tls_channel(std::move(socket), **context);
}

void server_core::reset_on_first_byte(tcp::socket socket) {
    const auto held = std::make_shared<tcp::socket>(std::move(socket));
    doomed_.insert(held);
    held->async_wait(
        tcp::socket::wait_read,
        [weak = weak_from_this(), held](const boost::system::error_code& ec) {
            const auto self = weak.lock();
            if (!self || ec) {
                return;
            }
            boost::system::error_code ignored;
            (void)held->set_option(tcp::socket::linger(true, 0), ignored);
            (void)held->close(ignored);
            self->doomed_.erase(held);
        });
}

void server_core::update_disturbances() {
    ports_.pause([this](const port_role& role) {
        return role.what != port_role::kind::control &&
               brain_.disturbances().of(role.node).is_partitioned;
    });
    sessions_.on_disturbance();
}

}  // namespace reprise::sandbox::detail
