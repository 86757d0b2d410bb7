#pragma once

/// The client's reports to the writers of each key. The load's thread owns it; other threads
/// may read it once the load has stopped.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace reprise::demo {

/// A stamped document. It has one writer at a time: its own, or the holder of its lock.
struct document_account {
    std::string key;
    /// False: the document may disappear on purpose (its collection is dropped).
    bool is_kept = true;
    /// Written by statements, not by key-value operations.
    bool is_by_statement = false;
    /// Of the last write that was reported as applied; 0: none yet. The stamps of a key increase.
    std::uint64_t confirmed = 0;
    /// The latest stamps whose outcome is unknown. Any of them may be in the document.
    std::deque<std::uint64_t> unknown{};

    static constexpr std::size_t unknown_count_max = 16;

    void confirm(std::uint64_t stamp) { confirmed = std::max(confirmed, stamp); }
    void add_unknown(std::uint64_t stamp) {
        if (unknown.size() == unknown_count_max) {
            unknown.pop_front();
        }
        unknown.push_back(stamp);
    }
    /// Whether a reader may find this stamp; 0: no document.
    [[nodiscard]] bool allows(std::uint64_t stamp) const {
        return stamp == confirmed || std::ranges::find(unknown, stamp) != unknown.end();
    }
};

/// A counter that is always incremented by one.
struct counter_account {
    std::string key;
    std::uint64_t confirmed = 0;  // increments reported as applied
    std::uint64_t unknown = 0;    // increments with unknown outcome
};

}  // namespace reprise::demo
