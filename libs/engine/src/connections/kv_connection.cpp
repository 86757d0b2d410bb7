#include "connections/kv_connection.hpp"

namespace reprise::engine {
namespace {

wire::frame_limits client_limits() noexcept {
    wire::frame_limits limits;
    limits.direction = wire::frame_direction::to_client;
    return limits;
}

// Room for the client's own requests in addition to the credit of operations.
constexpr std::size_t own_request_count = 256;

}  // namespace

kv_connection::kv_connection(connection_id given, node_link& owner, std::size_t credit)
    : engine_timer(timer_kind::connection),
      id(given),
      link(&owner),
      reader(client_limits()),
      waiting(credit + own_request_count),
      credit_(credit) {}

void kv_connection::request_write(action_list& actions) {
    if (state == connection_state::closed || is_write_requested || !outstanding().empty()) {
        return;
    }
    if (!control.empty() || (!ready.empty() && has_credit())) {
        is_write_requested = true;
        actions.emplace_back(write_action{id});
    }
}

void kv_connection::abandon(std::uint32_t opaque) noexcept {
    if (opaque_entry* entry = waiting.find(opaque)) {
        waiting.abandon(*entry);
    }
}

base::byte_view kv_connection::outstanding() const noexcept {
    return base::byte_view(outgoing_).subspan(written_);
}

std::vector<std::byte>& kv_connection::begin_outgoing() {
    handed_before_ += outgoing_.size();
    outgoing_.clear();
    written_ = 0;
    outgoing_.swap(control);
    return outgoing_;
}

bool kv_connection::on_written(std::size_t size) noexcept {
    if (size > outgoing_.size() - written_) {
        return false;
    }
    written_ += size;
    return true;
}

std::uint64_t kv_connection::sent_end(std::size_t unwritten) const noexcept {
    const std::size_t unreported = outgoing_.size() - written_;
    return handed_before_ + outgoing_.size() - (unwritten < unreported ? unwritten : unreported);
}

}  // namespace reprise::engine
