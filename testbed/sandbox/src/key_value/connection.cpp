#include <reprise/sandbox/connection.hpp>

#include <utility>

#include "key_value/session.hpp"

namespace reprise::sandbox {

connection::connection(std::unique_ptr<detail::session> session) noexcept
    : session_(std::move(session)) {}
connection::connection(connection&&) noexcept = default;
connection& connection::operator=(connection&&) noexcept = default;
connection::~connection() = default;

connection_id connection::id() const noexcept {
    return session_->id();
}

void connection::on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out) {
    session_->on_bytes(now, bytes, out);
}

void connection::on_time(time_point now, std::vector<std::byte>& out) {
    session_->on_time(now, out);
}

std::optional<time_point> connection::next_due() const noexcept {
    return session_->next_due();
}

bool connection::has_backlog() const noexcept {
    return session_->has_backlog();
}

bool connection::has_delayed_push() const noexcept {
    return session_->has_delayed_push();
}

bool connection::is_closing() const noexcept {
    return session_->is_closing();
}

bool connection::is_aborted() const noexcept {
    return session_->is_aborted();
}

}  // namespace reprise::sandbox
