#include "connections/opaque_table.hpp"

#include <array>
#include <bit>
#include <cstdio>

namespace reprise::engine {

opaque_table::opaque_table(std::size_t count)
    : mask_(static_cast<std::uint32_t>(std::bit_ceil(count) - 1)),
      entries_(std::make_unique<opaque_entry[]>(std::size_t{mask_} + 1)) {}

std::string never_issued_text(std::uint32_t opaque) {
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "0x%08x", unsigned{opaque});
    return "the server answered opaque " + std::string(number.data()) + " that was never issued";
}

// An entry keeps the newest opaque that was issued for its place.
bool opaque_table::was_issued(std::uint32_t opaque) const noexcept {
    const std::uint32_t newest = place_of(opaque).opaque;
    return opaque >= opaque_min && (opaque <= newest || has_wrapped_);
}

void opaque_table::abandon(opaque_entry& entry) noexcept {
    if (entry.kind != waiter_kind::abandoned) {
        live_count_ -= entry.kind == waiter_kind::operation ? 1U : 0U;
        entry.kind = waiter_kind::abandoned;
        ++abandoned_count_;
    }
}

}  // namespace reprise::engine
