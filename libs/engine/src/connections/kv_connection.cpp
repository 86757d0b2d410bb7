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

kv_connection::kv_connection(
    connection_id given, node_link& owner, std::size_t credit, base::block_pool& pool)
    : engine_timer(timer_kind::connection),
      id(given),
      link(&owner),
      reader(client_limits(), &pool),
      waiting(credit + own_request_count),
      credit_(credit) {}

void kv_connection::request_first_write(action_list& actions) {
    const bool has_some = !control.empty() || (!ready.empty() && has_credit());
    if (has_some && state != connection_state::closed && outgoing.is_written()) {
        is_write_requested = true;
        actions.emplace_back(write_action{id});
    }
}

void kv_connection::abandon(std::uint32_t opaque) noexcept {
    if (opaque_entry* entry = waiting.find(opaque)) {
        waiting.abandon(*entry);
    }
}

base::byte_writer kv_connection::begin_outgoing() {
    base::byte_writer writer = outgoing.begin();
    if (!control.empty()) {
        writer.write_bytes(control);
        control.clear();
    }
    outgoing.on_appended(writer);
    return writer;
}

}  // namespace reprise::engine
