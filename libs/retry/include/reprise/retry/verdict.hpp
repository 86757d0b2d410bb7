#pragma once

/// The question a strategy is asked and the answer it gives. Both are plain values.

#include <cstdint>
#include <string_view>

#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/failure_view.hpp>
#include <reprise/retry/time.hpp>

namespace reprise {

/// Why there was no (further) retry. Readable in the decision trace; never replaces the operation's
/// own error.
enum class refusal_reason : std::uint8_t {
    none,                ///< Not refused.
    unsafe,              ///< The failure itself says that it must not be retried.
    not_repeatable,      ///< Safety unknown and the call is marked as not repeatable.
    client_fault,        ///< No retry information, and the request itself was at fault.
    unclassified,        ///< The failure has neither retry information nor a fault.
    attempts_exhausted,  ///< The strategy's maximum number of attempts has been made.
    budget_exhausted,    ///< The budget cannot pay the whole cost of another attempt.
    deadline,            ///< The retry could not have started before the deadline.
    outer_allowance,     ///< An enclosing loop has no retries left to hand down.
    canceled,            ///< The caller asked to stop.
    no_initial_token,    ///< The strategy granted no token: one attempt, no retries.
    invalid_token,       ///< A token of another strategy, or one already used.
    strategy_failed,     ///< The strategy threw.
};

/// One short lower-case phrase, for logs and traces.
[[nodiscard]] std::string_view to_string(refusal_reason reason) noexcept;

/// Whether the caller may have its operation executed twice.
enum class repeatability : std::uint8_t {
    unspecified,     ///< Nothing said: failures of safety `maybe` are retried.
    repeatable,      ///< Idempotent: the same as unspecified, stated.
    not_repeatable,  ///< Only failures that are safe for certain (`retry_safety::yes`) are retried.
};

/// A place in time and one draw of randomness. Strategies get both as values; a strategy that does
/// not say `wants_moment` gets zeros at `begin` and `succeed`, which keeps the path of a successful
/// first attempt free of clock reads.
struct moment {
    time_point now{};
    std::uint64_t random = 0;  ///< 64 uniform bits.
};

/// What a strategy is asked after a failed attempt.
struct retry_question {
    failure_facts facts{};
    moment at{};
    /// A retry that could not start before this is refused before anything is charged.
    time_point deadline = no_deadline;
    repeatability repeat = repeatability::unspecified;
    /// The failure itself. Empty when the driver of the loop has none to show.
    failure_view failure{};
};

/// The answer. `refusal == none` means: go on (after the token's delay).
struct decision {
    refusal_reason refusal = refusal_reason::none;
    /// The budget's level in milli-units when it was asked; negative when it was not.
    std::int64_t budget_level = -1;

    [[nodiscard]] constexpr bool allowed() const noexcept {
        return refusal == refusal_reason::none;
    }
};

}  // namespace reprise
