#include <reprise/retry/driver/admission.hpp>

namespace reprise::driver {

namespace {

[[nodiscard]] admission refuse(refusal_reason why, std::int64_t budget_level = -1) noexcept {
    admission answer;
    answer.refusal = why;
    answer.budget_level = budget_level;
    return answer;
}

// Takes what a retry that is sent costs, or turns `answer` into a refusal. Answers are changed in
// place here: to copy one that was just written, field by field, costs more than to decide.
void charge(admission& answer, const proposed_retry& retry, const retry_limits& limits) noexcept {
    if (limits.allowance != nullptr && !limits.allowance->try_take()) {
        answer = refuse(refusal_reason::outer_allowance);
        return;
    }
    if (limits.budget != nullptr) {
        const payment paid = limits.budget->try_pay(retry.facts, retry.now);
        if (!paid.paid) {
            if (limits.allowance != nullptr) {
                limits.allowance->give_back();
            }
            answer = refuse(refusal_reason::budget_exhausted, paid.level);
            return;
        }
        answer.cost = paid.cost;
        answer.budget_level = paid.level;
    }
}

}  // namespace

admission admit_unpaid(const proposed_retry& retry, const retry_limits& limits) noexcept {
    admission answer;
    answer.delay = driver::at_least_zero(retry.delay);
    const bool is_waiting = retry.is_waiting || answer.delay > duration::zero();
    if (is_waiting && limits.bound != nullptr && limits.bound->is_full()) {
        return refuse(refusal_reason::queue_full);
    }
    if (limits.deadline == driver::no_deadline ||
        driver::add_saturated(retry.now, answer.delay) < limits.deadline) {
        return answer;
    }
    switch (limits.at_deadline) {
        case deadline_policy::refuse:
            return refuse(refusal_reason::deadline);
        case deadline_policy::cap:
            // A retry without a delay is sent now, even at the deadline.
            if (answer.delay > duration::zero()) {
                answer.delay = driver::time_left(retry.now, limits.deadline);
                answer.is_capped = true;
            }
            return answer;
    }
    return refuse(refusal_reason::deadline);  // A value outside the enumeration: not trusted.
}

admission admit(const proposed_retry& retry, const retry_limits& limits) noexcept {
    if (retry.facts.safety == retry_safety::no) {
        return refuse(refusal_reason::unsafe);
    }
    admission answer = admit_unpaid(retry, limits);
    const bool is_sent = answer.is_admitted() && !answer.is_capped;
    if (is_sent) {
        charge(answer, retry, limits);
    }
    return answer;
}

admission admit_woken(const proposed_retry& retry, const retry_limits& limits) noexcept {
    admission answer;
    charge(answer, retry, limits);
    return answer;
}

void return_charge(std::uint32_t cost, const retry_limits& limits, time_point now) noexcept {
    if (limits.allowance != nullptr) {
        limits.allowance->give_back();
    }
    if (limits.budget != nullptr) {
        limits.budget->give_back(cost, now);
    }
}

}  // namespace reprise::driver
