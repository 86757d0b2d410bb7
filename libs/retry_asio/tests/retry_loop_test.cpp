#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <vector>

#include "chosen_asio.hpp"
#include "fast_strategy.hpp"

namespace reprise::cancellation_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;
using testing::system_error;
using steady_timer = asio::basic_waitable_timer<std::chrono::steady_clock>;

/// One asynchronous loop whose attempts take 10 s of virtual time, fail, and can be canceled.
struct play {
    testing::virtual_clock time;
    asio::io_context io;
    standard_strategy strategy{testing::steps_of(10s)};
    retry_history trace;
    std::stop_source stop;
    async_call_options options{
        .stop = stop.get_token(), .history = borrowed(&trace), .clock = borrowed(&time)};
    asio::cancellation_signal signal;
    std::optional<error_code> ended;
    duration ended_at{};
    int calls = 0;
    asio::cancellation_type_t seen = asio::cancellation_type::none;

    /// One attempt. It ends early with `operation_aborted` when it is canceled.
    auto attempts() {
        return [this](const attempt&, auto handler) {
            ++calls;
            auto step = std::make_shared<decltype(handler)>(std::move(handler));
            auto done = std::make_shared<bool>(false);
            const auto end = [this, step, done](error_code code) {
                if (!std::exchange(*done, true)) {
                    asio::post(io, [step, code] { std::move (*step)(code); });
                }
            };
            auto slot = asio::get_associated_cancellation_slot(*step);
            if (slot.is_connected()) {
                slot.assign([this, end](asio::cancellation_type_t type) {
                    seen = type;
                    end(asio::error::operation_aborted);
                });
            }
            time.after(10s, [end] { end(asio::error::connection_refused); });
        };
    }
    void start() { start(strategy); }
    template <class Strategy>
    void start(Strategy& chosen) {
        async_retry<void(error_code)>(
            io, chosen, options, attempts(),
            asio::bind_cancellation_slot(signal.slot(), [this](error_code code) {
                ASSERT_FALSE(ended) << "completed twice";
                ended = code;
                ended_at = time.elapsed();
            }));
    }
    void cancel_at(duration when, asio::cancellation_type_t type) {
        time.at(time_point{} + when, [this, type] { signal.emit(type); });
    }
};

// Attempts start at 0, 20, 50, 100 and 190 s and take 10 s each. The loop waits between them.
TEST(cancellation, SM_19_a_signal_at_every_second_ends_the_loop_at_that_second) {
    for (int second = 0; second < 200; ++second) {
        SCOPED_TRACE(second);
        play p;
        p.start();
        p.cancel_at(std::chrono::seconds{second}, asio::cancellation_type::total);
        p.time.run(p.io);
        ASSERT_TRUE(p.ended);
        EXPECT_EQ(p.ended_at, std::chrono::seconds{second});
        EXPECT_EQ(p.trace.refusal(), refusal_reason::canceled);
    }
}

TEST(cancellation, SM_19_a_stop_request_at_every_second_ends_waits_and_leaves_attempts_alone) {
    for (int second = 0; second < 200; ++second) {
        SCOPED_TRACE(second);
        play p;
        p.start();
        p.time.at(time_point{} + std::chrono::seconds{second}, [&p] { p.stop.request_stop(); });
        p.time.run(p.io);
        ASSERT_TRUE(p.ended);
        EXPECT_EQ(*p.ended, asio::error::connection_refused);
        EXPECT_EQ(p.trace.refusal(), refusal_reason::canceled);
        EXPECT_EQ(p.seen, asio::cancellation_type::none);
        const auto late = p.ended_at - std::chrono::seconds{second};
        EXPECT_GE(late, 0s);
        EXPECT_LE(late, 10s);  // At most the rest of the running attempt.
    }
}

TEST(cancellation, SM_19_a_signal_reaches_the_running_attempt_with_its_type) {
    for (const auto type :
         {asio::cancellation_type::total, asio::cancellation_type::partial,
          asio::cancellation_type::terminal}) {
        for (const bool limited : {false, true}) {
            play p;
            if (limited) {
                p.options.attempt_timeout = 1min;
            }
            p.start();
            p.cancel_at(25s, type);
            p.time.run(p.io);
            ASSERT_TRUE(p.ended);
            EXPECT_EQ(*p.ended, asio::error::operation_aborted);
            EXPECT_EQ(p.seen, type);
            EXPECT_EQ(p.calls, 2);
            EXPECT_EQ(p.ended_at, 25s);
        }
    }
}

