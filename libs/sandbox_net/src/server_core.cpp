#include "server_core.hpp"

#include <array>
#include <utility>

#include <openssl/rand.h>
#include <boost/asio/post.hpp>

#include "http_session.hpp"
#include "kv_session.hpp"

namespace reprise::sandbox::detail {

namespace {

using tcp = boost::asio::ip::tcp;

constexpr std::string_view loopback = "127.0.0.1";
// Ports of one node when they are not chosen by the system.
constexpr std::size_t ports_per_node = 4;

std::expected<std::string, std::string> make_token() {
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<unsigned char, 24> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
        return std::unexpected("OpenSSL has no randomness for the control token");
    }
    std::string token;
    for (const unsigned char byte : bytes) {
        token += digits[byte >> 4];
        token += digits[byte & 15];
    }
    return token;
}

std::string join_addresses(
    std::string_view scheme, const std::vector<node_ports>& nodes,
    std::uint16_t node_ports::* port) {
    std::string text(scheme);
    for (const node_ports& node : nodes) {
        text += text.size() == scheme.size() ? "" : ",";
        text += wire::to_host_port(loopback, node.*port);
    }
    return text;
}

}  // namespace

server_core::server_core(
    boost::asio::io_context& io, server_options options, sandbox::cluster brain)
    : io_(io), options_(std::move(options)), brain_(std::move(brain)), timer_(io) {}

server_core::~server_core() {
    stop();
}

void server_core::notice(std::string_view text) const {
    if (options_.on_notice) {
        options_.on_notice(text);
    }
}

// --- start and stop ------------------------------------------------------------------------------

std::expected<void, std::string> server_core::start() {
    auto token = make_token();
    if (!token) {
        return std::unexpected(token.error());
    }
    addresses_.control_token = *std::move(token);
    if (options_.tls.is_enabled) {
        auto made = tls_identity::make(options_.tls);
        if (!made) {
            return std::unexpected(made.error());
        }
        tls_ = *std::move(made);
        addresses_.ca_path = tls_->ca_path();
    }
    if (auto listening = listen_all(); !listening) {
        return listening;
    }
    return publish();
}

std::expected<std::uint16_t, std::string> server_core::listen(
    const port_role& role, std::uint16_t port) {
    auto made = std::make_shared<listener>(io_);
    if (const auto bound = made->bind(port); !bound) {
        return std::unexpected(bound.error());
    }
    made->start(
        [this, role](tcp::socket socket) { on_accepted(role, std::move(socket)); },
        [this](std::string_view text) { notice(text); });
    listeners_.push_back(made);
    return made->port();
}

std::expected<void, std::string> server_core::listen_all() {
    using kind = port_role::kind;
    using wire::transport;
    const std::size_t node_count = options_.cluster.node_count;
    if (options_.port != 0 && options_.port + ports_per_node * node_count > 65535) {
        return std::unexpected("the port is too high for so many nodes");
    }
    const auto port_of = [&](std::size_t node, std::size_t offset) {
        return static_cast<std::uint16_t>(
            options_.port == 0 ? 0 : options_.port + ports_per_node * node + offset);
    };
    struct wanted {
        kind what;
        transport over;
        std::uint16_t node_ports::* port;
    };
    constexpr std::array<wanted, ports_per_node> all{{
        {kind::key_value, transport::plain, &node_ports::key_value},
        {kind::key_value, transport::tls, &node_ports::key_value_tls},
        {kind::management, transport::plain, &node_ports::management},
        {kind::management, transport::tls, &node_ports::management_tls},
    }};
    for (std::size_t index = 0; index < node_count; ++index) {
        node_ports ports;
        for (std::size_t offset = 0; offset < all.size(); ++offset) {
            if (all[offset].over == transport::tls && !tls_) {
                continue;
            }
            const port_role role{
                all[offset].what, node_id{static_cast<std::uint32_t>(index)}, all[offset].over};
            const auto port = listen(role, port_of(index, offset));
            if (!port) {
                return std::unexpected(port.error());
            }
            ports.*all[offset].port = *port;
        }
        addresses_.nodes.push_back(ports);
    }
    const auto control = listen({kind::control, {}, transport::plain}, port_of(node_count, 0));
    if (!control) {
        return std::unexpected(control.error());
    }
    addresses_.control_url = "http://" + wire::to_host_port(loopback, *control) + "/control";
    return {};
}

std::expected<void, std::string> server_core::publish() {
    using wire::service;
    using wire::transport;
    for (std::size_t index = 0; index < addresses_.nodes.size(); ++index) {
        const node_ports& ports = addresses_.nodes[index];
        wire::cluster_node node;
        node.hostname = std::string(loopback);
        node.ports.set(service::key_value, transport::plain, ports.key_value);
        node.ports.set(service::key_value, transport::tls, ports.key_value_tls);
        node.ports.set(service::management, transport::plain, ports.management);
        node.ports.set(service::management, transport::tls, ports.management_tls);
        const auto set =
            brain_.set_endpoints(node_id{static_cast<std::uint32_t>(index)}, std::move(node));
        if (!set) {
            return std::unexpected(std::string(to_string(set.error())));
        }
    }
    generation_seen_ = brain_.configuration_generation();
    addresses_.connection_string =
        join_addresses("couchbase://", addresses_.nodes, &node_ports::key_value);
    if (tls_) {
        addresses_.connection_string_tls =
            join_addresses("couchbases://", addresses_.nodes, &node_ports::key_value_tls);
    }
    return {};
}

