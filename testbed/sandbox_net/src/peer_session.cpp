#include "peer_session.hpp"

#include "server_core.hpp"

namespace reprise::sandbox::detail {

namespace {

// How long a peer may take to close after the server has.
constexpr std::chrono::seconds farewell_max{2};

}  // namespace

void peer_session::on_closed(std::string_view /*why*/) {
    core_.sessions().retire(*this);
}

bool peer_session::write_out() {
    link_->flush();
    if (link_->pending_size() <= core_.options().output_size_max_bytes) {
        return true;
    }
    core_.notice(
        "closed a connection whose peer does not read: " + std::to_string(link_->pending_size()) +
        " bytes are waiting, the limit is " +
        std::to_string(core_.options().output_size_max_bytes));
    core_.sessions().retire(*this);
    return false;
}

void peer_session::hold_back(bool is_held) {
    if (is_ending_) {
        return;
    }
    is_held_back_ = is_held;
    link_->set_reading(!is_held_back_ && !is_cut_off_);
    if (!is_held) {
        deadline_.reset();
    } else if (!deadline_) {
        progress_seen_ = link_->progress();
        deadline_ = core_.now() + core_.options().output_stall_max;
    }
}

void peer_session::cut_off(bool is_cut_off) {
    is_cut_off_ = is_cut_off;
    if (!is_ending_) {
        link_->set_reading(!is_held_back_ && !is_cut_off_);
    }
}

bool peer_session::is_stalled(time_point now) {
    if (!deadline_ || now < *deadline_) {
        return false;
    }
    if (!is_ending_ && link_->progress() != progress_seen_) {
        progress_seen_ = link_->progress();
        deadline_ = now + core_.options().output_stall_max;
        return false;
    }
    if (!is_ending_) {
        core_.notice("closed a connection whose peer stopped reading");
    }
    core_.sessions().retire(*this);
    return true;
}

void peer_session::end_gently() {
    is_ending_ = true;
    deadline_ = core_.now() + farewell_max;
    link_->close_gently();
}

}  // namespace reprise::sandbox::detail
