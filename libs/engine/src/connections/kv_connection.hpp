#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/frame_reader.hpp>

#include "connections/bootstrap_fsm.hpp"
#include "connections/opaque_table.hpp"
#include "connections/outgoing_stream.hpp"
#include "operations/operation_slot.hpp"

namespace reprise::engine {

struct node_link;

enum class connection_state : std::uint8_t {
    connecting,     // the driver is opening it
    bootstrapping,  // open; the bootstrap is running
    open,           // operations may use it
    closed,         // given up; kept until the driver has released it
};

// The mechanics of one connection: its input, the requests that wait for an answer, and its output.
// Other parts interpret the answers.
//
//     ready list -> begin_write: opaque given, frame encoded -> handed (on the wire) -> answered
//
class kv_connection : public engine_timer {
public:
    // Answers that arrive in parts are gathered in blocks of `pool`.
    kv_connection(connection_id id, node_link& owner, std::size_t credit, base::block_pool& pool);

    const connection_id id;
    node_link* link;  // null once the link has dropped it
    connection_state state = connection_state::connecting;
    bool is_opening = true;                    // has a place at the gate
    bool has_received = false;                 // any bytes
    bool has_answered = false;                 // a complete frame
    std::unique_ptr<bootstrap_fsm> bootstrap;  // until the connection is open
    wire::hello_feature_set features;
    wire::frame_reader reader;
    opaque_table waiting;
    std::uint32_t bootstrap_opaque_last = 0;  // the bootstrap used the opaques from 1 to this
    intrusive_list<operation_slot> ready;

    time_point received_last{};
    std::optional<time_point> probe_sent;
    std::optional<time_point> clogged_since;   // when a probe found too many abandoned requests
    std::optional<std::uint32_t> poll_opaque;  // of the pending configuration poll
    time_point poll_sent{};
    bool skips_collections = false;     // the node refused them on the connection before
    bool has_error_map_share = false;   // counted among the endpoint's live connections
    std::uint32_t identity_number = 0;  // of the credentials it logs in with
    // The client ends it, whatever its server does. If it was logging in, that is no evidence
    // against the server.
    bool is_given_up = false;

    [[nodiscard]] bool is_open() const noexcept { return state == connection_state::open; }
    [[nodiscard]] wire::key_form key_form() const noexcept {
        return features.contains(wire::hello_feature::collections)
                   ? wire::key_form::collection_prefixed
                   : wire::key_form::bare;
    }

    // --- output ---

    // Requests of the client itself. They are sent before operations.
    std::vector<std::byte> control;
    bool is_write_requested = false;

    // Whether one more operation may be on the wire.
    [[nodiscard]] bool has_credit() const noexcept { return waiting.operation_count() < credit_; }
    // Asks the driver for a write if there is something to send and no write is in progress.
    [[gnu::always_inline]] void request_write(action_list& actions) {
        if (!is_write_requested && (!ready.empty() || !control.empty())) {
            request_first_write(actions);
        }
    }
    // Appends a request of the client itself and returns its opaque. Empty if it cannot be sent.
    template <class Message>
    std::optional<std::uint32_t> send_own(
        waiter_kind kind, wire::opcode op, std::uint32_t target, const Message& message,
        action_list& actions);
    // The answer to this request is no longer needed.
    void abandon(std::uint32_t opaque) noexcept;

    // Starts a write with the control bytes. The caller appends operations with the returned
    // writer.
    [[nodiscard]] base::byte_writer begin_outgoing();
    outgoing_stream outgoing;

private:
    [[gnu::noinline]] void request_first_write(action_list& actions);

    std::size_t credit_;
};

template <class Message>
std::optional<std::uint32_t> kv_connection::send_own(
    waiter_kind kind, wire::opcode op, std::uint32_t target, const Message& message,
    action_list& actions) {
    const auto opaque = waiting.insert(kind, op, target);
    if (!opaque) {
        return std::nullopt;
    }
    wire::request_header header;
    header.opaque = *opaque;
    base::byte_writer writer(control);
    if (!message.encode(writer, header)) {
        waiting.erase(*waiting.find(*opaque));
        return std::nullopt;
    }
    request_write(actions);
    return opaque;
}

}  // namespace reprise::engine
