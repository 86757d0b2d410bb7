#pragma once

/// Strategies as users write them against `reprise::driver`: one that answers at once, and one that
/// answers late or not at all. Both may throw in their calls, and propose either what the strategy
/// of the plan proposes or every retry. They report to the world what they do.

#include <cstddef>
#include <optional>

#include <reprise/retry/driver/retry_strategy.hpp>

#include "world.hpp"

namespace reprise::feature_pairs {

/// Throws in the call that the plan names.
class user_strategy : public strategy_type {
public:
    user_strategy(world& w, std::size_t level)
        : strategy_type(w.strategy(level)), world_(&w), level_(level) {}

    [[nodiscard]] driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at);
    [[nodiscard]] driver::retry_action retry_after(
        driver::token_state& token, const driver::retry_question& question);
    [[nodiscard]] bool note_failure(const driver::retry_question& question);
    void on_success(const driver::token_state& token, const driver::decision_context& at);

private:
    world* world_;
    std::size_t level_;
};

/// Answers as planned, and may throw as well.
class deferring_strategy final : public driver::retry_strategy {
public:
    deferring_strategy(world& w, std::size_t level);

    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override;
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) override;
    void on_success(const driver::token_state& token, const driver::decision_context& at) override;
    bool note_failure(const driver::retry_question& question) override;
    [[nodiscard]] std::optional<duration> minimum_wait(
        const driver::retry_question& question) override;
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override;

private:
    void answer(
        const answer_script& script, const driver::retry_action& action, driver::retry_sink& sink);

    world& world_;
    std::size_t level_;
    strategy_type inner_;
};

}  // namespace reprise::feature_pairs
