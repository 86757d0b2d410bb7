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

// Future events, sorted by time and, at equal times, by the order in which they were planned. What
// the scenario contains (most of it: the operations) is sorted once; what follows from it is a
// heap, which stays small. Neither allocates once it has grown.
class event_queue {
public:
    void push(time_point at, event_kind kind, std::uint32_t index, std::uint64_t extra = 0) {
        heap_.push_back({at, order_next_++, kind, index, extra});
        std::ranges::push_heap(heap_, is_later{});
    }
    // Everything pushed so far belongs to the scenario. Call it once.
    void begin() {
        planned_.swap(heap_);
        std::ranges::sort(planned_, is_later{});
    }
    // The queue must not be empty.
    event pop() {
        const bool is_planned =
            heap_.empty() || (!planned_.empty() && is_later{}(heap_.front(), planned_.back()));
        if (!is_planned) {
            std::ranges::pop_heap(heap_, is_later{});
        }
        std::vector<event>& from = is_planned ? planned_ : heap_;
        const event first = from.back();
        from.pop_back();
        return first;
    }
    [[nodiscard]] bool empty() const noexcept { return heap_.empty() && planned_.empty(); }

private:
    struct is_later {
        bool operator()(const event& left, const event& right) const noexcept {
            return left.at != right.at ? left.at > right.at : left.order > right.order;
        }
    };
    std::vector<event> planned_;  // the next one last
    std::vector<event> heap_;
    std::uint64_t order_next_ = 0;
};

}  // namespace reprise::sim
