#include "operations/operation_slot.hpp"

#include <memory>
#include <utility>

namespace reprise::engine {

void operation_pool::grow() {
    const std::size_t base = chunks_.size() * chunk_size;
    chunks_.push_back(std::make_unique<operation_slot[]>(chunk_size));
    for (std::size_t index = chunk_size; index > 0; --index) {
        operation_slot& slot = chunks_.back()[index - 1];
        slot.index = mark_ | static_cast<std::uint32_t>(base + index - 1);
        slot.next_free = std::exchange(first_free_, slot.index);
    }
}

// Releases the members that most operations do not use.
void operation_pool::release_rare(operation_slot& slot) noexcept {
    slot.request.drop_terms();
    slot.scan.reset();
    slot.request.scan = {};
    slot.done.reset();
    // Only a failed attempt, which has a number, and a strategy that is asked about more than
    // failures leave traces here.
    slot.decision = 0;
    slot.last_reason = retry_reason::unknown;
    slot.refusal = refusal_reason::none;
    slot.is_plain = false;
    slot.has_attempt = false;
    restore(slot.progress);
    // Each send sets these, and nothing reads them before.
    slot.wire_offset = 0;
    restore(slot.sent_before);
    restore(slot.reasons);
    restore(slot.failed);
    restore(slot.schedule);
    restore(slot.history);
}

operation_slot* operation_pool::find(operation_id id) noexcept {
    const auto index = static_cast<std::uint32_t>(id.value) & index_mask;
    if (index >= chunks_.size() * chunk_size) {
        return nullptr;
    }
    operation_slot& slot = at(index);
    const bool is_same = slot.id() == id;
    return slot.state != operation_state::free && is_same ? &slot : nullptr;
}

}  // namespace reprise::engine
