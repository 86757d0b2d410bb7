#pragma once

/// A strategy's answer to one question.

#include <cstdint>
#include <optional>
#include <system_error>

#include <reprise/retry/driver/retry_question.hpp>

namespace reprise::driver {

/// Retry after a time (zero: now), or do not retry. A proposal: whether the retry is made depends
/// on the deadline, the allowance and the budget as well (`admission.hpp`).
class retry_action {
public:
    /// Negative durations count as zero.
    [[nodiscard]] static retry_action after(duration delay) noexcept {
        retry_action action;
        action.delay_ = at_least_zero(delay);
        action.refusal_ = refusal_reason::none;
        return action;
    }
    /// The caller sees the operation's own error; `why` is recorded.
    [[nodiscard]] static retry_action no(
        refusal_reason why = refusal_reason::strategy_refused) noexcept {
        retry_action action;
        action.refusal_ = why == refusal_reason::none ? refusal_reason::strategy_refused : why;
        return action;
    }
    /// A client reports `error`, along with the operation's own failure. Plain loops return
    /// the operation's own error whatever a strategy answers.
    [[nodiscard]] static retry_action no(std::error_code error) noexcept {
        retry_action action;
        action.category_ = &error.category();
        action.code_ = error.value();
        return action;
    }

    /// The same answer; `memory` comes back in `token_state::memory` with the next question about
    /// this request and with its success. Kept only if the retry is made.
    [[nodiscard]] retry_action remembering(std::uint64_t memory) const noexcept {
        retry_action action = *this;
        action.memory_ = memory;
        return action;
    }

    [[nodiscard]] bool is_retry() const noexcept { return refusal_ == refusal_reason::none; }
    /// The delay of a retry; absent for a no.
    [[nodiscard]] std::optional<duration> delay() const noexcept {
        return is_retry() ? std::optional(delay_) : std::nullopt;
    }
    /// The delay of a retry; zero for a no.
    [[nodiscard]] duration delay_or_zero() const noexcept { return delay_; }
    [[nodiscard]] refusal_reason refusal() const noexcept { return refusal_; }
    [[nodiscard]] std::error_code error() const noexcept {
        return category_ == nullptr ? std::error_code() : std::error_code(code_, *category_);
    }
    /// The parts of `error`; the category is null if there is none.
    [[nodiscard]] const std::error_category* error_category() const noexcept { return category_; }
    [[nodiscard]] int error_value() const noexcept { return code_; }
    [[nodiscard]] std::optional<std::uint64_t> memory() const noexcept { return memory_; }

private:
    retry_action() noexcept = default;

    duration delay_{};
    // Not a `std::error_code`: that calls a function to find its category, in every answer.
    const std::error_category* category_ = nullptr;
    int code_ = 0;
    std::optional<std::uint64_t> memory_;
    refusal_reason refusal_ = refusal_reason::strategy_refused;
};

}  // namespace reprise::driver
