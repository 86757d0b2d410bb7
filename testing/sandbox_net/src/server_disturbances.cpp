#include <utility>
#include <vector>

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
        reset_when_heard(std::move(socket));
        return nullptr;
    }
    const auto context = tls_->context_for(how);
    if (!context) {
        notice("cannot break a TLS handshake: " + context.error());
        return nullptr;
    }
    return make_tls_channel(std::move(socket), **context);
}

void server_core::reset_when_heard(tcp::socket socket) {
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
    std::vector<std::uint64_t> keys;
    keys.reserve(sessions_.size());
    for (const auto& [key, session] : sessions_) {
        keys.push_back(key);
    }
    for (const std::uint64_t key : keys) {
        if (const auto found = sessions_.find(key); found != sessions_.end()) {
            found->second->on_disturbance();
        }
    }
}

void server_core::schedule_brain() {
    const std::optional<time_point> due = brain_.next_due();
    if (due == brain_due_) {
        return;
    }
    if (brain_due_) {
        due_.erase({*brain_due_, 0});
    }
    brain_due_ = due;
    if (due) {
        due_.emplace(*due, 0);
    }
    arm_timer();
}

}  // namespace reprise::sandbox::detail
