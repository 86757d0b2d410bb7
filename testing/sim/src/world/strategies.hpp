#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/retry/retry_strategy.hpp>
#include <reprise/sim/scenario.hpp>

namespace reprise::sim {

class world;

// Stands before a strategy: passes every question on and notes question and answer. Also plays the
// strategies that users may write: one that answers later, one that is broken.
class observed_strategy final : public retry_strategy {
public:
    observed_strategy(world& owner, std::uint32_t client, strategy_choice choice);

    void retry_after(const retry_question& asked, retry_sink& sink) override;
    decision on_start(token_state& token, const decision_context& at) override;
    void on_success(const token_state& token, const decision_context& at) override;
    [[nodiscard]] retry_budget* paying_budget() noexcept override;

    // The time of a deferred answer has come.
    void answer(std::uint64_t question);
    void forget_questions() { questions_.clear(); }

private:
    struct question {
        std::uint64_t number = 0;
        std::uint32_t operation = 0;
        std::uint64_t decision = 0;  // decisions of the operation when it was put
        deferred_answer later;
        retry_action action = retry_action::no();
        bool is_dropped = false;
    };
    void play_broken(const retry_question& asked, retry_sink& sink);
    void defer(const retry_question& asked, retry_sink& sink, std::uint32_t operation);

    world& world_;
    std::uint32_t client_;
    strategy_choice choice_;
    std::unique_ptr<retry_strategy> inner_;
    std::vector<question> questions_;
    std::uint64_t asked_count_ = 0;
};

}  // namespace reprise::sim
