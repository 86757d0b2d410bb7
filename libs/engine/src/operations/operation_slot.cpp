#include "operations/operation_slot.hpp"

#include <memory>

namespace reprise::engine {
namespace {

// Gives a field its initial value in place. GCC 12 builds `field = {}` elsewhere in small pieces
// and copies it in larger ones, for which the processor has to wait on the path of every operation.
template <class Field>
void restore(Field& field) noexcept {
    std::destroy_at(&field);
    std::construct_at(&field);
}

}  // namespace

operation_slot& operation_pool::acquire() {
    if (free_.empty()) {
        const std::size_t base = chunks_.size() * chunk_size;
        chunks_.push_back(std::make_unique<operation_slot[]>(chunk_size));
        for (std::size_t index = chunk_size; index > 0; --index) {
            operation_slot& slot = chunks_.back()[index - 1];
            slot.index = static_cast<std::uint32_t>(base + index - 1);
            free_.push_back(slot.index);
        }
    }
    operation_slot& slot = at(free_.back());
    free_.pop_back();
    ++slot.generation;
    ++open_count_;
    return slot;
}

void operation_pool::release(operation_slot& slot) {
    REPRISE_ASSERT(slot.state == operation_state::free);
    REPRISE_ASSERT(!slot.is_armed());
    REPRISE_ASSERT(slot.list() == nullptr);
    slot.is_silent = false;
    // Releases what holds memory. Acquiring the slot resets the other fields.
    slot.request.key = {};
    slot.request.value = {};
    slot.request.specs = {};
    slot.scan.reset();
    slot.request.scan = {};
    slot.request.strategy = {};
    slot.request.user_data = {};
    slot.done = {};
    slot.decision = 0;
    slot.last_reason = retry_reason::unknown;
    slot.refusal = refusal_reason::none;
    slot.hurry_count = 0;
    slot.endpoint = -1;
    slot.connection = nullptr;
    slot.wire_offset = 0;
    restore(slot.progress);
    restore(slot.reasons);
    restore(slot.failed);
    restore(slot.schedule);
    restore(slot.history);
    restore(slot.vbucket);
    restore(slot.route);
    restore(slot.sent);
    restore(slot.sent_before);
    free_.push_back(slot.index);
    --open_count_;
}

operation_slot* operation_pool::find(operation_id id) noexcept {
    const auto index = static_cast<std::uint32_t>(id.value);
    if (index >= chunks_.size() * chunk_size) {
        return nullptr;
    }
    operation_slot& slot = at(index);
    const bool is_same = slot.id() == id;
    return slot.state != operation_state::free && is_same ? &slot : nullptr;
}

operation_slot& operation_pool::at(std::uint32_t index) noexcept {
    return chunks_[index / chunk_size][index % chunk_size];
}

}  // namespace reprise::engine
