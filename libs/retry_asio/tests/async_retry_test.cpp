#include <gtest/gtest.h>

#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "chosen_asio.hpp"
#include "counting_memory.hpp"
#include "fast_strategy.hpp"

template <>
struct reprise::driver::unattempted_outcome<reprise::testing::scripted_result> {
    static testing::scripted_result make(refusal_reason) { return testing::scripted_error{}; }
};

namespace reprise::async_retry_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::counting_memory;
using testing::error_code;
using testing::virtual_clock;

/// Fails `failures` times with `refused`, then succeeds with the number of calls.
struct flaky {
    asio::io_context& io;
    int failures = 0;
    int calls = 0;
    error_code error = asio::error::connection_refused;

    template <class Handler>
    void operator()(const attempt&, Handler handler) {
        ++calls;
        const error_code result = calls <= failures ? error : error_code{};
        asio::post(io, [handler = std::move(handler), result, number = calls]() mutable {
            std::move(handler)(result, number);
        });
    }
};

struct scene {
    virtual_clock time;
    asio::io_context io;
    standard_strategy strategy{testing::steps_of(1s)};
    retry_history trace;
    async_call_options options{.history = borrowed(&trace), .clock = borrowed(&time)};
    error_code ec = asio::error::would_block;
    int value = -1;
    int completions = 0;

    auto callback() {
        return [this](error_code code, int number) {
            ++completions;
            ec = code;
            value = number;
        };
    }
    template <class Initiate>
    void run(Initiate&& initiate) {
        async_retry<void(error_code, int)>(io, strategy, options, std::ref(initiate), callback());
        time.run(io);
    }
};

TEST(async_retry, SM_18_a_callback_gets_the_arguments_of_the_last_attempt) {
    scene s;
    flaky operation{s.io, 2};
    s.run(operation);
    EXPECT_EQ(s.completions, 1);
    EXPECT_FALSE(s.ec);
    EXPECT_EQ(s.value, 3);
    EXPECT_EQ(s.time.elapsed(), 3s);  // 1 + 2
}

TEST(async_retry, SM_05_the_last_error_is_the_operations_own) {
    scene s;
    flaky operation{s.io, 100};
    s.run(operation);
    EXPECT_EQ(s.ec, asio::error::connection_refused);
    EXPECT_EQ(s.value, 5);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::attempts_exhausted);
}

TEST(async_retry, an_aborted_operation_is_not_retried) {
    scene s;
    flaky operation{s.io, 100, 0, asio::error::operation_aborted};
    s.run(operation);
    EXPECT_EQ(operation.calls, 1);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::unclassified);
}

TEST(async_retry, SM_18_works_with_futures) {
    scene s;
    flaky operation{s.io, 1};
    std::future<int> future = async_retry<void(error_code, int)>(
        s.io, s.strategy, s.options, std::ref(operation), asio::use_future);
    s.time.run(s.io);
    EXPECT_EQ(future.get(), 2);
}

TEST(async_retry, SM_18_a_deferred_operation_starts_when_it_is_called) {
    scene s;
    flaky operation{s.io, 1};
    auto later = async_retry<void(error_code, int)>(
        s.io, s.strategy, s.options, std::ref(operation), testing::deferred);
    s.time.run(s.io);
    EXPECT_EQ(operation.calls, 0);
    std::move(later)(s.callback());
    s.time.run(s.io);
    EXPECT_EQ(s.value, 2);
}

TEST(async_retry, handler_and_attempts_run_on_the_tokens_executor) {
    scene s;
    auto strand = asio::make_strand(s.io);
    bool attempt_inside = true;
    bool handler_inside = false;
    int calls = 0;
    async_retry<void(error_code)>(
        s.io, s.strategy, s.options,
        [&](const attempt&, auto handler) {
            attempt_inside = attempt_inside && (calls == 0 || strand.running_in_this_thread());
            ++calls;
            const error_code result = calls < 3 ? asio::error::connection_refused : error_code{};
            // Completes outside the executor, like a foreign thread.
            asio::post(s.io, [handler = std::move(handler), result]() mutable { handler(result); });
        },
        asio::bind_executor(
            strand, [&](error_code) { handler_inside = strand.running_in_this_thread(); }));
    s.time.run(s.io);
    EXPECT_EQ(calls, 3);
    EXPECT_TRUE(attempt_inside);
    EXPECT_TRUE(handler_inside);
}

