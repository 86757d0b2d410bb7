/// Loops on an executor that several threads run, without a strand of the caller. Intended for
/// ThreadSanitizer; the assertions hold in every build.

#include <gtest/gtest.h>

#include <atomic>

#include <deque>
#include <memory>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/retry_metrics.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <semaphore>
#include <thread>
#include <vector>

#include "chosen_asio.hpp"
#include "counting_memory.hpp"
#include "fast_strategy.hpp"

namespace reprise::threads_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

/// Runs a context on `count` threads until it has nothing left to do.
void run_on_threads(asio::io_context& io, int count) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&io] { io.run(); });
    }
}

TEST(threads, loops_complete_exactly_once_on_a_context_with_several_threads) {
    constexpr std::size_t count = 2000;
    asio::io_context io;
    standard_strategy strategy(testing::steps_of(1us, 4));
    std::deque<std::atomic<int>> completions(count);
    std::atomic<int> attempts = 0;
    for (std::size_t i = 0; i < count; ++i) {
        async_retry<void(error_code)>(
            io, strategy, async_call_options{.attempt_timeout = 1h},
            [&io, &attempts](const attempt& current, auto handler) {
                attempts.fetch_add(1);
                const error_code result =
                    current.number < 4 ? error_code(asio::error::connection_refused) : error_code{};
                asio::post(io, [h = std::move(handler), result]() mutable { h(result); });
            },
            [&completions, i](error_code) { completions[i].fetch_add(1); });
    }
    run_on_threads(io, 4);
    EXPECT_EQ(attempts.load(), static_cast<int>(4 * count));
    for (const auto& completed : completions) {
        EXPECT_EQ(completed.load(), 1);
    }
}

TEST(threads, an_attempt_may_end_while_its_limit_is_reached_on_another_thread) {
    constexpr std::size_t count = 500;
    asio::io_context io;
    standard_strategy strategy(testing::steps_of(1us, 4));
    std::atomic<std::size_t> completions = 0;
    using timer = asio::basic_waitable_timer<std::chrono::steady_clock>;
    for (std::size_t i = 0; i < count; ++i) {
        auto step = std::make_shared<timer>(io);
        async_retry<void(error_code)>(
            io, strategy, async_call_options{.attempt_timeout = 50us},
            [step](const attempt&, auto handler) {
                step->expires_after(50us);
                step->async_wait(std::move(handler));
            },
            [&completions](error_code) { completions.fetch_add(1); });
    }
    run_on_threads(io, 4);
    EXPECT_EQ(completions.load(), count);
}

TEST(threads, hedged_attempts_may_end_at_the_same_moment_on_different_threads) {
    constexpr std::size_t count = 500;
    asio::io_context io;
    const auto breaker = std::make_shared<circuit_breaker>();
    const auto metrics = std::make_shared<retry_metrics>();
    const auto seen = std::make_shared<first_attempt_latencies>();
    const auto rule = attempts(3).every(0s).breaker(breaker).observer(metrics);
    const hedge_options hedging{
        .delay = 20us, .attempts_max = 3, .seen = seen, .seen_max = 1'000'000};
    const async_call_options options{
        .timeout = 1h, .attempt_timeout = 1h, .repeat = repeatability::repeatable};
    std::deque<std::atomic<int>> completions(count);
    using timer = asio::basic_waitable_timer<std::chrono::steady_clock>;
    for (std::size_t i = 0; i < count; ++i) {
        const auto read = [&io](const attempt&, auto handler) {
            auto step = std::make_shared<timer>(io, 40us);
            const auto slot = asio::get_associated_cancellation_slot(handler);
            const auto executor = asio::get_associated_executor(handler);
            step->async_wait(asio::bind_cancellation_slot(
                slot, asio::bind_executor(
                          executor, [step, handler = std::move(handler)](error_code code) mutable {
                              std::move(handler)(code);
                          })));
        };
        async_retry<void(error_code)>(
            io, rule, options, hedged(hedging, read), [&completions, i](error_code code) {
                EXPECT_EQ(code, error_code());
                completions[i].fetch_add(1);
            });
    }
    run_on_threads(io, 4);
    for (const auto& completed : completions) {
        EXPECT_EQ(completed.load(), 1);
    }
    EXPECT_EQ(metrics->successes(), count);
    EXPECT_EQ(metrics->attempts(), count + metrics->hedges());
    EXPECT_GE(seen->count(), count);
}

