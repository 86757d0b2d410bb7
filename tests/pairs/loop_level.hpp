#pragma once

/// One of two nested loops: its charges, its observers, its strategy and its times.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_history.hpp>
#include <reprise/retry/retry_observer.hpp>
#include <reprise/retry/token_bucket.hpp>

#include "plan.hpp"
#include "span_recorder.hpp"

namespace reprise::feature_pairs {

/// A loop's charges.
class ledger {
public:
    ledger(reporter report, std::uint32_t units) : report_(std::move(report)), units_(units) {}

    [[nodiscard]] driver::payment try_pay();
    void give_back(std::uint32_t cost);
    void on_success(std::uint32_t cost, std::uint32_t attempt);

    [[nodiscard]] std::uint32_t paid_count() const { return paid_count_; }
    [[nodiscard]] std::uint32_t success_count() const { return success_count_; }

private:
    reporter report_;
    std::uint32_t units_;
    std::uint32_t paid_count_ = 0;  ///< What was returned is subtracted.
    std::uint32_t last_cost_ = 0;
    std::uint32_t success_count_ = 0;
};

/// The budget of a strategy; copies share the ledger.
class ledger_budget final : public driver::retry_budget {
public:
    explicit ledger_budget(ledger* shared) : shared_(shared) {}
    [[nodiscard]] driver::payment try_pay(const failure_facts&, time_point) noexcept override;
    void give_back(std::uint32_t cost, time_point) noexcept override;
    void on_success(std::uint32_t cost, std::uint32_t attempt, time_point) noexcept override;

private:
    ledger* shared_;
};

/// Counts what an observer sees.
class watcher final : public retry_observer {
public:
    void on_decision(const decision_event& event) noexcept override;
    void on_completion(const call_summary& summary) noexcept override;

    std::uint32_t failed_attempts = 0;
    std::uint32_t completions = 0;
    std::uint32_t timeouts = 0;  ///< Of the failed attempts.
    std::uint32_t successes = 0;
    std::uint32_t attempts = 0;  ///< As summaries report them.
    refusal_reason last_refusal = refusal_reason::none;
    std::function<void()> after_event = [] {};
};

/// Counts events, and throws.
struct throwing_functions {
    std::uint32_t failed_attempts = 0;
    std::uint32_t completions = 0;

    [[noreturn]] void on_decision(const decision_event& event);
    [[noreturn]] void on_completion();
};

/// One of two loops: 0 is the outer one, 1 the one inside its operation.
struct loop_level {
    loop_level(const call_plan& chosen, std::size_t which, reporter to);

    const call_plan& plan;
    std::size_t index;
    reporter report;

    ledger charges;
    std::shared_ptr<watcher> observer = std::make_shared<watcher>();
    throwing_functions functions;
    std::shared_ptr<span_recorder> spans;
    retry_history history;
    std::uint32_t calls = 0;
    std::uint32_t attempts = 0;
    std::uint32_t retries = 0;
    std::uint32_t failures = 0;
    std::uint32_t late_failures = 0;  ///< After the limit of their attempt.
    std::uint32_t successes = 0;
    time_point first_at{};                      ///< When the first attempt of the call must start.
    time_point limit = driver::no_deadline;     ///< Of the attempt that started last.
    time_point deadline = driver::no_deadline;  ///< Of the call.
    time_point failed_at{};                     ///< When the last attempt of the call failed.
    time_point answered_at{};                   ///< When its strategy has answered.
    time_point next_at{};                       ///< When the retry must start.
    std::uint32_t questions = 0;                ///< To strategies of the user.
    std::uint32_t notes = 0;
    std::uint32_t reported_successes = 0;
    bool has_no_token = false;  ///< The strategy has failed at the start.
    bool is_given_up = false;   ///< It has failed, or will not answer.
    bool is_abandoned = false;  ///< The call has ended without a result.
    feature_set acted;          ///< Of those that may stay without effect.

    /// When a call of the strategy throws.
    enum class thrown_when : std::uint8_t { never, before, after };
    [[nodiscard]] thrown_when enter_strategy(strategy_call which, time_point now);
    /// How the strategy answers the question that it is asked now.
    [[nodiscard]] const answer_script& next_answer();
    /// An attempt starts.
    void check_start(const attempt& current, time_point now) const;
    /// A call ends without a success: it does not wait, not even for a retry that would be too
    /// late.
    void check_end(time_point now) const;
    /// After everything has ended; `succeeded` counts calls.
    void verify(std::uint32_t succeeded) const;

private:
    /// The strategy fails, or has not answered by then.
    void give_up(time_point when);
    void violate(const std::string& violation) const;
    void verify_strategy(std::uint32_t succeeded) const;
    void verify_functions() const;
    void verify_watcher(std::uint32_t succeeded) const;
    void verify_refusal() const;
};

}  // namespace reprise::feature_pairs
