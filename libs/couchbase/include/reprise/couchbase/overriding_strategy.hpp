#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <reprise/couchbase/retry_strategy.hpp>

namespace reprise::couchbase {

/// The answer for one reason: a fixed one, or a function that is called each time. The function
/// runs on the client's thread and must return at once; write a strategy if the answer takes
/// longer. If the function throws, the operation fails with errc::strategy_failure.
struct reason_override {
    using function = std::function<driver::retry_action(const driver::retry_question&)>;

    reason_override(retry_reason of, driver::retry_action always)
        : reason(of), answer([always](const driver::retry_question&) { return always; }) {}
    template <class Callable>
        requires std::convertible_to<Callable, function>
    reason_override(retry_reason of, Callable decide) : reason(of), answer(std::move(decide)) {}

    retry_reason reason;
    function answer;
};

/// Wraps another strategy and replaces some of its answers. Questions about other reasons and
/// successes are passed on unchanged. Like every strategy, one object serves all operations.
class overriding_strategy final : public driver::retry_strategy {
public:
    /// Throws `invalid_settings` for a null strategy, for a reason that is listed twice, and for
    /// reasons that no strategy is asked about (`unknown`, and those that are always retried).
    overriding_strategy(
        std::shared_ptr<driver::retry_strategy> otherwise, std::vector<reason_override> overrides);
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override;
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) override;
    void on_success(const driver::token_state& token, const driver::decision_context& at) override;
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override;

private:
    std::shared_ptr<driver::retry_strategy> otherwise_;
    std::vector<reason_override> overrides_;
};

/// Makes an overriding_strategy. The default strategy, except that locked documents fail at once:
/// ```
///     return couchbase::overriding(
///         std::make_shared<couchbase::fail_fast_on_terminal_error_strategy>(),
///         {{couchbase::retry_reason::kv_locked, couchbase::retry_action::no()}});
/// ```
[[nodiscard]] std::shared_ptr<driver::retry_strategy> overriding(
    std::shared_ptr<driver::retry_strategy> otherwise, std::vector<reason_override> overrides);

}  // namespace reprise::couchbase
