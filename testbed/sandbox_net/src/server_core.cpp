#include "server_core.hpp"

#include <array>
#include <utility>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <openssl/rand.h>

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
    : options_(std::move(options)),
      brain_(std::move(brain)),
      ports_(
          io,
          [this](const port_role& role, tcp::socket socket) {
              on_accepted(role, std::move(socket));
          },
          [this](std::string_view text) { notice(text); }),
      sessions_(io, *this),
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
    port_timer_.cancel();
    rebalance_.stop();
    sessions_.stop();
    for (const auto& each : doomed_) {
        boost::system::error_code ignored;
        (void)each->close(ignored);
    }
    doomed_.clear();
}

// --- sessions ------------------------------------------------------------------------------------

void server_core::on_accepted(const port_role& role, tcp::socket socket) {
    boost::system::error_code ec;
    const tcp::endpoint peer = socket.remote_endpoint(ec);
    const bool is_node_up = role.what == port_role::kind::control || is_up(role.node);
    const std::size_t count = sessions_.count() + doomed_.size();
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
    const std::uint64_t key = sessions_.take_key();
    std::unique_ptr<peer_session> made;
    if (role.what == port_role::kind::key_value) {
        made =
            std::make_unique<kv_session>(*this, key, std::move(link), role, std::move(peer_text));
    } else if (role.what == port_role::kind::service) {
        made = std::make_unique<service_session>(*this, key, std::move(link), role);
    } else {
        made = std::make_unique<http_session>(*this, key, std::move(link));
    }
    sessions_.add(std::move(made));
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
    sessions_.update_streams();
    sessions_.schedule_cluster(brain_.next_due());
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
    sessions_.wake(woken, now());
}

}  // namespace reprise::sandbox::detail