// A handler may own the memory that its allocator uses. With a time limit the wait of the timer was
// still in it, and with a hedge the group of attempts.
TEST(async_retry, memory_comes_from_the_tokens_allocator_and_is_returned_before_the_handler_runs) {
    for (const bool has_limit : {false, true}) {
        for (const bool is_hedged : {false, true}) {
            SCOPED_TRACE(has_limit * 2 + is_hedged);
            asio::io_context io;
            counting_memory memory;
            flaky operation{io, 2};
            async_call_options options{.repeat = repeatability::repeatable};
            if (has_limit) {
                options.attempt_timeout = 1h;
            }
            std::size_t live_in_handler = 99;
            auto handler = asio::bind_allocator(
                std::pmr::polymorphic_allocator<std::byte>(&memory),
                [&](error_code, int) { live_in_handler = memory.live; });
            const auto strategy = attempts(3).every(1ms);
            if (is_hedged) {
                async_retry<void(error_code, int)>(
                    io, strategy, options,
                    hedged(
                        1h, [&](const attempt& current,
                                auto given) { operation(current, std::move(given)); }),
                    std::move(handler));
            } else {
                async_retry<void(error_code, int)>(
                    io, strategy, options, std::ref(operation), std::move(handler));
            }
            io.run();
            EXPECT_GT(memory.allocations, 0U);
            EXPECT_EQ(live_in_handler, 0U);
            EXPECT_EQ(memory.live, 0U);
        }
    }
}

TEST(async_retry, an_executor_is_as_good_as_an_io_object) {
    scene s;
    flaky operation{s.io, 1};
    const auto executor = s.io.get_executor();
    async_retry<void(error_code, int)>(
        executor, s.strategy, s.options, std::ref(operation), s.callback());
    s.time.run(s.io);
    EXPECT_EQ(s.value, 2);
}

TEST(async_retry, SM_08_first_argument_may_be_any_type_with_an_outcome) {
    scene s;
    testing::scripted_operation script{testing::transient(), testing::throttled(7s)};
    int value = 0;
    async_retry<void(testing::scripted_result)>(
        s.io, s.strategy, s.options,
        [&](const attempt& current, auto handler) {
            asio::post(s.io, [handler = std::move(handler), result = script(current)]() mutable {
                handler(result);
            });
        },
        [&](testing::scripted_result result) { value = result.value(); });
    s.time.run(s.io);
    EXPECT_EQ(value, 3);
    EXPECT_EQ(s.time.elapsed(), 8s);  // 1 s, then the service's own delay.
}

TEST(async_retry, exceptions_as_results_are_described_like_thrown_ones) {
    scene s;
    int calls = 0;
    std::exception_ptr last;
    async_retry<void(std::exception_ptr)>(
        s.io, s.strategy, s.options,
        [&](const attempt&, auto handler) {
            ++calls;
            const error_code refused = asio::error::connection_refused;
            auto thrown = calls < 3 ? std::make_exception_ptr(testing::system_error(refused))
                                    : std::make_exception_ptr(std::logic_error("no facts"));
            asio::post(s.io, [handler = std::move(handler), thrown]() mutable { handler(thrown); });
        },
        [&](std::exception_ptr thrown) { last = thrown; });
    s.time.run(s.io);
    EXPECT_EQ(calls, 3);
    EXPECT_THROW(std::rethrow_exception(last), std::logic_error);
}

