#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/sim/scenario.hpp>

namespace reprise::sim {

class world;

// Wraps a strategy: forwards every question and records question and answer. It also plays
// strategies that users may write: one that answers later, and one that is broken.
class observed_strategy final : public driver::retry_strategy {
public:
    observed_strategy(world& owner, std::uint32_t client, strategy_choice choice);

    void retry_after(const driver::retry_question& asked, driver::retry_sink& sink) override;
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) override;
    void on_success(const driver::token_state& token, const driver::decision_context& at) override;
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override;

    // The time of a deferred answer is reached.
    void answer(std::uint64_t question);
    void forget_questions() { questions_.clear(); }

private:
    struct question {
        std::uint64_t number = 0;
        std::uint32_t operation = 0;
        std::uint64_t decision = 0;  // the operation's decision count at the time of the question
        driver::deferred_answer later;
        driver::retry_action action = driver::retry_action::no();
        bool is_dropped = false;
    };
    void play_broken(const driver::retry_question& asked, driver::retry_sink& sink);
    void defer(
        const driver::retry_question& asked, driver::retry_sink& sink, std::uint32_t operation);

    world& world_;
    std::uint32_t client_;
    strategy_choice choice_;
    std::unique_ptr<driver::retry_strategy> inner_;
    std::vector<question> questions_;
    std::uint64_t asked_count_ = 0;
};

}  // namespace reprise::sim
