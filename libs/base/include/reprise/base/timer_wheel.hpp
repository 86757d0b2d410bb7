#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <reprise/base/assert.hpp>

namespace reprise::base {

class timer_wheel;

/// A link in a list of timers, and part of timer_node and of the wheel's list heads.
struct timer_link {
    timer_link* previous = nullptr;
    timer_link* next = nullptr;
};

/// The base or a member of an object that has a timer. The wheel links it without allocating. The
/// owner must not move it, and must disarm it before destroying it (asserted).
class timer_node : private timer_link {
public:
    /// The wheel's time. It is steady and always an argument: nothing here reads a clock.
    using time_point = std::chrono::steady_clock::time_point;

    timer_node() noexcept = default;
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;
    ~timer_node() { REPRISE_ASSERT(!is_armed()); }

    bool is_armed() const noexcept { return next != nullptr; }
    /// The exact time given to the last `arm`, not rounded to a tick. A retry computes its next
    /// time from this and not from the time at which it happened to run.
    time_point due() const noexcept { return due_; }

private:
    friend class timer_wheel;
    static constexpr std::uint16_t no_slot = 0xffff;

    time_point due_{};
    std::uint16_t slot_ = no_slot;
};

/// A hierarchical timer wheel with a resolution of 1 ms. It has 8 levels of 64 slots, so every
/// steady_clock time point fits. arm and disarm cost O(1); advancing costs the timers that fire
/// plus at most 8 moves for each.
///
///     wheel.arm(node, due) ... sleep until wheel.next_due() ... wheel.advance(now, callback)
///
/// A timer never fires before its time. It fires in the first `advance` whose `now` is at least
/// that time rounded up to a tick (ticks count from `origin`). Timers fire in the order of their
/// ticks, and within one tick in the order in which they were armed. Not thread safe.
class timer_wheel {
public:
    using time_point = timer_node::time_point;
    static constexpr std::chrono::milliseconds tick{1};

    /// `origin` must not be later than the first `now`. Due times before it are due immediately.
    explicit timer_wheel(time_point origin) noexcept;
    timer_wheel(const timer_wheel&) = delete;
    timer_wheel& operator=(const timer_wheel&) = delete;
    /// Disarms all timers without calling any callback.
    ~timer_wheel();

    /// Arms a timer, or moves an armed one to a new time. A time in the past is legal: the timer
    /// fires in the next `advance`, even at the same `now`. You may call it inside a callback;
    /// there, a time after the firing tick but not after `now` still fires in the running
    /// `advance`.
    void arm(timer_node& node, time_point due) noexcept;

    /// Has no effect on a timer that is not armed. You may call it inside a callback for any node:
    /// a timer disarmed there does not fire even if it was due in the same tick.
    void disarm(timer_node& node) noexcept;

    /// Returns when to call `advance` next, or nothing if no timer is armed. The time is never
    /// later than the tick of the earliest timer, or than the last `now` if a timer was armed for
    /// the past. It is earlier only if timers were disarmed; then `advance` fires nothing, and the
    /// next result is later.
    std::optional<time_point> next_due() const noexcept;

    /// Fires all due timers: calls `callback(timer_node&)` once for each. The node is already
    /// disarmed, so the callback may arm it again or destroy it. If `now` goes backwards, only
    /// timers armed for the past fire. Must not be called from inside a callback. If the callback
    /// throws, the timers that have not fired stay armed and fire in the next `advance`.
    template <class Callback>
    void advance(time_point now, Callback&& callback) {
        const firing_scope scope(*this);
        const std::uint64_t now_tick = tick_at_or_before(now);
        begin_advance();
        while (timer_node* node = pop_due(now_tick)) {
            callback(*node);
        }
    }

    std::size_t armed_count() const noexcept { return armed_count_; }
    bool empty() const noexcept { return armed_count_ == 0; }

private:
    static constexpr std::size_t level_bits = 6;
    static constexpr std::size_t slots_per_level = std::size_t{1} << level_bits;
    static constexpr std::size_t level_count = 8;

    struct slot_list {
        timer_link head;
        // Not later than any timer in the slot; exact until the earliest one is disarmed.
        std::uint64_t earliest_tick = 0;
    };

