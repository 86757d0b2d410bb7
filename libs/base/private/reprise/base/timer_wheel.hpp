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

    /// True if there are timers, and none is due before `time`: then a caller that will call
    /// `advance` at that time anyway need not ask `next_due`. It costs less, and may be false
    /// although it could be true if timers were disarmed.
    bool waits_until(time_point time) const noexcept {
        return armed_count_ != 0 && time <= soonest_;
    }

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
    void link_by_due(timer_node& node) noexcept;
    void link_first(timer_node& node) noexcept;
    void note_soonest(std::uint64_t tick_number, time_point due) noexcept;
    void link_by_tick(timer_node& node, std::uint64_t tick_number) noexcept;
    void set_current(std::uint64_t tick_number) noexcept;
    void unlink(timer_node& node) noexcept;
    void begin_advance() noexcept;
    timer_node* pop_due(std::uint64_t now_tick) noexcept;
    bool move_to_next_slot(std::uint64_t now_tick) noexcept;
    std::optional<std::size_t> next_slot() const noexcept;

    time_point origin_;
    // Every timer whose tick is at most this one has fired, or is in ready_ or firing_.
    std::uint64_t current_tick_ = 0;
    // The slot of the timer that was armed last; no_slot once the current tick has changed, because
    // the slot of a time depends on it. It is that of all times from last_due_, which is not before
    // the earliest timer in it, to last_until_.
    time_point last_due_{};
    time_point last_until_{};
    std::uint16_t last_slot_ = timer_node::no_slot;
    // The tick of no timer is before this time.
    time_point soonest_ = time_point::max();
    std::array<slot_list, slots_per_level * level_count> slots_;
    std::array<std::uint64_t, level_count> occupied_{};
    // Timers armed for a past tick. They move to firing_ when the next advance starts.
    timer_link ready_;
    // Due timers that wait for their callback.
    timer_link firing_;
    std::size_t armed_count_ = 0;
    bool is_advancing_ = false;
};

// Inline, with `arm` and `disarm`, because each operation arms a timer that almost never fires.
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

}  // namespace detail

[[gnu::always_inline]] inline void timer_wheel::arm(timer_node& node, time_point due) noexcept {
    disarm(node);
    node.due_ = due;
    ++armed_count_;
    // Operations that start one after another mostly have deadlines of one slot.
    if (last_slot_ == timer_node::no_slot || due < last_due_ || due > last_until_) [[unlikely]] {
        return link_by_due(node);
    }
    if (detail::is_empty(slots_[last_slot_].head)) {
        return link_first(node);
    }
    detail::insert_before(slots_[last_slot_].head, node);
    node.slot_ = last_slot_;
}

[[gnu::always_inline]] inline void timer_wheel::disarm(timer_node& node) noexcept {
    if (node.is_armed()) {
        unlink(node);
        --armed_count_;
    }
}

[[gnu::always_inline]] inline void timer_wheel::unlink(timer_node& node) noexcept {
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
