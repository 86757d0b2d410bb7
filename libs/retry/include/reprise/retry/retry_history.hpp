#pragma once

/// The history of a request: how each attempt failed, how long the request waited, and why the
/// last retry was refused. Loops and clients use the same type. Recording allocates only for the
/// texts of failures.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_question.hpp>

namespace reprise {

namespace driver {

/// Additions of a protocol to the histories of its requests: names for what their entries hold as
/// numbers. Made when a history is reported, not while the request runs. Texts then read, for
/// example:
///
/// ```
/// +1.2 ms  NOT_MY_SHARD (0x07) at 10.0.0.1:11210, response; retried after 1 ms
/// +1.5 ms  NOT_AVAILABLE at 10.0.0.1:11210 (connection refused), dispatch; retried after 1 ms
/// ```
struct protocol_notes {
    /// The name of a reason; null: reasons have no names.
    std::string_view (*reason_name)(std::uint8_t code) noexcept = nullptr;
    /// Writes codes; null: as decimal numbers.
    std::string (*code_text)(std::uint32_t code) = nullptr;
    /// The places that entries name ("host:port"), each once.
    std::vector<std::string> places{};
    /// Why each of them could not be reached when the request ended, as far as that is known:
    /// "connection refused".
    std::vector<std::string> problems{};
};

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

    /// Reads the held entries in order of time.
    class iterator {
    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = Entry;
        using difference_type = std::ptrdiff_t;
        using reference = const Entry&;
        using pointer = const Entry*;

        iterator() noexcept = default;
        iterator(const bounded_history& of, std::size_t index) noexcept
            : entries_(&of), index_(index) {}
        [[nodiscard]] const Entry& operator*() const noexcept { return (*entries_)[index_]; }
        [[nodiscard]] const Entry* operator->() const noexcept { return &**this; }
        iterator& operator++() noexcept {
            ++index_;
            return *this;
        }
        iterator operator++(int) noexcept {
            const iterator before = *this;
            ++index_;
            return before;
        }
        friend bool operator==(const iterator&, const iterator&) noexcept = default;

    private:
        const bounded_history* entries_ = nullptr;
        std::size_t index_ = 0;
    };
    [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {*this, size()}; }

private:
    // Left uninitialised on purpose: only `size()` entries are ever read.
    std::array<Entry, capacity> entries_;
    std::size_t total_ = 0;
};

}  // namespace driver

/// The first 8 and the last 24 entries, and how many there were. A plain value. Loops fill one that
/// is passed in `call_options::history` and clear it at the start of each call; clients put one
/// into their results and errors.
struct REPRISE_EXPORT retry_history {
    /// One failed attempt, and what was decided about it.
    class entry {
    public:
        static constexpr std::uint8_t no_place = 0xff;
        static constexpr std::uint32_t no_budget_level = 0xffffffff;