    struct firing_scope {
        explicit firing_scope(timer_wheel& owner) noexcept : wheel(owner) {
            REPRISE_ASSERT(!wheel.is_advancing_);
            wheel.is_advancing_ = true;
        }
        firing_scope(const firing_scope&) = delete;
        firing_scope& operator=(const firing_scope&) = delete;
        ~firing_scope() { wheel.is_advancing_ = false; }
        timer_wheel& wheel;
    };

    std::uint64_t tick_at_or_before(time_point time) const noexcept;
    std::uint64_t tick_at_or_after(time_point time) const noexcept;
    time_point time_of(std::uint64_t tick_number) const noexcept;
    void link_by_tick(timer_node& node, std::uint64_t tick_number) noexcept;
    void unlink(timer_node& node) noexcept;
    void begin_advance() noexcept;
    timer_node* pop_due(std::uint64_t now_tick) noexcept;
    bool move_to_next_slot(std::uint64_t now_tick) noexcept;
    std::optional<std::size_t> next_slot() const noexcept;

    time_point origin_;
    // Every timer whose tick is at most this one has fired, or is in ready_ or firing_.
    std::uint64_t current_tick_ = 0;
    std::array<slot_list, slots_per_level * level_count> slots_;
    std::array<std::uint64_t, level_count> occupied_{};
    // Timers armed for a past tick. They move to firing_ when the next advance starts.
    timer_link ready_;
    // Due timers that wait for their callback.
    timer_link firing_;
    std::size_t armed_count_ = 0;
    bool is_advancing_ = false;
};

// Inline, with `arm` and `disarm`, because most operations arm a timer that never fires.
namespace detail {

inline bool is_empty(const timer_link& head) noexcept {
    return head.next == &head;
}

inline void insert_before(timer_link& position, timer_link& link) noexcept {
    link.previous = position.previous;
    link.next = &position;
    position.previous->next = &link;
    position.previous = &link;
}

// Nanoseconds since `origin`, never negative. The arithmetic is unsigned, because the difference of
// two time points may exceed the signed range.
inline std::uint64_t nanoseconds_since(
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

inline constexpr std::uint64_t nanoseconds_per_tick = 1'000'000;

}  // namespace detail

inline std::uint64_t timer_wheel::tick_at_or_after(time_point time) const noexcept {
    const std::uint64_t since = detail::nanoseconds_since(origin_, time);
    return since == 0 ? 0 : (since - 1) / detail::nanoseconds_per_tick + 1;
}

inline void timer_wheel::arm(timer_node& node, time_point due) noexcept {
    disarm(node);
    node.due_ = due;
    ++armed_count_;
    link_by_tick(node, tick_at_or_after(due));
}

inline void timer_wheel::disarm(timer_node& node) noexcept {
    if (node.is_armed()) {
        unlink(node);
        --armed_count_;
    }
}

// The level is that of the highest bit in which the tick differs from the current one. So all
// timers of a level are earlier than all timers of the levels above, and the slots of a level are
// in order.
inline void timer_wheel::link_by_tick(timer_node& node, std::uint64_t tick_number) noexcept {
    if (tick_number <= current_tick_) {
        node.slot_ = timer_node::no_slot;
        detail::insert_before(ready_, node);
        return;
    }
    const std::uint64_t difference = tick_number ^ current_tick_;
    const std::size_t level = static_cast<std::size_t>(std::bit_width(difference) - 1) / level_bits;
    REPRISE_ASSERT(level < level_count);
    const std::size_t index = (tick_number >> (level * level_bits)) & (slots_per_level - 1);
    const std::size_t number = level * slots_per_level + index;
    slot_list& slot = slots_[number];
    const bool was_empty = detail::is_empty(slot.head);
    slot.earliest_tick = was_empty ? tick_number : std::min(slot.earliest_tick, tick_number);
    detail::insert_before(slot.head, node);
    node.slot_ = static_cast<std::uint16_t>(number);
    occupied_[level] |= std::uint64_t{1} << index;
}

inline void timer_wheel::unlink(timer_node& node) noexcept {
    timer_link& link = node;
    link.previous->next = link.next;
    link.next->previous = link.previous;
    link = {};
    if (node.slot_ == timer_node::no_slot) {
        return;
    }
    if (detail::is_empty(slots_[node.slot_].head)) {
        occupied_[node.slot_ / slots_per_level] &=
            ~(std::uint64_t{1} << (node.slot_ % slots_per_level));
    }
    node.slot_ = timer_node::no_slot;
}

}  // namespace reprise::base
