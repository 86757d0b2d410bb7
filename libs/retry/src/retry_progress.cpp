#include <utility>

#include <reprise/retry/driver/admission.hpp>

namespace reprise::driver {

admission retry_progress::on_proposal(
    const retry_action& action, proposed_retry&& retry, const retry_limits& limits) noexcept {
    retry.delay = action.delay_or_zero();
    // One variable, returned in one place, is not copied (see `charge`).
    admission answer =
        action.is_retry() ? admit(retry, limits) : admission{.refusal = action.refusal()};
    if (answer.is_admitted()) {
        count(answer, action);
    }
    return answer;
}

void retry_progress::count(const admission& admitted, const retry_action& action) noexcept {
    ++retries_;
    ++token_.attempt;
    token_.delay = admitted.delay;
    token_.cost = admitted.cost;
    token_.memory = action.memory().value_or(token_.memory);
    is_charge_pending_ = admitted.is_capped;
    is_paid_ = !admitted.is_capped;
}

admission retry_progress::on_woken(
    const proposed_retry& retry, const retry_limits& limits) noexcept {
    if (!is_charge_pending_) {
        return {};
    }
    is_charge_pending_ = false;
    const admission answer = admit_woken(retry, limits);
    if (answer.is_admitted()) {
        token_.cost = answer.cost;
        is_paid_ = true;
    } else {
        --retries_;
        --token_.attempt;
    }
    return answer;
}

void retry_progress::on_not_made(const retry_limits& limits, time_point now) noexcept {
    // The first attempt and a retry of the protocol take nothing, and a capped one has not paid
    // yet.
    if (std::exchange(is_paid_, false)) {
        return_charge(token_.cost, limits, now);
        token_.cost = 0;
    }
}

admission retry_progress::on_unpaid_retry(
    const proposed_retry& retry, const retry_limits& limits) noexcept {
    const admission answer = admit_unpaid(retry, limits);
    if (answer.is_admitted()) {
        ++retries_;
        token_.cost = 0;  // the last retry was free, so a success has nothing to return
        is_charge_pending_ = false;
        is_paid_ = false;
    }
    return answer;
}

}  // namespace reprise::driver