        /// The attempt that failed; the first is 1. Saturates at 65535.
        [[nodiscard]] std::uint32_t attempt() const noexcept {
            return static_cast<std::uint32_t>(attempt_);
        }
        /// Time of the failure since the request started, in microseconds; saturates after 12 days.
        [[nodiscard]] duration offset() const noexcept {
            return std::chrono::microseconds{static_cast<std::int64_t>(offset_us_)};
        }
        /// Wait before the next attempt, in microseconds; zero when not retried or at once.
        /// Saturates after 38 hours.
        [[nodiscard]] duration delay() const noexcept {
            return std::chrono::microseconds{static_cast<std::int64_t>(delay_us_)};
        }
        /// `none`: it was retried.
        [[nodiscard]] refusal_reason refusal() const noexcept {
            return static_cast<refusal_reason>(refusal_);
        }
        /// `failure_facts::code`; 0 if there is none.
        [[nodiscard]] std::uint32_t code() const noexcept { return code_; }
        /// Milli-units left in the budget after it was asked; negative: it was not.
        [[nodiscard]] std::int64_t budget_level() const noexcept {
            return budget_level_ == no_budget_level ? -1 : std::int64_t{budget_level_};
        }
        /// Absent in plain loops, which do not look into an attempt.
        [[nodiscard]] std::optional<driver::attempt_stage> stage() const noexcept {
            return stage_ >= hedge_stage
                       ? std::nullopt
                       : std::optional(static_cast<driver::attempt_stage>(stage_));
        }
        /// The protocol's reason, as a number and as its enumerator.
        [[nodiscard]] std::uint8_t reason_code() const noexcept {
            return static_cast<std::uint8_t>(reason_);
        }
        template <class Reason>
        [[nodiscard]] Reason reason_as() const noexcept {
            static_assert(std::is_enum_v<Reason>);
            return static_cast<Reason>(reason_code());
        }
        /// Index into `driver::protocol_notes::places`; `no_place` in plain loops.
        [[nodiscard]] std::uint8_t place() const noexcept {
            return static_cast<std::uint8_t>(place_);
        }
        /// Index into `retry_history::categories`, from 1; 0: the code is a plain number.
        [[nodiscard]] std::uint8_t category() const noexcept {
            return static_cast<std::uint8_t>(category_);
        }
        /// Index into `retry_history::texts`, from 1; 0: the failure has no text of its own.
        [[nodiscard]] std::uint8_t text() const noexcept {
            return static_cast<std::uint8_t>(text_);
        }
        [[nodiscard]] bool is_timeout() const noexcept { return is_timeout_ != 0; }
        [[nodiscard]] bool is_throttling() const noexcept { return is_throttling_ != 0; }
        /// False for the one entry about an attempt that was not made: the wait before it was
        /// canceled.
        [[nodiscard]] bool is_attempt() const noexcept { return is_attempt_ != 0; }

        /// True for the entry about a hedge: `attempt` is still
        /// running, and `refusal` is why it was not hedged.
        [[nodiscard]] bool is_hedge() const noexcept { return stage_ == hedge_stage; }

        void set_attempt(std::uint32_t number) noexcept {
            attempt_ = std::min<std::uint32_t>(number, 0xffff) & 0xffffU;
        }
        void set_offset(duration offset) noexcept {
            offset_us_ = microseconds(offset, offset_max) & offset_max;
        }
        void set_delay(duration delay) noexcept {
            delay_us_ = microseconds(delay, delay_max) & delay_max;
        }
        void set_refusal(refusal_reason refusal) noexcept {
            refusal_ = static_cast<std::uint8_t>(refusal);
        }
        void set_code(std::uint32_t code) noexcept { code_ = code; }
        void set_budget_level(std::int64_t level) noexcept {
            budget_level_ = level < 0 ? no_budget_level
                                      : static_cast<std::uint32_t>(
                                            std::min<std::int64_t>(level, no_budget_level - 1));
        }
        void set_stage(driver::attempt_stage stage) noexcept {
            stage_ = static_cast<std::uint8_t>(stage) & 7U;
        }
        void set_is_hedge() noexcept { stage_ = hedge_stage & 7U; }
        void set_reason(std::uint8_t code) noexcept { reason_ = code; }
        void set_place(std::uint8_t index) noexcept { place_ = index; }
        void set_category(std::uint8_t index) noexcept { category_ = index & 3U; }
        void set_text(std::uint8_t index) noexcept { text_ = index & 7U; }
        void set_facts(bool is_timeout, bool is_throttling) noexcept {
            is_timeout_ = is_timeout ? 1 : 0;
            is_throttling_ = is_throttling ? 1 : 0;
        }
        void set_is_attempt(bool is_attempt) noexcept { is_attempt_ = is_attempt ? 1 : 0; }

        friend bool operator==(const entry&, const entry&) noexcept = default;

    private:
        static constexpr std::uint64_t no_stage = 7;
        static constexpr std::uint64_t hedge_stage = 6;
        static constexpr std::uint64_t offset_max = (std::uint64_t{1} << 40U) - 1;
        static constexpr std::uint64_t delay_max = (std::uint64_t{1} << 37U) - 1;

        [[nodiscard]] static std::uint64_t microseconds(duration time, std::uint64_t max) noexcept {
            const auto count =
                std::chrono::duration_cast<std::chrono::microseconds>(driver::at_least_zero(time))
                    .count();
            return std::min(static_cast<std::uint64_t>(count), max);
        }

