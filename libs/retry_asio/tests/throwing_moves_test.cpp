#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <optional>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "chosen_asio.hpp"

namespace reprise::throwing_moves_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

/// Counts the moves of all receipts of a call; the one with the number `throws_at` throws.
struct move_count {
    int moves = 0;
    int throws_at = 0;
};

struct receipt {
    explicit receipt(move_count* shared = nullptr) : count(shared) {}
    receipt(receipt&& other) : count(other.count) {
        if (count != nullptr && ++count->moves == count->throws_at) {
            throw std::runtime_error("moved");
        }
    }
    receipt& operator=(receipt&&) = delete;
    ~receipt() = default;

    move_count* count;
};

/// How a call runs: the attempt takes `takes`, and is hedged after 10 ms or not at all.
struct row {
    const char* name;
    bool is_hedged;
    duration takes;
    std::optional<duration> attempt_timeout{};
};

const row rows[] = {
    {"plain", false, 1ms},
    {"with a time limit", false, 1ms, 10s},
    {"hedged and fast", true, 1ms},
    {"hedged and slow", true, 50ms},
};

struct call {
    testing::virtual_clock time;
    asio::io_context io;
    move_count count;
    std::shared_ptr<detail::observing_functions> observer =
        std::make_shared<detail::observing_functions>();
    int executed = 0;
    int completed = 0;         // the caller's handler or coroutine
    int observed = 0;          // completions that the observer has seen
    int left_by_throwing = 0;  // exceptions that left through the executor

    explicit call(int throws_at) : count{0, throws_at} {
        observer->completion = [this](const call_summary&) { ++observed; };
    }
    [[nodiscard]] call_options options(const row& how) {
        return {
            .attempt_timeout = how.attempt_timeout,
            .repeat = repeatability::repeatable,
            .clock = &time};
    }
    void run() {
        for (bool is_idle = false; !is_idle;) {
            try {
                time.run(io);
                is_idle = true;
            } catch (const std::runtime_error&) {
                ++left_by_throwing;
            }
        }
    }
    template <class Token>
    [[nodiscard]] auto pause(duration length, Token&& token) {
        const detail::pause_request request{time.now() + length, {}, &time};
        return detail::async_pause(io.get_executor(), request, std::forward<Token>(token));
    }

    asio::awaitable<receipt> place_order(duration takes) {
        ++executed;
        auto pending = pause(takes, asio::use_awaitable);
        co_await std::move(pending);
        co_return receipt(&count);
    }
    void in_coroutine(const row& how) {
        auto order = [this, &how]() -> asio::awaitable<receipt> { return place_order(how.takes); };
        auto caller = [this, &how, order]() -> asio::awaitable<void> {
            const auto strategy = attempts(3).every(1ms).observer(observer);
            const call_options wanted = options(how);
            if (how.is_hedged) {
                const auto operation = hedged(10ms, order);
                auto pending = async_retry(strategy, wanted, operation);
                static_cast<void>(co_await std::move(pending));
            } else {
                auto pending = async_retry(strategy, wanted, order);
                static_cast<void>(co_await std::move(pending));
            }
        };
        asio::co_spawn(io, caller, [this](const std::exception_ptr&) { ++completed; });
        run();
    }
    void with_token(const row& how) {
        const auto initiate = [this, &how](const attempt&, auto handler) {
            ++executed;
            pause(how.takes, [this, handler = std::move(handler)](bool) mutable {
                std::move(handler)(error_code(), receipt(&count));
            });
        };
        const auto done = [this](error_code, const receipt&) { ++completed; };
        const auto strategy = attempts(3).every(1ms).observer(observer);
        using signature = void(error_code, receipt);
        if (how.is_hedged) {
            async_retry<signature>(io, strategy, options(how), hedged(10ms, initiate), done);
        } else {
            async_retry<signature>(io, strategy, options(how), initiate, done);
        }
        run();
    }
};

// Somewhere between the operation and its caller the exception left through the executor: the
// caller's coroutine was destroyed, and the observer was not notified.
TEST(throwing_moves, SM_10_whichever_move_throws_a_coroutine_completes_once_and_repeats_nothing) {
    // Asio makes the first two, which count as thrown by the operation.
    constexpr int moves_of_asio = 2;
    for (const row& how : rows) {
        int throws_at = 0;
        for (bool has_thrown = true; has_thrown;) {
            call c(++throws_at);
            c.in_coroutine(how);
            SCOPED_TRACE(how.name + (" " + std::to_string(throws_at)));
            EXPECT_EQ(c.completed, 1);
            EXPECT_EQ(c.observed, 1);
            EXPECT_EQ(c.left_by_throwing, 0);
            if (throws_at > moves_of_asio) {
                EXPECT_LE(c.executed, how.takes > 10ms ? 2 : 1);
            }
            has_thrown = c.count.moves >= throws_at;
        }
        EXPECT_GT(throws_at, moves_of_asio + 1);
    }
}

// The group of hedged attempts took a result that was not there.
TEST(throwing_moves, a_result_that_throws_on_its_way_to_a_handler_leaves_through_the_executor) {
    for (const row& how : rows) {
        int throws_at = 0;
        for (bool has_thrown = true; has_thrown;) {
            call c(++throws_at);
            c.with_token(how);
            SCOPED_TRACE(how.name + (" " + std::to_string(throws_at)));
            has_thrown = c.count.moves >= throws_at;
            EXPECT_EQ(c.left_by_throwing, has_thrown ? 1 : 0);
            EXPECT_LE(c.completed, 1);
            EXPECT_LE(c.executed, how.is_hedged ? 2 : 1);
        }
    }
}

}  // namespace reprise::throwing_moves_test
