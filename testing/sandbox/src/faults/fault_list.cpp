#include <algorithm>
#include <utility>

#include <reprise/sandbox/fault_rule.hpp>

#include "faults/fault_cadence.hpp"

namespace reprise::sandbox {

namespace {

bool fits(const fault_rule& rule, const fault_subject& subject) {
    return (rule.ops.empty() || std::ranges::find(rule.ops, subject.op) != rule.ops.end()) &&
           (!rule.node || *rule.node == subject.node) &&
           (rule.bucket.empty() || rule.bucket == subject.bucket) &&
           (rule.key_pattern.empty() || matches_glob(rule.key_pattern, subject.key));
}

}  // namespace

std::uint64_t fault_list::add(fault_rule rule) {
    rule.every = std::max<std::uint64_t>(rule.every, 1);
    entries_.push_back(fault_entry{id_next_, std::move(rule), 0, 0});
    return id_next_++;
}

bool fault_list::remove(std::uint64_t id) {
    return std::erase_if(entries_, [id](const fault_entry& entry) { return entry.id == id; }) != 0;
}

const fault_entry* fault_list::decide(const fault_subject& subject) {
    for (fault_entry& entry : entries_) {
        if (!detail::is_resting(entry) && fits(entry.rule, subject) &&
            detail::takes_next(entry, rng_)) {
            return &entry;
        }
    }
    return nullptr;
}

std::vector<std::byte> fault_list::make_garbage(std::size_t size) {
    std::vector<std::byte> bytes(std::clamp(size, std::size_t{1}, fault_garbage::size_max_bytes));
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(rng_() >> 56);
    }
    // No magic has these bits.
    bytes.front() |= std::byte{0x60};
    return bytes;
}

bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_text = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_text = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            // Let the last star match one more byte and try the rest again.
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') {
        ++p;
    }
    return p == pattern.size();
}

}  // namespace reprise::sandbox
