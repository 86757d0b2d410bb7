#include <reprise/base/timer_wheel.hpp>

#include <algorithm>
#include <bit>

namespace reprise::base {

using detail::insert_before;
using detail::is_empty;
using detail::nanoseconds_per_tick;
using detail::nanoseconds_since;

namespace {

void make_empty(timer_link& head) noexcept {
    head.previous = &head;
    head.next = &head;
}

// Appends all of `from` to `to`.
void splice_to_end(timer_link& to, timer_link& from) noexcept {
    if (is_empty(from)) {
        return;
    }
    from.next->previous = to.previous;
    to.previous->next = from.next;
    from.previous->next = &to;
    to.previous = from.previous;
    make_empty(from);
}

}  // namespace

timer_wheel::timer_wheel(time_point origin) noexcept : origin_(origin) {
    for (slot_list& slot : slots_) {
        make_empty(slot.head);
    }
    make_empty(ready_);
    make_empty(firing_);
}

timer_wheel::~timer_wheel() {
    const auto release = [](timer_link& head) {
        while (!is_empty(head)) {
            timer_link* link = head.next;
            head.next = link->next;
            *link = {};
        }
    };
    for (slot_list& slot : slots_) {
        release(slot.head);
    }
    release(ready_);
    release(firing_);
}

std::uint64_t timer_wheel::tick_at_or_before(time_point time) const noexcept {
    return nanoseconds_since(origin_, time) / nanoseconds_per_tick;
}

timer_wheel::time_point timer_wheel::time_of(std::uint64_t tick_number) const noexcept {
    const auto room = nanoseconds_since(origin_, time_point::max());
    const auto since = std::min(tick_number, room / nanoseconds_per_tick) * nanoseconds_per_tick;
    const auto from = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(origin_.time_since_epoch()).count());
    return time_point{std::chrono::nanoseconds{static_cast<std::int64_t>(from + since)}};
}

// Returns the slot with the earliest timers. Slots of a level at or before the current position are
// empty: a timer there would differ from the current tick in a higher bit, and so be on a higher
// level.
std::optional<std::size_t> timer_wheel::next_slot() const noexcept {
    for (std::size_t level = 0; level < level_count; ++level) {
        if (occupied_[level] != 0) {
            const auto index = static_cast<std::size_t>(std::countr_zero(occupied_[level]));
            return level * slots_per_level + index;
        }
    }
    return std::nullopt;
}

std::optional<timer_wheel::time_point> timer_wheel::next_due() const noexcept {
    if (!is_empty(ready_) || !is_empty(firing_)) {
        return time_of(current_tick_);
    }
    const std::optional<std::size_t> slot = next_slot();
    if (!slot) {
        return std::nullopt;
    }
    return time_of(slots_[*slot].earliest_tick);
}

void timer_wheel::begin_advance() noexcept {
    splice_to_end(firing_, ready_);
}

timer_node* timer_wheel::pop_due(std::uint64_t now_tick) noexcept {
    while (is_empty(firing_)) {
        if (!move_to_next_slot(now_tick)) {
            // Time passed without timers. Later calls of arm are relative to now.
            current_tick_ = std::max(current_tick_, now_tick);
            return nullptr;
        }
    }
    // Only timer_nodes are ever linked; the heads are never popped.
    auto* node = static_cast<timer_node*>(firing_.next);
    disarm(*node);
    return node;
}

// Makes the next occupied slot current if its time has come. A slot of level 0 is one tick and
// moves to firing_; a slot above is spread over the levels below. Returns false if nothing is due.
bool timer_wheel::move_to_next_slot(std::uint64_t now_tick) noexcept {
    const std::optional<std::size_t> number = next_slot();
    if (!number) {
        return false;
    }
    const std::size_t level = *number / slots_per_level;
    const std::size_t index = *number % slots_per_level;
    const std::size_t shift = level * level_bits;
    // The current tick with this level's digit replaced and all lower digits zero.
    const std::uint64_t above = (current_tick_ >> shift) & ~std::uint64_t{slots_per_level - 1};
    const std::uint64_t slot_start = (above | index) << shift;
    if (slot_start > now_tick) {
        return false;
    }
    REPRISE_ASSERT(slot_start > current_tick_);
    current_tick_ = slot_start;
    occupied_[level] &= ~(std::uint64_t{1} << index);
    timer_link pending;
    make_empty(pending);
    splice_to_end(pending, slots_[*number].head);
    while (!is_empty(pending)) {
        auto& node = static_cast<timer_node&>(*pending.next);
        node.slot_ = timer_node::no_slot;
        unlink(node);
        const std::uint64_t tick_number = tick_at_or_after(node.due_);
        if (tick_number <= current_tick_) {
            insert_before(firing_, node);
        } else {
            link_by_tick(node, tick_number);
        }
    }
    return true;
}

}  // namespace reprise::base
