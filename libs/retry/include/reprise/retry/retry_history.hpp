#pragma once

/// What happened to a request: what failed on every attempt, how long it waited, who refused the
/// last retry and why. Loops and clients use the same type. Recording allocates only for the texts
/// of failures.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/history_entry.hpp>

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

/// The first 8 and the last 24 entries, and how many there were. A plain value. Loops fill one that
/// is passed in `call_options::history` and clear it at the start of each call; clients put one
/// into their results and errors.
struct REPRISE_EXPORT retry_history {
    bounded_history<history_entry> entries;
    /// "host:port" of the nodes the entries name, each once. Empty in plain loops.
    std::vector<std::string> endpoints{};
    /// Why there was no connection to each of them when the request ended, as far as that is known:
    /// "connection refused".
    std::vector<std::string> problems{};
    /// The name of a reason, for text; null: reasons have no names.
    std::string_view (*reason_name)(std::uint8_t code) noexcept = nullptr;
    /// The categories of the codes in the entries, in the order of their appearance. Codes of a
    /// fourth category are written as plain numbers.
    std::array<const std::error_category*, 3> categories{};
    /// Texts of failures ("connection refused", an exception's `what()`), each
    /// once, at most `text_count_max` texts of `text_size_max` bytes. Filled by loops.
    std::vector<std::string> texts{};
    static constexpr std::size_t text_count_max = 7;
    static constexpr std::size_t text_size_max = 200;
    /// Codes are written in hexadecimal, as the key-value protocol's statuses are.
    bool has_hexadecimal_codes = false;

    void clear() noexcept {
        entries.clear();
        categories = {};
        texts.clear();
        failed_attempts_ = 0;
    }
    void record(const history_entry& entry) noexcept {
        entries.push(entry);
        failed_attempts_ += entry.is_attempt() ? 1U : 0U;
    }

    /// Why there was no further retry; `none` while the request succeeded or is still going.
    [[nodiscard]] refusal_reason refusal() const noexcept {
        return entries.empty() || entries.back().is_hedge() ? refusal_reason::none
                                                            : entries.back().refusal();
    }
    /// Attempts that failed, all of them.
    [[nodiscard]] std::size_t failed_attempts() const noexcept { return failed_attempts_; }

    /// The place of `category` among `categories`, from 1; added if there is room, otherwise 0.
    [[nodiscard]] std::uint8_t index_of(const std::error_category* category) noexcept;
    /// Likewise for a text, which is shortened, and kept only if there is room.
    [[nodiscard]] std::uint8_t index_of(std::string_view text);
    /// "connection refused": the failure's own text, or else that of its error code;
    /// empty if there is neither.
    [[nodiscard]] std::string message_of(const history_entry& entry) const;
    /// The name behind an entry's index; empty if it has none.
    [[nodiscard]] std::string_view endpoint_of(const history_entry& entry) const noexcept;
    /// Likewise, why that node could not be reached; empty for attempts that were sent.
    [[nodiscard]] std::string_view problem_of(const history_entry& entry) const noexcept;

private:
    std::size_t failed_attempts_ = 0;
};

/// One line for each entry; what is not known is left out.
///
/// ```
/// +0 ms  attempt 1 failed, code 503, timeout; retried after 250 ms (budget 495)
/// +0 ms  attempt 1 failed, connection refused (111); retried after 250 ms (budget 495)
/// +50 ms  attempt 1 still running; hedged by another attempt (budget 495)
/// +1.2 ms  KV_NOT_MY_VBUCKET (0x07) at 10.0.0.1:11210, response; retried after 1 ms
/// +1.5 ms  NODE_NOT_AVAILABLE at 10.0.0.1:11210 (connection refused), dispatch; retried after 1 ms
/// ```
[[nodiscard]] REPRISE_EXPORT std::string to_string(const retry_history& history);
/// Writes `to_string(history)`.
REPRISE_EXPORT std::ostream& operator<<(std::ostream& out, const retry_history& history);

}  // namespace reprise
