/// The library's own errors have one shape: an enumerator of `retry_errc`, its category, and
/// `retry_error`, which carries it together with the refusal.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise::retry_errc_test {

using namespace std::chrono_literals;

/// The error that `call` throws, if it is one of the library.
template <class Call>
[[nodiscard]] std::optional<retry_error> error_of(const Call& call) {
    try {
        call();
    } catch (const retry_error& error) {
        return error;
    }
    return std::nullopt;
}

/// Waits before the first attempt.
struct slow_start {
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) noexcept {
        token = {};
        token.delay = 1s;
        return {};
    }
    driver::retry_action retry_after(driver::token_state&, const driver::retry_question&) noexcept {
        return driver::retry_action::no(refusal_reason::attempts_exhausted);
    }
    void on_success(const driver::token_state&, const driver::decision_context&) noexcept {}
};

TEST(retry_errc, a_call_that_finds_its_breaker_open_fails_with_circuit_open) {
    testing::virtual_clock clock;
    const auto breaker =
        std::make_shared<circuit_breaker>(driver::circuit_breaker_options{.volume_threshold = 1});
    breaker->on_failure(driver::breaker_permit::regular(), {}, clock.now());
    const auto error = error_of(
        [&] { retry(attempts(1).breaker(breaker), call_options{.clock = &clock}, [] {}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), retry_errc::circuit_open);
    EXPECT_EQ(error->refusal(), refusal_reason::circuit_open);
    EXPECT_EQ(facts_of(error->code()).safety, retry_safety::yes);
}

TEST(retry_errc, a_call_that_is_stopped_before_its_first_attempt_fails_with_canceled) {
    testing::virtual_clock clock;
    std::stop_source stop;
    stop.request_stop();
    slow_start strategy;
    const call_options options{.stop = stop.get_token(), .clock = &clock};
    const auto error = error_of([&] { retry(strategy, options, [] {}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), retry_errc::canceled);
    EXPECT_EQ(error->code(), std::errc::operation_canceled) << "as callers without us compare";
    EXPECT_EQ(error->refusal(), refusal_reason::canceled);
    EXPECT_EQ(facts_of(error->code()).safety, std::nullopt);
}

TEST(retry_errc, settings_that_cannot_work_fail_with_invalid_settings) {
    const auto error = error_of([] { static_cast<void>(attempts(0)); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), retry_errc::invalid_settings);
    EXPECT_EQ(error->code(), std::errc::invalid_argument);
    EXPECT_EQ(error->refusal(), refusal_reason::none);
    try {
        static_cast<void>(attempts(0));
    } catch (const invalid_settings& refused) {
        EXPECT_EQ(std::string(refused.what()), refused.field() + ": " + refused.message());
    }
}

// It is a mistake in the program, and was an `std::invalid_argument` once.
TEST(retry_errc, invalid_settings_inside_an_operation_are_not_retried) {
    testing::virtual_clock clock;
    int calls = 0;
    const auto error = error_of([&] {
        retry(attempts(3), call_options{.clock = &clock}, [&] {
            ++calls;
            static_cast<void>(attempts(0));
        });
    });
    EXPECT_TRUE(error);
    EXPECT_EQ(calls, 1);
}

TEST(retry_errc, results_and_exceptions_carry_the_same_code) {
    for (const refusal_reason why : {refusal_reason::circuit_open, refusal_reason::canceled}) {
        const std::error_code code = driver::unattempted_outcome<std::error_code>::make(why);
        EXPECT_EQ(&code.category(), &detail::retry_category());
        EXPECT_EQ(detail::refusal_of(static_cast<retry_errc>(code.value())), why);
        EXPECT_NE(code.message(), "unknown error");
    }
}

}  // namespace reprise::retry_errc_test
