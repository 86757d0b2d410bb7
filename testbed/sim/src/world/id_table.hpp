#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <reprise/retry/random_generator.hpp>

namespace reprise::sim {

// Numbers by id, in one block of memory. Entries are only added. No id is 0.
class id_table {
public:
    // The number of the id; `number` if the id is new.
    std::uint32_t at_or_add(std::uint64_t id, std::uint32_t number) {
        if (2 * (count_ + 1) > entries_.size()) {
            grow();
        }
        entry& place = entries_[place_of(id)];
        if (place.id == 0) {
            place = {id, number};
            ++count_;
        }
        return place.number;
    }

private:
    struct entry {
        std::uint64_t id = 0;
        std::uint32_t number = 0;
    };

    // Where the id is, or would be.
    [[nodiscard]] std::size_t place_of(std::uint64_t id) const noexcept {
        const std::size_t mask = entries_.size() - 1;
        std::size_t place = random_generator::mix(id) & mask;
        while (entries_[place].id != 0 && entries_[place].id != id) {
            place = (place + 1) & mask;
        }
        return place;
    }
    void grow() {
        std::vector<entry> before(entries_.empty() ? 256 : 2 * entries_.size());
        before.swap(entries_);
        for (const entry& each : before) {
            if (each.id != 0) {
                entries_[place_of(each.id)] = each;
            }
        }
    }

    std::vector<entry> entries_;  // a power of two
    std::size_t count_ = 0;
};

}  // namespace reprise::sim
