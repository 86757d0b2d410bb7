/// No option of `standard_strategy` is silently ignored: of two calls that differ in one field, the
/// one with the field behaves differently.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include <reprise/retry/blocking.hpp>
#include <reprise/retry/standard_strategy.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise::standard_strategy_options_test {

using namespace std::chrono_literals;
using testing::throttled;
using testing::timed_out;
using testing::transient;

/// Counts what observers and tracers get.
class listener final : public retry_observer, public retry_tracer {
public:
    void on_decision(const decision_event&) noexcept override { ++decisions; }
    std::unique_ptr<span> start_span(std::string_view, span*) noexcept override {
        ++spans;
        return nullptr;
    }
    int decisions = 0;
    int spans = 0;
};

/// What a call with some options did.
struct effect {
    std::size_t attempts = 0;
    std::vector<duration> waits;
    double units = 0;  ///< Left in the bucket.
    int decisions = 0;
    int spans = 0;
};

/// One field: sets it, and says by what it shows. All calls fail in the same way; `succeeds` after
/// one retry if that matters.
struct option_row {
    std::string_view name;
    std::function<void(standard_strategy::options&, const std::shared_ptr<listener>&)> set;
    std::function<bool(const effect&)> is_visible;
    failure_facts failure = transient();
    bool succeeds = false;
};

[[nodiscard]] effect play(const option_row& row, bool is_set) {
    testing::virtual_clock clock;
    testing::scripted_random random{testing::scripted_random::highest};
    const auto listening = std::make_shared<listener>();
    standard_strategy::options options;
    if (is_set) {
        row.set(options, listening);
    }
    standard_strategy strategy(options);
    testing::scripted_operation operation{row.failure};
    if (!row.succeeds) {
        operation.fail_forever();
    }
    static_cast<void>(
        retry(strategy, {.clock = &clock, .random = &random}, std::ref(operation)).has_value());
    return {
        operation.calls(), clock.waits(), strategy.budget().bucket()->available(),
        listening->decisions, listening->spans};
}

[[nodiscard]] std::vector<option_row> rows() {
    using o = standard_strategy::options;
    using l = std::shared_ptr<listener>;
    const failure_facts maybe{.safety = retry_safety::maybe};
    const failure_facts hint = throttled(1h);
    const auto attempts = [](std::size_t count) {
        return [count](const effect& seen) { return seen.attempts == count; };
    };
    const auto units = [](double left) {
        return [left](const effect& seen) { return seen.units == left; };
    };
    const auto second_wait_is_above = [](duration limit) {
        return [limit](const effect& seen) { return seen.waits.at(1) > limit; };
    };
    return {
        {"attempts_max", [](o& s, const l&) { s.attempts_max = 2; }, attempts(2)},
        {"breaker",
         [](o& s, const l&) {
             s.breaker = std::make_shared<circuit_breaker>(
                 driver::circuit_breaker_options{.volume_threshold = 1});
         },
         attempts(1)},
        {"observer", [](o& s, const l& listening) { s.observer = listening; },
         [](const effect& seen) { return seen.decisions == 5; }},
        {"tracer", [](o& s, const l& listening) { s.tracer = listening; },
         [](const effect& seen) { return seen.spans == 1; }},
        {"backoff.base", [](o& s, const l&) { s.backoff.base = 3s; },
         [](const effect& seen) { return seen.waits.at(0) > 2s; }},
        {"backoff.factor", [](o& s, const l&) { s.backoff.factor = 4; }, second_wait_is_above(3s)},
        {"backoff.cap", [](o& s, const l&) { s.backoff.cap = 1s; },
         [](const effect& seen) { return seen.waits.at(1) < 1s; }},
        {"backoff.jitter", [](o& s, const l&) { s.backoff.jitter = jitter::none; },
         [](const effect& seen) { return seen.waits.at(0) == 1s; }},
        {"backoff.hint_excess_max", [](o& s, const l&) { s.backoff.hint_excess_max = 2s; },
         [](const effect& seen) { return seen.waits.at(0) < 4s; }, hint},
        {"backoff.step", [](o& s, const l&) { s.backoff.step = 10s; }, second_wait_is_above(10s)},
        {"bucket.capacity", [](o& s, const l&) { s.bucket.capacity = 10; }, attempts(3)},
        {"bucket.initial", [](o& s, const l&) { s.bucket.initial = 5; }, attempts(2)},
        {"prices.retry", [](o& s, const l&) { s.prices.retry = 100; }, units(100)},
        {"prices.timeout", [](o& s, const l&) { s.prices.timeout = 100; }, units(100), timed_out()},
        {"prices.throttling", [](o& s, const l&) { s.prices.throttling = 100; }, units(100),
         throttled()},
        {"prices.refund", [](o& s, const l&) { s.prices.refund = 3; }, units(498), transient(),
         true},
        {"prices.refund_last_cost", [](o& s, const l&) { s.prices.refund_last_cost = true; },
         units(500), transient(), true},
        {"safety.failures_without_facts",
         [](o& s, const l&) { s.safety.failures_without_facts = when_unstated::retry; },
         attempts(5), failure_facts{}},
        {"safety.unmarked_calls",
         [](o& s, const l&) { s.safety.unmarked_calls = when_unstated::refuse; }, attempts(1),
         maybe},
    };
}

TEST(standard_strategy_options, every_field_has_an_effect) {
    // A new field does not compile here. Give it a row.
    const standard_strategy::options all;
    const auto& [a, b, c, d, e, f, g, h] = all;
    static_cast<void>(std::tie(a, b, c, d, e, f, g, h));
    const auto& [base, factor, cap, jitter, hint, step] = all.backoff;
    static_cast<void>(std::tie(base, factor, cap, jitter, hint, step));
    const auto& [capacity, initial] = all.bucket;
    static_cast<void>(std::tie(capacity, initial));
    const auto& [retry, timeout, throttling, refund, last_cost] = all.prices;
    static_cast<void>(std::tie(retry, timeout, throttling, refund, last_cost));
    const auto& [without_facts, unmarked] = all.safety;
    static_cast<void>(std::tie(without_facts, unmarked));
    const std::size_t single_fields = 8 - 4;  // backoff, bucket, prices and safety have their own
    EXPECT_EQ(rows().size(), single_fields + 6 + 2 + 5 + 2);

    for (const option_row& row : rows()) {
        EXPECT_FALSE(row.is_visible(play(row, false))) << row.name;
        EXPECT_TRUE(row.is_visible(play(row, true))) << row.name;
    }
}

}  // namespace reprise::standard_strategy_options_test
