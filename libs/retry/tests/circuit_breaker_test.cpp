#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/retry/retry_metrics.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise::circuit_breaker_test {

using namespace std::chrono_literals;

constexpr driver::circuit_breaker_options four{.volume_threshold = 4};

struct down : std::runtime_error {
    down() : std::runtime_error("down") {}
};

/// A service that is down until `is_up`, and everything a call to it needs.
struct service {
    testing::virtual_clock clock;
    retry_history history;
    call_options options{.history = &history, .clock = &clock};
    std::vector<std::pair<circuit_state, circuit_state>> changes;
    std::shared_ptr<circuit_breaker> breaker = std::make_shared<circuit_breaker>(
        four, nullptr,
        [this](circuit_state from, circuit_state to) { changes.emplace_back(from, to); });
    bool is_up = false;
    int calls = 0;

    int answer() {
        ++calls;
        if (!is_up) {
            throw down();
        }
        return calls;
    }
    int ask(std::uint32_t attempts_max = 1) {
        const auto rule = attempts(attempts_max).every(1s).breaker(breaker);
        return retry(rule, options, throws_on_failure([this] { return answer(); }));
    }
    void open() {
        EXPECT_THROW(ask(4), down);
        EXPECT_EQ(breaker->state(), circuit_state::open);
    }
};

TEST(circuit_breaker, opens_when_too_many_attempts_fail) {
    service s;
    EXPECT_THROW(s.ask(3), down);
    EXPECT_EQ(s.breaker->state(), circuit_state::closed);
    EXPECT_THROW(s.ask(), down);
    EXPECT_EQ(s.breaker->state(), circuit_state::open);
}

TEST(circuit_breaker, ends_a_call_with_its_own_error_when_it_opens_on_the_way) {
    service s;
    EXPECT_THROW(s.ask(10), down);
    EXPECT_EQ(s.calls, 4);
    EXPECT_EQ(s.history.refusal(), refusal_reason::circuit_open);
    EXPECT_EQ(s.history.failed_attempts(), 4U);
}

TEST(circuit_breaker, refuses_the_first_attempt_while_open) {
    service s;
    s.open();
    s.calls = 0;
    EXPECT_THROW(s.ask(), retry_error);
    EXPECT_EQ(s.calls, 0);
    EXPECT_EQ(s.history.refusal(), refusal_reason::circuit_open);
    EXPECT_NE(to_string(s.history).find("attempt 1 not made"), std::string::npos);
}

TEST(circuit_breaker, a_result_that_can_carry_the_error_is_returned) {
    service s;
    s.open();
    const std::error_code code =
        retry(attempts(3).breaker(s.breaker), s.options, [] { return std::error_code(); });
    EXPECT_EQ(code, retry_errc::circuit_open);
    EXPECT_EQ(code.message(), "circuit breaker is open");
    EXPECT_EQ(facts_of(code).safety, retry_safety::yes) << "nothing was sent";
}

TEST(circuit_breaker, while_it_is_closed_a_call_reads_the_clock_only_at_its_end) {
    service s;
    s.is_up = true;
    s.options.history = nullptr;
    EXPECT_EQ(s.ask(), 1);
    EXPECT_EQ(s.clock.reads(), 1U) << "its outcome counts from then";
}

TEST(circuit_breaker, a_fallback_stands_in_while_it_is_open) {
    service s;
    s.open();
    const auto rule = attempts(3).breaker(s.breaker);
    const int value =
        retry(rule, s.options, with_fallback(42, throws_on_failure([&] { return s.answer(); })));
    EXPECT_EQ(value, 42);
    EXPECT_EQ(s.calls, 4);
}

TEST(circuit_breaker, a_probe_that_succeeds_closes_it) {
    service s;
    s.open();
    s.clock.advance(5s);
    s.is_up = true;
    EXPECT_EQ(s.ask(), 5);
    EXPECT_EQ(s.breaker->state(), circuit_state::closed);
    using enum circuit_state;
    const std::vector<std::pair<circuit_state, circuit_state>> expected{
        {closed, open}, {open, half_open}, {half_open, closed}};
    EXPECT_EQ(s.changes, expected);
}

// With a history every call reads the clock at its start anyway.
TEST(circuit_breaker, a_call_without_history_becomes_the_probe_as_well) {
    service s;
    s.options.history = nullptr;
    s.open();
    s.is_up = true;
    s.clock.advance(5s);
    EXPECT_NO_THROW(s.ask());
    EXPECT_EQ(s.calls, 5);
    EXPECT_EQ(s.breaker->state(), circuit_state::closed);
}

TEST(circuit_breaker, a_probe_that_fails_opens_it_again) {
    service s;
    s.open();
    s.clock.advance(5s);
    EXPECT_THROW(s.ask(3), down);
    EXPECT_EQ(s.calls, 5) << "one probe, no retry of it";
    EXPECT_EQ(s.breaker->state(), circuit_state::open);
    s.clock.advance(4s);
    EXPECT_THROW(s.ask(), retry_error);
}

