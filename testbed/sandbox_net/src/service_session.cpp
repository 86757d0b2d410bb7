#include "service_session.hpp"

#include <algorithm>
#include <utility>

namespace reprise::sandbox::detail {

namespace {

// How far a streamed body may be ahead of the peer. Bytes.
constexpr std::size_t stream_ahead_max_bytes = std::size_t{256} * 1024;

}  // namespace

void service_session::on_open(const std::string& certificate_user) {
    connection_.emplace(
        core_.brain(), service_accept_options{
                           .node = role_.node,
                           .service = role_.service,
                           .certificate_user = certificate_user,
                           .body_size_max_bytes = core_.options().http_body_size_max_bytes});
}

bool service_session::is_silent() const noexcept {
    return core_.brain().disturbances().of(role_.node).is_silent();
}

void service_session::on_bytes(base::byte_view bytes) {
    if (is_ending_ || !connection_) {
        return;
    }
    if (!core_.is_up(role_.node)) {
        core_.sessions().retire(*this);
        return;
    }
    if (is_silent()) {
        held_.insert(held_.end(), bytes.begin(), bytes.end());
        if (held_.size() > 2 * core_.options().http_body_size_max_bytes) {
            hold_back(true);
        }
        return;
    }
    connection_->on_bytes(core_.now(), bytes, link_->output());
    after_call();
}

void service_session::on_due(time_point now) {
    if (is_stalled(now)) {
        return;
    }
    if (connection_ && !is_ending_ && !is_silent()) {
        connection_->on_time(now, link_->output());
    }
    after_call();
}

void service_session::on_disturbance() {
    if (is_ending_) {
        return;
    }
    if (!core_.is_up(role_.node)) {
        link_->reset();
        core_.sessions().retire(*this);
        return;
    }
    cut_off(core_.brain().disturbances().of(role_.node).is_partitioned);
    if (is_silent() || !connection_) {
        return;
    }
    const std::vector<std::byte> held = std::exchange(held_, {});
    connection_->on_bytes(core_.now(), held, link_->output());
    after_call();
}

void service_session::on_configuration() {
    if (!core_.is_up(role_.node)) {
        core_.sessions().retire(*this);
        return;
    }
    if (connection_ && !is_silent()) {
        connection_->on_time(core_.now(), link_->output());
        write_out();
    }
}

void service_session::after_call() {
    if (is_ending_ || !connection_) {
        core_.sessions().schedule(*this, own_due());
        return;
    }
    while (connection_->has_more() && !is_silent() &&
           link_->pending_size() < stream_ahead_max_bytes) {
        connection_->on_time(core_.now(), link_->output());
    }
    if (!write_out()) {
        return;
    }
    std::optional<time_point> due;
    if (connection_->is_closing()) {
        connection_.reset();
        end_gently();
    } else {
        hold_back(connection_->has_more());
        due = connection_->next_due();
        if (connection_->is_streaming()) {
            core_.sessions().add_stream(*this);
        }
    }
    if (own_due()) {
        due = due ? std::min(*due, *own_due()) : *own_due();
    }
    core_.sessions().schedule(*this, due);
    core_.settle();
}

}  // namespace reprise::sandbox::detail
