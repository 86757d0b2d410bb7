#include <reprise/sandbox_net/server.hpp>

#include <utility>

#include "server_core.hpp"

namespace reprise::sandbox {

server::server(std::shared_ptr<detail::server_core> core) noexcept : core_(std::move(core)) {}
server::server(server&&) noexcept = default;

server::~server() {
    stop();
}

std::expected<server, std::string> server::make(
    boost::asio::io_context& io, server_options options) {
    auto brain = cluster::make(options.cluster);
    if (!brain) {
        return std::unexpected(brain.error());
    }
    auto core = std::make_shared<detail::server_core>(io, std::move(options), *std::move(brain));
    if (const auto started = core->start(); !started) {
        core->stop();
        return std::unexpected(started.error());
    }
    return server(std::move(core));
}

const server_addresses& server::addresses() const noexcept {
    return core_->addresses();
}

sandbox::cluster& server::cluster() noexcept {
    return core_->brain();
}

void server::notify() {
    core_->settle();
}

std::expected<added_node, std::string> server::add_node() {
    const auto added = core_->add_node();
    if (!added) {
        return std::unexpected(added.error());
    }
    core_->settle();
    return added_node{*added, core_->addresses().nodes[added->value]};
}

void server::run_rebalance(std::chrono::milliseconds interval) {
    core_->run_rebalance(interval);
}

void server::when_rebalance_ends(std::function<void(const rebalance_progress&)> ended) {
    core_->rebalance().when_ended(std::move(ended));
}

std::expected<certificate_pem, std::string> server::issue_client_certificate(
    std::string_view user) const {
    if (core_->tls() == nullptr) {
        return std::unexpected("the server has no TLS ports");
    }
    return core_->tls()->authority().issue_client_certificate(user);
}

std::size_t server::session_count() const noexcept {
    return core_->sessions().count();
}

void server::stop() noexcept {
    if (core_) {
        core_->stop();
    }
}

}  // namespace reprise::sandbox