TEST(circuit_breaker, while_the_probe_is_on_its_way_nothing_else_passes) {
    circuit_breaker breaker(four);
    const time_point start{1h};
    for (int index = 0; index < 4; ++index) {
        breaker.on_failure(breaker.try_acquire(start), {}, start);
    }
    EXPECT_TRUE(breaker.try_acquire(start + 5s).is_probe());
    EXPECT_TRUE(breaker.try_acquire(start + 5s).is_refused());
    // An attempt from before it opened has no bearing on the probe.
    breaker.on_success(driver::breaker_permit::regular(), start + 6s);
    EXPECT_EQ(breaker.state(), circuit_state::half_open);
    // A probe that never ends is given up; the next sleep starts.
    EXPECT_TRUE(breaker.try_acquire(start + 10s).is_refused());
    EXPECT_EQ(breaker.state(), circuit_state::open);
    EXPECT_TRUE(breaker.try_acquire(start + 15s).is_probe());
}

// The failure of a probe that was given up long ago was taken for that of the next probe, whose
// success then found the breaker open and was ignored.
TEST(circuit_breaker, a_probe_that_ends_late_is_not_taken_for_the_next_one) {
    for (const bool is_canceled : {false, true}) {
        circuit_breaker breaker(four);
        const time_point start{1h};
        for (int index = 0; index < 4; ++index) {
            breaker.on_failure(breaker.try_acquire(start), {}, start);
        }
        const driver::breaker_permit late = breaker.try_acquire(start + 5s);
        EXPECT_TRUE(breaker.try_acquire(start + 10s).is_refused()) << "it is overdue";
        const driver::breaker_permit next = breaker.try_acquire(start + 15s);
        ASSERT_TRUE(next.is_probe());
        if (is_canceled) {
            breaker.on_canceled(late, start + 16s);
        } else {
            breaker.on_failure(late, {}, start + 16s);
        }
        EXPECT_EQ(breaker.state(), circuit_state::half_open);
        breaker.on_success(next, start + 17s);
        EXPECT_EQ(breaker.state(), circuit_state::closed);
    }
}

TEST(circuit_breaker, a_retry_that_waits_longer_than_the_sleep_becomes_the_probe) {
    service s;
    s.clock.after(4s, [&] { s.is_up = true; });
    const auto rule = attempts(10).every(6s).breaker(s.breaker);
    circuit_breaker& breaker = *s.breaker;
    for (int index = 0; index < 3; ++index) {
        breaker.on_failure(breaker.try_acquire({}), {}, {});
    }
    EXPECT_EQ(retry(rule, s.options, throws_on_failure([&] { return s.answer(); })), 2);
    EXPECT_EQ(breaker.state(), circuit_state::closed);
}

/// Waits before the first attempt.
class patient_strategy final : public driver::retry_strategy {
public:
    patient_strategy(circuit_breaker& breaker, duration delay)
        : retry_strategy({.needs_time = true, .circuit = &breaker}), delay_(delay) {}
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) override {
        token = driver::token_state{.delay = delay_};
        return {};
    }
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::no());
    }

private:
    duration delay_;
};

TEST(circuit_breaker, SM_01_is_asked_after_the_delay_of_the_initial_token) {
    service s;
    s.open();
    s.is_up = true;
    patient_strategy strategy(*s.breaker, 5s);
    driver::retry_strategy& plain = strategy;
    EXPECT_EQ(retry(plain, s.options, throws_on_failure([&] { return s.answer(); })), 5);
    EXPECT_EQ(s.breaker->state(), circuit_state::closed) << "the sleep was over by then";
}

TEST(circuit_breaker, failures_that_are_the_clients_fault_do_not_count) {
    circuit_breaker breaker(four);
    for (int index = 0; index < 100; ++index) {
        breaker.on_failure(breaker.try_acquire({}), testing::permanent(), {});
    }
    EXPECT_EQ(breaker.state(), circuit_state::closed);
    circuit_breaker timeouts(four, [](const failure_facts& facts) { return facts.timeout; });
    for (int index = 0; index < 100; ++index) {
        timeouts.on_failure(timeouts.try_acquire({}), testing::transient(), {});
    }
    EXPECT_EQ(timeouts.state(), circuit_state::closed);
}

// Users who close a page cancel its calls. Once, such calls counted as failures of the service, and
// opened the breaker for everybody else.
TEST(circuit_breaker, an_attempt_that_the_caller_canceled_does_not_count_against_the_service) {
    service s;
    const auto cancel_one = [&] {
        std::stop_source stop;
        s.options.stop = stop.get_token();
        EXPECT_THROW(
            retry(
                attempts(3).breaker(s.breaker), s.options,
                [&] {
                    stop.request_stop();
                    throw down();
                }),
            down);
        s.options.stop = {};
    };
    for (int index = 0; index < 100; ++index) {
        cancel_one();
    }
    EXPECT_EQ(s.breaker->state(), circuit_state::closed);
    s.open();
    s.clock.advance(5s);
    cancel_one();
    EXPECT_EQ(s.breaker->state(), circuit_state::open) << "the probe brought no answer";
    s.clock.advance(5s);
    s.is_up = true;
    EXPECT_EQ(s.ask(), s.calls) << "the next probe is sent";
    EXPECT_EQ(s.breaker->state(), circuit_state::closed);
}

