#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <reprise/wire/opcode.hpp>

namespace reprise::engine {

// The kind of requester that waits for an answer.
enum class waiter_kind : std::uint8_t {
    nobody,         // the entry is free
    operation,      // target: slot index
    configuration,  // a poll of the bucket's configuration
    collection,     // target: index of the bucket's collection entry
    probe,          // NOOP to a quiet connection
    canary,         // NOOP of the endpoint's circuit breaker
    abandoned,      // the answer is no longer needed and will be dropped
};

struct opaque_entry {
    std::uint32_t opaque = 0;
    waiter_kind kind = waiter_kind::nobody;
    wire::opcode op = wire::opcode::noop;
    std::uint32_t target = 0;
    // Stays true when abandoned: the request still occupies credit. Nothing while nobody waits.
    bool is_operation = false;
};

// The reason for closing a connection that answered a request which was never sent.
[[nodiscard]] std::string never_issued_text(std::uint32_t opaque);

// The requests of one connection that wait for an answer. Opaques are sequential. Their low bits
// give the place in the table, and lookups compare the whole opaque, so an answer to an old request
// never matches a new one. The size is fixed.
class opaque_table {
public:
    // Smaller opaques belong to the bootstrap. Its late answers must not match an entry.
    static constexpr std::uint32_t opaque_min = 0x100;

    explicit opaque_table(std::size_t count);

    // Returns the opaque of the new entry. Empty if the table is full.
    [[nodiscard]] std::optional<std::uint32_t> insert(
        waiter_kind kind, wire::opcode op, std::uint32_t target);
    // The same. The table must not be full.
    [[nodiscard]] std::uint32_t issue(waiter_kind kind, wire::opcode op, std::uint32_t target);
    [[nodiscard]] bool is_full() const noexcept { return size_ > mask_; }
    // Null if no request with this opaque waits.
    [[nodiscard]] opaque_entry* find(std::uint32_t opaque) noexcept;
    // Whether a request with this opaque was ever sent: it may be answered, abandoned or waiting.
    // An opaque that was skipped because its place was taken counts as issued once the place is
    // used again. After a wrap-around all opaques count as issued.
    [[nodiscard]] bool was_issued(std::uint32_t opaque) const noexcept;
    // Frees the entry, abandoned or not.
    void erase(opaque_entry& entry) noexcept;
    // The answer is no longer needed. The place stays taken until it arrives.
    void abandon(opaque_entry& entry) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Entries of operations, including abandoned ones. Pipeline credit counts these.
    [[nodiscard]] std::size_t operation_count() const noexcept { return operation_count_; }
    // Operations that still wait for their answer.
    [[nodiscard]] std::size_t live_operation_count() const noexcept { return live_count_; }
    [[nodiscard]] std::size_t abandoned_count() const noexcept { return abandoned_count_; }
    // All places. Those with waiter_kind::nobody are free.
    [[nodiscard]] std::span<opaque_entry> entries() noexcept {
        return {entries_.get(), std::size_t{mask_} + 1};
    }

private:
    // Skips the opaques of the bootstrap when it wraps around.
    void step() noexcept {
        if (++next_ == 0) [[unlikely]] {
            has_wrapped_ = true;
            next_ = opaque_min;
        }
    }
    // The place of an opaque. The mask keeps it within the table.
    [[nodiscard]] opaque_entry& place_of(std::uint32_t opaque) const noexcept {
        return entries_.get()[opaque & mask_];
    }

    std::uint32_t mask_;  // the number of places, a power of two, minus one
    std::unique_ptr<opaque_entry[]> entries_;
    std::uint32_t next_ = opaque_min;
    bool has_wrapped_ = false;
    std::size_t size_ = 0;
    std::size_t operation_count_ = 0;
    std::size_t live_count_ = 0;
    std::size_t abandoned_count_ = 0;
};

// Inline, because each request passes through these.

inline std::optional<std::uint32_t> opaque_table::insert(
    waiter_kind kind, wire::opcode op, std::uint32_t target) {
    return is_full() ? std::nullopt : std::optional(issue(kind, op, target));
}

inline std::uint32_t opaque_table::issue(waiter_kind kind, wire::opcode op, std::uint32_t target) {
    // A slow request keeps its place; skips opaques whose place is taken.
    while (place_of(next_).kind != waiter_kind::nobody) {
        step();
    }
    const std::uint32_t opaque = next_;
    step();
    place_of(opaque) = {opaque, kind, op, target, kind == waiter_kind::operation};
    ++size_;
    operation_count_ += kind == waiter_kind::operation ? 1U : 0U;
    live_count_ += kind == waiter_kind::operation ? 1U : 0U;
    return opaque;
}

inline opaque_entry* opaque_table::find(std::uint32_t opaque) noexcept {
    opaque_entry& entry = place_of(opaque);
    return entry.kind != waiter_kind::nobody && entry.opaque == opaque ? &entry : nullptr;
}

inline void opaque_table::erase(opaque_entry& entry) noexcept {
    if (entry.kind == waiter_kind::operation) [[likely]] {
        --operation_count_;
        --live_count_;
    } else {
        abandoned_count_ -= entry.kind == waiter_kind::abandoned ? 1U : 0U;
        operation_count_ -= entry.is_operation ? 1U : 0U;
    }
    entry.kind = waiter_kind::nobody;
    --size_;
}

}  // namespace reprise::engine
