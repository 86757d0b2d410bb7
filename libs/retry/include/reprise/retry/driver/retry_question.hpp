#pragma once

/// What a strategy is asked after a failed attempt, and what it is asked about. Plain values, for
/// authors of strategies and of clients.

#include <any>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/failure_view.hpp>
#include <reprise/retry/refusal_reason.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::driver {

/// How far an attempt had come when it failed.
enum class attempt_stage : std::uint8_t {
    dispatch,  ///< Nothing was sent.
    network,   ///< Sent, no answer.
    response,  ///< The server answered.
};

/// "dispatch"
[[nodiscard]] REPRISE_EXPORT std::string_view to_string(attempt_stage stage) noexcept;

/// The time and the randomness of one decision, and what the caller attached to the call.
/// Strategies get all of it as values; a strategy without `needs_time` gets zeros at its
/// start and its success, which keeps the path of a successful first attempt free of clock reads.
struct decision_context {
    time_point now{};
    std::uint64_t random = 0;  ///< 64 uniform bits.
    /// The caller's data for the call; null if none.
    const std::any* user_data = nullptr;

    /// The attached data if it is a `T`, otherwise null.
    template <class T>
    [[nodiscard]] const T* user_data_as() const noexcept {
        return user_data == nullptr ? nullptr : std::any_cast<T>(user_data);
    }
};

/// Why an attempt failed, in the words of a protocol: one enumerator of that protocol's own reason
/// enum. Empty where a protocol has none, as in plain retry loops.
class failure_reason {
public:
    constexpr failure_reason() noexcept = default;
    /// `Reason` needs a `to_string` found by its argument.
    template <class Reason>
        requires std::is_enum_v<Reason>
    constexpr failure_reason(Reason reason) noexcept
        : code_(static_cast<std::uint8_t>(reason)), name_of_(&name_of<Reason>) {
        static_assert(sizeof(Reason) == sizeof(code_));
    }

    /// The enumerator, or `Reason{}` if the reason is empty or another protocol's.
    template <class Reason>
    [[nodiscard]] constexpr Reason as() const noexcept {
        return name_of_ == &name_of<Reason> ? static_cast<Reason>(code_) : Reason{};
    }
    [[nodiscard]] constexpr bool is_empty() const noexcept { return name_of_ == nullptr; }
    [[nodiscard]] constexpr std::uint8_t code() const noexcept { return code_; }
    /// Empty for an empty reason.
    [[nodiscard]] std::string_view name() const noexcept {
        return name_of_ == nullptr ? std::string_view() : name_of_(code_);
    }

private:
    template <class Reason>
    [[nodiscard]] static std::string_view name_of(std::uint8_t code) noexcept {
        return to_string(static_cast<Reason>(code));
    }

    std::uint8_t code_ = 0;
    std::string_view (*name_of_)(std::uint8_t) noexcept = nullptr;
};

/// A strategy's state of one request; the strategy itself must not keep any.
struct token_state {
    duration delay{};           ///< Wait this long before the attempt.
    std::uint32_t attempt = 1;  ///< One more than the retries this strategy has granted.
    std::uint32_t cost = 0;     ///< What the last retry cost, in milli-units of the budget.
    std::uint64_t memory = 0;   ///< One word for the strategy's own use.
};

/// The question to a strategy after a failed attempt. Valid during the call.
struct retry_question {
    failure_facts facts{};
    decision_context at{};
    /// When the request ends. Strategies need not look at it: retries that come too late are
    /// refused or cut after the strategy has answered.
    time_point deadline = no_deadline;
    repeatability repeat = repeatability::unspecified;
    /// The failure itself. Empty when the driver of the loop has none to show.
    failure_view failure{};
    /// The protocol's name for the failure; empty outside of a client.
    failure_reason reason{};
    /// All retries made so far, also those that no strategy was asked about.
    std::uint32_t retry_attempts = 0;
    token_state token{};

    /// The number of the attempt that failed; the first is 1.
    [[nodiscard]] constexpr std::uint32_t attempt() const noexcept { return retry_attempts + 1; }
};

/// A strategy's answer at the start of a request: may it be retried at all?
struct decision {
    refusal_reason refusal = refusal_reason::none;
    /// The budget's level in milli-units when it was asked; negative when it was not.
    std::int64_t budget_level = -1;

    [[nodiscard]] constexpr bool allowed() const noexcept {
        return refusal == refusal_reason::none;
    }
};

}  // namespace reprise::driver
