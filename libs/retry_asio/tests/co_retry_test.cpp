#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <reprise/asio/async_retry.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>
#include <string>

#include "chosen_asio.hpp"
#include "fast_strategy.hpp"

template <>
struct reprise::driver::unattempted_outcome<bool> {
    static bool make(refusal_reason) noexcept { return false; }
};

namespace reprise::co_retry_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;
using testing::system_error;

[[nodiscard]] system_error refused() {
    return system_error(error_code(asio::error::connection_refused));
}

struct stage {
    testing::virtual_clock time;
    asio::io_context io;
    standard_strategy strategy{testing::steps_of(1s)};
    retry_history trace;
    async_call_options options{.history = borrowed(&trace), .clock = borrowed(&time)};
    std::exception_ptr thrown;
    bool done = false;

    /// Runs a coroutine to its end and keeps the exception it threw.
    template <class Coroutine>
    void play(Coroutine&& coroutine) {
        asio::co_spawn(io, std::forward<Coroutine>(coroutine), [this](std::exception_ptr error) {
            done = true;
            thrown = error;
        });
        time.run(io);
        ASSERT_TRUE(done);
    }
};

TEST(co_retry, SM_18_returns_what_the_operation_returns_and_retries_what_it_throws) {
    stage s;
    int calls = 0;
    std::string value;
    s.play([&]() -> asio::awaitable<void> {
        auto operation = [&](attempt a) -> asio::awaitable<std::string> {
            EXPECT_EQ(a.number, static_cast<std::uint32_t>(++calls));
            if (calls < 3) {
                throw refused();
            }
            co_return "three";
        };
        value = co_await async_retry(s.strategy, s.options, operation);
    });
    EXPECT_EQ(s.thrown, nullptr);
    EXPECT_EQ(value, "three");
    EXPECT_EQ(s.time.elapsed(), 3s);
}

TEST(co_retry, SM_05_the_last_exception_is_the_very_object_that_was_thrown) {
    stage s;
    const std::exception_ptr original = std::make_exception_ptr(refused());
    s.play([&]() -> asio::awaitable<void> {
        auto operation = [&]() -> asio::awaitable<void> {
            std::rethrow_exception(original);
            co_return;
        };
        co_await async_retry(s.strategy, s.options, operation);
    });
    EXPECT_EQ(s.thrown, original);
    EXPECT_EQ(s.trace.failed_attempts(), 5U);
}

/// Neither default-constructible nor copyable.
class heavy_result {
public:
    explicit heavy_result(int value) : value_(std::make_unique<int>(value)) {}
    [[nodiscard]] int value() const { return *value_; }

private:
    std::unique_ptr<int> value_;
};

TEST(co_retry, results_need_no_default_constructor_also_under_a_limit) {
    for (const bool limited : {false, true}) {
        stage s;
        if (limited) {
            s.options.attempt_timeout = 1min;
        }
        int value = 0;
        s.play([&]() -> asio::awaitable<void> {
            auto operation = [](attempt a) -> asio::awaitable<heavy_result> {
                if (a.number == 1) {
                    throw refused();
                }
                co_return heavy_result(7);
            };
            const heavy_result result = co_await async_retry(s.strategy, s.options, operation);
            value = result.value();
        });
        EXPECT_EQ(value, 7);
        EXPECT_EQ(s.trace.failed_attempts(), 1U);
    }
}

TEST(co_retry, SM_08_failed_results_are_retried_as_well_as_exceptions) {
    stage s;
    testing::scripted_operation script{testing::throttled(5s), testing::transient()};
    int value = 0;
    s.play([&]() -> asio::awaitable<void> {
        auto operation = [&](attempt a) -> asio::awaitable<testing::scripted_result> {
            co_return script(a);
        };
        const testing::scripted_result result =
            co_await async_retry(s.strategy, s.options, operation);
        value = result.value();
    });
    EXPECT_EQ(value, 3);
    EXPECT_EQ(s.time.elapsed(), 7s);  // The service's 5 s, then 2 s.
}

struct busy_error {
    int code;
};
[[nodiscard]] failure_facts retry_facts(const busy_error&) {
    return {.safety = retry_safety::yes};
}

