#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <utility>

#include "chosen_asio.hpp"
#include "counting_memory.hpp"
#include "fast_strategy.hpp"

/// A handler may own the memory that its allocator uses, so nothing of the loop may be left in it
/// when the handler runs: no state, no function on its way, no link of a clock.

namespace reprise::handler_memory_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

/// A call whose timers run in one context and whose handler runs in another one, so that a test can
/// put things between the end of a wait and the function that notices it.
struct scene {
    testing::counting_memory memory;
    testing::virtual_clock time;
    asio::io_context timers;
    asio::io_context handlers;
    std::stop_source stop;
    asio::cancellation_signal signal;
    async_call_options options{
        .repeat = repeatability::repeatable, .stop = stop.get_token(), .clock = borrowed(&time)};
    std::function<void(error_code)> end_attempt;
    int attempts = 0;
    int completions = 0;

    [[nodiscard]] auto operation() {
        return [this](const attempt&, auto handler) {
            ++attempts;
            auto kept = std::make_shared<decltype(handler)>(std::move(handler));
            end_attempt = [kept](error_code code) { std::move (*kept)(code); };
        };
    }
    [[nodiscard]] auto handler() {
        return asio::bind_allocator(
            std::pmr::polymorphic_allocator<std::byte>(&memory),
            asio::bind_executor(
                handlers.get_executor(),
                asio::bind_cancellation_slot(signal.slot(), [this](error_code) {
                    ++completions;
                    EXPECT_EQ(memory.live, 0U);
                })));
    }
    template <class Strategy, class Operation>
    void start(Strategy&& strategy, Operation operation) {
        async_retry<void(error_code)>(
            timers, std::forward<Strategy>(strategy), options, std::move(operation), handler());
        run_all();
    }
    /// The operation keeps nothing of its handler.
    void finish_attempt(error_code code) { std::exchange(end_attempt, nullptr)(code); }

    static void run(asio::io_context& context) {
        context.restart();
        context.poll();
    }
    void run_all() {
        for (int i = 0; i < 10; ++i) {
            run(timers);
            run(handlers);
        }
    }
    /// The wait has ended, and the function that notices it is on its way.
    void end_wait(duration length) {
        time.advance(length);
        run(timers);    // the clock
        run(handlers);  // ends the wait of the timer,
        run(timers);    // whose end is now in the queue of `handlers`
    }
    void expect_completed() {
        run_all();
        EXPECT_EQ(completions, 1);
        EXPECT_EQ(memory.live, 0U);
    }
};

/// How a caller cancels.
const auto cancellations = {
    +[](scene& s) { static_cast<void>(s.stop.request_stop()); },
    +[](scene& s) { s.signal.emit(asio::cancellation_type::all); }};

// The clock still had the wait, which was in the handler's memory.
TEST(handler_memory, a_wait_that_is_canceled_returns_its_memory_before_the_handler_runs) {
    for (const auto& cancel : cancellations) {
        scene s;
        s.start(attempts(3).every(1s), s.operation());
        s.finish_attempt(asio::error::connection_refused);
        s.run_all();
        cancel(s);
        s.expect_completed();
        EXPECT_EQ(s.attempts, 1);
        s.time.advance(1min);
    }
}

// The function that was to end the wait came after its end, and was in the handler's memory.
TEST(handler_memory, a_stop_or_a_signal_right_after_a_wait_leaves_nothing_in_it) {
    for (const auto& cancel : cancellations) {
        scene s;
        s.start(attempts(3).every(1s), s.operation());
        s.finish_attempt(asio::error::connection_refused);
        s.run_all();
        s.end_wait(1s);
        cancel(s);
        scene::run(s.timers);
        ASSERT_EQ(s.completions, 0);
        s.expect_completed();
        EXPECT_EQ(s.attempts, 1);
    }
}

TEST(handler_memory, a_stop_or_a_signal_right_after_the_wait_of_a_hedge_leaves_nothing_in_it) {
    for (const auto& cancel : cancellations) {
        scene s;
        s.start(attempts(3), hedged(1h, s.operation()));
        s.finish_attempt(error_code{});
        scene::run(s.handlers);  // ends the wait for the next attempt
        scene::run(s.timers);
        cancel(s);
        scene::run(s.timers);
        ASSERT_EQ(s.completions, 0);
        s.expect_completed();
    }
}

TEST(handler_memory, a_late_answer_right_after_the_deadline_leaves_nothing_in_it) {
    struct hesitating : driver::retry_strategy {
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            pending = sink.defer();
        }
        driver::deferred_answer pending;
    };
    scene s;
    s.options.timeout = 1s;
    hesitating strategy;
    s.start(strategy, s.operation());
    s.finish_attempt(asio::error::connection_refused);
    s.run_all();
    s.end_wait(1s);
    strategy.pending.answer(driver::retry_action::after(0s));
    scene::run(s.timers);
    ASSERT_EQ(s.completions, 0);
    s.expect_completed();
    EXPECT_EQ(s.attempts, 1);
}

// The signal waited behind the result, and kept the state of the attempt in the handler's memory.
TEST(handler_memory, a_signal_right_after_the_result_of_an_attempt_leaves_nothing_in_it) {
    for (const bool is_hedged : {false, true}) {
        SCOPED_TRACE(is_hedged);
        scene s;
        if (is_hedged) {
            s.start(attempts(1), hedged({.delay = 1h, .attempts_max = 1}, s.operation()));
        } else {
            s.options.attempt_timeout = 1h;
            s.start(attempts(1), s.operation());
        }
        s.finish_attempt(error_code{});
        s.signal.emit(asio::cancellation_type::all);
        s.expect_completed();
    }
}

}  // namespace reprise::handler_memory_test
