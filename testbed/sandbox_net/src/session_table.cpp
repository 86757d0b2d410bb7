#include "session_table.hpp"

#include <boost/asio/post.hpp>

#include "kv_session.hpp"
#include "server_core.hpp"
#include "service_session.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr std::uint64_t cluster_key = 0;

}  // namespace

session_table::session_table(boost::asio::io_context& io, server_core& core)
    : io_(io), core_(core), timer_(io) {}

session_table::~session_table() = default;

void session_table::stop() noexcept {
    timer_.cancel();
    for (const auto& [key, session] : sessions_) {
        session->release();
    }
    sessions_.clear();
    retired_.clear();
    streams_.clear();
    due_.clear();
}

void session_table::add(std::unique_ptr<peer_session> made) {
    peer_session& session = *made;
    sessions_.emplace(session.key(), std::move(made));
    session.open();
}

void session_table::retire(peer_session& session) noexcept {
    const auto found = sessions_.find(session.key());
    if (found == sessions_.end()) {
        return;
    }
    schedule(session, std::nullopt);
    streams_.erase(session.key());
    session.release();
    if (retired_.empty()) {
        boost::asio::post(io_, [this, weak = core_.weak_from_this()] {
            if (const auto core = weak.lock()) {
                retired_.clear();
            }
        });
    }
    retired_.push_back(std::move(found->second));
    sessions_.erase(found);
}

void session_table::on_disturbance() {
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

// --- what the cluster wakes ----------------------------------------------------------------------

void session_table::add_connection(connection_id id, kv_session& session) {
    connections_.emplace(id, &session);
}

void session_table::remove_connection(connection_id id) noexcept {
    connections_.erase(id);
}

void session_table::wake(std::span<const connection_id> woken, time_point now) {
    for (const connection_id id : woken) {
        if (const auto found = connections_.find(id); found != connections_.end()) {
            found->second->on_wakeup(now);
        }
    }
}

void session_table::add_stream(service_session& session) {
    streams_.insert(session.key());
}

void session_table::update_streams() {
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

void session_table::schedule(peer_session& session, std::optional<time_point> due) {
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

void session_table::schedule_cluster(std::optional<time_point> due) {
    if (due == cluster_due_) {
        return;
    }
    if (cluster_due_) {
        due_.erase({*cluster_due_, cluster_key});
    }
    cluster_due_ = due;
    if (due) {
        due_.emplace(*due, cluster_key);
    }
    arm_timer();
}

void session_table::arm_timer() {
    if (due_.empty() || core_.is_stopped()) {
        return;  // an armed timer would find nothing to do
    }
    const time_point first = due_.begin()->first;
    if (armed_ && *armed_ <= first) {
        return;
    }
    armed_ = first;
    timer_.expires_at(core_.to_steady(first));
    timer_.async_wait([this, weak = core_.weak_from_this()](const boost::system::error_code& ec) {
        const auto core = weak.lock();
        if (core && !ec && !core->is_stopped()) {
            on_timer();
        }
    });
}

void session_table::on_timer() {
    armed_.reset();
    const time_point time = core_.now();
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
        } else if (key == cluster_key) {
            core_.brain().on_time(time);
            core_.settle();
        }
    }
    arm_timer();
}

}  // namespace reprise::sandbox::detail
