#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include <reprise/sandbox/ids.hpp>

namespace reprise::sandbox::detail {

// How an answer is sent.
struct answer_shape {
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds interval{0};  // between its bytes; 0: all at once
    bool closes = false;                   // closes the connection afterwards
};

struct delayed_answer {
    time_point due;
    answer_shape shape;
    bool is_reorderable = false;
    std::vector<std::byte> bytes;
    std::size_t sent_size = 0;
};

// The answers of a connection that are sent later, in the order in which they may be sent.
class answer_queue {
public:
    bool empty() const noexcept { return waiting_.empty() && !trickling_; }
    // Part of a frame was sent, so nothing else may be sent in the meantime.
    bool is_inside_frame() const noexcept { return trickling_.has_value(); }
    std::optional<time_point> next_due() const noexcept;
    // When an answer that is due at `due` may be sent: not before those it must not overtake.
    time_point due_in_order(time_point due, bool is_reorderable) const noexcept;
    // Returns false if more bytes wait than a connection may hold.
    [[nodiscard]] bool push(delayed_answer later);
    // Appends everything that is due. Returns false if the connection closes after it.
    [[nodiscard]] bool send_due(time_point now, std::vector<std::byte>& out);
    void clear() noexcept;

private:
    std::deque<delayed_answer> waiting_;
    std::size_t size_ = 0;  // of all bytes
    std::optional<delayed_answer> trickling_;
};

}  // namespace reprise::sandbox::detail
