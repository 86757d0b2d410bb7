#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/engine/operation_request.hpp>
#include <reprise/wire/ids.hpp>

#include "operations/operation_base.hpp"
#include "operations/operation_names.hpp"
#include "operations/scan_progress.hpp"
#include "operations/server_schedule.hpp"
#include "topology/route.hpp"

namespace reprise::engine {

class kv_connection;

// Identifies a request that was passed to a write by the numbers that the server logs.
struct sent_request {
    std::uint64_t connection = 0;  // as in HELLO; 0: nothing was sent
    std::uint32_t opaque = 0;
    std::int32_t endpoint = -1;  // number of the endpoint
};

// One key-value operation. It lives in the pool. It is queued in its connection's ready list, and
// in flight once it was passed to a write.
struct operation_slot : operation_base {
    operation_slot() noexcept : operation_base(timer_kind::operation) {}

    // Small fields come first to save memory: a million operations may wait.
    std::uint32_t index = 0;  // in the pool, with the loop's number in front; see operation_pool
    std::uint32_t generation = 0;
    std::uint32_t next_free = 0;  // while it is free: index of the next free slot
    bool is_idempotent = false;
    std::uint8_t skipped_backoffs = 0;  // how often a new revision cut a wait short; see route.hpp

    // The destination, and the last attempt.
    wire::vbucket_id vbucket{};
    route_state route;
    kv_connection* connection = nullptr;  // while queued or in flight
    sent_request sent;                    // the last one that may have left the process
    sent_request sent_before;             // valid again if `sent` turns out to be unwritten
    std::uint64_t wire_offset = 0;        // of its first byte in the connection's stream

    server_schedule schedule;
    operation_request request;
    std::unique_ptr<scan_progress> scan;  // of a range scan; refers to the request

    [[nodiscard]] operation_id id() const noexcept {
        return operation_id{(std::uint64_t{generation} << 32U) | index};
    }
};

[[nodiscard]] inline operation_names names_of(const operation_slot& slot) noexcept {
    return {
        to_string(slot.request.kind), slot.is_idempotent, wire::service::key_value, slot.id(),
        slot.request.key.text()};
}

// The limit for a waiting operation, not counting its key and value, which are stored inline up to
// 48 bytes each.
static_assert(sizeof(operation_slot) - 2 * base::slice::inline_size_max <= 512);

// A pool of slots that never move. The generation in an id detects stale ids.
class operation_pool {
public:
    // Ids of different loops differ, because observers of a client identify operations by their
    // ids.
    static constexpr unsigned index_bits = 26;
    explicit operation_pool(std::size_t loop = 0) noexcept
        : mark_(static_cast<std::uint32_t>(loop) << index_bits) {}

    // Returns a free slot of a new generation, ready to be started with this request.
    operation_slot& acquire(operation_request&& request = {}) {
        return take(rebuild(std::move(request)));
    }
    // The same; builds the request in the slot.
    operation_slot& acquire(keyspace_id where, document_call&& call) {
        operation_slot& slot = rebuild(where, call);
        slot.request.copy_text(call, values_);
        return take(slot);
    }
    // Clears the slot of an operation that has ended.
    void release(operation_slot& slot);
    // Null if the operation has ended.
    [[nodiscard]] operation_slot* find(operation_id id) noexcept;
    [[nodiscard]] operation_slot& at(std::uint32_t index) noexcept {
        return chunks_[(index & index_mask) / chunk_size][index % chunk_size];
    }
    [[nodiscard]] std::size_t open_count() const noexcept { return open_count_; }

    // Calls `visit(slot)` for every slot in use. `visit` may start operations.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
            operation_slot* const slots = chunks_[chunk].get();
            for (std::size_t index = 0; index < chunk_size; ++index) {
                if (slots[index].state != operation_state::free) {
                    visit(slots[index]);
                }
            }
        }
    }

private:
    void grow();
    // The next free slot, which stays free, with a new request. The old request is replaced without
    // being destroyed: `release` has emptied it, so it owns nothing.
    template <class... Source>
    operation_slot& rebuild(Source&&... source) {
        static_assert(std::is_nothrow_constructible_v<operation_request, Source&&...>);
        if (first_free_ == no_slot) [[unlikely]] {
            grow();
        }
        operation_slot& slot = at(first_free_);
        std::construct_at(&slot.request, std::forward<Source>(source)...);
        return slot;
    }
    operation_slot& take(operation_slot& slot) noexcept {
        first_free_ = slot.next_free;
        ++slot.generation;
        ++open_count_;
        return slot;
    }
    static void release_rare(operation_slot& slot) noexcept;
    // Gives a field its initial value in place. GCC 12 builds `field = {}` elsewhere in small
    // pieces and copies it in larger ones, for which the processor has to wait on the path of every
    // operation.
    template <class Field>
    static void restore(Field& field) noexcept {
        std::destroy_at(&field);
        std::construct_at(&field);
    }

    static constexpr std::size_t chunk_size = 256;
    static constexpr std::uint32_t no_slot = 0xffff'ffff;
    static constexpr std::uint32_t index_mask = (1U << index_bits) - 1;
    std::uint32_t mark_;  // the loop's number
    std::vector<std::unique_ptr<operation_slot[]>> chunks_;
    std::uint32_t first_free_ = no_slot;  // the slot that was released last
    std::size_t open_count_ = 0;
    base::block_pool values_;  // those that a slot's request has copied
};

inline void operation_pool::release(operation_slot& slot) {
    REPRISE_ASSERT(slot.state == operation_state::free);
    REPRISE_ASSERT(!slot.is_armed());
    REPRISE_ASSERT(slot.list() == nullptr);
    // Releases what holds memory. Starting the slot replaces the rest of the request.
    slot.request.key.clear();
    slot.request.value.clear();
    const bool has_rare = slot.request.has_rare || slot.request.scan || slot.done ||
                          !slot.is_plain || slot.decision != 0;
    if (has_rare) [[unlikely]] {
        release_rare(slot);
    }
    slot.is_silent = false;
    slot.skipped_backoffs = 0;
    slot.endpoint = -1;
    slot.connection = nullptr;
    restore(slot.vbucket);
    restore(slot.route);
    restore(slot.sent);
    slot.next_free = std::exchange(first_free_, slot.index);
    --open_count_;
}

}  // namespace reprise::engine
