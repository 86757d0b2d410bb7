#pragma once

/// One call that is played: its features, its options and the behaviour of the service.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/time.hpp>

#include "features.hpp"

namespace reprise::feature_pairs {

/// How the service treats one attempt. Its facts are true: an attempt whose failure has safety
/// `yes` was not executed.
struct attempt_script {
    duration time{};
    bool is_success = false;
    bool is_executed = false;
    bool is_thrown = false;             ///< The failure is an exception, in loops that can see it.
    bool ignores_cancellation = false;  ///< It ends when it would have ended anyway.
    bool is_at_once = false;            ///< It completes while it is being started.
    bool is_failed_start = false;       ///< It throws while it is being started.
    bool is_late = false;               ///< In blocking loops: it goes on after its limit.
    duration late_by{};       ///< With its own result, so long after it has been canceled.
    std::uint32_t heeds = 7;  ///< The types of cancellation that it supports.
    int status = 0;           ///< With the adapter: of the HTTP answer; 0: the connection broke.
    failure_facts facts{};    ///< Without the adapter.
    std::optional<duration> minimum_wait{};  ///< The failure asks for it; seconds with the adapter.
};

/// How a strategy that may answer later answers one question.
enum class answer_kind : std::uint8_t {
    prompt,         ///< At once.
    at_once,        ///< Later in form, but before its call returns.
    late,           ///< After a time.
    dropped,        ///< The right to answer is destroyed at once,
    dropped_later,  ///< or after a time.
    failed_later,   ///< It reports that it has failed, after a time.
    kept,           ///< The right to answer is kept, and not used before the call has ended.
    silent,         ///< It returns without an answer.
};

struct answer_script {
    answer_kind kind = answer_kind::prompt;
    duration after{};
};

/// The calls of a strategy.
enum class strategy_call : std::uint8_t { start, question, note, success };

/// The call in which a strategy throws.
struct throw_script {
    strategy_call in = strategy_call::start;
    std::size_t level = 0;      ///< Of two loops, the strategy of this one.
    std::uint32_t number = 1;   ///< Of a question or a note.
    bool is_after_all = false;  ///< It throws when it has done everything else, or else at once.
};

struct call_plan {
    feature_set features;
    std::uint64_t seed = 0;
    time_point start{};
    std::vector<attempt_script> attempts;  ///< The last one repeats.
    std::uint32_t attempts_max = 4;
    duration delay{};  ///< Before each retry.
    repeatability repeat = repeatability::unspecified;
    when_unstated unmarked_calls = when_unstated::retry;
    std::string method = "GET";           ///< With the adapter.
    std::uint32_t selected_codes = 0xff;  ///< Bits; with the filter: the codes that it selects.
    std::uint32_t budget_units = 1000;    ///< Retries that the budget can pay.
    std::optional<duration> timeout{};
    std::optional<duration> attempt_timeout{};
    std::optional<duration> stop_at{};
    duration first_delay{};
    std::optional<duration> signal_at{};  ///< Of `signal_type`; terminal ones follow.
    std::uint32_t signal_type = 1;        ///< A `cancellation_type`.
    bool has_strand = false;
    std::optional<duration> breaker_opens_at{};  ///< Because of other calls.
    duration hedge_delay{};
    std::uint32_t hedged_attempts_max = 2;
    std::vector<answer_script> answers{};  ///< Of late strategies; the last one repeats.
    std::optional<throw_script> thrown{};  ///< By the strategy.
    std::uint32_t stops_at_event = 0;      ///< The observer asks to stop; 0: never.
    bool stops_by_signal = false;          ///< With a signal in place of the stop token.
    std::uint32_t untraced = 0;            ///< Which of the tracer's spans are null; 0: none.

    [[nodiscard]] bool has(feature one) const { return features.has(one); }
    /// True in the loops that cancellation signals reach.
    [[nodiscard]] bool has_signals() const;
    /// Of an attempt at the service, counted from zero.
    [[nodiscard]] const attempt_script& script_of(std::size_t attempt) const {
        return attempts[std::min(attempt, attempts.size() - 1)];
    }
    [[nodiscard]] bool has_fallback() const {
        return has(feature::fallback) || has(feature::awaited_fallback);
    }
    /// True if the loop itself may cancel an attempt.
    [[nodiscard]] bool may_cancel_attempts() const {
        return timeout || attempt_timeout || has(feature::hedge);
    }
    /// True if several inner loops may run at the same time.
    [[nodiscard]] bool has_hedged_nest() const {
        return has(feature::hedge) && has(feature::nested);
    }
    /// True if the strategy is the user's own.
    [[nodiscard]] bool has_user_strategy() const {
        return thrown || has_deferring_strategy() || has(feature::eager_strategy);
    }
    /// True if a strategy may answer later: it is then always behind the virtual interface.
    [[nodiscard]] bool has_deferring_strategy() const { return !answers.empty(); }
    /// True if the calls have an observer that counts.
    [[nodiscard]] bool has_watcher() const {
        return has(feature::observer) || has(feature::stopping_observer);
    }
    /// True if the service may execute the call twice.
    [[nodiscard]] bool may_be_executed_twice() const;
};

/// The call that `seed` draws for these features.
[[nodiscard]] call_plan draw_plan(const feature_set& features, std::uint64_t seed);
/// For messages of failed tests.
[[nodiscard]] std::string to_string(const call_plan& plan);

}  // namespace reprise::feature_pairs
