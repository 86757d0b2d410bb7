// Operations on a connection: encodes them as credit allows, and dispatches them again when the
// connection is lost.

#include "operations/key_value_operations.hpp"
#include "operations/request_encoding.hpp"

namespace reprise::engine {

void key_value_operations::encode_ready(
    kv_connection& connection, base::byte_writer& out, time_point now) {
    encoding_context context;
    context.form = connection.key_form();
    context.features = connection.features;
    context.compression =
        context_.options.enable_compression ? &context_.options.compression : nullptr;
    context.large_value_size_min = context_.options.large_value_size_min_bytes;
    const std::size_t size_max = context_.options.write_size_max_bytes;
    while (connection.outgoing.size() < size_max && encode_next(connection, context, out, now)) {
    }
}

// Encodes the first operation of the ready list. Returns false if nothing more can be sent now. The
// context has what all operations of the connection share; the rest is set here.
bool key_value_operations::encode_next(
    kv_connection& connection, encoding_context& context, base::byte_writer& out, time_point now) {
    operation_slot* const slot = connection.ready.front();
    if (slot == nullptr || !connection.has_credit() || connection.waiting.is_full()) {
        return false;
    }
    const bool is_continued = slot->scan != nullptr && slot->scan->id();
    const std::uint32_t opaque = connection.waiting.issue(
        waiter_kind::operation,
        is_continued ? wire::opcode::range_scan_continue : opcode_of(slot->request.kind),
        slot->index);
    context.opaque = opaque;
    context.vbucket = slot->vbucket;
    context.collection = parts_.nodes.buckets().collection(slot->request.keyspace).id;
    context.scan = slot->scan.get();
    if (context.scan != nullptr || slot->request.durability != durability_level::none)
        [[unlikely]] {
        context.time_left = driver::time_left(now, slot->deadline);
    }
    const std::uint64_t offset = connection.outgoing.offset_of_next();
    const std::size_t written = out.written();
    const encoding_result encoded = encode_operation(out, slot->request, context);
    if (encoded.has_failed()) [[unlikely]] {
        connection.waiting.erase(*connection.waiting.find(opaque));
        waiting_.leave(*slot);
        refuse(*slot, encoded.error(), now);
        return true;
    }
    if (slot->attached != nullptr) [[unlikely]] {
        if (const auto refusal = parts_.decider.try_start_attempt(*slot, now)) {
            out.rewind(written);
            connection.waiting.erase(*connection.waiting.find(opaque));
            waiting_.leave(*slot);
            apply(*slot, *refusal, now);
            return true;
        }
    }
    connection.outgoing.on_appended(out);
    if (encoded.is_value_apart()) [[unlikely]] {
        connection.outgoing.append_value(slot->request.value);
    }
    parts_.life.send_first(connection.ready);
    slot->wire_offset = offset;
    if (slot->sent.connection != 0) [[unlikely]] {
        slot->sent_before = slot->sent;
    }
    slot->sent = {connection.id.value, opaque, slot->endpoint};
    if (parts_.decider.watch().is_on()) [[unlikely]] {
        report_attempt(connection, *slot, now);
    }
    if (context.scan != nullptr) [[unlikely]] {
        slot->has_attempt = true;
    }
    return true;
}

void key_value_operations::report_attempt(
    const kv_connection& connection, const operation_slot& slot, time_point now) {
    parts_.decider.watch().on_attempt(
        names_of(slot), slot,
        {connection.id.value, slot.sent.opaque, slot.is_idempotent, slot.has_attempt, now});
}

void key_value_operations::requeue(
    const kv_connection& gone, std::span<operation_slot* const> slots, std::uint64_t sent_end,
    time_point now) {
    for (operation_slot* slot : slots) {
        if (slot->connection != &gone) {
            continue;  // canceled by the observer of another one
        }
        const bool was_handed = slot->state == operation_state::in_flight;
        const bool was_sent = was_handed && slot->wire_offset < sent_end;
        slot->connection = nullptr;
        parts_.life.leave(*slot);
        if (was_sent) {
            retry_case failed;
            failed.reason = retry_reason::socket_closed_while_in_flight;
            failed.stage = attempt_stage::network;
            if (slot->endpoint >= 0) {
                parts_.nodes.breakers_of_nodes().on_outcome(
                    parts_.nodes.endpoints()[slot->endpoint], errc::request_canceled, now);
            }
            retry(*slot, failed, now);
        } else if (was_handed) {
            slot->sent = slot->sent_before;
            dispatch_failed(*slot, retry_reason::socket_not_available, now);
        } else {
            dispatch(*slot, true, now);
        }
    }
}

}  // namespace reprise::engine
