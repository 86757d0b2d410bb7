#include "operations/operation_slot.hpp"

#include <memory>
#include <utility>

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

void operation_pool::grow() {
    const std::size_t base = chunks_.size() * chunk_size;
    chunks_.push_back(std::make_unique<operation_slot[]>(chunk_size));
    for (std::size_t index = chunk_size; index > 0; --index) {
        operation_slot& slot = chunks_.back()[index - 1];
        slot.index = mark_ | static_cast<std::uint32_t>(base + index - 1);
        slot.next_free = std::exchange(first_free_, slot.index);
    }
}

// What most operations do not have.
void operation_pool::release_rare(operation_slot& slot) noexcept {
    slot.request.specs = {};
    slot.scan.reset();
    slot.request.scan = {};
    slot.request.strategy.reset();
    slot.request.user_data.reset();
    slot.done.reset();
    // Only a failed attempt leaves traces here, and each one is numbered.
    slot.decision = 0;
    slot.last_reason = retry_reason::unknown;
    slot.refusal = refusal_reason::none;
    restore(slot.reasons);
    restore(slot.failed);
    restore(slot.schedule);
    restore(slot.history);
}

void operation_pool::release(operation_slot& slot) {
    REPRISE_ASSERT(slot.state == operation_state::free);
    REPRISE_ASSERT(!slot.is_armed());
    REPRISE_ASSERT(slot.list() == nullptr);
    // Releases what holds memory. Starting the slot replaces the rest of the request.
    slot.request.key.clear();
    slot.request.value.clear();
    const bool has_rare = slot.request.specs.capacity() != 0 || slot.request.scan ||
                          slot.request.strategy || slot.request.user_data || slot.done ||
                          slot.decision != 0;
    if (has_rare) [[unlikely]] {
        release_rare(slot);
    }
    slot.is_silent = false;
    slot.hurry_count = 0;
    slot.endpoint = -1;
    slot.connection = nullptr;
    slot.wire_offset = 0;
    restore(slot.progress);
    restore(slot.vbucket);
    restore(slot.route);
    restore(slot.sent);
    restore(slot.sent_before);
    slot.next_free = std::exchange(first_free_, slot.index);
    --open_count_;
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