TEST(cancellation, a_canceled_wait_ends_with_the_last_result) {
    play p;
    p.start();
    p.cancel_at(15s, asio::cancellation_type::terminal);
    p.time.run(p.io);
    ASSERT_TRUE(p.ended);
    EXPECT_EQ(*p.ended, asio::error::connection_refused);
    EXPECT_EQ(p.calls, 1);
}

// Signals that came while the loop decided were noticed only at the end of the wait after it, which
// is as long as a service's Retry-After.
TEST(cancellation, SM_19_an_observer_that_cancels_the_call_ends_the_wait_it_was_notified_of) {
    play p;
    const auto observed =
        reprise::attempts(3).every(10s).on_decision([&p](const decision_event& event) {
            if (event.is_retried()) {
                p.signal.emit(asio::cancellation_type::total);
            }
        });
    p.start(observed);
    p.time.run(p.io);
    EXPECT_EQ(p.ended, asio::error::connection_refused);
    EXPECT_EQ(p.calls, 1);
    EXPECT_EQ(p.ended_at, 10s) << "the first attempt took that long";
    EXPECT_EQ(p.trace.refusal(), refusal_reason::canceled);
}

TEST(cancellation, SM_19_a_strategy_that_cancels_the_call_is_not_waited_for) {
    struct hesitating : driver::retry_strategy {
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            pending = sink.defer();
            canceled->emit(asio::cancellation_type::total);
        }
        driver::deferred_answer pending;
        asio::cancellation_signal* canceled = nullptr;
    };
    play p;
    p.options.timeout = 1min;
    hesitating strategy;
    strategy.canceled = &p.signal;
    p.start(strategy);
    p.time.run(p.io);
    EXPECT_EQ(p.ended, asio::error::connection_refused);
    EXPECT_EQ(p.ended_at, 10s) << "the first attempt took that long";
    EXPECT_EQ(p.trace.refusal(), refusal_reason::canceled);
}

// The hedge started all the same, was never canceled, and its price was gone.
TEST(cancellation, a_hedge_whose_observer_cancels_the_call_is_neither_started_nor_paid_for) {
    for (const bool by_signal : {true, false}) {
        SCOPED_TRACE(by_signal);
        play p;
        p.options.repeat = repeatability::repeatable;
        const auto bucket = std::make_shared<token_bucket>();
        const auto full = bucket->milli_level();
        std::vector<std::uint32_t> attempts_of_calls;
        const auto observed = reprise::attempts(3)
                                  .budget(bucket)
                                  .on_decision([&](const decision_event& event) {
                                      if (event.entry.is_hedge()) {
                                          by_signal ? p.signal.emit(asio::cancellation_type::total)
                                                    : static_cast<void>(p.stop.request_stop());
                                      }
                                  })
                                  .on_completion([&](const call_summary& ended) {
                                      attempts_of_calls.push_back(ended.attempts);
                                  });
        async_retry<void(error_code)>(
            p.io, observed, p.options, hedged(1s, p.attempts()),
            asio::bind_cancellation_slot(p.signal.slot(), [&p](error_code code) {
                p.ended = code;
                p.ended_at = p.time.elapsed();
            }));
        p.time.run(p.io);
        ASSERT_TRUE(p.ended);
        EXPECT_EQ(p.calls, 1);
        EXPECT_EQ(p.ended_at, by_signal ? 1s : 10s) << "a stop request leaves attempts alone";
        EXPECT_EQ(bucket->milli_level(), full);
        EXPECT_EQ(p.trace.refusal(), refusal_reason::canceled);
        EXPECT_EQ(attempts_of_calls, std::vector<std::uint32_t>{1});
    }
}

TEST(cancellation, a_signal_after_the_end_has_no_effect) {
    play p;
    p.start();
    p.time.run(p.io);
    ASSERT_TRUE(p.ended);
    EXPECT_FALSE(p.signal.slot().has_handler());
    p.signal.emit(asio::cancellation_type::all);
}

