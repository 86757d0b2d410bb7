#include "connections/opaque_table.hpp"

#include <array>
#include <bit>
#include <cstdio>

namespace reprise::engine {

opaque_table::opaque_table(std::size_t count) : entries_(std::bit_ceil(count)), next_(opaque_min) {}

std::optional<std::uint32_t> opaque_table::insert(
    waiter_kind kind, wire::opcode op, std::uint32_t target) {
    if (size_ == entries_.size()) {
        return std::nullopt;
    }
    const std::size_t mask = entries_.size() - 1;
    // A slow request keeps its place; skips opaques whose place is taken.
    while (entries_[next_ & mask].kind != waiter_kind::nobody) {
        step();
    }
    const std::uint32_t opaque = next_;
    step();
    entries_[opaque & mask] = {opaque, kind, op, target, kind == waiter_kind::operation};
    ++size_;
    operation_count_ += kind == waiter_kind::operation ? 1U : 0U;
    live_count_ += kind == waiter_kind::operation ? 1U : 0U;
    return opaque;
}

opaque_entry* opaque_table::find(std::uint32_t opaque) noexcept {
    opaque_entry& entry = entries_[opaque & (entries_.size() - 1)];
    return entry.kind != waiter_kind::nobody && entry.opaque == opaque ? &entry : nullptr;
}

std::string never_issued_text(std::uint32_t opaque) {
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "0x%08x", unsigned{opaque});
    return "the server answered opaque " + std::string(number.data()) + " that was never issued";
}

// An entry keeps the newest opaque that was issued for its place.
bool opaque_table::was_issued(std::uint32_t opaque) const noexcept {
    const std::uint32_t newest = entries_[opaque & (entries_.size() - 1)].opaque;
    return opaque >= opaque_min && (opaque <= newest || has_wrapped_);
}

void opaque_table::erase(opaque_entry& entry) noexcept {
    abandoned_count_ -= entry.kind == waiter_kind::abandoned ? 1U : 0U;
    operation_count_ -= entry.is_operation ? 1U : 0U;
    live_count_ -= entry.kind == waiter_kind::operation ? 1U : 0U;
    entry.kind = waiter_kind::nobody;
    entry.is_operation = false;
    --size_;
}

void opaque_table::abandon(opaque_entry& entry) noexcept {
    if (entry.kind != waiter_kind::abandoned) {
        live_count_ -= entry.kind == waiter_kind::operation ? 1U : 0U;
        entry.kind = waiter_kind::abandoned;
        ++abandoned_count_;
    }
}

}  // namespace reprise::engine
