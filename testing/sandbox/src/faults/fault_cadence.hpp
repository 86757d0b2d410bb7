#pragma once

#include <cstdint>
#include <random>

namespace reprise::sandbox::detail {

// Counts a request that matches the entry's rule and returns whether the rule takes it: after
// `skip`, every `every`th, with probability `probability`. Entries of all kinds of rules have these
// fields.
template <class Entry>
bool takes_next(Entry& entry, std::mt19937_64& rng) {
    const auto& rule = entry.rule;
    const std::uint64_t position = entry.match_count++;
    if (position < rule.skip || (position - rule.skip) % rule.every != 0) {
        return false;
    }
    // The generator is used only for rules with a probability, so that other rules do not change
    // the random sequence.
    if (rule.probability < 1.0 &&
        static_cast<double>(rng() >> 11) * 0x1.0p-53 >= rule.probability) {
        return false;
    }
    ++entry.effect_count;
    return true;
}

// Whether the rule has reached its limit.
template <class Entry>
bool is_resting(const Entry& entry) noexcept {
    return entry.rule.limit && entry.effect_count >= *entry.rule.limit;
}

}  // namespace reprise::sandbox::detail