TEST(co_retry, SM_08_listed_exception_types_take_part) {
    stage s;
    int calls = 0;
    const auto operation = [&]() -> asio::awaitable<void> {
        ++calls;
        throw busy_error{5};
        co_return;
    };
    s.play([&]() -> asio::awaitable<void> {
        co_await async_retry(s.strategy, s.options, catching<busy_error>, operation);
    });
    EXPECT_EQ(calls, 5);
    EXPECT_THROW(std::rethrow_exception(s.thrown), busy_error);
    calls = 0;
    s.play(
        [&]() -> asio::awaitable<void> { co_await async_retry(s.strategy, s.options, operation); });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::unclassified);
}

/// Retries once and keeps the last failure of type `Seen`.
template <class Seen>
struct observing_strategy {
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) noexcept {
        token = {};
        return {};
    }
    driver::retry_action retry_after(
        driver::token_state& token, const driver::retry_question& question) {
        const Seen* failure = question.failure.get_if<Seen>();
        seen = failure != nullptr ? std::optional<Seen>(*failure) : std::nullopt;
        // The second condition ends a loop that forgets its token: such a bug must fail, not hang.
        return token.attempt > 1 || ++asked > 4
                   ? driver::retry_action::no(refusal_reason::attempts_exhausted)
                   : driver::retry_action::after({});
    }
    void on_success(const driver::token_state&, const driver::decision_context&) noexcept {}
    int asked = 0;
    std::optional<Seen> seen{};
};

TEST(co_retry, SM_08_a_code_that_is_thrown_as_it_is_has_its_own_facts) {
    stage s;
    int calls = 0;
    auto operation = [&]() -> asio::awaitable<void> {
        ++calls;
        throw error_code(asio::error::connection_refused);
        co_return;
    };
    s.play([&]() -> asio::awaitable<void> {
        auto pending = async_retry(s.strategy, s.options, operation);
        co_await std::move(pending);
    });
    EXPECT_EQ(calls, 5);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::attempts_exhausted);
}

/// A result whose third move throws: after the operation has returned it, Asio has moved it twice.
struct receipt {
    explicit receipt(int& count) : moves(&count) {}
    receipt(receipt&& other) : moves(other.moves) {
        if (++*moves == 3) {
            throw std::runtime_error("moved");
        }
    }
    int* moves;
};

TEST(co_retry, SM_10_a_result_that_throws_while_it_is_moved_repeats_nothing) {
    stage s;
    int calls = 0;
    int moves = 0;
    auto place_order = [&]() -> asio::awaitable<receipt> {
        ++calls;
        co_return receipt(moves);
    };
    s.play([&]() -> asio::awaitable<void> {
        const auto strategy = attempts(3).on<std::runtime_error>();
        auto pending = async_retry(strategy, s.options, place_order);
        static_cast<void>(co_await std::move(pending));
    });
    EXPECT_NE(s.thrown, nullptr);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::unsafe);
}

TEST(co_retry, SM_02_a_strategy_sees_exceptions_and_failed_results) {
    stage s;
    observing_strategy<busy_error> of_exceptions;
    observing_strategy<testing::scripted_error> of_results;
    auto script = testing::scripted_operation{testing::transient()}.fail_forever();
    s.play([&]() -> asio::awaitable<void> {
        auto failing = [&](attempt a) -> asio::awaitable<testing::scripted_result> {
            co_return script(a);
        };
        const auto failed = co_await async_retry(of_results, s.options, failing);
        EXPECT_FALSE(failed.has_value());
        auto throwing = []() -> asio::awaitable<void> {
            throw busy_error{5};
            co_return;
        };
        co_await async_retry(of_exceptions, s.options, catching<busy_error>, throwing);
    });
    ASSERT_TRUE(of_results.seen.has_value());
    EXPECT_EQ(of_results.seen->step, 1U) << "of the second attempt";
    ASSERT_TRUE(of_exceptions.seen.has_value());
    EXPECT_EQ(of_exceptions.seen->code, 5);
}

