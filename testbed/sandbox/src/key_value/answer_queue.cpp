#include "key_value/answer_queue.hpp"

#include <algorithm>
#include <utility>

#include <reprise/sandbox/connection.hpp>

namespace reprise::sandbox::detail {

std::optional<time_point> answer_queue::next_due() const noexcept {
    if (trickling_) {
        return trickling_->due;
    }
    return waiting_.empty() ? std::nullopt : std::optional(waiting_.front().due);
}

time_point answer_queue::due_in_order(time_point due, bool is_reorderable) const noexcept {
    // An ordered answer goes after everything that waits, an unordered one only after ordered
    // answers.
    for (const delayed_answer& waiting : waiting_) {
        if (!is_reorderable || !waiting.is_reorderable) {
            due = std::max(due, waiting.due);
        }
    }
    return due;
}

bool answer_queue::push(delayed_answer later) {
    size_ += later.bytes.size();
    if (size_ > connection::held_size_max_bytes) {
        return false;
    }
    // Sorted by due time; equal times keep the order of the requests.
    const auto at = std::ranges::upper_bound(waiting_, later.due, {}, &delayed_answer::due);
    waiting_.insert(at, std::move(later));
    return true;
}

bool answer_queue::send_due(time_point now, std::vector<std::byte>& out) {
    for (;;) {
        if (!trickling_) {
            if (waiting_.empty() || waiting_.front().due > now) {
                return true;
            }
            trickling_ = std::move(waiting_.front());
            waiting_.pop_front();
        }
        delayed_answer& next = *trickling_;
        const bool is_whole = next.shape.interval == std::chrono::nanoseconds{0};
        const std::size_t size = is_whole ? next.bytes.size() : std::size_t{1};
        while (next.sent_size < next.bytes.size() && next.due <= now) {
            const auto at = next.bytes.begin() + static_cast<std::ptrdiff_t>(next.sent_size);
            out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(size));
            next.sent_size += size;
            next.due += next.shape.interval;
        }
        if (next.sent_size < next.bytes.size()) {
            return true;
        }
        const bool closes = next.shape.closes;
        size_ -= next.bytes.size();
        trickling_.reset();
        if (closes) {
            return false;
        }
    }
}

void answer_queue::clear() noexcept {
    waiting_.clear();
    size_ = 0;
    trickling_.reset();
}

}  // namespace reprise::sandbox::detail
