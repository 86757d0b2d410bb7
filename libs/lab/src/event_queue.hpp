#pragma once

/// Pending events, earliest first. Events with a constant delay (network, timeouts) become due in
/// the order of their creation, so queues hold them; all others are in one of two heaps. Among
/// events of the same time the one from the lower source comes first, and within a source the one
/// pushed first, so runs do not depend on the order of a heap.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <reprise/retry/time.hpp>

namespace reprise::lab::detail {

/// Virtual time in nanoseconds since the start of the run.
using ticks = std::int64_t;

/// Later than every event.
inline constexpr ticks never = std::numeric_limits<ticks>::max();

/// Identifies one attempt of one call. It is outdated once the call has moved on: its record then
/// has another generation.
struct attempt_id {
    std::uint32_t call = 0;
    std::uint32_t generation : 31 = 0;
    std::uint32_t part : 1 = 0;  ///< 1: a hedge in parallel with part 0.

    friend bool operator==(const attempt_id&, const attempt_id&) = default;
};

enum class event_kind : std::uint8_t {
    client_sends,  ///< A client of a closed model sends its next request.
    restarts,      ///< A client restarts.
    retries,       ///< The pause before a retry is over.
    reaches,       ///< An attempt reaches its service.
    writes,        ///< An attempt that has read a contended record writes it.
    completes,     ///< A worker completes a piece of work.
    answers,       ///< An answer reaches its caller.
    times_out,     ///< A caller gives up an attempt.
    hedges,        ///< A caller may send a second attempt.
};

/// How a service answered an attempt.
enum class answer : std::uint8_t {
    done,      ///< The work was done.
    fault,     ///< The work was done and ended in an error.
    error,     ///< The service is down, or a node is bad.
    too_busy,  ///< Its queue is full, or it sheds load.
    conflict,  ///< Another write of the record was faster.
};

struct event {
    ticks at = 0;
    attempt_id attempt{};     ///< For `client_sends` and `restarts`, `call` is the client.
    std::uint32_t extra = 0;  ///< `completes`: the worker; `writes`: the version read.
    std::uint16_t service = 0;
    event_kind kind = event_kind::retries;
    answer outcome = answer::done;  ///< Only for answers.
};

/// First in, first out; a ring that grows.
class event_line {
public:
    [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] const event& front() const noexcept { return ring_[first_]; }
    [[nodiscard]] const event& at(std::size_t index) const noexcept {
        return ring_[(first_ + index) & (ring_.size() - 1)];
    }
    void push(const event& added) {
        if (count_ == ring_.size()) {
            grow();
        }
        ring_[(first_ + count_++) & (ring_.size() - 1)] = added;
    }
    void pop() noexcept {
        first_ = (first_ + 1) & (ring_.size() - 1);
        --count_;
    }

private:
    void grow() {
        std::vector<event> wider(std::max<std::size_t>(64, ring_.size() * 2));
        for (std::size_t i = 0; i < count_; ++i) {
            wider[i] = at(i);
        }
        ring_ = std::move(wider);
        first_ = 0;
    }

    std::vector<event> ring_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

/// A heap of events in the order of their times, then of their creation.
class event_heap {
public:
    [[nodiscard]] bool is_empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] ticks next() const noexcept {
        return entries_.empty() ? never : entries_.front().what.at;
    }
    [[nodiscard]] const event& front() const noexcept { return entries_.front().what; }
    void push(const event& added) {
        entries_.push_back({added, pushed_++});
        std::ranges::push_heap(entries_, later{});
    }
    void pop() {
        std::ranges::pop_heap(entries_, later{});
        entries_.pop_back();
    }
    /// Calls `visit(const event&)` for all of them, in no particular order.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const entry& each : entries_) {
            visit(each.what);
        }
    }

private:
    struct entry {
        event what;
        std::uint64_t order = 0;
    };
    struct later {
        bool operator()(const entry& a, const entry& b) const noexcept {
            return a.what.at != b.what.at ? a.what.at > b.what.at : a.order > b.order;
        }
    };

    std::vector<entry> entries_;
    std::uint64_t pushed_ = 0;
};

class event_queue {
public:
    /// Where a push goes: one of the two heaps, or a line.
    using source = std::uint32_t;
    static constexpr source work_heap = 0;  ///< Few entries: one for each busy worker.
    static constexpr source heap = 1;

    event_queue() : next_(2, never) {}

    [[nodiscard]] source add_line() {
        lines_.emplace_back();
        next_.push_back(never);
        return static_cast<source>(next_.size() - 1);
    }

    /// Times pushed into a line must not decrease.
    void push(source into, const event& added) {
        if (into >= 2) {
            event_line& line = lines_[into - 2];
            line.push(added);
            if (line.size() == 1) {
                next_[into] = added.at;
            }
            return;
        }
        heaps_[into].push(added);
        next_[into] = heaps_[into].next();
    }

    [[nodiscard]] ticks next_time() noexcept {
        source best = 0;
        ticks at = next_[0];
        for (source i = 1; i < next_.size(); ++i) {
            const bool is_earlier = next_[i] < at;
            at = is_earlier ? next_[i] : at;
            best = is_earlier ? i : best;
        }
        earliest_ = best;
        return at;
    }

    /// The event whose time `next_time` returned last.
    [[nodiscard]] event pop() {
        if (earliest_ >= 2) {
            event_line& line = lines_[earliest_ - 2];
            const event first = line.front();
            line.pop();
            next_[earliest_] = line.is_empty() ? never : line.front().at;
            return first;
        }
        const event first = heaps_[earliest_].front();
        heaps_[earliest_].pop();
        next_[earliest_] = heaps_[earliest_].next();
        return first;
    }

    /// Calls `visit(const event&)` for all pending events.
    template <class Visit>
    void for_each(Visit visit) const {
        heaps_[0].for_each(visit);
        heaps_[1].for_each(visit);
        for (const event_line& line : lines_) {
            for (std::size_t i = 0; i < line.size(); ++i) {
                visit(line.at(i));
            }
        }
    }

private:
    std::vector<ticks> next_;  ///< By source.
    event_heap heaps_[2];
    std::vector<event_line> lines_;
    source earliest_ = 0;
};

}  // namespace reprise::lab::detail
