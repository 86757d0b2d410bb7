#include "loop_notes.hpp"

#include <utility>

namespace reprise::engine {

loop_notes::loop_notes(std::size_t loop_count) {
    for (std::size_t loop = 0; loop < loop_count; ++loop) {
        boxes_.push_back(std::make_unique<box>());
    }
}

void loop_notes::post(std::size_t from, const loop_note& note) {
    for (std::size_t loop = 0; loop < boxes_.size(); ++loop) {
        if (loop == from) {
            continue;
        }
        // The hook runs under the lock, because close() must not return while it is still running.
        box& to = *boxes_[loop];
        const std::lock_guard lock(to.mutex);
        if (to.is_closed) {
            continue;
        }
        to.notes.push_back(note);
        if (to.hook) {
            to.hook();
        }
    }
}

std::vector<loop_note> loop_notes::take(std::size_t loop) {
    box& own = *boxes_[loop];
    const std::lock_guard lock(own.mutex);
    return std::exchange(own.notes, {});
}

void loop_notes::set_hook(std::size_t loop, std::function<void()> hook) {
    box& own = *boxes_[loop];
    const std::lock_guard lock(own.mutex);
    own.hook = std::move(hook);
}

void loop_notes::close(std::size_t loop) noexcept {
    box& own = *boxes_[loop];
    const std::lock_guard lock(own.mutex);
    own.is_closed = true;
    own.notes.clear();
    own.hook = nullptr;
}

}  // namespace reprise::engine