TEST(cancellation, canceled_in_the_initial_delay_no_attempt_is_made) {
    for (const bool by_signal : {true, false}) {
        play p;
        testing::slow_start strategy(30s);
        async_retry<void(error_code)>(
            p.io, strategy, p.options, p.attempts(),
            asio::bind_cancellation_slot(p.signal.slot(), [&p](error_code code) {
                p.ended = code;
                p.ended_at = p.time.elapsed();
            }));
        p.time.after(5s, [&] {
            by_signal ? p.signal.emit(asio::cancellation_type::all)
                      : static_cast<void>(p.stop.request_stop());
        });
        p.time.run(p.io);
        ASSERT_TRUE(p.ended);
        EXPECT_EQ(*p.ended, asio::error::operation_aborted);
        EXPECT_EQ(p.ended_at, 5s);
        EXPECT_EQ(p.calls, 0);
        EXPECT_EQ(p.trace.refusal(), refusal_reason::canceled);
    }
}

TEST(cancellation, SM_19_a_signal_before_the_executor_runs_is_not_missed) {
    play p;
    p.options.attempt_timeout = 1min;
    p.start();
    p.signal.emit(asio::cancellation_type::total);
    p.time.run(p.io);
    ASSERT_TRUE(p.ended);
    EXPECT_EQ(*p.ended, asio::error::operation_aborted);
    EXPECT_EQ(p.ended_at, 0s);

    play q;
    testing::slow_start strategy(30s);
    async_retry<void(error_code)>(
        q.io, strategy, q.options, q.attempts(),
        asio::bind_cancellation_slot(q.signal.slot(), [&q](error_code code) { q.ended = code; }));
    q.signal.emit(asio::cancellation_type::total);
    q.io.poll();
    ASSERT_TRUE(q.ended);
    EXPECT_EQ(*q.ended, asio::error::operation_aborted);
    EXPECT_EQ(q.calls, 0);
}

TEST(cancellation, stopped_before_the_start_makes_one_attempt_unless_it_would_have_to_wait) {
    play p;
    p.stop.request_stop();
    p.start();
    p.time.run(p.io);
    EXPECT_EQ(p.calls, 1);
    EXPECT_EQ(p.trace.refusal(), refusal_reason::canceled);

    play q;
    q.stop.request_stop();
    testing::slow_start strategy(30s);
    async_retry<void(error_code)>(
        q.io, strategy, q.options, q.attempts(), [&q](error_code code) { q.ended = code; });
    EXPECT_FALSE(q.ended) << "completed inside the initiating function";
    q.time.run(q.io);
    ASSERT_TRUE(q.ended);
    EXPECT_EQ(*q.ended, asio::error::operation_aborted);
    EXPECT_EQ(q.calls, 0);
}

TEST(cancellation, a_context_destroyed_during_a_wait_destroys_the_handler_uncalled) {
    for (const bool real_time : {true, false}) {
        auto life = std::make_shared<int>(1);
        bool called = false;
        standard_strategy strategy(testing::steps_of(1h));
        testing::virtual_clock time;
        std::stop_source stop;
        {
            asio::io_context io;
            async_call_options options{.stop = stop.get_token()};
            options.clock = borrowed(real_time ? nullptr : &time);
            async_retry<void(error_code)>(
                io, strategy, options,
                [&](const attempt&, auto handler) {
                    asio::post(io, [h = std::move(handler)]() mutable {
                        h(error_code(asio::error::connection_refused));
                    });
                },
                [life, &called](error_code) { called = true; });
            io.poll();
            EXPECT_GT(life.use_count(), 1);
        }
        EXPECT_EQ(life.use_count(), 1);
        EXPECT_FALSE(called);
        EXPECT_EQ(time.pending(), 0U);
        stop.request_stop();  // Nothing listens any more.
    }
}

TEST(cancellation, a_context_destroyed_during_a_limited_attempt_destroys_the_handler_uncalled) {
    auto life = std::make_shared<int>(1);
    standard_strategy strategy;
    auto io = std::make_unique<asio::io_context>();
    auto never = std::make_shared<steady_timer>(*io, std::chrono::steady_clock::time_point::max());
    async_retry<void(error_code)>(
        *io, strategy, async_call_options{.attempt_timeout = 1h},
        [never](const attempt&, auto handler) { never->async_wait(std::move(handler)); },
        [life](error_code) { FAIL(); });
    io->poll();
    EXPECT_GT(life.use_count(), 1);
    never.reset();
    io.reset();
    EXPECT_EQ(life.use_count(), 1);
}

