#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <reprise/couchbase/retry_strategy.hpp>

namespace reprise::couchbase {

// What is done about one reason: a fixed answer, or a function that is asked each time. The
// function runs on the client's thread and must return at once; one that has to think longer is a
// strategy of its own. What it throws fails the request as errc::strategy_failure.
struct reason_override {
    using function = std::function<retry_action(const retry_question&)>;

    reason_override(retry_reason of, retry_action always)
        : reason(of), answer([always](const retry_question&) { return always; }) {}
    template <class Callable>
        requires std::convertible_to<Callable, function>
    reason_override(retry_reason of, Callable decide) : reason(of), answer(std::move(decide)) {}

    retry_reason reason;
    function answer;
};

// Another strategy with some of its answers replaced; all other reasons go to it unchanged, and so
// do successes. One object serves all requests, as every strategy does.
class overriding_strategy final : public retry_strategy {
public:
    // Throws `invalid_settings` for a null strategy, for a reason given twice, and for reasons that
    // no strategy is ever asked about (`unknown`, and those that are always retried).
    overriding_strategy(
        std::shared_ptr<retry_strategy> otherwise, std::vector<reason_override> overrides);
    void retry_after(const retry_question& question, retry_sink& sink) override;
    decision on_start(token_state& token, const decision_context& at) override;
    void on_success(const token_state& token, const decision_context& at) override;
    [[nodiscard]] retry_budget* paying_budget() noexcept override;

private:
    std::shared_ptr<retry_strategy> otherwise_;
    std::vector<reason_override> overrides_;
};

// "As the standard, except that locked documents are not waited for":
//
//     options.strategy = overriding(
//         std::make_shared<fail_fast_on_terminal_error_strategy>(),
//         {{retry_reason::kv_locked, retry_action::no()}});
[[nodiscard]] std::shared_ptr<retry_strategy> overriding(
    std::shared_ptr<retry_strategy> otherwise, std::vector<reason_override> overrides);

}  // namespace reprise::couchbase
