#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <reprise/sandbox/ids.hpp>

#include "channel.hpp"

namespace reprise::sandbox::detail {

class server_core;

// One peer's socket and what we say on it. Owned by the core; ends by `core().retire(*this)`, after
// which nothing is called any more.
class peer_session : public channel_user {
public:
    peer_session(server_core& core, std::uint64_t key, std::shared_ptr<channel> link)
        : core_(core), key_(key), link_(std::move(link)) {}
    virtual ~peer_session() = default;
    peer_session(const peer_session&) = delete;
    peer_session& operator=(const peer_session&) = delete;

    std::uint64_t key() const noexcept { return key_; }
    void open() { link_->open(*this); }

    // The core calls it once this time has come, however early it was asked to.
    virtual void on_due(time_point now) = 0;
    // Lets go of the socket and of the cluster, at once; called by the core when it retires us.
    virtual void release() noexcept {
        is_ending_ = true;
        link_->close();
    }

    void on_closed(std::string_view why) override;
    // Something about the node may be the matter now, or not any more. May retire the session.
    virtual void on_disturbance() = 0;

    // When the core wakes us; kept by the core.
    std::optional<time_point> scheduled;

protected:
    // After output was appended: writes it and looks after peers that do not read. False if the
    // session was retired.
    bool write_out();
    // A peer that must not send more until it has read what it asked for.
    void hold_back(bool is_held);
    // Nothing is read from the peer meanwhile, whatever `hold_back` says.
    void cut_off(bool is_cut_off);
    // True if the session was retired because its peer took no byte in time.
    bool is_stalled(time_point now);
    void end_gently();
    // The earliest time at which on_due has something to do, beside the caller's own.
    std::optional<time_point> own_due() const noexcept { return deadline_; }

    server_core& core_;
    std::uint64_t key_;
    std::shared_ptr<channel> link_;
    bool is_ending_ = false;

private:
    bool is_held_back_ = false;
    bool is_cut_off_ = false;
    // Of a stall or of the peer's farewell.
    std::optional<time_point> deadline_;
    std::uint64_t progress_seen_ = 0;
};

}  // namespace reprise::sandbox::detail
