#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <reprise/base/assert.hpp>

namespace reprise::base {

class timer_wheel;

// A link in a list of timers; part of timer_node and of the wheel's list heads.
struct timer_link {
    timer_link* previous = nullptr;
    timer_link* next = nullptr;
};

// What an object that waits derives from (or holds); the wheel links it in without allocating.
// The owner keeps it at one address, and disarms it before destroying it (asserted).
class timer_node : private timer_link {
public:
    // The wheel's time; steady, and only ever given as an argument: nothing here reads a clock.
    using time_point = std::chrono::steady_clock::time_point;

    timer_node() noexcept = default;
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;
    ~timer_node() { REPRISE_ASSERT(!is_armed()); }

    bool is_armed() const noexcept { return next != nullptr; }
    // The planned time given to the last `arm`, exact, not rounded to a tick: a retry computes its
    // next plan from this, not from the time at which it happened to run.
    time_point due() const noexcept { return due_; }

private:
    friend class timer_wheel;
    static constexpr std::uint16_t no_slot = 0xffff;

    time_point due_{};
    std::uint16_t slot_ = no_slot;
};

// Timers at 1 ms resolution: hierarchical, 8 levels of 64 slots, so every steady_clock time point
// fits. arm and disarm cost O(1); advancing costs the timers that fire plus at most 8 moves for
// each.
//
//     wheel.arm(node, due) ... sleep until wheel.next_due() ... wheel.advance(now, callback)
//
// A timer never fires before its planned time, and fires in the first `advance` whose `now` is at
// least the planned time rounded up to a tick (ticks are counted from `origin`). Timers fire in the
// order of their ticks, and within one tick in the order in which they were armed. Not thread safe.
class timer_wheel {
public:
    using time_point = timer_node::time_point;
    static constexpr std::chrono::milliseconds tick{1};

    // `origin` is a time not after the first `now`; due times before it count as due at once.
    explicit timer_wheel(time_point origin) noexcept;
    timer_wheel(const timer_wheel&) = delete;
    timer_wheel& operator=(const timer_wheel&) = delete;
    // Disarms what is still armed, without calling anybody.
    ~timer_wheel();

    // Arms, or moves an armed node to a new time. A time that has already passed is legal: it fires
    // in the next `advance`, even at the same `now`. Legal inside a callback; there, a time after
    // the tick being fired but not after `now` still fires in the running `advance`.
    void arm(timer_node& node, time_point due) noexcept;

    // No effect when not armed. Legal inside a callback, for any node: a timer disarmed there does
    // not fire even if it was due in the same tick.
    void disarm(timer_node& node) noexcept;

    // When `advance` should be called next; nothing when no timer is armed. Never later than the
    // tick of the earliest timer, or than the last `now` when one was armed for a time already
    // passed. It is earlier only when timers were disarmed; then `advance` fires nothing and the
    // next answer is later.
    std::optional<time_point> next_due() const noexcept;

    // Fires everything due: `callback(timer_node&)` once for each, already disarmed, so that the
    // callback may arm it again or destroy it. `now` going backwards fires nothing but what was
    // armed late. Must not be called from inside a callback. If the callback throws, what has not
    // fired yet stays armed and fires in the next `advance`.
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
        // Not after any timer in the slot; exact until the earliest one is disarmed.
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
    // Armed for a tick already passed; moved to firing_ when the next advance begins.
    timer_link ready_;
    // Due, waiting for their callback.
    timer_link firing_;
    std::size_t armed_count_ = 0;
    bool is_advancing_ = false;
};

}  // namespace reprise::base
