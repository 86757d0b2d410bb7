#pragma once

/// Pending events. Events with a constant delay (network, timeouts) become due in the order of
/// their creation, so a queue holds them; only backoffs need a heap.

#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "server_model.hpp"

namespace reprise::lab {

/// How the server answered an attempt.
enum class answer : std::uint8_t {
    done,      ///< The work was done.
    fault,     ///< The work was done and ended in an error.
    error,     ///< The server is down.
    too_busy,  ///< Its queue is full.
};

struct timed_attempt {
    duration at{};
    attempt_id attempt;
    answer outcome = answer::done;  ///< Only for answers.
};

/// First in, first out; times must not decrease.
class event_line {
public:
    [[nodiscard]] duration next() const noexcept {
        return events_.empty() ? never : events_.front().at;
    }
    void push(const timed_attempt& event) { events_.push_back(event); }
    [[nodiscard]] timed_attempt pop() {
        const timed_attempt event = events_.front();
        events_.pop_front();
        return event;
    }
    [[nodiscard]] const std::deque<timed_attempt>& events() const noexcept { return events_; }

private:
    std::deque<timed_attempt> events_;
};

/// Earliest first; among equals the one pushed first, so that runs do not depend on the heap's
/// order.
class event_heap {
public:
    [[nodiscard]] duration next() const noexcept {
        return events_.empty() ? never : events_.top().at;
    }
    void push(duration at, attempt_id attempt) { events_.push({at, pushed_++, attempt}); }
    [[nodiscard]] attempt_id pop() {
        const attempt_id attempt = events_.top().attempt;
        events_.pop();
        return attempt;
    }

private:
    struct entry {
        duration at{};
        std::uint64_t order = 0;
        attempt_id attempt;
    };
    struct later {
        bool operator()(const entry& a, const entry& b) const noexcept {
            return a.at != b.at ? a.at > b.at : a.order > b.order;
        }
    };

    std::priority_queue<entry, std::vector<entry>, later> events_;
    std::uint64_t pushed_ = 0;
};

}  // namespace reprise::lab
