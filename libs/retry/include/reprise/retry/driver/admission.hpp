#pragma once

/// The step after a strategy's answer. A strategy proposes a retry; `admit` decides whether it
/// is made. This is the only place where an allowance is taken or a budget charged, so every loop
/// and every client refuses in the same order and for the same reasons:
///
/// ```
/// 0. safety     does the failure state that it must not be retried?
/// 1. bound      is there a place for one more waiting request?    nothing taken so far
/// 2. deadline   can it start in time?                             nothing taken so far
/// 3. allowance  has every enclosing loop a retry left?            takes one
/// 4. budget     can the whole price be paid?                      pays, or returns the allowance
/// ```
///
/// A retry that is capped stops after step 2: it is sent only if its cause ends before the
/// deadline, so steps 3 and 4 wait for that (`admit_woken`).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/token_bucket.hpp>

/// Retries inside retries multiply: three layers of five attempts are 125. An allowance lets an
/// outer loop pass its remaining retries down, so that the whole nest makes no more than the outer
/// loop would have made alone.

namespace reprise::driver {

/// The retries one loop may still make, shared with the loops inside its operation. Thread-safe;
/// must outlive the loops that take from it (the loop that owns it does).
class retry_allowance {
public:
    /// Absent `retries`: unlimited by itself; a parent still counts.
    explicit retry_allowance(
        const std::optional<std::uint32_t>& retries, retry_allowance* parent = nullptr) noexcept
        : left_(retries.value_or(unlimited)), parent_(parent) {}
    retry_allowance(const retry_allowance&) = delete;
    retry_allowance& operator=(const retry_allowance&) = delete;

    /// Takes one retry here and from every enclosing loop, or nothing.
    [[nodiscard]] bool try_take() noexcept {
        if (!take_own()) {
            return false;
        }
        if (parent_ != nullptr && !parent_->try_take()) {
            give_own();
            return false;
        }
        return true;
    }

    /// Returns what `try_take` took, when the retry was refused for another reason.
    void give_back() noexcept {
        give_own();
        if (parent_ != nullptr) {
            parent_->give_back();
        }
    }

