#include "kv_session.hpp"

#include <algorithm>

namespace reprise::sandbox::detail {

void kv_session::on_open(const std::string& certificate_user) {
    auto accepted = core_.brain().accept(
        role_.node, {.over = role_.over, .peer = peer_, .certificate_user = certificate_user});
    if (!accepted) {
        core_.notice(
            "connection from " + peer_ + " refused: " + std::string(to_string(accepted.error())));
        core_.sessions().retire(*this);
        return;
    }
    connection_.emplace(*std::move(accepted));
    core_.sessions().add_connection(connection_->id(), *this);
}

void kv_session::on_bytes(base::byte_view bytes) {
    if (connection_) {
        connection_->on_bytes(core_.now(), bytes, link_->output());
        after_call();
    }
}

void kv_session::on_written() {
    if (connection_ && (connection_->has_backlog() || connection_->has_delayed_push())) {
        connection_->on_time(core_.now(), link_->output());
    }
    after_call();
}

void kv_session::on_wakeup(time_point now) {
    if (connection_) {
        connection_->on_time(now, link_->output());
        after_call();
    }
}

void kv_session::on_due(time_point now) {
    if (is_stalled(now)) {
        return;
    }
    if (connection_) {
        connection_->on_time(now, link_->output());
    }
    after_call();
}

void kv_session::after_call() {
    if (!write_out()) {
        return;
    }
    std::optional<time_point> due;
    if (connection_ && connection_->is_aborted()) {
        link_->reset();
        core_.sessions().retire(*this);
        return;
    }
    if (connection_ && connection_->is_closing()) {
        core_.sessions().remove_connection(connection_->id());
        connection_.reset();
        end_gently();
    } else if (connection_) {
        hold_back(
            connection_->has_backlog() || link_->pending_size() >= connection::output_pause_bytes);
        due = connection_->next_due();
    }
    if (own_due()) {
        due = due ? std::min(*due, *own_due()) : *own_due();
    }
    core_.sessions().schedule(*this, due);
    core_.settle();
}

void kv_session::on_disturbance() {
    cut_off(core_.brain().disturbances().of(role_.node).is_partitioned);
}

void kv_session::release() noexcept {
    if (connection_) {
        core_.sessions().remove_connection(connection_->id());
        connection_.reset();
    }
    peer_session::release();
}

}  // namespace reprise::sandbox::detail
