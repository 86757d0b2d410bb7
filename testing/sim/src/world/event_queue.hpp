#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <reprise/retry/time.hpp>

namespace reprise::sim {

enum class event_kind : std::uint8_t {
    start_operation,   // index: operation
    cancel_operation,  // index: operation
    begin_fault,       // index: fault
    end_fault,         // index: fault
    step_fault,        // index: fault
    client_timer,      // index: client
    client_wake,       // index: client
    name_found,        // index: client
    key_derived,       // index: client, extra: derivation
    connect_done,      // index: link
    deliver_up,        // index: link
    deliver_down,      // index: link
    write_more,        // index: link
    report_written,    // index: link
    report_closed,     // index: link
    server_timer,      // index: link
    cluster_timer,
    strategy_answer,  // index: client, extra: number of the question
    phase,            // index: which one
    take_rows,        // index: operation
};

struct event {
    time_point at{};
    std::uint64_t order = 0;
    event_kind kind{};
    std::uint32_t index = 0;
    std::uint64_t extra = 0;
};

// Future events, sorted by time and, at equal times, by the order in which they were planned. It is
// a heap in one vector, which does not allocate once it has grown.
class event_queue {
public:
    void push(time_point at, event_kind kind, std::uint32_t index, std::uint64_t extra = 0) {
        heap_.push_back({at, order_next_++, kind, index, extra});
        std::ranges::push_heap(heap_, is_later);
    }
    // The queue must not be empty.
    event pop() {
        std::ranges::pop_heap(heap_, is_later);
        const event first = heap_.back();
        heap_.pop_back();
        return first;
    }
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }

private:
    static bool is_later(const event& left, const event& right) noexcept {
        return left.at != right.at ? left.at > right.at : left.order > right.order;
    }
    std::vector<event> heap_;
    std::uint64_t order_next_ = 0;
};

}  // namespace reprise::sim
