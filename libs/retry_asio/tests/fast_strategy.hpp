#pragma once

/// A strategy for tests: delays without jitter, so that virtual time is easy to follow.

#include <chrono>
#include <cstdint>

#include <reprise/retry/standard_strategy.hpp>

namespace reprise::testing {

/// Delays of 1, 2, 4, ... units; `attempts_max` attempts.
[[nodiscard]] inline standard_strategy::options steps_of(
    duration unit, std::uint32_t attempts_max = 5) {
    standard_strategy::options options;
    options.attempts_max = attempts_max;
    options.backoff.base = unit;
    options.backoff.cap = unit * 16;
    options.backoff.jitter = jitter::none;
    options.bucket.capacity = 1e6;  // Some tests run a thousand loops on one strategy.
    return options;
}

/// Grants an initial token with a delay, then refuses every retry.
class slow_start : public driver::token_issuer<slow_start> {
public:
    explicit slow_start(duration delay) : delay_(delay) {}
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) noexcept {
        token = driver::token_state{};
        token.delay = delay_;
        return {};
    }
    driver::retry_action retry_after(driver::token_state&, const driver::retry_question&) noexcept {
        return driver::retry_action::no(refusal_reason::attempts_exhausted);
    }
    void on_success(const driver::token_state&, const driver::decision_context&) noexcept {}

private:
    duration delay_;
};

}  // namespace reprise::testing
