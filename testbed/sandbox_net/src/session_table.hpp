#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <reprise/sandbox/ids.hpp>

namespace reprise::sandbox::detail {

class kv_session;
class peer_session;
class server_core;
class service_session;

// Owns the sessions of all connections, and the one timer for everything that is due: in sessions,
// and in the cluster itself.
class session_table {
public:
    session_table(boost::asio::io_context& io, server_core& core);
    session_table(const session_table&) = delete;
    session_table& operator=(const session_table&) = delete;
    ~session_table();

    // Releases all sessions. There is no callback after it.
    void stop() noexcept;

    std::size_t count() const noexcept { return sessions_.size(); }
    // The key for the next session.
    std::uint64_t take_key() noexcept { return key_next_++; }
    // Opens the session.
    void add(std::unique_ptr<peer_session> made);
    // Closes and removes a session. The object lives until the current handler has returned.
    void retire(peer_session& session) noexcept;
    void schedule(peer_session& session, std::optional<time_point> due);
    void schedule_cluster(std::optional<time_point> due);
    // The disturbances of nodes may have changed.
    void on_disturbance();

    // Connections that the cluster can wake.
    void add_connection(connection_id id, kv_session& session);
    void remove_connection(connection_id id) noexcept;
    void wake(std::span<const connection_id> woken, time_point now);

    // Answers that continue with each configuration.
    void add_stream(service_session& session);
    void update_streams();

private:
    void arm_timer();
    void on_timer();

    boost::asio::io_context& io_;
    server_core& core_;
    std::uint64_t key_next_ = 1;
    std::unordered_map<std::uint64_t, std::unique_ptr<peer_session>> sessions_;
    // Sessions retired in the current handler.
    std::vector<std::unique_ptr<peer_session>> retired_;
    std::unordered_map<connection_id, kv_session*> connections_;
    std::set<std::uint64_t> streams_;  // keys of sessions

    boost::asio::steady_timer timer_;
    std::set<std::pair<time_point, std::uint64_t>> due_;  // by time: keys of sessions
    std::optional<time_point> armed_;
    std::optional<time_point> cluster_due_;  // in `due_` with a key that no session has
};

}  // namespace reprise::sandbox::detail
