#include <reprise/retry/driver/admission.hpp>

namespace reprise::driver {

namespace {

// Answers are changed in place here, and each function returns its only variable: to copy an answer
// that was just written, field by field, costs more than to decide.
void refuse(admission& answer, refusal_reason why, std::int64_t budget_level = -1) noexcept {
    answer = {};
    answer.refusal = why;
    answer.budget_level = budget_level;
}

// Takes what a retry that is sent costs, or turns `answer` into a refusal.
void charge(admission& answer, const proposed_retry& retry, const retry_limits& limits) noexcept {
    if (limits.allowance != nullptr && !limits.allowance->try_take()) {
        refuse(answer, refusal_reason::outer_allowance);
        return;
    }
    if (limits.budget != nullptr) {
        const payment paid = limits.budget->try_pay(retry.facts, retry.now);
        if (!paid.paid) {
            if (limits.allowance != nullptr) {
                limits.allowance->give_back();
            }
            refuse(answer, refusal_reason::budget_exhausted, paid.level);
            return;
        }
        answer.cost = paid.cost;
        answer.budget_level = paid.level;
    }
}

// A retry that could not start before the deadline.
void apply_deadline(
    admission& answer, const proposed_retry& retry, const retry_limits& limits) noexcept {
    switch (limits.at_deadline) {
        case deadline_policy::refuse:
            break;
        case deadline_policy::cap:
            // A retry without a delay is sent now, even at the deadline.
            if (answer.delay > duration::zero()) {
                answer.delay = driver::time_left(retry.now, limits.deadline);
                answer.is_capped = true;
            }
            return;
    }
    refuse(answer, refusal_reason::deadline);  // Also at a value outside the enumeration.
}

void apply_bound_and_deadline(
    admission& answer, const proposed_retry& retry, const retry_limits& limits) noexcept {
    answer.delay = driver::at_least_zero(retry.delay);
    const bool is_waiting = retry.is_waiting || answer.delay > duration::zero();
    if (is_waiting && limits.bound != nullptr && limits.bound->is_full()) {
        refuse(answer, refusal_reason::queue_full);
        return;
    }
    if (limits.deadline != driver::no_deadline &&
        driver::add_saturated(retry.now, answer.delay) >= limits.deadline) {
        apply_deadline(answer, retry, limits);
    }
}

}  // namespace

admission admit_unpaid(const proposed_retry& retry, const retry_limits& limits) noexcept {
    admission answer;
    apply_bound_and_deadline(answer, retry, limits);
    return answer;
}

admission admit(const proposed_retry& retry, const retry_limits& limits) noexcept {
    admission answer;
    if (retry.facts.safety == retry_safety::no) {
        refuse(answer, refusal_reason::unsafe);
    } else {
        apply_bound_and_deadline(answer, retry, limits);
        const bool is_sent = answer.is_admitted() && !answer.is_capped;
        if (is_sent) {
            charge(answer, retry, limits);
        }
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
