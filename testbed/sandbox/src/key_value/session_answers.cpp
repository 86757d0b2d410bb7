#include <algorithm>
#include <span>
#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/frame_reader.hpp>

#include "key_value/session.hpp"

// The special answers of a session: those that a fault rule corrupts, and those that wait for a
// durable write.

namespace reprise::sandbox::detail {

namespace {

constexpr std::size_t opaque_at = 12;
constexpr std::size_t token_size = 16;

// The frame at the start of bytes that this library encoded.
wire::frame_view first_frame(base::byte_view bytes) {
    const auto scan = wire::scan_frame(bytes, {.direction = wire::frame_direction::to_client});
    REPRISE_ASSERT(scan && scan->frame);
    return *scan->frame;
}

// Flips bits in the opaque of every frame, because STAT answers with several.
void flip_opaques(std::span<std::byte> bytes, std::uint32_t bits) {
    while (!bytes.empty()) {
        const wire::frame_view frame = first_frame(bytes);
        const std::size_t size = frame.header().frame_size();
        base::store_big_endian(bytes.data() + opaque_at, frame.opaque() ^ bits);
        bytes = bytes.subspan(size);
    }
}

// Writes the seqno of the commit into the mutation token of an answer, if it has one.
void put_seqno(std::vector<std::byte>& answer, std::uint64_t seqno) {
    const base::byte_view extras = first_frame(answer).extras();
    if (extras.size() == token_size) {
        const auto at = static_cast<std::size_t>(extras.data() - answer.data());
        base::store_big_endian(answer.data() + at + 8, seqno);
    }
}

}  // namespace

answer_shape session::shape_answer(
    const fault_effect& effect, std::size_t start, answer_fate& fate, std::vector<std::byte>& out) {
    answer_shape shape;
    if (const auto* delay = std::get_if<fault_delay>(&effect)) {
        shape.delay = delay->delay;
    } else if (std::holds_alternative<fault_no_answer>(effect)) {
        out.resize(start);
        fate = answer_fate::withheld;
    } else if (std::holds_alternative<fault_close_after>(effect)) {
        out.resize(start);
        fate = answer_fate::closed;
        shape.closes = true;
    } else if (std::holds_alternative<fault_answer_twice>(effect)) {
        const std::vector<std::byte> once(
            out.begin() + static_cast<std::ptrdiff_t>(start), out.end());
        out.insert(out.end(), once.begin(), once.end());
        fate = answer_fate::doubled;
    } else if (const auto* wrong = std::get_if<fault_wrong_opaque>(&effect)) {
        flip_opaques(std::span(out).subspan(start), wrong->flipped_bits);
        fate = answer_fate::misaddressed;
    } else if (const auto* cut = std::get_if<fault_truncate>(&effect)) {
        out.resize(start + std::min(cut->size, out.size() - start));
        fate = answer_fate::truncated;
        shape.closes = true;
    } else if (const auto* garbage = std::get_if<fault_garbage>(&effect)) {
        const std::vector<std::byte> bytes = cluster_.faults.make_garbage(garbage->size);
        out.resize(start);
        out.insert(out.end(), bytes.begin(), bytes.end());
        fate = answer_fate::garbled;
    } else if (const auto* trickle = std::get_if<fault_trickle>(&effect)) {
        shape.interval = std::max(trickle->interval, std::chrono::nanoseconds{1});
        fate = answer_fate::trickled;
    }
    return shape;
}

// --- pending durable writes ---------------------------------------------------------------------

bool session::must_wait(wire::opcode op) const noexcept {
    if (!conversation_.has(wire::hello_feature::unordered_execution)) {
        return true;
    }
    // HELLO and SELECT_BUCKET do not wait: they are refused while any request is in flight.
    return !wire::opcode_info(op).is_reorderable && op != wire::opcode::hello &&
           op != wire::opcode::select_bucket;
}

void session::await_answer(
    const request& current, const fault_effect* effect, std::size_t start,
    std::vector<std::byte>& out) {
    awaited_answer later;
    later.pending_id = current.pending_id;
    later.op = current.op();
    later.opaque = current.frame.opaque();
    if (effect != nullptr) {
        later.effect = *effect;
    }
    later.bytes.assign(out.begin() + static_cast<std::ptrdiff_t>(start), out.end());
    out.resize(start);
    awaited_.push_back(std::move(later));
    REPRISE_ASSERT(cluster_.pending.back().id == current.pending_id);
    cluster_.pending.back().entry = current.audit;
    if (effect != nullptr && std::holds_alternative<fault_close_after>(*effect)) {
        close();
    }
}

std::optional<session::awaited_answer> session::take_awaited(std::uint64_t pending_id) {
    const auto it = std::ranges::find(awaited_, pending_id, &awaited_answer::pending_id);
    if (it == awaited_.end()) {
        return std::nullopt;
    }
    awaited_answer found = std::move(*it);
    awaited_.erase(it);
    return found;
}

void session::send_awaited(time_point now, awaited_answer& ready) {
    answer_shape shape;
    if (ready.effect) {
        answer_fate fate{};
        shape = shape_answer(*ready.effect, 0, fate, ready.bytes);
    }
    // Wake up even without an answer: other requests may have waited for this one.
    cluster_.wake(*this);
    if (ready.bytes.empty()) {
        if (shape.closes) {
            close();
        }
        return;
    }
    const bool may_overtake = is_reorderable(ready.op);
    const time_point due = delayed_.due_in_order(now + shape.delay, may_overtake);
    queue_answer({due, shape, may_overtake, std::move(ready.bytes)});
}

void session::on_committed(time_point now, std::uint64_t pending_id, std::uint64_t seqno) {
    if (auto ready = take_awaited(pending_id)) {
        put_seqno(ready->bytes, seqno);
        send_awaited(now, *ready);
    }
}

void session::on_ambiguous(time_point now, std::uint64_t pending_id) {
    auto ready = take_awaited(pending_id);
    if (!ready) {
        return;
    }
    ready->bytes.clear();
    if (!conversation_.has(wire::hello_feature::xerror)) {
        // There is no equivalent older status.
        close();
        return cluster_.wake(*this);
    }
    wire::frame_parts parts;
    parts.magic = wire::magic::response;
    parts.op = ready->op;
    parts.vbucket_or_status = static_cast<std::uint16_t>(wire::status::sync_write_ambiguous);
    parts.opaque = ready->opaque;
    if (conversation_.has(wire::hello_feature::tracing)) {
        parts.magic = wire::magic::alt_response;
        parts.framing_extras = cluster_.server_duration_field;
    }
    base::byte_writer writer(ready->bytes);
    REPRISE_ASSERT(wire::encode_frame(writer, parts).has_value());
    send_awaited(now, *ready);
}

}  // namespace reprise::sandbox::detail