TEST(co_retry, SM_02_the_completion_token_loop_passes_the_failure_as_well) {
    stage s;
    observing_strategy<error_code> strategy;
    auto initiate = [&](const attempt&, auto handler) {
        asio::post(s.io, [handler = std::move(handler)]() mutable {
            std::move(handler)(error_code(asio::error::connection_reset));
        });
    };
    error_code last;
    async_retry<void(error_code)>(
        s.io, strategy, s.options, initiate, [&](error_code code) { last = code; });
    s.time.run(s.io);
    EXPECT_EQ(last, asio::error::connection_reset);
    EXPECT_EQ(strategy.seen, error_code(asio::error::connection_reset));
}

TEST(co_retry, SM_08_a_predicate_judges_results_in_both_loops) {
    stage s;
    std::optional<int> found;
    s.play([&]() -> asio::awaitable<void> {
        auto find = [](attempt a) -> asio::awaitable<std::optional<int>> {
            co_return a.number < 3 ? std::optional<int>{} : std::optional(7);
        };
        const auto judged = fails_if(std::logical_not<>{}, find);
        found = co_await async_retry(s.strategy, s.options, judged);
    });
    EXPECT_EQ(found, 7);
    EXPECT_EQ(s.trace.failed_attempts(), 2U);

    auto initiate = [&](const attempt& a, auto handler) {
        asio::post(s.io, [handler = std::move(handler), saved = a.number == 2]() mutable {
            std::move(handler)(saved, 3);
        });
    };
    bool saved = false;
    async_retry<void(bool, int)>(
        s.io, s.strategy, s.options, fails_if(std::logical_not<>{}, initiate),
        [&](bool result, int) { saved = result; });
    s.time.run(s.io);
    EXPECT_TRUE(saved);
    EXPECT_EQ(s.trace.failed_attempts(), 1U);
}

/// An asynchronous wait that only cancellation ends.
asio::awaitable<void> wait_for_ever() {
    const auto executor = co_await asio::this_coro::executor;
    asio::basic_waitable_timer<std::chrono::steady_clock> never(executor);
    never.expires_at(std::chrono::steady_clock::time_point::max());
    auto waiting = never.async_wait(asio::use_awaitable);
    co_await std::move(waiting);
}

TEST(co_retry, SM_19_an_attempt_is_canceled_at_its_timeout_and_counts_as_one) {
    stage s;
    s.options.attempt_timeout = 10s;
    unsigned value = 0;
    s.play([&]() -> asio::awaitable<void> {
        auto operation = [](attempt a) -> asio::awaitable<unsigned> {
            if (a.number == 1) {
                co_await wait_for_ever();
            }
            co_return 8;
        };
        value = co_await async_retry(s.strategy, s.options, operation);
    });
    EXPECT_EQ(value, 8U);
    ASSERT_EQ(s.trace.failed_attempts(), 1U);
    EXPECT_TRUE(s.trace.entries[0].is_timeout());
    EXPECT_EQ(s.time.elapsed(), 11s);
}

TEST(co_retry, SM_19_the_deadline_ends_everything) {
    stage s;
    s.options.timeout = 5s;
    s.play([&]() -> asio::awaitable<void> {
        auto operation = []() -> asio::awaitable<void> { co_await wait_for_ever(); };
        co_await async_retry(s.strategy, s.options, operation);
    });
    EXPECT_THROW(std::rethrow_exception(s.thrown), system_error);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::deadline);
    EXPECT_EQ(s.time.elapsed(), 5s);
}

TEST(co_retry, a_canceled_attempt_that_still_succeeds_is_a_success) {
    stage s;
    s.options.attempt_timeout = 10s;
    unsigned value = 0;
    s.play([&]() -> asio::awaitable<void> {
        auto operation = []() -> asio::awaitable<unsigned> {
            try {
                co_await wait_for_ever();
            } catch (const system_error&) {
            }
            co_return 4;
        };
        value = co_await async_retry(s.strategy, s.options, operation);
    });
    EXPECT_EQ(value, 4U);
    EXPECT_EQ(s.trace.failed_attempts(), 0U);
}

