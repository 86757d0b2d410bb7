#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <reprise/sandbox/ids.hpp>

#include "channel.hpp"

namespace reprise::sandbox::detail {

class server_core;

// The session of one connection. The table owns it; it ends with `core_.sessions().retire(*this)`,
// after which nothing calls it.
class peer_session : public channel_user {
public:
    peer_session(server_core& core, std::uint64_t key, std::shared_ptr<channel> link)
        : core_(core), key_(key), link_(std::move(link)) {}
    virtual ~peer_session() = default;
    peer_session(const peer_session&) = delete;
    peer_session& operator=(const peer_session&) = delete;

    std::uint64_t key() const noexcept { return key_; }
    void open() { link_->open(*this); }

    // The core calls it once the scheduled time is reached.
    virtual void on_due(time_point now) = 0;
    // Releases the socket and the cluster's connection at once. The core calls it when it retires
    // the session.
    virtual void release() noexcept {
        is_ending_ = true;
        link_->close();
    }

    void on_closed(std::string_view why) override;
    // The disturbances of the node may have changed. May retire the session.
    virtual void on_disturbance() = 0;

    // When the core calls on_due; set by the core.
    std::optional<time_point> scheduled;

protected:
    // Call it after appending output: writes it and checks for peers that do not read. Returns
    // false if the session was retired.
    bool write_out();
    // While held back, the peer cannot send more until it has read its answers.
    void hold_back(bool is_held);
    // While cut off, nothing is read from the peer, whatever `hold_back` is.
    void cut_off(bool is_cut_off);
    // Returns true if it retired the session because the peer accepted no byte in time.
    bool is_stalled(time_point now);
    void end_gently();
    // The earliest time at which on_due has something to do for this class.
    std::optional<time_point> own_due() const noexcept { return deadline_; }

    server_core& core_;
    std::uint64_t key_;
    std::shared_ptr<channel> link_;
    bool is_ending_ = false;

private:
    bool is_held_back_ = false;
    bool is_cut_off_ = false;
    // Of a stall, or of the peer's close after ours.
    std::optional<time_point> deadline_;
    std::uint64_t progress_seen_ = 0;
};

}  // namespace reprise::sandbox::detail
