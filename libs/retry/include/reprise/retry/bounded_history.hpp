#pragma once

/// A history of fixed size: the first entries, the latest entries, and how many there were in all.
/// What happened at the start explains a failure, what happened last explains its end; the middle
/// of a thousand equal retries explains nothing.

#include <array>
#include <cstddef>

namespace reprise {

/// Holds the first `First` and the last `Last` of any number of entries. Never allocates.
template <class Entry, std::size_t First = 8, std::size_t Last = 24>
class bounded_history {
public:
    static constexpr std::size_t first_capacity = First;
    static constexpr std::size_t capacity = First + Last;

    void push(const Entry& entry) noexcept {
        if (total_ < First) {
            entries_[total_] = entry;
        } else {
            entries_[First + (total_ - First) % Last] = entry;
        }
        ++total_;
    }
    void clear() noexcept { total_ = 0; }

    /// All entries ever pushed, also those no longer held.
    [[nodiscard]] std::size_t total() const noexcept { return total_; }
    /// Entries held, at most `capacity`.
    [[nodiscard]] std::size_t size() const noexcept {
        return total_ < capacity ? total_ : capacity;
    }
    /// Entries dropped between the first and the last ones.
    [[nodiscard]] std::size_t dropped() const noexcept { return total_ - size(); }
    [[nodiscard]] bool empty() const noexcept { return total_ == 0; }

    /// The held entries in order of time; `index < size()`.
    [[nodiscard]] const Entry& operator[](std::size_t index) const noexcept {
        if (index < First || total_ <= capacity) {
            return entries_[index];
        }
        return entries_[First + (total_ - First + (index - First)) % Last];
    }
    [[nodiscard]] const Entry& back() const noexcept { return (*this)[size() - 1]; }

private:
    // Left uninitialised on purpose: only `size()` entries are ever read.
    std::array<Entry, capacity> entries_;
    std::size_t total_ = 0;
};

}  // namespace reprise
