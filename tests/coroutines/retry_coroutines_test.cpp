#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <reprise/asio/async_retry.hpp>
#include <reprise/retry.hpp>

#include "play.hpp"

// Awaits the loops of reprise/asio/.

namespace coroutines {
namespace {

using namespace std::chrono_literals;
using boost::system::error_code;
using reprise::async_retry;

struct odd_error {
    std::string text;
};
[[nodiscard]] reprise::failure_facts retry_facts(const odd_error&) {
    return {.safety = reprise::retry_safety::yes};
}

struct loop_fixture {
    reprise::standard_strategy strategy{{.backoff = {.base = 1ns, .cap = 1ns}}};
    std::stop_source stop;
    std::shared_ptr<int> owned = std::make_shared<int>(0);  // Counts attempts.
};

// Fails once, then returns the length of `text`.
asio::awaitable<std::size_t> measure(std::string text, std::shared_ptr<int> calls) {
    if (++*calls == 1) {
        throw odd_error{text};
    }
    co_return text.size();
}

asio::awaitable<void> await_loops(loop_fixture& with) {
    const reprise::async_call_options options{.timeout = 1h, .stop = with.stop.get_token()};
    const auto operation = [url = long_text, calls = with.owned] { return measure(url, calls); };
    EXPECT_EQ(
        co_await async_retry(with.strategy, options, reprise::catching<odd_error>, operation),
        100U);
    EXPECT_EQ(co_await async_retry(with.strategy, options, operation), 100U);
    EXPECT_EQ(co_await async_retry(with.strategy, operation), 100U);
    // Captures without destructors may stay in the expression.
    const std::string url = long_text;
    EXPECT_EQ(
        co_await async_retry(with.strategy, options, [&] { return measure(url, with.owned); }),
        100U);
    EXPECT_EQ(
        co_await async_retry(with.strategy, [&] { return measure(short_text, with.owned); }), 1U);
}

asio::awaitable<void> await_predicates(loop_fixture& with) {
    const reprise::async_call_options options{.stop = with.stop.get_token()};
    const auto find = [calls = with.owned]() -> asio::awaitable<std::optional<std::string>> {
        co_return ++*calls < 3 ? std::nullopt : std::optional(long_text);
    };
    const auto judged = reprise::fails_if(std::logical_not<>{}, find);
    const auto found = co_await async_retry(with.strategy, options, judged);
    EXPECT_EQ(found, long_text);
}

asio::awaitable<void> await_tokens(loop_fixture& with) {
    const auto executor = co_await asio::this_coro::executor;
    const reprise::async_call_options options{.timeout = 1h, .stop = with.stop.get_token()};
    const auto initiate = [executor, text = long_text, calls = with.owned](
                              const reprise::attempt& current, auto handler) {
        ++*calls;
        const error_code code =
            current.number < 2 ? error_code(asio::error::connection_refused) : error_code{};
        asio::post(executor, [handler = std::move(handler), code, text]() mutable {
            std::move(handler)(code, text);
        });
    };
    using signature = void(error_code, std::string);
    EXPECT_EQ(
        co_await async_retry<signature>(
            executor, with.strategy, options, initiate, asio::use_awaitable),
        long_text);
    EXPECT_EQ(
        co_await async_retry<signature>(executor, with.strategy, options, initiate, asio::deferred),
        long_text);
    EXPECT_EQ(
        co_await async_retry<signature>(executor, with.strategy, options, initiate), long_text);
    // The default token of an I/O object's executor is used, too.
    auto timer = asio::use_awaitable_t<>::as_default_on(asio::steady_timer(executor));
    EXPECT_EQ(co_await async_retry<signature>(timer, with.strategy, options, initiate), long_text);
}

TEST(retry_coroutines, loops_can_be_awaited_in_one_expression) {
    loop_fixture with;
    play(await_loops(with));
    EXPECT_EQ(*with.owned, 6);
    EXPECT_EQ(with.owned.use_count(), 1);
}

TEST(retry_coroutines, predicates_can_be_awaited_in_one_expression) {
    loop_fixture with;
    play(await_predicates(with));
    EXPECT_EQ(*with.owned, 3);
    EXPECT_EQ(with.owned.use_count(), 1);
}

TEST(retry_coroutines, the_token_form_can_be_awaited_in_one_expression) {
    loop_fixture with;
    play(await_tokens(with));
    EXPECT_EQ(*with.owned, 8);
    EXPECT_EQ(with.owned.use_count(), 1);
}

}  // namespace
}  // namespace coroutines
