#pragma once

/// The question to a strategy after a failed attempt, and its possible answers. Plain values, for
/// authors of strategies and of clients.

#include <any>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::driver {

/// The progress of an attempt at the time of its failure.
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

/// Why an attempt failed, in a protocol's terms: one enumerator of the protocol's own reason enum.
/// Empty if there is none, as in plain retry loops.
class REPRISE_EXPORT failure_reason {
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
    /// The failure itself. Empty if the driver of the loop has none.
    failure_view failure{};
    /// The protocol's name for the failure; empty outside of a client.
    failure_reason reason{};
    /// All retries made so far, also those that no strategy was asked about.
    std::uint32_t retry_attempts = 0;
    /// The strategy has seen this failure before, when other attempts were still running (hedging).
    bool is_noted = false;
    /// The safety in `facts` was assumed because the attempt was cut short; the failure itself
    /// states none.
    bool is_assumed = false;
    token_state token{};

    /// The number of the attempt that failed; the first is 1.
    [[nodiscard]] constexpr std::uint32_t attempt() const noexcept { return retry_attempts + 1; }
};

/// A strategy's answer at the start of a request: may it be retried at all?
struct decision {
    refusal_reason refusal = refusal_reason::none;
    /// The budget's level in milli-units when it was asked; negative: it was not asked.
    std::int64_t budget_level = -1;

    [[nodiscard]] constexpr bool allowed() const noexcept {
        return refusal == refusal_reason::none;
    }
};

}  // namespace reprise::driver

/// A strategy's answer to one question.

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

/// Takes the answer of a strategy: now, or later from any thread.

namespace reprise::driver {

/// Names one decision of one operation, so that an answer that comes too late has no effect.
struct decision_ticket {
    std::uint64_t operation = 0;
    std::uint32_t decision = 0;
};

/// Carries late answers to the driver of the request. Drivers implement it.
class REPRISE_EXPORT answer_channel {
public:
    virtual ~answer_channel();
    /// Any thread. `action` absent: the strategy failed, and `cause` is the reason.
    virtual void post(
        decision_ticket ticket, std::optional<retry_action> action, std::string cause) noexcept = 0;
};

/// The right to answer one question later, from any thread. Move-only; the first answer counts.
/// Destroyed without an answer: the strategy failed, and the request is not retried. Answers after
/// the request ended (deadline, cancellation, closed client) are ignored.
class REPRISE_EXPORT deferred_answer {
public:
    deferred_answer() noexcept = default;
    deferred_answer(std::shared_ptr<answer_channel> channel, decision_ticket ticket) noexcept;
    deferred_answer(deferred_answer&&) noexcept = default;
    deferred_answer& operator=(deferred_answer&& other) noexcept;
    ~deferred_answer();

    void answer(retry_action action) noexcept;
    /// The strategy could not decide. A client fails the request with this cause.
    void fail(std::string cause) noexcept;

private:
    std::shared_ptr<answer_channel> channel_;
    decision_ticket ticket_;
};

/// Lives during one call of `retry_strategy::retry_after`. Exactly one of `answer`, `fail` and
/// `defer` must be called before it returns; none of them means that the strategy failed; of
/// several the first counts.
class REPRISE_EXPORT retry_sink {
public:
    /// Makes the channel of a late answer. Called at most once, when the strategy defers.
    using channel_maker = std::shared_ptr<answer_channel> (*)(void* driver);

    /// With a null `make_channel` nothing can wait: a strategy that defers has failed.
    retry_sink(channel_maker make_channel, void* driver, decision_ticket ticket = {}) noexcept
        : make_channel_(make_channel), driver_(driver), ticket_(ticket) {}
    retry_sink(const retry_sink&) = delete;
    retry_sink& operator=(const retry_sink&) = delete;

    /// Answers at once; allocates nothing.
    void answer(const retry_action& action) noexcept;
    void fail(std::string cause) noexcept;
    /// The strategy threw: what it has answered does not count, and a late answer has no effect.
    void on_exception(std::string cause) noexcept;
    /// Answers later. The request waits, at most until its deadline; nothing else waits with it.
    [[nodiscard]] deferred_answer defer();

    enum class state : std::uint8_t { open, answered, failed, deferred };
    [[nodiscard]] state current() const noexcept { return state_; }
    [[nodiscard]] const std::optional<retry_action>& action() const noexcept { return action_; }
    [[nodiscard]] std::string take_cause() noexcept { return std::move(cause_); }

private:
    channel_maker make_channel_;
    void* driver_;
    decision_ticket ticket_;
    std::optional<retry_action> action_;
    std::string cause_;
    state state_ = state::open;
};

}  // namespace reprise::driver