/// A loser was canceled on the winner's thread, while its own ran it.
TEST(threads, hedged_coroutines_run_on_a_context_with_several_threads) {
    constexpr std::size_t count = 1000;
    asio::io_context io;
    const auto rule = attempts(3).every(0s);
    const async_call_options options{.repeat = repeatability::repeatable};
    std::atomic<std::size_t> succeeded = 0;
    for (std::size_t i = 0; i < count; ++i) {
        auto body = [&]() -> asio::awaitable<void> {
            const auto read = hedged(20us, [&io]() -> asio::awaitable<std::size_t> {
                asio::basic_waitable_timer<std::chrono::steady_clock> step(io, 40us);
                auto wait = step.async_wait(asio::use_awaitable);
                co_await std::move(wait);
                co_return 1;
            });
            auto pending = async_retry(rule, options, read);
            succeeded += co_await std::move(pending);
        };
        asio::co_spawn(
            io, body, [](const std::exception_ptr& thrown) { EXPECT_EQ(thrown, nullptr); });
    }
    run_on_threads(io, 4);
    EXPECT_EQ(succeeded.load(), count);
}

/// A coroutine was canceled on the thread of its limit, while its own ran it.
TEST(threads, a_coroutine_may_end_while_its_limit_is_reached_on_another_thread) {
    constexpr std::size_t count = 1000;
    asio::io_context io;
    const auto rule = attempts(2).every(0s);
    const async_call_options options{.attempt_timeout = 50us, .repeat = repeatability::repeatable};
    std::atomic<std::size_t> ended = 0;
    for (std::size_t i = 0; i < count; ++i) {
        auto body = [&]() -> asio::awaitable<void> {
            const auto read = [&io]() -> asio::awaitable<std::size_t> {
                asio::basic_waitable_timer<std::chrono::steady_clock> step(io, 50us);
                auto wait = step.async_wait(asio::use_awaitable);
                co_await std::move(wait);
                co_return 1;
            };
            auto pending = async_retry(rule, options, read);
            static_cast<void>(co_await std::move(pending));
        };
        asio::co_spawn(io, body, [&](const std::exception_ptr&) { ended.fetch_add(1); });
    }
    run_on_threads(io, 4);
    EXPECT_EQ(ended.load(), count);
}

TEST(threads, coroutines_of_a_concrete_strand_stay_on_it) {
    constexpr std::size_t count = 200;
    using strand = asio::strand<asio::io_context::executor_type>;
    asio::io_context io;
    const auto rule = attempts(3).every(0s);
    const async_call_options options{.attempt_timeout = 1h, .repeat = repeatability::repeatable};
    std::atomic<std::size_t> succeeded = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const strand place = asio::make_strand(io);
        auto body = [&, place]() -> asio::awaitable<void, strand> {
            const auto read = hedged(20us, [place]() -> asio::awaitable<std::size_t, strand> {
                asio::basic_waitable_timer<std::chrono::steady_clock> step(
                    place.get_inner_executor(), 40us);
                auto wait = step.async_wait(asio::use_awaitable_t<strand>{});
                co_await std::move(wait);
                co_return place.running_in_this_thread() ? 1U : 0U;
            });
            auto pending = async_retry(rule, options, read);
            succeeded += co_await std::move(pending);
        };
        asio::co_spawn(
            place, body, [](const std::exception_ptr& thrown) { EXPECT_EQ(thrown, nullptr); });
    }
    run_on_threads(io, 4);
    EXPECT_EQ(succeeded.load(), count);
}

TEST(threads, SM_19_any_thread_may_request_a_stop) {
    constexpr std::size_t count = 200;
    asio::io_context io;
    standard_strategy strategy(testing::steps_of(1h));
    std::stop_source stop;
    std::atomic<std::size_t> waiting = 0;
    std::atomic<std::size_t> completions = 0;
    for (std::size_t i = 0; i < count; ++i) {
        async_retry<void(error_code)>(
            io, strategy, async_call_options{.stop = stop.get_token()},
            [&](const attempt&, auto handler) {
                waiting.fetch_add(1);
                handler(error_code(asio::error::connection_refused));
            },
            [&](error_code code) {
                EXPECT_EQ(code, asio::error::connection_refused);
                completions.fetch_add(1);
            });
    }
    std::jthread stopper([&] {
        while (waiting.load() < count) {
            std::this_thread::yield();
        }
        stop.request_stop();
    });
    run_on_threads(io, 3);
    EXPECT_EQ(completions.load(), count);
}

