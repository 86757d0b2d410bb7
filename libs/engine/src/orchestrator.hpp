#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <reprise/engine/engine_options.hpp>
#include <reprise/engine/retry_history.hpp>
#include <reprise/retry/allowance.hpp>

// The one place where it is decided whether an operation is tried again. Facts in, verdict out: it
// sends nothing, waits for nothing and reads no clock.

namespace reprise::engine {

// One failed attempt, as far as it is remembered while a strategy thinks.
struct failed_attempt {
    retry_reason reason = retry_reason::unknown;
    attempt_stage stage = attempt_stage::dispatch;
    std::uint16_t status = 0;
    // What the user sees if there is no retry and the strategy names nothing else.
    errc own_error = errc::request_canceled;
};

// The same with what only the question needs.
struct retry_case : failed_attempt {
    std::optional<server_retry_rule> server_rule{};
    // Not-my-vbucket only: a wait longer than this is cut to it. Zero: another node is known.
    std::optional<duration> delay_max{};
    // The server promised a waiting rule for this status, and none can be used.
    bool is_server_rule_unusable = false;
    // The server asked for at least this wait (Retry-After); zero: it did not.
    duration delay_floor{};
};

// What the operation contributes.
struct retry_subject {
    std::string_view operation{};
    bool is_idempotent = false;
    std::uint32_t attempts = 0;  // retries made before
    retry_reason_set reasons{};
    time_point deadline = no_deadline;
    std::shared_ptr<const std::any> user_data{};
    request_strategy* strategy = nullptr;  // null: the client's
    retry_allowance* allowance = nullptr;
    bucket_budget* budget = nullptr;  // of its service; null: the client's
    decision_ticket ticket{};
    strategy_memory memory{};
};

struct verdict {
    bool is_retry = false;
    // Retry: how long to wait; with `is_capped` exactly until the deadline, when it times out.
    duration delay{};
    bool is_capped = false;
    // No retry: what the user sees.
    std::error_code error{};
    bool is_ambiguous = false;
    retry_refusal refusal = retry_refusal::none;
    std::string cause{};                      // of a strategy that failed
    std::uint32_t budget_cost = 0;            // milli-units paid for this retry
    std::optional<strategy_memory> memory{};  // retry: what the strategy wants kept
};

// No retry, whatever a strategy would have said.
[[nodiscard]] verdict refused(std::error_code error, retry_refusal refusal);

// The error of an operation that could not be sent, or got no answer, for this reason.
[[nodiscard]] errc own_error_of(retry_reason reason) noexcept;

class orchestrator {
public:
    // `channel` brings answers that come later.
    orchestrator(const engine_options& options, std::shared_ptr<answer_channel> channel);

    // The verdict; nothing if the strategy will answer later. `parked_count` operations wait now.
    [[nodiscard]] std::optional<verdict> decide(
        const retry_case& failed, const retry_subject& subject, std::size_t parked_count,
        std::uint64_t random, time_point now);

    // The verdict once a late answer is there (absent: the strategy failed, by `cause`).
    [[nodiscard]] verdict on_answer(
        const failed_attempt& failed, const retry_subject& subject,
        const std::optional<retry_action>& action, std::string cause, std::size_t parked_count,
        time_point now);

    // An operation succeeded; `cost` is what its last retry had cost.
    void on_success(const retry_subject& subject, std::uint32_t cost, time_point now) noexcept;

private:
    verdict conclude(
        const failed_attempt& failed, const retry_subject& subject, const retry_action& action,
        std::size_t parked_count, time_point now);
    verdict schedule(
        duration delay, attempt_stage stage, const retry_subject& subject, std::size_t parked_count,
        time_point now) const;

    bucket_budget* budget_of(const retry_subject& subject) noexcept;

    std::shared_ptr<request_strategy> strategy_;
    std::optional<bucket_budget> budget_;
    std::optional<duration> not_my_vbucket_delay_;
    std::size_t parked_count_max_;
    std::shared_ptr<answer_channel> channel_;
};

}  // namespace reprise::engine