TEST(async_retry, SM_19_an_attempt_is_canceled_at_its_timeout_and_counts_as_one) {
    scene s;
    s.options.attempt_timeout = 10s;
    int calls = 0;
    asio::basic_waitable_timer<std::chrono::steady_clock> never(s.io);
    async_retry<void(error_code)>(
        s.io, s.strategy, s.options,
        [&](const attempt& current, auto handler) {
            ++calls;
            EXPECT_EQ(current.timeout, 10s);
            if (calls == 1) {
                never.expires_at(std::chrono::steady_clock::time_point::max());
                never.async_wait(std::move(handler));
            } else {
                asio::post(s.io, [handler = std::move(handler)]() mutable { handler({}); });
            }
        },
        [&](error_code code) { s.ec = code; });
    s.time.run(s.io);
    EXPECT_FALSE(s.ec);
    EXPECT_EQ(calls, 2);
    ASSERT_EQ(s.trace.failed_attempts(), 1U);
    EXPECT_TRUE(s.trace.entries[0].is_timeout());
    EXPECT_EQ(s.trace.entries[0].budget_level(), 999'990'000);  // The price of a timeout.
    EXPECT_EQ(s.time.elapsed(), 11s);
}

TEST(async_retry, SM_10_a_timed_out_attempt_of_a_not_repeatable_call_is_not_retried) {
    scene s;
    s.options.attempt_timeout = 10s;
    s.options.repeat = repeatability::not_repeatable;
    asio::basic_waitable_timer<std::chrono::steady_clock> never(s.io);
    never.expires_at(std::chrono::steady_clock::time_point::max());
    async_retry<void(error_code)>(
        s.io, s.strategy, s.options,
        [&](const attempt&, auto handler) { never.async_wait(std::move(handler)); },
        [&](error_code code) { s.ec = code; });
    s.time.run(s.io);
    EXPECT_EQ(s.ec, asio::error::operation_aborted);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::not_repeatable);
}

TEST(async_retry, SM_19_the_deadline_cuts_a_running_attempt_and_allows_no_other) {
    scene s;
    s.options.timeout = 5s;
    asio::basic_waitable_timer<std::chrono::steady_clock> never(s.io);
    never.expires_at(std::chrono::steady_clock::time_point::max());
    async_retry<void(error_code)>(
        s.io, s.strategy, s.options,
        [&](const attempt&, auto handler) { never.async_wait(std::move(handler)); },
        [&](error_code code) { s.ec = code; });
    s.time.run(s.io);
    EXPECT_EQ(s.ec, asio::error::operation_aborted);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::deadline);
    EXPECT_EQ(s.time.elapsed(), 5s);
}

TEST(async_retry, SM_19_a_retry_that_cannot_start_in_time_is_refused_at_once_and_free_of_charge) {
    scene s;
    s.options.deadline = time_point{} + 2s;
    flaky operation{s.io, 100};
    s.run(operation);
    EXPECT_EQ(operation.calls, 2);  // At 0 and 1 s; the third would start at 3 s.
    EXPECT_EQ(s.trace.refusal(), refusal_reason::deadline);
    EXPECT_EQ(s.strategy.budget().bucket()->milli_level(), 999'995'000);
    EXPECT_EQ(s.time.elapsed(), 1s);
}

TEST(async_retry, SM_01_the_loop_waits_for_the_delay_of_the_initial_token) {
    scene s;
    testing::slow_start strategy(4s);
    flaky operation{s.io, 0};
    async_retry<void(error_code, int)>(
        s.io, strategy, s.options, std::ref(operation), s.callback());
    EXPECT_EQ(operation.calls, 0);
    s.time.run(s.io);
    EXPECT_EQ(s.value, 1);
    EXPECT_EQ(s.time.elapsed(), 4s);
}