TEST(cancellation, a_context_destroyed_under_a_coroutine_destroys_its_frame) {
    for (const bool limited : {false, true}) {
        auto life = std::make_shared<int>(1);
        standard_strategy strategy(testing::steps_of(1h));
        async_call_options options;
        if (limited) {
            options.attempt_timeout = 1h;
        }
        {
            asio::io_context io;
            auto body = [&, life]() -> asio::awaitable<void> {
                auto operation = [life](attempt a) -> asio::awaitable<void> {
                    if (a.number == 1) {
                        throw system_error(error_code(asio::error::connection_refused));
                    }
                    co_return;
                };
                co_await async_retry(strategy, options, operation);
            };
            asio::co_spawn(io, body, [](std::exception_ptr) { FAIL(); });
            io.poll();
            EXPECT_GT(life.use_count(), 2);
        }
        EXPECT_EQ(life.use_count(), 1);
    }
}

/// A coroutine loop that fails at once and waits for an hour, or whose attempt hangs.
struct co_play {
    testing::virtual_clock time;
    asio::io_context io;
    standard_strategy strategy{testing::steps_of(1h)};

    asio::awaitable<void> loop(async_call_options options, bool hang) {
        options.clock = borrowed(&time);
        auto operation = [hang]() -> asio::awaitable<void> {
            if (hang) {
                const auto executor = co_await asio::this_coro::executor;
                steady_timer never(executor, std::chrono::steady_clock::time_point::max());
                auto waiting = never.async_wait(asio::use_awaitable);
                co_await std::move(waiting);
            }
            throw system_error(error_code(asio::error::connection_refused));
        };
        auto pending = async_retry(strategy, options, operation);
        co_await std::move(pending);
    }
};

[[nodiscard]] error_code code_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const system_error& error) {
        return error.code();
    }
}

TEST(cancellation, SM_19_a_thousand_coroutines_are_canceled_at_once) {
    constexpr std::size_t count = 1000;
    co_play p;
    std::deque<asio::cancellation_signal> signals(count);
    std::deque<retry_history> traces(count);
    std::size_t waiting_ended = 0;
    std::size_t attempts_ended = 0;
    for (std::size_t i = 0; i < count; ++i) {
        async_call_options options{.history = borrowed(&traces[i])};
        if (i % 4 == 0) {
            options.attempt_timeout = 2h;
        }
        asio::co_spawn(
            p.io, p.loop(options, i % 2 == 0),
            asio::bind_cancellation_slot(signals[i].slot(), [&](const std::exception_ptr& thrown) {
                const error_code code = code_of(thrown);
                ++(code == asio::error::operation_aborted ? attempts_ended : waiting_ended);
            }));
    }
    p.io.poll();
    EXPECT_EQ(waiting_ended + attempts_ended, 0U);
    for (auto& signal : signals) {
        signal.emit(asio::cancellation_type::terminal);
    }
    p.io.restart();
    p.io.poll();
    EXPECT_EQ(waiting_ended, count / 2);
    EXPECT_EQ(attempts_ended, count / 2);
    EXPECT_EQ(p.time.elapsed(), 0s);
    EXPECT_EQ(p.time.pending(), 0U);
    for (const retry_history& trace : traces) {
        EXPECT_EQ(trace.refusal(), refusal_reason::canceled);
    }
}

TEST(cancellation, a_stop_request_ends_the_wait_of_a_coroutine) {
    co_play p;
    std::stop_source stop;
    retry_history trace;
    std::exception_ptr thrown;
    asio::co_spawn(
        p.io, p.loop({.stop = stop.get_token(), .history = borrowed(&trace)}, false),
        [&](std::exception_ptr error) { thrown = error; });
    p.time.after(5s, [&] { stop.request_stop(); });
    p.time.run(p.io);
    ASSERT_NE(thrown, nullptr);
    EXPECT_EQ(code_of(thrown), asio::error::connection_refused);
    EXPECT_EQ(trace.refusal(), refusal_reason::canceled);
    EXPECT_EQ(p.time.elapsed(), 5s);
}

TEST(cancellation, a_coroutine_canceled_in_the_initial_delay_throws_before_any_attempt) {
    co_play p;
    testing::slow_start strategy(30s);
    std::stop_source stop;
    std::exception_ptr thrown;
    auto body = [&]() -> asio::awaitable<void> {
        auto operation = []() -> asio::awaitable<void> {
            ADD_FAILURE();
            co_return;
        };
        const async_call_options options{.stop = stop.get_token(), .clock = borrowed(&p.time)};
        co_await async_retry(strategy, options, operation);
    };
    asio::co_spawn(p.io, body, [&](std::exception_ptr error) { thrown = error; });
    p.time.after(5s, [&] { stop.request_stop(); });
    p.time.run(p.io);
    ASSERT_NE(thrown, nullptr);
    EXPECT_THROW(std::rethrow_exception(thrown), retry_error);
}