// Asio suspends such a coroutine before it passes the result on, and that throws if the coroutine
// is canceled: the result was lost, and without a time limit the call never completed.
TEST(co_retry, an_attempt_that_is_canceled_but_never_suspended_keeps_its_result) {
    enum class ending { returns, throws, throws_before_it_becomes_a_coroutine };
    for (const ending how :
         {ending::returns, ending::throws, ending::throws_before_it_becomes_a_coroutine}) {
        for (const bool has_limit : {false, true}) {
            stage s;
            if (has_limit) {
                s.options.attempt_timeout = 1min;
            }
            asio::cancellation_signal signal;
            int calls = 0;
            const auto coroutine = [&]() -> asio::awaitable<unsigned> {
                signal.emit(asio::cancellation_type::terminal);
                if (how == ending::throws) {
                    throw refused();
                }
                co_return 7;
            };
            const auto operation = [&]() -> asio::awaitable<unsigned> {
                ++calls;
                if (how == ending::throws_before_it_becomes_a_coroutine) {
                    signal.emit(asio::cancellation_type::terminal);
                    throw refused();
                }
                return coroutine();
            };
            unsigned value = 0;
            const auto caller = [&]() -> asio::awaitable<void> {
                value = co_await async_retry(s.strategy, s.options, operation);
            };
            asio::co_spawn(
                s.io, caller,
                asio::bind_cancellation_slot(signal.slot(), [&s](std::exception_ptr thrown) {
                    s.done = true;
                    s.thrown = std::move(thrown);
                }));
            EXPECT_NO_THROW(s.time.run(s.io));
            EXPECT_TRUE(s.done);
            EXPECT_EQ(calls, 1);
            EXPECT_EQ(value, how == ending::returns ? 7U : 0U);
            EXPECT_EQ(s.trace.failed_attempts(), how == ending::returns ? 0U : 1U);
            if (how != ending::returns) {
                ASSERT_NE(s.thrown, nullptr);
                EXPECT_THROW(std::rethrow_exception(s.thrown), system_error);
            }
        }
    }
}

TEST(co_retry, an_operation_that_throws_before_it_becomes_a_coroutine_has_failed_like_any_other) {
    stage s;
    int calls = 0;
    s.play([&]() -> asio::awaitable<void> {
        auto operation = [&]() -> asio::awaitable<void> {
            if (++calls < 3) {
                throw refused();
            }
            return wait_for_ever();
        };
        s.options.timeout = 10s;
        co_await async_retry(s.strategy, s.options, operation);
    });
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(s.trace.entries[1].delay(), 2s);
}

TEST(co_retry, nothing_happens_before_it_is_awaited_and_its_arguments_may_be_gone_by_then) {
    stage s;
    int calls = 0;
    const auto prepare = [&] {
        const async_call_options options{.timeout = 5s, .clock = borrowed(&s.time)};
        const auto operation =
            [&calls, text = std::string(100, 'x')](attempt a) -> asio::awaitable<std::size_t> {
            ++calls;
            EXPECT_EQ(a.timeout, 5s);
            co_return text.size();
        };
        return async_retry(s.strategy, options, operation);
    };
    s.play([&]() -> asio::awaitable<void> {
        auto later = prepare();
        EXPECT_EQ(calls, 0);
        s.time.advance(20s);
        EXPECT_EQ(co_await std::move(later), 100U);
    });
    EXPECT_EQ(s.thrown, nullptr);
    EXPECT_EQ(calls, 1);
}

TEST(co_retry, SM_01_the_loop_waits_for_the_delay_of_the_initial_token) {
    stage s;
    testing::slow_start strategy(4s);
    s.play([&]() -> asio::awaitable<void> {
        auto operation = []() -> asio::awaitable<unsigned> { co_return 1; };
        EXPECT_EQ(co_await async_retry(strategy, s.options, operation), 1U);
    });
    EXPECT_EQ(s.time.elapsed(), 4s);
}

TEST(co_retry, nested_loops_take_from_the_outer_allowance) {
    stage s;
    int inner_calls = 0;
    s.play([&]() -> asio::awaitable<void> {
        auto outer = [&](attempt a) -> asio::awaitable<void> {
            auto inner = [&]() -> asio::awaitable<void> {
                ++inner_calls;
                throw refused();
                co_return;
            };
            const async_call_options options{
                .outer_allowance = borrowed(a.allowance), .clock = borrowed(&s.time)};
            auto pending = async_retry(s.strategy, options, inner);
            co_await std::move(pending);
        };
        co_await async_retry(s.strategy, s.options, outer);
    });
    EXPECT_EQ(inner_calls, 5);  // Not 25.
}

