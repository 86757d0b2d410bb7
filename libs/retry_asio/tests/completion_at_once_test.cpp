#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>
#include <utility>

#include "chosen_asio.hpp"

/// Operations that complete inside their initiating function.

namespace reprise::completion_at_once_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

struct scene {
    testing::virtual_clock time;
    asio::io_context io;
    async_call_options options{.clock = borrowed(&time)};
};

// The loop ended inside its own initiating function, which then used what had been destroyed.
TEST(completion_at_once, of_a_hedged_attempt_ends_the_call_after_its_initiation) {
    for (const bool has_limit : {false, true}) {
        for (const bool is_on_executor : {false, true}) {
            SCOPED_TRACE(has_limit * 2 + is_on_executor);
            scene s;
            s.options.repeat = repeatability::repeatable;
            if (has_limit) {
                s.options.attempt_timeout = 1h;
            }
            bool is_initiating = false;
            int completed = 0;
            std::weak_ptr<int> owned;
            const auto start = [&] {
                auto kept = std::make_shared<int>(1);
                owned = kept;
                auto at_once = [&, kept = std::move(kept)](const attempt&, auto handler) {
                    is_initiating = true;
                    std::move(handler)(error_code());
                    EXPECT_FALSE(owned.expired()) << "the function still runs";
                    is_initiating = false;
                };
                async_retry<void(error_code)>(
                    s.io, attempts(3), s.options, hedged(1s, std::move(at_once)), [&](error_code) {
                        ++completed;
                        EXPECT_FALSE(is_initiating);
                    });
            };
            is_on_executor ? asio::post(s.io, start) : start();
            s.time.run(s.io);
            EXPECT_EQ(completed, 1);
        }
    }
}

// With a time limit and outside of the executor, the handler and the next attempt ran inside the
// initiating function.
TEST(async_retry, an_attempt_that_completes_at_once_is_reported_after_its_initiation) {
    for (const bool has_limit : {false, true}) {
        for (const bool is_on_executor : {false, true}) {
            SCOPED_TRACE(has_limit * 2 + is_on_executor);
            scene s;
            if (has_limit) {
                s.options.attempt_timeout = 1h;
            }
            int initiating = 0;
            int calls = 0;
            int completed = 0;
            const auto at_once = [&](const attempt&, auto handler) {
                EXPECT_EQ(++initiating, 1) << "one at a time";
                ++calls;
                std::move(handler)(
                    calls < 3 ? error_code(asio::error::connection_refused) : error_code());
                --initiating;
            };
            const auto start = [&] {
                async_retry<void(error_code)>(
                    s.io, attempts(3).every(0s), s.options, at_once, [&](error_code) {
                        ++completed;
                        EXPECT_EQ(initiating, 0);
                    });
            };
            is_on_executor ? asio::post(s.io, start) : start();
            s.time.run(s.io);
            EXPECT_EQ(calls, 3);
            EXPECT_EQ(completed, 1);
        }
    }
}

// With a time limit, Asio asked the handler for an executor that it had no more; without one, for a
// slot that was gone.
TEST(async_retry, an_operation_that_completes_and_then_waits_with_the_same_handler_completes_once) {
    for (const bool is_inside : {true, false}) {
        for (const bool has_limit : {false, true}) {
            for (const bool is_hedged : {false, true}) {
                SCOPED_TRACE(is_inside * 4 + has_limit * 2 + is_hedged);
                scene s;
                s.options.repeat = repeatability::repeatable;
                if (has_limit) {
                    s.options.attempt_timeout = 1h;
                }
                asio::steady_timer timer(s.io);
                asio::cancellation_signal signal;
                int completed = 0;
                const auto forgotten_return = [&](const attempt&, auto handler) {
                    auto body = [&timer, handler = std::move(handler)]() mutable {
                        handler(error_code());
                        timer.expires_after(0s);
                        timer.async_wait(std::move(handler));
                    };
                    is_inside ? body() : asio::post(s.io, std::move(body));
                };
                auto done =
                    asio::bind_cancellation_slot(signal.slot(), [&](error_code) { ++completed; });
                if (is_hedged) {
                    async_retry<void(error_code)>(
                        s.io, attempts(3), s.options, hedged(1h, forgotten_return), done);
                } else {
                    async_retry<void(error_code)>(
                        s.io, attempts(3), s.options, forgotten_return, done);
                }
                s.time.run(s.io);
                s.io.restart();
                s.io.run();
                EXPECT_EQ(completed, 1);
            }
        }
    }
}

/// Its moves may throw, so a loop keeps it in memory of its own.
struct receipt {
    receipt() = default;
    receipt(receipt&&) noexcept(false) {}
};

// The call completed a second time, and looked for the signal of the first time, which was gone.
TEST(async_retry, an_operation_that_could_not_start_but_completes_after_the_call_is_ignored) {
    for (const bool has_slot : {false, true}) {
        SCOPED_TRACE(has_slot);
        scene s;
        std::optional<asio::cancellation_signal> signal(std::in_place);
        std::function<void()> complete;
        int completed = 0;
        const auto gives_its_handler_away = [&](const attempt&, auto handler) {
            auto kept = std::make_shared<decltype(handler)>(std::move(handler));
            complete = [kept] { std::move (*kept)(std::exception_ptr(), receipt()); };
            throw std::runtime_error("no connection");
        };
        async_retry<void(std::exception_ptr, receipt)>(
            s.io, attempts(1), s.options, gives_its_handler_away,
            asio::bind_cancellation_slot(
                has_slot ? signal->slot() : asio::cancellation_slot(),
                [&](const std::exception_ptr& thrown, const receipt&) {
                    ++completed;
                    EXPECT_NE(thrown, nullptr);
                }));
        s.time.run(s.io);
        EXPECT_EQ(completed, 1);
        signal.reset();
        complete();
        s.time.run(s.io);
        ASSERT_EQ(completed, 1);
    }
}

// Between the end of the attempt and that of the call, a signal called into an operation that was
// gone.
TEST(async_retry, a_signal_does_not_reach_an_operation_that_has_completed_at_once) {
    for (const bool has_limit : {false, true}) {
        for (const bool is_hedged : {false, true}) {
            SCOPED_TRACE(has_limit * 2 + is_hedged);
            scene s;
            s.options.repeat = repeatability::repeatable;
            if (has_limit) {
                s.options.attempt_timeout = 1h;
            }
            asio::cancellation_signal signal;
            int calls = 0;
            error_code last;
            const auto at_once = [&](const attempt&, auto handler) {
                ++calls;
                auto slot = asio::get_associated_cancellation_slot(handler);
                slot.assign([](asio::cancellation_type_t) { ADD_FAILURE() << "it is gone"; });
                std::move(handler)(error_code(asio::error::connection_refused));
            };
            const auto start = [&] {
                auto done = asio::bind_cancellation_slot(
                    signal.slot(), [&](error_code code) { last = code; });
                is_hedged
                    ? async_retry<void(error_code)>(
                          s.io, attempts(3), s.options, hedged(1h, at_once), done)
                    : async_retry<void(error_code)>(s.io, attempts(3), s.options, at_once, done);
                signal.emit(asio::cancellation_type::all);
            };
            asio::post(s.io, start);
            s.time.run(s.io);
            EXPECT_EQ(calls, 1);
            EXPECT_EQ(last, asio::error::connection_refused);
        }
    }
}

}  // namespace reprise::completion_at_once_test