TEST(async_retry, SM_20_the_loop_has_no_limit_of_its_own_and_inline_completions_use_no_stack) {
    scene s;
    auto endless = driver::composed_strategy(
        driver::attempt_limits{std::nullopt}, driver::stated_safety{},
        driver::exponential_backoff{{.base = 0s, .cap = 0s}}, driver::no_budget{});
    int calls = 0;
    async_retry<void(error_code)>(
        s.io, endless, s.options,
        [&](const attempt&, auto handler) {
            const bool enough = ++calls == 100'000;
            handler(enough ? error_code{} : error_code(asio::error::connection_refused));
        },
        [&](error_code code) { s.ec = code; });
    EXPECT_EQ(s.ec, asio::error::would_block);  // Never from inside the initiating call.
    s.time.run(s.io);
    EXPECT_FALSE(s.ec);
    EXPECT_EQ(calls, 100'000);
}

TEST(async_retry, SM_07_a_second_completion_of_one_attempt_is_ignored) {
    scene s;
    int completions = 0;
    async_retry<void(error_code)>(
        s.io, s.strategy, s.options,
        [&](const attempt&, auto handler) {
            static_assert(!std::is_copy_constructible_v<decltype(handler)>);
            handler(error_code{});
            handler(asio::error::connection_refused);
        },
        [&](error_code code) {
            ++completions;
            s.ec = code;
        });
    s.time.run(s.io);
    EXPECT_EQ(completions, 1);
    EXPECT_FALSE(s.ec);
    EXPECT_EQ(s.trace.failed_attempts(), 0U);
}

TEST(async_retry, an_initiation_that_throws_is_a_failure_if_exceptions_can_be_passed_on) {
    for (const bool limited : {false, true}) {
        scene s;
        if (limited) {
            s.options.attempt_timeout = 10s;
        }
        int calls = 0;
        std::exception_ptr last;
        async_retry<void(std::exception_ptr, int)>(
            s.io, s.strategy, s.options,
            [&](const attempt&, auto) {
                ++calls;
                throw std::system_error(make_error_code(std::errc::connection_refused));
            },
            [&](std::exception_ptr thrown, int) { last = thrown; });
        s.time.run(s.io);
        EXPECT_EQ(calls, 5);
        EXPECT_THROW(std::rethrow_exception(last), std::system_error);
    }
}

TEST(async_retry, an_initiation_that_throws_destroys_the_handler_if_they_cannot) {
    for (const bool first_throws : {true, false}) {
        scene s;
        auto life = std::make_shared<int>(1);
        int calls = 0;
        const auto start_and_run = [&] {
            async_retry<void(error_code)>(
                s.io, s.strategy, s.options,
                [&](const attempt&, auto handler) {
                    if (++calls == 2 || first_throws) {
                        throw std::runtime_error("cannot start");
                    }
                    asio::post(s.io, [handler = std::move(handler)]() mutable {
                        handler(error_code(asio::error::connection_refused));
                    });
                },
                [life, &s](error_code) { ++s.completions; });
            s.time.run(s.io);
        };
        EXPECT_THROW(start_and_run(), std::runtime_error);
        EXPECT_EQ(life.use_count(), 1);
        EXPECT_EQ(s.completions, 0);
    }
}

TEST(async_retry, an_operation_that_drops_its_handler_drops_the_loop) {
    scene s;
    s.options.attempt_timeout = 1h;
    auto life = std::make_shared<int>(1);
    async_retry<void(error_code)>(
        s.io, s.strategy, s.options, [](const attempt&, auto) {},
        [life, &s](error_code) { ++s.completions; });
    s.time.run(s.io);
    EXPECT_EQ(life.use_count(), 1);
    EXPECT_EQ(s.completions, 0);
    EXPECT_EQ(s.time.elapsed(), 0s);  // The loop did not wait for the limit.
}

/// Throws from every call.
struct broken_strategy {
    driver::decision on_start(driver::token_state&, const driver::decision_context&) { return {}; }
    driver::retry_action retry_after(driver::token_state&, const driver::retry_question&) {
        throw std::runtime_error("broken");
    }
    void on_success(const driver::token_state&, const driver::decision_context&) {
        throw std::runtime_error("broken");
    }
};

TEST(async_retry, a_strategy_that_throws_refuses) {
    scene s;
    broken_strategy strategy;
    flaky operation{s.io, 1};
    async_retry<void(error_code, int)>(
        s.io, strategy, s.options, std::ref(operation), s.callback());
    s.time.run(s.io);
    EXPECT_EQ(s.ec, asio::error::connection_refused);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::strategy_failed);
    flaky working{s.io, 0};
    async_retry<void(error_code, int)>(s.io, strategy, s.options, std::ref(working), s.callback());
    s.time.run(s.io);
    EXPECT_FALSE(s.ec);
}

