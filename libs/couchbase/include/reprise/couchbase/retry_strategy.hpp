#pragma once

/// Retry strategies decide which failures are retried, and when. This header has the strategies
/// that come with the client and what you need to write another one.
///
/// The default is `fail_fast_on_terminal_error_strategy`. It retries what can be repeated safely
/// until the deadline, and fails at once with a clear error if only a person can fix the cause
/// (wrong password, refused TLS, no such bucket, scope or collection). It may change in a new
/// version: what counts as terminal may grow with new servers. If you need fixed behaviour, copy
/// the class: it needs nothing beyond this header. docs/guide/couchbase.md shows a copy.
/// ```
///     class people_first final : public couchbase::fail_fast_on_terminal_error_strategy {
///     public:
///         void retry_after(
///             const couchbase::retry_question& question, couchbase::retry_sink& sink) override {
///             const auto* who = question.at.user_data_as<std::string>();
///             if (who != nullptr && *who == "robot") {
///                 sink.answer(couchbase::retry_action::no());
///             } else {
///                 fail_fast_on_terminal_error_strategy::retry_after(question, sink);
///             }
///         }
///     };
/// ```
/// Every strategy of the retry library works here as well, with its own budget:
/// ```
///     auto standard = std::make_shared<driver::virtual_strategy<standard_strategy>>();
/// ```

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/couchbase_types/retry_strategies.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise::couchbase {

/// The question to a strategy and its answer, at once or later. `request_of(question)` and
/// `reason_of(question)` describe the failure in Couchbase's terms.
using reprise::driver::deferred_answer;
using reprise::driver::retry_action;
using reprise::driver::retry_question;
using reprise::driver::retry_sink;
using reprise::driver::retry_strategy;

/// The history of an operation's attempts. Errors and results carry it.
using reprise::refusal_reason;
using reprise::retry_history;
using reprise::driver::attempt_stage;

/// "host:port" of the node that an entry of a history is about; empty if there was none.
[[nodiscard]] inline std::string_view endpoint_of(
    const retry_history& history, const retry_history::entry& entry) noexcept {
    return driver::place_of(history, entry);
}
/// Why that node could not be reached: "connection refused". Empty for requests that were sent.
[[nodiscard]] inline std::string_view problem_of(
    const retry_history& history, const retry_history::entry& entry) noexcept {
    return driver::problem_of(history, entry);
}

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
    bool note_failure(const driver::retry_question& question) override;
    [[nodiscard]] std::optional<duration> minimum_wait(
        const driver::retry_question& question) override;
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override;

private:
    /// Null: the wrapped strategy answers.
    [[nodiscard]] const reason_override* override_of(
        const driver::retry_question& question) const noexcept;

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
