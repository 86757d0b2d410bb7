#include <reprise/base/timer_wheel.hpp>

#include <algorithm>
#include <bit>

namespace reprise::base {

using detail::insert_before;
using detail::is_empty;

namespace {

// Nanoseconds since `origin`, never negative. The arithmetic is unsigned, because the difference of
// two time points may exceed the signed range.
std::uint64_t nanoseconds_since(
    std::chrono::steady_clock::time_point origin,
    std::chrono::steady_clock::time_point time) noexcept {
    if (time <= origin) {
        return 0;
    }
    using std::chrono::duration_cast;
    using std::chrono::nanoseconds;
    const auto to = duration_cast<nanoseconds>(time.time_since_epoch()).count();
    const auto from = duration_cast<nanoseconds>(origin.time_since_epoch()).count();
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

constexpr std::uint64_t nanoseconds_per_tick = 1'000'000;

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

std::uint64_t timer_wheel::tick_at_or_after(time_point time) const noexcept {
    const std::uint64_t since = nanoseconds_since(origin_, time);
    return since == 0 ? 0 : (since - 1) / nanoseconds_per_tick + 1;
}

timer_wheel::time_point timer_wheel::time_of(std::uint64_t tick_number) const noexcept {
    const auto room = nanoseconds_since(origin_, time_point::max());
    const auto since = std::min(tick_number, room / nanoseconds_per_tick) * nanoseconds_per_tick;
    const auto from = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(origin_.time_since_epoch()).count());
    return time_point{std::chrono::nanoseconds{static_cast<std::int64_t>(from + since)}};
}

void timer_wheel::set_current(std::uint64_t tick_number) noexcept {
    current_tick_ = tick_number;
    last_slot_ = timer_node::no_slot;
}

void timer_wheel::link_by_due(timer_node& node) noexcept {
    const std::uint64_t tick_number = tick_at_or_after(node.due_);
    link_by_tick(node, tick_number);
    last_due_ = node.due_;
    last_slot_ = node.slot_;
    if (last_slot_ != timer_node::no_slot) {
        const std::size_t level = last_slot_ / slots_per_level;
        last_until_ = time_of(tick_number | ((std::uint64_t{1} << (level * level_bits)) - 1));
    }
    note_soonest(std::max(tick_number, current_tick_), node.due_);
}

// The same for a timer that belongs into the last slot, which is empty.
void timer_wheel::link_first(timer_node& node) noexcept {
    slot_list& slot = slots_[last_slot_];
    slot.earliest_tick = tick_at_or_after(node.due_);
    insert_before(slot.head, node);
    node.slot_ = last_slot_;
    occupied_[last_slot_ / slots_per_level] |= std::uint64_t{1} << (last_slot_ % slots_per_level);
    last_due_ = node.due_;
    note_soonest(slot.earliest_tick, node.due_);
}

void timer_wheel::note_soonest(std::uint64_t tick_number, time_point due) noexcept {
    if (due < soonest_) {
        soonest_ = std::min(soonest_, time_of(tick_number));
    }
}

// The level is that of the highest bit in which the tick differs from the current one. So all
// timers of a level are earlier than all timers of the levels above, and the slots of a level are
// in order.
void timer_wheel::link_by_tick(timer_node& node, std::uint64_t tick_number) noexcept {
    if (tick_number <= current_tick_) {
        node.slot_ = timer_node::no_slot;
        insert_before(ready_, node);
        return;
    }
    const std::uint64_t difference = tick_number ^ current_tick_;
    const std::size_t level = static_cast<std::size_t>(std::bit_width(difference) - 1) / level_bits;
    REPRISE_ASSERT(level < level_count);
    const std::size_t index = (tick_number >> (level * level_bits)) & (slots_per_level - 1);
    const std::size_t number = level * slots_per_level + index;
    slot_list& slot = slots_[number];
    const bool was_empty = is_empty(slot.head);
    slot.earliest_tick = was_empty ? tick_number : std::min(slot.earliest_tick, tick_number);
    insert_before(slot.head, node);
    node.slot_ = static_cast<std::uint16_t>(number);
    occupied_[level] |= std::uint64_t{1} << index;
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
            set_current(std::max(current_tick_, now_tick));
            soonest_ = next_due().value_or(time_point::max());
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
    set_current(slot_start);
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
