#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <optional>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/fallback.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
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

/// How a call runs: the attempt takes `takes` (zero: it completes inside its initiating function),
/// and is hedged after 10 ms or not at all.
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
const row inline_rows[] = {
    {"inline", false, 0ms},
    {"inline with a time limit", false, 0ms, 10s},
    {"inline and hedged", true, 0ms},
    {"inline and hedged with a time limit", true, 0ms, 10s},
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
    [[nodiscard]] async_call_options options(const row& how) {
        return {
            .attempt_timeout = how.attempt_timeout,
            .repeat = repeatability::repeatable,
            .clock = borrowed(&time)};
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
            const async_call_options wanted = options(how);
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
    /// `First` reports the success: an error code or an exception.
    template <class First>
    void with_token(const row& how) {
        const auto initiate = [this, &how](const attempt&, auto handler) {
            ++executed;
            if (how.takes == duration::zero()) {
                std::move(handler)(First(), receipt(&count));
                return;
            }
            pause(how.takes, [this, handler = std::move(handler)](bool) mutable {
                std::move(handler)(First(), receipt(&count));
            });
        };
        const auto done = [this](const First&, const receipt&) { ++completed; };
        const auto strategy = attempts(3).every(1ms).observer(observer);
        using signature = void(First, receipt);
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

/// A lost success is never repeated. It is reported to observers, and to the caller if `First` can
/// carry what was thrown; otherwise that leaves through the executor.
template <class First>
void check_with_token(const row& how) {
    constexpr bool carries = std::is_same_v<First, std::exception_ptr>;
    int throws_at = 0;
    for (bool has_thrown = true; has_thrown;) {
        call c(++throws_at);
        c.with_token<First>(how);
        SCOPED_TRACE(how.name + (" " + std::to_string(throws_at)));
        has_thrown = c.count.moves >= throws_at;
        const bool is_hedge_needed = how.takes > 10ms;
        const bool is_lost = has_thrown && !is_hedge_needed;
        EXPECT_EQ(c.executed, is_hedge_needed ? 2 : 1);
        EXPECT_EQ(c.observed, 1);
        EXPECT_EQ(c.left_by_throwing, is_lost && !carries ? 1 : 0);
        EXPECT_EQ(c.completed, is_lost && !carries ? 0 : 1);
    }
    EXPECT_GT(throws_at, 1);
}

// The group of hedged attempts took a result that was not there. Where an exception can be passed
// on, a success that was lost inside its initiating function was taken for one that could not
// start, and was repeated, or the call never ended. Observers were not notified.
TEST(throwing_moves, SM_10_whichever_move_throws_a_completion_is_reported_and_repeats_nothing) {
    for (const row& how : rows) {
        check_with_token<error_code>(how);
        check_with_token<std::exception_ptr>(how);
    }
    for (const row& how : inline_rows) {
        check_with_token<error_code>(how);
        check_with_token<std::exception_ptr>(how);
    }
}

// The first attempt's success was lost, its hedge failed later, and the call was retried.
TEST(throwing_moves, SM_10_a_lost_result_is_final_although_another_attempt_fails_after_it) {
    call c(1);
    const auto initiate = [&](const attempt& current, auto handler) {
        ++c.executed;
        c.pause(
            50ms, [&c, is_first = current.number == 1, handler = std::move(handler)](bool) mutable {
                is_first
                    ? std::move(handler)(error_code(), receipt(&c.count))
                    : std::move(handler)(error_code(asio::error::connection_refused), receipt());
            });
    };
    async_retry<void(error_code, receipt)>(
        c.io, attempts(4).every(1ms).observer(c.observer), c.options(rows[0]),
        hedged(10ms, initiate), [&](error_code, const receipt&) { ++c.completed; });
    c.run();
    EXPECT_EQ(c.executed, 2);
    EXPECT_EQ(c.observed, 1);
    EXPECT_EQ(c.left_by_throwing, 1);
    EXPECT_EQ(c.completed, 0);
}

/// Its moves always throw, and it cannot be made again.
struct unmovable {
    unmovable() {
        if (!can_be_made) {
            throw std::runtime_error("no memory");
        }
    }
    unmovable(unmovable&&) { throw std::runtime_error("moved"); }
    unmovable& operator=(unmovable&&) = delete;
    ~unmovable() = default;

    inline static bool can_be_made = true;
};

/// `can_be_made`: an argument in place of the lost one.
void lose_result(call& c, bool is_hedged, bool can_be_made) {
    const auto initiate = [&c, can_be_made](const attempt&, auto handler) {
        ++c.executed;
        c.pause(1ms, [handler = std::move(handler), can_be_made](bool) mutable {
            unmovable given;
            unmovable::can_be_made = can_be_made;
            std::move(handler)(std::exception_ptr(), std::move(given));
        });
    };
    const auto done = [&c](const std::exception_ptr& thrown, const unmovable&) {
        EXPECT_NE(thrown, nullptr);
        ++c.completed;
    };
    using signature = void(std::exception_ptr, unmovable);
    const auto strategy = attempts(3).every(1ms).observer(c.observer);
    if (is_hedged) {
        async_retry<signature>(c.io, strategy, c.options(rows[0]), hedged(10ms, initiate), done);
    } else {
        async_retry<signature>(c.io, strategy, c.options(rows[0]), initiate, done);
    }
    c.run();
    unmovable::can_be_made = true;
}

// What was to be reported instead of the lost result was lost as well, because it was moved.
TEST(
    throwing_moves,
    an_argument_that_can_never_be_moved_does_not_keep_the_exception_from_its_caller) {
    for (const bool is_hedged : {false, true}) {
        call c(0);
        lose_result(c, is_hedged, true);
        EXPECT_EQ(c.executed, 1);
        EXPECT_EQ(c.observed, 1);
        EXPECT_EQ(c.left_by_throwing, 0);
        EXPECT_EQ(c.completed, 1);
    }
}

// A result that was not there was used all the same.
TEST(throwing_moves, a_result_that_cannot_even_be_made_leaves_through_the_executor) {
    for (const bool is_hedged : {false, true}) {
        call c(0);
        lose_result(c, is_hedged, false);
        EXPECT_EQ(c.executed, 1);
        EXPECT_EQ(c.observed, 1);
        EXPECT_EQ(c.left_by_throwing, 1);
        EXPECT_EQ(c.completed, 0);
    }
}

TEST(throwing_moves, a_fallback_takes_the_place_of_a_lost_result) {
    call c(1);
    int value = 0;
    const auto initiate = [&](const attempt&, auto handler) {
        std::move(handler)(error_code(), receipt(&c.count));
    };
    const auto fallback = [](const failure_view&) {
        return std::tuple<error_code, receipt>(error_code(), receipt());
    };
    async_retry<void(error_code, receipt)>(
        c.io, attempts(4), c.options(rows[0]), with_fallback(fallback, initiate),
        [&](error_code code, const receipt&) { value = code ? 1 : 2; });
    c.run();
    EXPECT_EQ(value, 2);
    EXPECT_EQ(c.left_by_throwing, 0);
}

}  // namespace reprise::throwing_moves_test
