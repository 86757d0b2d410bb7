#include "port_set.hpp"

#include <utility>

namespace reprise::sandbox::detail {

namespace {

using tcp = boost::asio::ip::tcp;

}  // namespace

std::expected<void, std::string> port_set::open_port(announced_port& at) {
    auto made = std::exchange(at.held, nullptr);
    if (!made) {
        made = std::make_shared<listener>(io_);
        if (const auto reserved = made->reserve(at.port); !reserved) {
            return std::unexpected(reserved.error());
        }
    }
    if (const auto listening = made->listen(); !listening) {
        return std::unexpected(listening.error());
    }
    made->start(
        [this, role = at.role](tcp::socket socket) { accepted_(role, std::move(socket)); },
        notice_);
    at.port = made->port();
    at.open = std::move(made);
    return {};
}

void port_set::hold_port(announced_port& at) {
    at.open->stop();
    at.open.reset();
    at.held = std::make_shared<listener>(io_);
    if (const auto reserved = at.held->reserve(at.port); !reserved) {
        notice_(reserved.error());
        at.held.reset();
    }
}

std::expected<std::uint16_t, std::string> port_set::listen(
    const port_role& role, std::uint16_t port) {
    announced_port made{role, port, nullptr, nullptr, false};
    if (const auto opened = open_port(made); !opened) {
        return std::unexpected(opened.error());
    }
    return ports_.emplace_back(std::move(made)).port;
}

void port_set::close(node_id node) noexcept {
    std::erase_if(ports_, [node](const announced_port& each) {
        const bool is_its = each.role.what != port_role::kind::control && each.role.node == node;
        if (is_its && each.open) {
            each.open->stop();
        }
        return is_its;
    });
}

void port_set::stop() noexcept {
    for (const announced_port& each : ports_) {
        if (each.open) {
            each.open->stop();
        }
    }
}

bool port_set::update(const role_test& is_wanted) {
    bool is_complete = true;
    for (announced_port& each : ports_) {
        if (!is_wanted(each.role)) {
            if (each.open) {
                hold_port(each);
            }
            continue;
        }
        if (each.open) {
            continue;
        }
        const auto opened = open_port(each);
        if (!opened && !each.has_failed) {
            notice_(opened.error() + "; trying again");
        }
        each.has_failed = !opened;
        is_complete = is_complete && opened.has_value();
    }
    return is_complete;
}

void port_set::pause(const role_test& is_paused) {
    for (const announced_port& each : ports_) {
        if (each.open) {
            each.open->set_paused(is_paused(each.role));
        }
    }
}

}  // namespace reprise::sandbox::detail
