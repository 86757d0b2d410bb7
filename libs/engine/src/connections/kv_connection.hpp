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
#include "operations/operation_slot.hpp"

namespace reprise::engine {

struct node_link;

enum class connection_state : std::uint8_t {
    connecting,     // the driver is opening it
    bootstrapping,  // open; the bootstrap runs
    open,           // operations may use it
    closed,         // given up; kept until the driver has let go of it
};

// One connection: what came in, what waits for an answer, what waits to be sent. Mechanics only;
// what answers mean is decided elsewhere.
//
//     ready list -> begin_write: opaque given, frame encoded -> handed (on the wire) -> answered
//
class kv_connection : public engine_timer {
public:
    kv_connection(connection_id id, node_link& owner, std::size_t credit);

    const connection_id id;
    node_link* link;  // null once the link has given it up
    connection_state state = connection_state::connecting;
    bool is_opening = true;                    // has a place at the gate
    bool has_received = false;                 // bytes
    bool has_answered = false;                 // with a whole frame
    std::unique_ptr<bootstrap_fsm> bootstrap;  // until the connection is open
    wire::hello_feature_set features;
    wire::frame_reader reader;
    opaque_table waiting;
    std::uint32_t bootstrap_opaque_last = 0;  // the numbers from 1 up to it were the bootstrap's
    intrusive_list<operation_slot> ready;

    time_point received_last{};
    std::optional<time_point> probe_sent;
    std::optional<time_point> clogged_since;   // too many requests were given up, seen by a probe
    std::optional<std::uint32_t> poll_opaque;  // of the configuration poll in flight
    time_point poll_sent{};
    bool has_error_map_share = false;   // counted among the endpoint's live connections
    std::uint32_t identity_number = 0;  // of the credentials it was begun with

    [[nodiscard]] bool is_open() const noexcept { return state == connection_state::open; }
    [[nodiscard]] wire::key_form key_form() const noexcept {
        return features.contains(wire::hello_feature::collections)
                   ? wire::key_form::collection_prefixed
                   : wire::key_form::bare;
    }

    // --- output ---

    // Requests of the client itself; sent before operations.
    std::vector<std::byte> control;
    bool is_write_requested = false;

    // Whether one more operation may be on the wire.
    [[nodiscard]] bool has_credit() const noexcept { return waiting.operation_count() < credit_; }
    // Asks the driver for a write if there is something to send and none is under way.
    void request_write(action_list& actions);
    // Appends a request of the client itself. The opaque; nothing if it cannot be sent.
    template <class Message>
    std::optional<std::uint32_t> send_own(
        waiter_kind kind, wire::opcode op, std::uint32_t target, const Message& message,
        action_list& actions);
    // Nobody waits for this answer any more.
    void abandon(std::uint32_t opaque) noexcept;

    // The part of the outstanding write that the driver has not reported yet.
    [[nodiscard]] base::byte_view outstanding() const noexcept;
    // Begins a write with the control bytes; operations are appended to what it returns.
    [[nodiscard]] std::vector<std::byte>& begin_outgoing();
    // Offset in the stream of the next byte that will be appended to the running write.
    [[nodiscard]] std::uint64_t offset_of_next() const noexcept {
        return handed_before_ + outgoing_.size();
    }
    // The driver reported `size` more bytes. False: more than there were.
    [[nodiscard]] bool on_written(std::size_t size) noexcept;
    // First offset that has surely not left the process, if the last `unwritten` bytes have not.
    [[nodiscard]] std::uint64_t sent_end(std::size_t unwritten) const noexcept;

private:
    std::size_t credit_;
    std::vector<std::byte> outgoing_;
    std::size_t written_ = 0;          // of outgoing_
    std::uint64_t handed_before_ = 0;  // bytes of all earlier writes
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