TEST(async_retry, nested_loops_take_from_the_outer_allowance) {
    scene s;
    int inner_calls = 0;
    async_retry<void(error_code)>(
        s.io, s.strategy, s.options,
        [&](const attempt& outer, auto handler) {
            const async_call_options inner{
                .outer_allowance = borrowed(outer.allowance), .clock = borrowed(&s.time)};
            async_retry<void(error_code)>(
                s.io, s.strategy, inner,
                [&](const attempt&, auto inner_handler) {
                    ++inner_calls;
                    asio::post(s.io, [h = std::move(inner_handler)]() mutable {
                        h(error_code(asio::error::connection_refused));
                    });
                },
                std::move(handler));
        },
        [&](error_code code) { s.ec = code; });
    s.time.run(s.io);
    EXPECT_EQ(s.ec, asio::error::connection_refused);
    EXPECT_EQ(inner_calls, 5);  // Not 25.
}

TEST(async_retry, a_clock_that_can_only_block_is_refused_by_name) {
    scene s;
    testing::blocking_clock blocking;
    s.options.clock = borrowed(&blocking);
    flaky operation{s.io, 0};
    EXPECT_THROW(s.run(operation), invalid_settings);
    EXPECT_EQ(operation.calls, 0);
}

TEST(async_retry, completion_arguments_need_not_be_assignable) {
    struct sealed {
        const int value = 0;
    };
    scene s;
    int calls = 0;
    int seen = 0;
    async_retry<void(error_code, sealed)>(
        s.io, s.strategy, s.options,
        [&](const attempt&, auto handler) {
            ++calls;
            std::move(handler)(
                calls == 1 ? error_code(asio::error::connection_refused) : error_code(),
                sealed{calls});
        },
        [&](error_code, sealed last) { seen = last.value; });
    s.time.run(s.io);
    EXPECT_EQ(seen, 2);
}

// Each crashed: the second call found a handler that had given away what it belongs to.
TEST(async_retry, an_operation_that_completes_twice_counts_once_in_every_form) {
    for (const bool has_limit : {false, true}) {
        scene s;
        if (has_limit) {
            s.options.attempt_timeout = 1h;
        }
        int calls = 0;
        auto twice = [&](const attempt&, auto handler) {
            ++calls;
            asio::post(
                s.io, [calls, kept = std::make_shared<decltype(handler)>(std::move(handler))] {
                    const error_code first =
                        calls == 1 ? error_code(asio::error::connection_refused) : error_code();
                    (*kept)(first, calls);
                    (*kept)(error_code(), -2);
                });
        };
        s.run(twice);
        EXPECT_EQ(calls, 2);
        EXPECT_EQ(s.completions, 1);
        EXPECT_EQ(s.value, 2);
    }
}

TEST(async_retry, SM_18_real_timers_wait_and_complete) {
    asio::io_context io;
    standard_strategy strategy(testing::steps_of(10us));
    flaky operation{io, 2};
    int value = 0;
    async_retry<void(error_code, int)>(
        io, strategy, async_call_options{.attempt_timeout = 1h}, std::ref(operation),
        [&](error_code, int number) { value = number; });
    io.run();  // Returns: the timers of finished attempts do not keep it running.
    EXPECT_EQ(value, 3);
}

TEST(async_retry, SM_19_real_timers_cut_an_attempt) {
    asio::io_context io;
    standard_strategy strategy(testing::steps_of(10us, 2));
    retry_history trace;
    asio::basic_waitable_timer<std::chrono::steady_clock> never(io);
    never.expires_at(std::chrono::steady_clock::time_point::max());
    error_code last;
    async_retry<void(error_code)>(
        io, strategy, async_call_options{.attempt_timeout = 100us, .history = borrowed(&trace)},
        [&](const attempt&, auto handler) { never.async_wait(std::move(handler)); },
        [&](error_code code) { last = code; });
    io.run();
    EXPECT_EQ(last, asio::error::operation_aborted);
    EXPECT_EQ(trace.failed_attempts(), 2U);
    EXPECT_TRUE(trace.entries.back().is_timeout());
}

}  // namespace reprise::async_retry_test
