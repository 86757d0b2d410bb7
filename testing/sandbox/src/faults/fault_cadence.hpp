#pragma once

#include <cstdint>
#include <random>

namespace reprise::sandbox::detail {

// Counts a request that fits the entry's rule, and says whether the rule takes it: after `skip`,
// each `every`th, of those the share `probability`. Entries of rules of any kind have these fields.
template <class Entry>
bool takes_next(Entry& entry, std::mt19937_64& rng) {
    const auto& rule = entry.rule;
    const std::uint64_t position = entry.match_count++;
    if (position < rule.skip || (position - rule.skip) % rule.every != 0) {
        return false;
    }
    // The generator is used only where chance has a say, so that rules without a probability do not
    // change what others draw.
    if (rule.probability < 1.0 &&
        static_cast<double>(rng() >> 11) * 0x1.0p-53 >= rule.probability) {
        return false;
    }
    ++entry.effect_count;
    return true;
}

// It has had all the effects it may have.
template <class Entry>
bool is_resting(const Entry& entry) noexcept {
    return entry.rule.limit && entry.effect_count >= *entry.rule.limit;
}

}  // namespace reprise::sandbox::detail
