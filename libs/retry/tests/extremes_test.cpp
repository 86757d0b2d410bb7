#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <reprise/retry.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/testing/scripted.hpp>
#include <string>
#include <system_error>
#include <thread>

/// Calls with extreme times, durations, marks and strategies, in all combinations.

namespace reprise::extremes_test {

using namespace std::chrono_literals;

const time_point starts[] = {
    time_point::min(), time_point{} - 1h, time_point{}, time_point::max() - 30s, time_point::max()};
const std::optional<duration> lengths[] = {std::nullopt, duration::min(), duration{0}, duration{1},
                                           3s,           duration::max()};
const failure_facts failures[] = {
    testing::transient(),
    testing::timed_out(),
    testing::permanent(),
    {},
    {.safety = retry_safety::yes, .minimum_wait = duration::max()},
    {.safety = retry_safety::yes, .minimum_wait = duration::min()},
};

struct played_call {
    testing::virtual_clock clock;
    retry_history trace;
    std::shared_ptr<detail::observing_functions> observer =
        std::make_shared<detail::observing_functions>();
    call_options options{.history = &trace, .clock = &clock};
    int completions = 0;
    duration total{};

    explicit played_call(time_point start) : clock(start) {
        observer->completion = [this](const call_summary& ended) {
            ++completions;
            total = ended.total_time;
        };
    }
    /// Returns the number of attempts.
    template <class Strategy>
    std::size_t fail(Strategy&& strategy, const failure_facts& failure) {
        auto operation = testing::scripted_operation{failure}.fail_forever();
        static_cast<void>(
            retry(std::forward<Strategy>(strategy), options, std::ref(operation)).has_value());
        return operation.calls();
    }
};

// The difference of the two times overflowed: the call had taken a negative time.
TEST(extremes, a_call_from_the_earliest_time_to_the_latest_takes_the_longest_duration) {
    played_call call(time_point::min());
    EXPECT_EQ(
        call.fail(attempts(4).every(duration::max()).observer(call.observer), testing::transient()),
        4U);
    EXPECT_EQ(call.clock.now(), time_point::max());
    EXPECT_EQ(call.clock.elapsed(), duration::max());
    EXPECT_EQ(call.total, duration::max());
    EXPECT_GT(call.trace.entries.back().offset(), 24h);
}

template <class Rule>
void play_all(const Rule& make_rule) {
    for (const time_point start : starts) {
        for (const auto& timeout : lengths) {
            for (const auto& attempt_timeout : lengths) {
                for (const failure_facts& failure : failures) {
                    for (const auto mark :
                         {repeatability::unspecified, repeatability::not_repeatable}) {
                        played_call call(start);
                        call.options.timeout = timeout;
                        call.options.attempt_timeout = attempt_timeout;
                        call.options.repeat = mark;
                        const std::size_t attempts_made =
                            call.fail(make_rule().observer(call.observer), failure);
                        const bool is_marked = mark == repeatability::not_repeatable;
                        const bool is_final = failure.safety == retry_safety::no ||
                                              (is_marked && failure.safety != retry_safety::yes);
                        ASSERT_LE(attempts_made, is_final ? 1U : 4U) << to_string(call.trace);
                        ASSERT_EQ(call.completions, 1);
                        ASSERT_GE(call.total, duration::zero());
                    }
                }
            }
        }
    }
}

TEST(extremes, any_clock_and_duration_with_a_breaker_and_any_budget) {
    play_all([] {
        return attempts(4)
            .budget(std::make_shared<token_bucket>())
            .breaker(std::make_shared<circuit_breaker>(
                driver::circuit_breaker_options{.volume_threshold = 3}));
    });
    play_all([] { return attempts(4).linear(duration::max()).budget(windowed_budget{}); });
    play_all([] {
        return attempts(4)
            .exponential(duration::max())
            .with_jitter(jitter::decorrelated)
            .budget(failure_throttle{});
    });
}

/// Misbehaves in one way, with a budget of its own.
class bad_strategy final : public driver::retry_strategy {
public:
    enum class way {
        throws_at_start,
        throws,
        answers_and_throws,
        defers_and_throws,
        drops,
        silent
    };
    static constexpr way ways[] = {way::throws_at_start,   way::throws, way::answers_and_throws,
                                   way::defers_and_throws, way::drops,  way::silent};

    bad_strategy(way chosen, retry_observer& observer)
        : retry_strategy({.observer = &observer}), chosen_(chosen) {}
    driver::decision on_start(driver::token_state&, const driver::decision_context&) override {
        if (chosen_ == way::throws_at_start) {
            throw 1;
        }
        return {};
    }
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        if (chosen_ == way::silent) {
            return;
        }
        if (chosen_ == way::answers_and_throws) {
            sink.answer(driver::retry_action::after(1s));
        }
        if (chosen_ == way::defers_and_throws || chosen_ == way::drops) {
            static_cast<void>(sink.defer());
        }
        if (chosen_ != way::drops) {
            throw 1;
        }
    }
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override { return &budget; }

    driver::token_bucket_budget budget{std::make_shared<token_bucket>()};

private:
    way chosen_;
};

TEST(extremes, a_bad_strategy_with_a_throwing_observer_and_a_stop_completes_once_and_pays_nothing) {
    for (const auto way : bad_strategy::ways) {
        for (const auto& timeout : lengths) {
            for (const bool is_stopped : {false, true}) {
                played_call call(time_point{});
                bad_strategy strategy(way, *call.observer);
                std::stop_source stop;
                call.options.stop = stop.get_token();
                call.options.timeout = timeout;
                call.observer->decision = [&](const decision_event&) {
                    if (is_stopped) {
                        stop.request_stop();
                    }
                    throw 1;
                };
                EXPECT_EQ(call.fail(strategy, testing::transient()), 1U);
                EXPECT_EQ(call.completions, 1);
                EXPECT_EQ(
                    strategy.budget.bucket()->milli_level(),
                    strategy.budget.bucket()->milli_capacity());
            }
        }
    }
}

#if defined(__GLIBC__) && defined(__GLIBCXX__)  // whose canceled threads unwind and can be rethrown

// The loop took that for a failed attempt, and the program ended.
TEST(extremes, a_thread_that_is_canceled_during_an_attempt_leaves_the_loop) {
    std::atomic<bool> is_running{false};
    std::atomic<bool> is_canceled{false};
    int calls = 0;
    std::thread worker([&] {
        static_cast<void>(retry(attempts(3).every(0s), [&]() -> unsigned {
            ++calls;
            is_running = true;
            is_running.notify_one();
            is_canceled.wait(false);
            pthread_testcancel();
            return 1;
        }));
        ADD_FAILURE() << "it went on";
    });
    is_running.wait(false);
    EXPECT_EQ(pthread_cancel(worker.native_handle()), 0);
    is_canceled = true;
    is_canceled.notify_one();
    worker.join();
    EXPECT_EQ(calls, 1);
}

#endif

}  // namespace reprise::extremes_test