TEST(co_retry, SM_18_the_completion_token_form_works_inside_coroutines) {
    stage s;
    int value = 0;
    s.play([&]() -> asio::awaitable<void> {
        auto initiate = [&](const attempt& a, auto handler) {
            const error_code result =
                a.number < 3 ? error_code(asio::error::connection_refused) : error_code{};
            asio::post(
                s.io, [handler = std::move(handler), result]() mutable { handler(result, 9); });
        };
        value = co_await async_retry<void(error_code, int)>(
            s.io, s.strategy, s.options, initiate, asio::use_awaitable);
    });
    EXPECT_EQ(s.thrown, nullptr);
    EXPECT_EQ(value, 9);
}

TEST(co_retry, a_clock_that_can_only_block_is_refused_by_name) {
    stage s;
    testing::blocking_clock blocking;
    s.options.clock = borrowed(&blocking);
    s.play([&]() -> asio::awaitable<void> {
        auto operation = []() -> asio::awaitable<void> { co_return; };
        co_await async_retry(s.strategy, s.options, operation);
    });
    EXPECT_THROW(std::rethrow_exception(s.thrown), invalid_settings);
}

// The exception left through the function that runs the loops and destroyed the coroutine.
TEST(co_retry, a_coroutine_catches_that_the_token_form_refuses_its_clock) {
    stage s;
    testing::blocking_clock blocking;
    s.options.clock = borrowed(&blocking);
    bool is_caught = false;
    s.play([&]() -> asio::awaitable<void> {
        const auto initiate = [](const attempt&, auto) {};
        try {
            co_await async_retry<void(error_code)>(
                s.io, s.strategy, s.options, initiate, asio::use_awaitable);
        } catch (const invalid_settings&) {
            is_caught = true;
        }
    });
    EXPECT_TRUE(is_caught);
}

/// Cannot be copied more often than `copies` says.
struct rarely_copied : driver::simple_strategy<> {
    rarely_copied(int& left) : simple_strategy(3U), copies(&left) {}
    rarely_copied(const rarely_copied& other) : simple_strategy(other), copies(other.copies) {
        if ((*copies)-- == 0) {
            throw std::bad_alloc();
        }
    }
    rarely_copied(rarely_copied&&) = default;

    int* copies;
};

// An exception of a later copy left the coroutine unable to notice that it was canceled, or
// destroyed it.
TEST(co_retry, a_strategy_is_copied_only_before_the_loop_starts) {
    for (const int copies_max : {0, 1}) {
        stage s;
        bool is_caught = false;
        bool has_ended = false;
        const auto call = [&]() -> asio::awaitable<void> {
            int left = copies_max;
            const rarely_copied strategy(left);
            auto operation = []() -> asio::awaitable<void> { co_return; };
            try {
                co_await async_retry(strategy, s.options, operation);
            } catch (const std::bad_alloc&) {
                is_caught = true;
            }
            EXPECT_TRUE(co_await asio::this_coro::throw_if_cancelled());
            has_ended = true;
        };
        EXPECT_NO_THROW(s.play(call));
        EXPECT_TRUE(has_ended) << "the coroutine was destroyed";
        EXPECT_EQ(is_caught, copies_max == 0);
    }
}

TEST(co_retry, SM_20_the_loop_has_no_limit_of_its_own) {
    stage s;
    auto endless = driver::composed_strategy(
        driver::attempt_limits{std::nullopt}, driver::stated_safety{},
        driver::exponential_backoff{{.base = 0s, .cap = 0s}}, driver::no_budget{});
    int calls = 0;
    s.play([&]() -> asio::awaitable<void> {
        auto operation = [&]() -> asio::awaitable<std::error_code> {
            const bool enough = ++calls == 10'000;
            co_return enough ? std::error_code{} : make_error_code(std::errc::connection_refused);
        };
        EXPECT_FALSE(co_await async_retry(endless, s.options, operation));
    });
    EXPECT_EQ(calls, 10'000);
}

}  // namespace reprise::co_retry_test