    /// Retries left here; absent when unlimited.
    [[nodiscard]] std::optional<std::uint32_t> left() const noexcept {
        const std::uint32_t value = left_.load(std::memory_order_relaxed);
        return value == unlimited ? std::nullopt : std::optional{value};
    }

private:
    static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] bool take_own() noexcept {
        std::uint32_t left = left_.load(std::memory_order_relaxed);
        do {
            if (left == 0) {
                return false;
            }
            if (left == unlimited) {
                return true;
            }
        } while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed));
        return true;
    }
    void give_own() noexcept {
        if (left_.load(std::memory_order_relaxed) != unlimited) {
            left_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    std::atomic<std::uint32_t> left_;
    retry_allowance* parent_;
};

/// The treatment of a retry that could not start before the deadline.
enum class deadline_policy : std::uint8_t {
    refuse,  ///< It is refused (Smithy's guide).
    cap,     ///< It waits until the deadline, in case its cause ends before (RFC 0049).
};

/// Limits the number of requests of one client that wait at once.
struct waiting_bound {
    std::size_t count = 0;  ///< Requests that wait now.
    std::size_t count_max = std::numeric_limits<std::size_t>::max();

    [[nodiscard]] bool is_full() const noexcept { return count >= count_max; }
};

/// Limits on the retries of a request, in addition to its strategy. Null: no such limit.
struct retry_limits {
    time_point deadline = no_deadline;
    deadline_policy at_deadline = deadline_policy::refuse;
    const waiting_bound* bound = nullptr;
    retry_allowance* allowance = nullptr;
    retry_budget* budget = nullptr;
};

/// The facts of a retry that no failure asked for, such as a hedge.
inline constexpr failure_facts nothing_known{};

/// One retry that a strategy or a protocol proposes. For one call, during which `facts` must live.
struct proposed_retry {
    duration delay{};
    /// The request needs a place among those that wait even without a delay.
    bool is_waiting = false;
    time_point now{};
    /// Of the failure. They set the price, and a stated `retry_safety::no` is final whatever the
    /// strategy proposes.
    const failure_facts& facts = nothing_known;
};

/// The fate of a proposed retry: made or not, when, and at what cost.
struct admission {
    refusal_reason refusal = refusal_reason::none;
    duration delay{};  ///< Wait this long; with `is_capped` exactly until the deadline.
    /// The request is sent again, and charged, only if its cause ends before.
    bool is_capped = false;
    std::uint32_t cost = 0;          ///< Milli-units paid.
    std::int64_t budget_level = -1;  ///< The budget's level after the retry was charged or refused;
                                     ///< negative: no budget was asked.

    [[nodiscard]] bool is_admitted() const noexcept { return refusal == refusal_reason::none; }
};

/// Safety, bound, deadline, allowance, budget, in this order. What was taken is returned when a
/// later step refuses. A capped retry takes nothing.
[[nodiscard]] REPRISE_EXPORT admission
admit(const proposed_retry& retry, const retry_limits& limits) noexcept;

/// Allowance and budget of a capped retry whose cause has ended: it is sent now, so now it is paid
/// for.
[[nodiscard]] REPRISE_EXPORT admission
admit_woken(const proposed_retry& retry, const retry_limits& limits) noexcept;

/// An admitted retry that cost `cost` is not made after all: returns the allowance and the price.
REPRISE_EXPORT void return_charge(
    std::uint32_t cost, const retry_limits& limits, time_point now) noexcept;

/// Bound and deadline only, for retries that a protocol makes in any case and that are free.
[[nodiscard]] REPRISE_EXPORT admission
admit_unpaid(const proposed_retry& retry, const retry_limits& limits) noexcept;

/// The progress of one request: its retries and its token. It counts and admits; it asks no
/// strategy, reads no clock and allocates nothing, so it can be embedded in an operation.
class REPRISE_EXPORT retry_progress {
public:
    retry_progress() noexcept = default;
    /// For requests that count their retries elsewhere.
    explicit retry_progress(std::uint32_t retries) noexcept : retries_(retries) {}

    /// Continues with a token that was granted before.
    void resume(const token_state& token) noexcept {
        token_ = token;
        retries_ = token.attempt - 1;
        start_ = start::granted;
    }
    /// The strategy's answer at the start of the request.
    void on_start(const decision& granted) noexcept {
        start_ = granted.allowed() ? start::granted : start::refused;
    }
    [[nodiscard]] bool is_started() const noexcept { return start_ != start::open; }
    /// False: there will be no retry.
    [[nodiscard]] bool is_granted() const noexcept { return start_ == start::granted; }

    /// Retries admitted so far, all of them.
    [[nodiscard]] std::uint32_t retries() const noexcept { return retries_; }
    /// The strategy's view: it counts only the retries that the strategy granted.
    [[nodiscard]] const token_state& token() const noexcept { return token_; }
    [[nodiscard]] token_state& token() noexcept { return token_; }

    /// A strategy has answered; its delay is written into `retry`. An admitted retry counts in
    /// `retries` and in the token.
    [[nodiscard]] admission on_proposal(
        const retry_action& action, proposed_retry&& retry, const retry_limits& limits) noexcept;
    /// A capped retry of a strategy was admitted; it is charged when it is woken.
    [[nodiscard]] bool is_charge_pending() const noexcept { return is_charge_pending_; }
    /// The cause of a capped retry ended before the deadline: it is sent now and charged now. A
    /// retry that is refused here is not made and does not count.
    [[nodiscard]] admission on_woken(
        const proposed_retry& retry, const retry_limits& limits) noexcept;
    /// The last admitted retry is made: what it took stays taken.
    void on_made() noexcept { is_paid_ = false; }
    /// An admitted retry was paid for and is neither made nor given up yet.
    [[nodiscard]] bool has_unmade_retry() const noexcept { return is_paid_; }
    /// The attempt that was to start now is not made. If it is a retry that was paid for, what it
    /// took is returned.
    void on_not_made(const retry_limits& limits, time_point now) noexcept;
    /// The protocol retries this failure in any case; no strategy was asked.
    [[nodiscard]] admission on_unpaid_retry(
        const proposed_retry& retry, const retry_limits& limits) noexcept;

private:
    /// Counts an admitted retry of a strategy.
    void count(const admission& admitted, const retry_action& action) noexcept;

    enum class start : std::uint8_t { open, granted, refused };

    token_state token_{};
    std::uint32_t retries_ = 0;
    start start_ = start::open;
    bool is_charge_pending_ = false;
    bool is_paid_ = false;  // the last admitted retry, until it is made
};

static_assert(sizeof(retry_progress) <= 96);

}  // namespace reprise::driver