/// Completes without regard to its handler's executor, and counts signals that come afterwards.
struct stray_operation {
    asio::io_context& io;
    bool has_started = false;
    bool has_ended = false;
    int late_signals = 0;

    [[nodiscard]] auto start() {
        return [this](const attempt&, auto handler) {
            has_started = true;
            asio::get_associated_cancellation_slot(handler).assign(
                [this](asio::cancellation_type) { late_signals += has_ended ? 1 : 0; });
            asio::post(io, [this, handler = std::move(handler)]() mutable {
                has_ended = true;
                std::move(handler)(error_code{});
            });
        };
    }
};

// A signal was passed on to an operation whose result was still on its way, and which was gone.
TEST(cancellation, a_signal_does_not_reach_an_operation_that_has_completed) {
    for (const bool is_hedged : {false, true}) {
        asio::io_context io;
        asio::cancellation_signal signal;
        stray_operation operation{io};
        int calls = 0;
        const auto done = [&] {
            return asio::bind_cancellation_slot(signal.slot(), [&](error_code) { ++calls; });
        };
        if (is_hedged) {
            async_retry<void(error_code)>(
                io, attempts(1), async_call_options{.repeat = repeatability::repeatable},
                hedged(1h, operation.start()), done());
        } else {
            async_retry<void(error_code)>(
                io, attempts(1), async_call_options{.attempt_timeout = 1h}, operation.start(),
                done());
        }
        while (!operation.has_started) {
            ASSERT_EQ(io.run_one(), 1U);
        }
        signal.emit(asio::cancellation_type::all);
        io.run();
        EXPECT_EQ(operation.late_signals, 0) << is_hedged;
        EXPECT_EQ(calls, 1);
    }
}

// Only the planned time of a retry was compared with the deadline, not when it really started.
TEST(cancellation, a_pause_that_takes_longer_than_planned_starts_no_attempt_after_the_deadline) {
    testing::virtual_clock time;
    asio::io_context io;
    retry_history trace;
    int calls = 0;
    error_code last;
    async_retry<void(error_code)>(
        io, attempts(2).every(10ms),
        async_call_options{.timeout = 30ms, .history = borrowed(&trace), .clock = borrowed(&time)},
        [&](const attempt&, auto handler) {
            ++calls;
            std::move(handler)(error_code(asio::error::connection_refused));
        },
        [&](error_code ec) { last = ec; });
    io.poll();
    ASSERT_EQ(calls, 1);
    time.advance(60ms);  // The executor was busy with something else.
    io.restart();
    time.run(io);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(last, asio::error::connection_refused);
    EXPECT_EQ(trace.refusal(), refusal_reason::deadline);
}

// A retry without a delay was started without another look at the clock, and so was a hedge.
TEST(cancellation, a_decision_that_takes_longer_than_planned_starts_no_attempt_after_the_deadline) {
    for (const bool is_hedged : {false, true}) {
        SCOPED_TRACE(is_hedged);
        play p;
        p.options.timeout = 15s;
        p.options.repeat = repeatability::repeatable;
        const auto bucket = std::make_shared<token_bucket>();
        const auto full = bucket->milli_level();
        const auto slow_log = reprise::attempts(3).every(0s).budget(bucket).on_decision(
            [&p](const decision_event& event) {
                if (event.is_retried() || event.entry.is_hedge()) {
                    p.time.advance(20s);
                }
            });
        const auto done = [&p](error_code code) { p.ended = code; };
        if (is_hedged) {
            async_retry<void(error_code)>(
                p.io, slow_log, p.options, hedged(1s, p.attempts()), done);
        } else {
            async_retry<void(error_code)>(p.io, slow_log, p.options, p.attempts(), done);
        }
        p.time.run(p.io);
        EXPECT_EQ(p.ended, asio::error::connection_refused);
        EXPECT_EQ(p.calls, 1);
        EXPECT_EQ(bucket->milli_level(), full) << "its price is returned";
        EXPECT_EQ(p.trace.refusal(), refusal_reason::deadline);
    }
}

}  // namespace reprise::cancellation_test