void server_core::stop() noexcept {
    if (std::exchange(is_stopped_, true)) {
        return;
    }
    for (const auto& each : listeners_) {
        each->stop();
    }
    timer_.cancel();
    for (const auto& [key, session] : sessions_) {
        session->release();
    }
    sessions_.clear();
    retired_.clear();
    streams_.clear();
    due_.clear();
}

// --- sessions ------------------------------------------------------------------------------------

void server_core::on_accepted(const port_role& role, tcp::socket socket) {
    boost::system::error_code ec;
    const tcp::endpoint peer = socket.remote_endpoint(ec);
    const bool is_node_up = role.what == port_role::kind::control || is_up(role.node);
    if (ec || !is_node_up || sessions_.size() >= options_.cluster.connection_count_max) {
        // A reset, as from a host where nobody listens.
        socket.set_option(tcp::socket::linger(true, 0), ec);
        return;
    }
    std::string peer_text = wire::to_host_port(peer.address().to_string(), peer.port());
    auto link = role.over == wire::transport::tls
                    ? make_tls_channel(std::move(socket), tls_->context())
                    : make_plain_channel(std::move(socket));
    const std::uint64_t key = key_next_++;
    std::unique_ptr<peer_session> made;
    if (role.what == port_role::kind::key_value) {
        made =
            std::make_unique<kv_session>(*this, key, std::move(link), role, std::move(peer_text));
    } else {
        made = std::make_unique<http_session>(*this, key, std::move(link), role);
    }
    peer_session& session = *made;
    sessions_.emplace(key, std::move(made));
    session.open();
}

void server_core::retire(peer_session& session) noexcept {
    const auto found = sessions_.find(session.key());
    if (found == sessions_.end()) {
        return;
    }
    schedule(session, std::nullopt);
    streams_.erase(session.key());
    session.release();
    if (retired_.empty()) {
        boost::asio::post(io_, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->retired_.clear();
            }
        });
    }
    retired_.push_back(std::move(found->second));
    sessions_.erase(found);
}

void server_core::add_connection(connection_id id, kv_session& session) {
    connections_.emplace(id, &session);
}

void server_core::remove_connection(connection_id id) noexcept {
    connections_.erase(id);
}

void server_core::add_stream(http_session& session) {
    streams_.insert(session.key());
}

bool server_core::is_up(node_id node) const noexcept {
    return brain_.state_of(node) == node_state::up;
}

void server_core::settle() {
    // Connections that are woken up come back here; the outermost call does their work.
    if (is_settling_ || is_stopped_) {
        return;
    }
    is_settling_ = true;
    while (brain_.has_wakeups()) {
        wake_connections();
    }
    update_streams();
    is_settling_ = false;
}

void server_core::wake_connections() {
    std::vector<connection_id> woken;
    brain_.take_wakeups(woken);
    const time_point time = now();
    for (const connection_id id : woken) {
        if (const auto found = connections_.find(id); found != connections_.end()) {
            found->second->on_wakeup(time);
        }
    }
}

void server_core::update_streams() {
    // A node that goes down changes no configuration, so streams are looked at whenever there are
    // any: they are few.
    if (streams_.empty()) {
        return;
    }
    const std::vector<std::uint64_t> keys(streams_.begin(), streams_.end());
    for (const std::uint64_t key : keys) {
        if (const auto found = sessions_.find(key); found != sessions_.end()) {
            static_cast<http_session&>(*found->second).on_configuration();
        }
    }
}

// --- time ----------------------------------------------------------------------------------------

void server_core::schedule(peer_session& session, std::optional<time_point> due) {
    if (session.scheduled == due || !sessions_.contains(session.key())) {
        return;
    }
    if (session.scheduled) {
        due_.erase({*session.scheduled, session.key()});
    }
    session.scheduled = due;
    if (due) {
        due_.emplace(*due, session.key());
    }
    arm_timer();
}

void server_core::arm_timer() {
    if (due_.empty() || is_stopped_) {
        return;  // an armed timer finds nothing to do
    }
    const time_point first = due_.begin()->first;
    if (armed_ && *armed_ <= first) {
        return;
    }
    armed_ = first;
    timer_.expires_at(clock_.to_steady(first));
    timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
        const auto self = weak.lock();
        if (self && !ec && !self->is_stopped_) {
            self->on_timer();
        }
    });
}

void server_core::on_timer() {
    armed_.reset();
    const time_point time = now();
    std::vector<std::uint64_t> keys;
    for (const auto& [due, key] : due_) {
        if (due > time) {
            break;
        }
        keys.push_back(key);
    }
    for (const std::uint64_t key : keys) {
        const auto found = sessions_.find(key);
        if (found != sessions_.end()) {
            found->second->on_due(time);
        }
    }
    arm_timer();
}

}  // namespace reprise::sandbox::detail