        std::uint64_t offset_us_ : 40 = 0;
        std::uint64_t attempt_ : 16 = 0;
        std::uint64_t reason_ : 8 = 0;
        std::uint64_t delay_us_ : 37 = 0;
        std::uint64_t place_ : 8 = no_place;
        std::uint64_t refusal_ : 8 = 0;
        std::uint64_t stage_ : 3 = no_stage;
        std::uint64_t is_timeout_ : 1 = 0;
        std::uint64_t is_throttling_ : 1 = 0;
        std::uint64_t is_attempt_ : 1 = 1;
        std::uint64_t category_ : 2 = 0;
        std::uint64_t text_ : 3 = 0;
        std::uint32_t code_ = 0;
        std::uint32_t budget_level_ = no_budget_level;
    };

    driver::bounded_history<entry> entries;
    /// The client's additions to its histories; null in plain loops.
    std::shared_ptr<const driver::protocol_notes> protocol{};
    /// The categories of the codes in the entries, in the order of their appearance. Codes of a
    /// fourth category are written as plain numbers.
    std::array<const std::error_category*, 3> categories{};
    /// Texts of failures ("connection refused", an exception's `what()`), each
    /// once, at most `text_count_max` texts of `text_size_max` bytes. Filled by loops.
    std::vector<std::string> texts{};
    static constexpr std::size_t text_count_max = 7;
    static constexpr std::size_t text_size_max = 200;

    void clear() noexcept {
        entries.clear();
        protocol.reset();
        categories = {};
        texts.clear();
        failed_attempts_ = 0;
    }
    void record(const entry& added) noexcept {
        entries.push(added);
        failed_attempts_ += added.is_attempt() ? 1U : 0U;
    }

    /// The entries that are held, in order of time: `for (const entry& entry : history)`.
    [[nodiscard]] auto begin() const noexcept { return entries.begin(); }
    [[nodiscard]] auto end() const noexcept { return entries.end(); }

    /// Why there was no further retry; `none` while the request succeeded or is still going.
    [[nodiscard]] refusal_reason refusal() const noexcept {
        return entries.empty() || entries.back().is_hedge() ? refusal_reason::none
                                                            : entries.back().refusal();
    }
    /// Failures that were decided about, all of them. Hedged attempts that fail together count as
    /// one.
    [[nodiscard]] std::size_t failed_attempts() const noexcept { return failed_attempts_; }

    /// The place of `category` among `categories`, from 1; added if there is room, otherwise 0.
    [[nodiscard]] std::uint8_t index_of(const std::error_category* category) noexcept;
    /// Likewise for a text, which is shortened, and kept only if there is room.
    [[nodiscard]] std::uint8_t index_of(std::string_view text);
    /// "connection refused": the failure's own text, or else that of its error code;
    /// empty if there is neither.
    [[nodiscard]] std::string message_of(const entry& about) const;

private:
    std::size_t failed_attempts_ = 0;
};

static_assert(sizeof(retry_history::entry) <= 24);

namespace driver {

/// The name of the entry's place; empty if it has none.
[[nodiscard]] REPRISE_EXPORT std::string_view place_of(
    const retry_history& history, const retry_history::entry& entry) noexcept;
/// Likewise, why that place could not be reached; empty for attempts that were sent.
[[nodiscard]] REPRISE_EXPORT std::string_view problem_of(
    const retry_history& history, const retry_history::entry& entry) noexcept;

}  // namespace driver

/// One line for each entry; what is not known is left out.
///
/// ```
/// +0 ms  attempt 1 failed, code 503, timeout; retried after 250 ms (budget 495)
/// +0 ms  attempt 1 failed, connection refused (111); retried after 250 ms (budget 495)
/// +50 ms  attempt 1 still running; hedged by another attempt (budget 495)
/// ```
[[nodiscard]] REPRISE_EXPORT std::string to_string(const retry_history& history);
/// The same as one line of JSON, for logs that machines read. Times are in microseconds; what is
/// not known is left out.
///
/// ```
/// {"failed_attempts":1,"dropped":0,"entries":[{"attempt":1,"offset_us":0,"code":503,
///  "refusal":"budget exhausted","budget_milli_units":3500}]}
/// ```
[[nodiscard]] REPRISE_EXPORT std::string to_json(const retry_history& history);
/// Writes `to_string(history)`.
REPRISE_EXPORT std::ostream& operator<<(std::ostream& out, const retry_history& history);

}  // namespace reprise
