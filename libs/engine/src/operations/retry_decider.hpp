#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <reprise/engine/engine_options.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/retry_history.hpp>
#include <reprise/retry/retry_progress.hpp>
#include <reprise/retry/retry_strategy.hpp>
#include <reprise/wire/service.hpp>

// The Couchbase part of a retry decision: which failures are always retried, and what must never be
// sent again. The rest is the proposal of the strategy and the admission by the library. Sends
// nothing, waits for nothing and reads no clock.
//
//     failed attempt -> forbidden? -> always retried? -> strategy -> retry_progress -> outcome

namespace reprise::engine {

// The facts of a failed attempt that are kept while a strategy is deciding.
struct failed_attempt {
    retry_reason reason = retry_reason::unknown;
    attempt_stage stage = attempt_stage::dispatch;
    std::uint16_t status = 0;
    // The error that the user gets if there is no retry and the strategy names no other error.
    errc own_error = errc::request_canceled;
};

// A failed attempt, with the facts that only the question needs.
struct retry_case : failed_attempt {
    std::optional<server_retry_rule> server_rule{};
    // Only for not-my-vbucket: the longest wait. Zero if another node is known.
    std::optional<duration> delay_max{};
    // The server promised a waiting rule for this status but sent none that can be used.
    bool is_server_rule_unusable = false;
    // The shortest wait that the server asked for (Retry-After). Zero if it did not ask.
    duration delay_floor{};
};

// The facts of the operation itself.
struct retry_subject {
    std::string_view operation{};
    wire::service service{};
    bool is_idempotent = false;
    retry_reason_set reasons{};
    time_point deadline = no_deadline;
    const std::any* user_data = nullptr;
    retry_strategy* strategy = nullptr;  // null: the client's
    retry_allowance* allowance = nullptr;
    retry_budget* budget = nullptr;  // charged unless the strategy has its own; null: none
    decision_ticket ticket{};
    retry_progress* progress = nullptr;  // never null
};

// What to do after a failed attempt.
struct retry_outcome {
    bool is_retry = false;
    // Retry: how long to wait. With `is_capped`, the wait ends exactly at the deadline, when the
    // operation times out unless it was woken before.
    duration delay{};
    bool is_capped = false;
    // No retry: the error that the user gets.
    std::error_code error{};
    bool is_ambiguous = false;
    refusal_reason refusal = refusal_reason::none;
    std::string cause{};  // why the strategy failed
};

// How many retries preceded the failure that `decided` is about.
[[nodiscard]] inline std::uint32_t retries_before(
    const retry_progress& progress, const retry_outcome& decided) noexcept {
    return decided.is_retry ? progress.retries() - 1 : progress.retries();
}

// No retry, without asking a strategy.
[[nodiscard]] retry_outcome refused(std::error_code error, refusal_reason refusal);

// The error of an operation that could not be sent or got no answer for this reason.
[[nodiscard]] errc own_error_of(retry_reason reason) noexcept;

class retry_decider {
public:
    // `channel` delivers late answers.
    retry_decider(const engine_options& options, std::shared_ptr<answer_channel> channel);

    // Returns the outcome, or nothing if the strategy will answer later. `parked_count` is the
    // number of waiting operations.
    [[nodiscard]] std::optional<retry_outcome> decide(
        const retry_case& failed, const retry_subject& subject, std::size_t parked_count,
        const decision_context& at);

    // Returns the outcome after a late answer. No answer means that the strategy failed because of
    // `cause`.
    [[nodiscard]] retry_outcome on_answer(
        const failed_attempt& failed, const retry_subject& subject,
        const std::optional<retry_action>& action, std::string cause, std::size_t parked_count,
        time_point now);

    // A capped retry is woken before the deadline: it is charged now. An outcome: it is not made.
    [[nodiscard]] std::optional<retry_outcome> on_woken(
        const failed_attempt& failed, const retry_subject& subject, time_point now);

    // An operation succeeded, with or without retries.
    void on_success(const retry_subject& subject, time_point now) noexcept;

private:
    static std::shared_ptr<answer_channel> channel_of(void* decider);

    retry_strategy& strategy_of(const retry_subject& subject) noexcept;
    bool start(const retry_subject& subject, const decision_context& at) noexcept;
    retry_outcome retry_always(
        const retry_case& failed, const retry_subject& subject, const retry_limits& limits,
        time_point now) const;
    retry_outcome conclude(
        const failed_attempt& failed, const retry_subject& subject, const retry_action& action,
        const waiting_bound& bound, time_point now);
    retry_limits limits_of(const retry_subject& subject, const waiting_bound& bound) noexcept;

    std::shared_ptr<retry_strategy> strategy_;
    std::optional<duration> not_my_vbucket_delay_;
    std::size_t parked_count_max_;
    std::shared_ptr<answer_channel> channel_;
};

}  // namespace reprise::engine
