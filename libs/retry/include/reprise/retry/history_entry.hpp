#pragma once

/// One failed attempt and what was decided about it, in 24 bytes, for loops and clients alike.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <reprise/retry/decision.hpp>
#include <reprise/retry/detail/export.hpp>

namespace reprise {

/// How far an attempt had come when it failed.
enum class attempt_stage : std::uint8_t {
    dispatch,  ///< Nothing was sent.
    network,   ///< Sent, no answer.
    response,  ///< The server answered.
};

/// "dispatch"
[[nodiscard]] REPRISE_EXPORT std::string_view to_string(attempt_stage stage) noexcept;

/// One failed attempt, and what was decided about it.
class history_entry {
public:
    static constexpr std::uint8_t no_endpoint = 0xff;
    static constexpr std::uint32_t no_budget_level = 0xffffffff;

    /// Which attempt failed; the first is 1. Saturates at 65535.
    [[nodiscard]] std::uint32_t attempt() const noexcept {
        return static_cast<std::uint32_t>(attempt_);
    }
    /// Time of the failure since the request started, in microseconds; saturates after 12 days.
    [[nodiscard]] duration offset() const noexcept {
        return std::chrono::microseconds{static_cast<std::int64_t>(offset_us_)};
    }
    /// Wait before the next attempt, in microseconds; zero when not retried or at once. Saturates
    /// after 38 hours.
    [[nodiscard]] duration delay() const noexcept {
        return std::chrono::microseconds{static_cast<std::int64_t>(delay_us_)};
    }
    /// `none`: it was retried.
    [[nodiscard]] refusal_reason refusal() const noexcept {
        return static_cast<refusal_reason>(refusal_);
    }
    /// `failure_facts::code`; in a client the server's status, 0 without an answer.
    [[nodiscard]] std::uint32_t code() const noexcept { return code_; }
    /// Milli-units left in the budget after it was asked; negative: it was not.
    [[nodiscard]] std::int64_t budget_level() const noexcept {
        return budget_level_ == no_budget_level ? -1 : std::int64_t{budget_level_};
    }
    /// Absent in plain loops, which do not look into an attempt.
    [[nodiscard]] std::optional<attempt_stage> stage() const noexcept {
        return stage_ >= hedge_stage ? std::nullopt
                                     : std::optional(static_cast<attempt_stage>(stage_));
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
    /// Index into `retry_history::endpoints`.
    [[nodiscard]] std::uint8_t endpoint() const noexcept {
        return static_cast<std::uint8_t>(endpoint_);
    }
    /// Index into `retry_history::categories`, from 1; 0: the code is a plain number.
    [[nodiscard]] std::uint8_t category() const noexcept {
        return static_cast<std::uint8_t>(category_);
    }
    /// Index into `retry_history::texts`, from 1; 0: the failure has no text of its own.
    [[nodiscard]] std::uint8_t text() const noexcept { return static_cast<std::uint8_t>(text_); }
    [[nodiscard]] bool is_timeout() const noexcept { return is_timeout_ != 0; }
    [[nodiscard]] bool is_throttling() const noexcept { return is_throttling_ != 0; }
    /// False for the one entry about an attempt that was not made: the wait before it was canceled.
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
        budget_level_ =
            level < 0
                ? no_budget_level
                : static_cast<std::uint32_t>(std::min<std::int64_t>(level, no_budget_level - 1));
    }
    void set_stage(attempt_stage stage) noexcept { stage_ = static_cast<std::uint8_t>(stage) & 7U; }
    void set_is_hedge() noexcept { stage_ = hedge_stage & 7U; }
    void set_reason(std::uint8_t code) noexcept { reason_ = code; }
    void set_endpoint(std::uint8_t index) noexcept { endpoint_ = index; }
    void set_category(std::uint8_t index) noexcept { category_ = index & 3U; }
    void set_text(std::uint8_t index) noexcept { text_ = index & 7U; }
    void set_facts(bool is_timeout, bool is_throttling) noexcept {
        is_timeout_ = is_timeout ? 1 : 0;
        is_throttling_ = is_throttling ? 1 : 0;
    }
    void set_is_attempt(bool is_attempt) noexcept { is_attempt_ = is_attempt ? 1 : 0; }

    friend bool operator==(const history_entry&, const history_entry&) noexcept = default;

private:
    static constexpr std::uint64_t no_stage = 7;
    static constexpr std::uint64_t hedge_stage = 6;
    static constexpr std::uint64_t offset_max = (std::uint64_t{1} << 40U) - 1;
    static constexpr std::uint64_t delay_max = (std::uint64_t{1} << 37U) - 1;

    [[nodiscard]] static std::uint64_t microseconds(duration time, std::uint64_t max) noexcept {
        const auto count =
            std::chrono::duration_cast<std::chrono::microseconds>(at_least_zero(time)).count();
        return std::min(static_cast<std::uint64_t>(count), max);
    }

    std::uint64_t offset_us_ : 40 = 0;
    std::uint64_t attempt_ : 16 = 0;
    std::uint64_t reason_ : 8 = 0;
    std::uint64_t delay_us_ : 37 = 0;
    std::uint64_t endpoint_ : 8 = no_endpoint;
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

static_assert(sizeof(history_entry) <= 24);

}  // namespace reprise