TEST(threads, results_from_a_foreign_thread_return_to_the_executor) {
    asio::io_context io;
    standard_strategy strategy(testing::steps_of(1us, 4));
    std::vector<std::jthread> foreign;
    std::thread::id handler_thread;
    async_retry<void(error_code)>(
        io, strategy, async_call_options{},
        [&](const attempt& current, auto handler) {
            const error_code result =
                current.number < 3 ? error_code(asio::error::connection_refused) : error_code{};
            foreign.emplace_back([h = std::move(handler), result]() mutable { h(result); });
        },
        [&](error_code) { handler_thread = std::this_thread::get_id(); });
    io.run();  // The loop itself keeps the context busy while a foreign thread works.
    EXPECT_EQ(handler_thread, std::this_thread::get_id());
    EXPECT_EQ(foreign.size(), 3U);
}

/// Starts calls while the context runs; returns how many handlers found memory of their call.
template <class Operation>
[[nodiscard]] int find_memory(
    asio::io_context& io, duration pause, const async_call_options& options,
    const Operation& operation) {
    std::deque<testing::counting_memory> memories;
    std::atomic<int> found = 0;
    std::binary_semaphore has_completed(0);
    io.restart();
    auto work = asio::make_work_guard(io);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&io] { io.run(); });
    }
    for (int i = 0; i < 500; ++i) {
        testing::counting_memory& memory = memories.emplace_back();
        const std::pmr::polymorphic_allocator<std::byte> allocator(&memory);
        async_retry<void(error_code)>(
            io, attempts(3).every(pause), options, operation,
            asio::bind_allocator(allocator, [&](error_code) {
                found.fetch_add(memory.live != 0 ? 1 : 0);
                has_completed.release();
            }));
        has_completed.acquire();
    }
    work.reset();
    threads.clear();
    return found.load();
}

// What had started an attempt or a wait still held the loop, which then ended on another thread.
TEST(threads, a_handler_finds_its_memory_returned_whichever_thread_started_what_ends_the_call) {
    asio::io_context io;
    const auto result = [](const attempt& current) {
        return current.number < 3 ? error_code(asio::error::connection_refused) : error_code{};
    };
    const auto at_once = [&](const attempt& current, auto handler) { handler(result(current)); };
    const auto later = [&](const attempt& current, auto handler) {
        asio::post(io, [h = std::move(handler), code = result(current)]() mutable { h(code); });
    };
    const async_call_options plain;
    const async_call_options limited{.attempt_timeout = 1h, .repeat = repeatability::repeatable};
    const hedge_options one{.delay = 1h, .attempts_max = 1};
    EXPECT_EQ(find_memory(io, 0s, plain, at_once), 0);
    EXPECT_EQ(find_memory(io, 0s, plain, later), 0);
    EXPECT_EQ(find_memory(io, 1ns, plain, later), 0);
    EXPECT_EQ(find_memory(io, 0s, limited, later), 0);
    EXPECT_EQ(find_memory(io, 1ns, limited, hedged(one, later)), 0);
}

TEST(threads, coroutines_retry_on_a_context_with_several_threads) {
    constexpr std::size_t count = 500;
    asio::io_context io;
    standard_strategy strategy(testing::steps_of(1us, 4));
    std::atomic<std::size_t> succeeded = 0;
    for (std::size_t i = 0; i < count; ++i) {
        auto body = [&strategy, &succeeded, i]() -> asio::awaitable<void> {
            auto operation = [](attempt a) -> asio::awaitable<std::error_code> {
                co_return a.number < 4 ? make_error_code(std::errc::connection_refused)
                                       : std::error_code{};
            };
            async_call_options options;
            if (i % 2 == 0) {
                options.attempt_timeout = 1h;
            }
            auto pending = async_retry(strategy, options, operation);
            if (!co_await std::move(pending)) {
                succeeded.fetch_add(1);
            }
        };
        asio::co_spawn(
            io, body, [](const std::exception_ptr& thrown) { EXPECT_EQ(thrown, nullptr); });
    }
    run_on_threads(io, 4);
    EXPECT_EQ(succeeded.load(), count);
}

}  // namespace reprise::threads_test
