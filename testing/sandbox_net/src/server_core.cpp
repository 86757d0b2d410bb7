#include "server_core.hpp"

#include <array>
#include <utility>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <openssl/rand.h>
#include <boost/asio/post.hpp>

#include <reprise/base/hex.hpp>
#include <reprise/sandbox/services.hpp>

#include "http_session.hpp"
#include "kv_session.hpp"
#include "service_session.hpp"

namespace reprise::sandbox::detail {

namespace {

using tcp = boost::asio::ip::tcp;

std::expected<std::string, std::string> make_token() {
    std::array<unsigned char, 24> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
        return std::unexpected("OpenSSL has no randomness for the control token");
    }
    return base::to_hex(std::as_bytes(std::span(bytes)));
}

}  // namespace

server_core::server_core(
    boost::asio::io_context& io, server_options options, sandbox::cluster brain)
    : io_(io),
      options_(std::move(options)),
      brain_(std::move(brain)),
      ports_(
          io,
          [this](const port_role& role, tcp::socket socket) {
              on_accepted(role, std::move(socket));
          },
          [this](std::string_view text) { notice(text); }),
      timer_(io),
      port_timer_(io),
      rebalance_(io, *this) {}

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

void server_core::stop() noexcept {
    if (std::exchange(is_stopped_, true)) {
        return;
    }
    ports_.stop();
    timer_.cancel();
    port_timer_.cancel();
    rebalance_.stop();
    for (const auto& [key, session] : sessions_) {
        session->release();
    }
    for (const auto& each : doomed_) {
        boost::system::error_code ignored;
        (void)each->close(ignored);
    }
    doomed_.clear();
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
    const std::size_t count = sessions_.size() + doomed_.size();
    if (ec || !is_node_up || count >= options_.cluster.connection_count_max) {
        // Reset the connection, as from a host where no process listens.
        (void)socket.set_option(tcp::socket::linger(true, 0), ec);
        return;
    }
    std::string peer_text = wire::to_host_port(peer.address().to_string(), peer.port());
    auto link = role.over == wire::transport::tls ? make_disturbed_channel(role, std::move(socket))
                                                  : make_plain_channel(std::move(socket));
    if (link == nullptr) {
        return;
    }
    const std::uint64_t key = key_next_++;
    std::unique_ptr<peer_session> made;
    if (role.what == port_role::kind::key_value) {
        made =
            std::make_unique<kv_session>(*this, key, std::move(link), role, std::move(peer_text));
    } else if (role.what == port_role::kind::service) {
        made = std::make_unique<service_session>(*this, key, std::move(link), role);
    } else {
        made = std::make_unique<http_session>(*this, key, std::move(link));
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

void server_core::add_stream(service_session& session) {
    streams_.insert(session.key());
}

bool server_core::is_up(node_id node) const noexcept {
    return brain_.topology().state_of(node) == node_state::up;
}

void server_core::settle() {
    // Woken-up connections call this again; the outermost call does the work.
    if (is_settling_ || is_stopped_) {
        return;
    }
    is_settling_ = true;
    update_ports();
    while (brain_.has_wakeups()) {
        wake_connections();
    }
    update_streams();
    schedule_brain();
    is_settling_ = false;
    rebalance_.notify();
    return_memory();
}

// The allocator keeps the free blocks that removed documents leave between others, and cannot
// return pages that hold anything else.
void server_core::return_memory() {
    if (std::exchange(removal_generation_seen_, brain_.buckets().removal_generation()) !=
        brain_.buckets().removal_generation()) {
        brain_.audit().compact();
        brain_.services().audit().compact();
#if defined(__GLIBC__)
        malloc_trim(0);
#endif
    }
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
    // A node that goes down changes no configuration, so check all streams every time: there are
    // few.
    if (streams_.empty()) {
        return;
    }
    const std::vector<std::uint64_t> keys(streams_.begin(), streams_.end());
    for (const std::uint64_t key : keys) {
        if (const auto found = sessions_.find(key); found != sessions_.end()) {
            static_cast<service_session&>(*found->second).on_configuration();
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
        return;  // an armed timer would find nothing to do
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
        } else if (key == 0) {
            brain_.on_time(time);
            settle();
        }
    }
    arm_timer();
}

}  // namespace reprise::sandbox::detail