TEST(circuit_breaker, is_shared_by_different_strategies) {
    service s;
    s.open();
    standard_strategy standard({.breaker = s.breaker});
    EXPECT_THROW(
        static_cast<void>(
            retry(standard, s.options, throws_on_failure([&] { return s.answer(); }))),
        retry_error);
    driver::virtual_strategy<standard_strategy> plugin(
        standard_strategy::options{.breaker = s.breaker});
    EXPECT_THROW(
        static_cast<void>(retry(plugin, s.options, throws_on_failure([&] { return s.answer(); }))),
        retry_error);
    EXPECT_EQ(s.calls, 4);
}

TEST(circuit_breaker, of_many_threads_exactly_one_sends_the_probe) {
    circuit_breaker breaker(four);
    for (int index = 0; index < 4; ++index) {
        breaker.on_failure(breaker.try_acquire({}), {}, {});
    }
    std::atomic<int> probes = 0;
    {
        std::vector<std::jthread> threads;
        for (int index = 0; index < 4; ++index) {
            threads.emplace_back([&] {
                const bool is_probe = breaker.try_acquire(time_point{5s}).is_probe();
                probes += is_probe ? 1 : 0;
            });
        }
    }
    EXPECT_EQ(probes, 1);
}

// Intended for ThreadSanitizer; the assertions hold in every build.
TEST(circuit_breaker, threads_share_it_with_the_metrics_of_their_calls) {
    constexpr int threads_count = 4;
    constexpr int calls_each = 500;
    std::atomic<int> changes = 0;
    const auto breaker = std::make_shared<circuit_breaker>(
        driver::circuit_breaker_options{.volume_threshold = 4, .sleep_window = 50us}, nullptr,
        [&](circuit_state from, circuit_state to) { changes += from == to ? 1000 : 1; });
    const auto metrics = std::make_shared<retry_metrics>();
    std::atomic<int> refused = 0;
    std::atomic<int> made = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < threads_count; ++thread) {
            threads.emplace_back([&] {
                const auto rule = attempts(2).every(0s).breaker(breaker).observer(metrics);
                for (int call = 0; call < calls_each; ++call) {
                    const std::error_code ended = retry(rule, [&] {
                        const bool is_down = ++made % 64 < 32;
                        return is_down ? make_error_code(std::errc::connection_refused)
                                       : std::error_code();
                    });
                    refused += ended == retry_errc::circuit_open ? 1 : 0;
                    static_cast<void>(metrics->to_prometheus());
                }
            });
        }
    }
    EXPECT_EQ(metrics->successes() + metrics->failures(), threads_count * calls_each);
    EXPECT_EQ(metrics->attempts(), static_cast<std::uint64_t>(made.load()));
    EXPECT_GE(metrics->refusals(refusal_reason::circuit_open), static_cast<std::uint64_t>(refused));
    EXPECT_GT(changes, 0);
    EXPECT_LT(changes, 1000 * threads_count) << "a change that is none";
}

TEST(circuit_breaker, no_retry_is_planned_while_another_calls_probe_is_out) {
    circuit_breaker breaker(four);
    const time_point start{1h};
    for (int index = 0; index < 4; ++index) {
        breaker.on_failure(breaker.try_acquire(start), {}, start);
    }
    EXPECT_FALSE(breaker.would_allow(start + 4s));
    EXPECT_TRUE(breaker.would_allow(start + 5s)) << "it would be the probe";
    ASSERT_TRUE(breaker.try_acquire(start + 5s).is_probe());
    EXPECT_FALSE(breaker.would_allow(start + 60s)) << "nobody knows how the probe will end";
}

TEST(circuit_breaker, a_fallback_stands_in_for_a_retry_that_it_refuses) {
    service s;
    // Other calls open the breaker while this one waits for its retry.
    s.clock.after(500ms, [&] {
        for (int index = 0; index < 4; ++index) {
            const auto permit = s.breaker->try_acquire(s.clock.now());
            s.breaker->on_failure(permit, {}, s.clock.now());
        }
    });
    const auto rule = attempts(3).every(1s).breaker(s.breaker);
    auto call = with_fallback(42, throws_on_failure([&] { return s.answer(); }));
    int value = 0;
    EXPECT_NO_THROW(value = retry(rule, s.options, call));
    EXPECT_EQ(value, 42);
    EXPECT_EQ(s.calls, 1) << "the retry was refused";
}

}  // namespace reprise::circuit_breaker_test
