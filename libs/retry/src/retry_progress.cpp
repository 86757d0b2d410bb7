#include <reprise/retry/retry_progress.hpp>

namespace reprise {

admission retry_progress::on_proposal(
    const retry_action& action, proposed_retry retry, const retry_limits& limits) noexcept {
    if (!action.is_retry()) {
        admission refused;
        refused.refusal = action.refusal();
        return refused;
    }
    retry.delay = *action.delay();
    const admission answer = admit(retry, limits);
    if (answer.is_admitted()) {
        ++retries_;
        ++token_.attempt;
        token_.delay = answer.delay;
        token_.cost = answer.cost;
        token_.memory = action.memory().value_or(token_.memory);
    }
    return answer;
}

admission retry_progress::on_unpaid_retry(
    const proposed_retry& retry, const retry_limits& limits) noexcept {
    const admission answer = admit_unpaid(retry, limits);
    if (answer.is_admitted()) {
        ++retries_;
        token_.cost = 0;  // the last retry was free, so a success has nothing to return
    }
    return answer;
}

}  // namespace reprise
