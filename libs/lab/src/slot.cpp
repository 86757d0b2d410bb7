#include <reprise/lab/slot.hpp>

namespace reprise::lab {

std::vector<slot> join_slots(std::span<const slot> slots, std::size_t factor) {
    std::vector<slot> joined;
    joined.reserve(slots.size() / factor);
    for (std::size_t first = 0; first + factor <= slots.size(); first += factor) {
        slot sum = slots[first + factor - 1];
        for (const slot& one : slots.subspan(first, factor - 1)) {
            sum.offered += one.offered;
            sum.attempts += one.attempts;
            sum.useful += one.useful;
            sum.wasted += one.wasted;
            sum.errors += one.errors;
            sum.failed += one.failed;
        }
        joined.push_back(sum);
    }
    return joined;
}

}  // namespace reprise::lab
