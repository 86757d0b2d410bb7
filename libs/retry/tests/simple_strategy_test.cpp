#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise::simple_strategy_test {

using namespace std::chrono_literals;
using testing::scripted_random;
using testing::virtual_clock;

/// An error type without facts for the library.
struct shop_error : std::runtime_error {
    using std::runtime_error::runtime_error;
    [[nodiscard]] bool is_busy() const { return std::string(what()) == "busy"; }
};

struct closed_error : shop_error {
    closed_error() : shop_error("closed") {}
};

/// Like `std::expected<int, Error>`.
template <class Error>
struct outcome {
    bool ok = false;
    Error held{};
    [[nodiscard]] bool has_value() const { return ok; }
    [[nodiscard]] const Error& error() const { return held; }
};

/// An operation that always throws `Error`, in virtual time.
struct shelf {
    virtual_clock clock;
    scripted_random random{scripted_random::half};
    retry_history history;
    int calls = 0;

    [[nodiscard]] call_options options() {
        return {.history = &history, .clock = &clock, .random = &random};
    }
    template <class Strategy, class Error>
    void fail(Strategy&& strategy, const Error& error, repeatability repeat = {}) {
        call_options wanted = options();
        wanted.repeat = repeat;
        calls = 0;
        EXPECT_THROW(
            retry(
                std::forward<Strategy>(strategy), wanted,
                [&] {
                    ++calls;
                    throw error;
                }),
            Error);
    }
};

TEST(simple_strategy, retries_any_exception_up_to_the_number_of_attempts) {
    shelf s;
    s.fail(attempts(3), shop_error("lost"));
    EXPECT_EQ(s.calls, 3);
    EXPECT_EQ(s.history.refusal(), refusal_reason::attempts_exhausted);
    s.fail(attempts(1), 42);
    EXPECT_EQ(s.calls, 1);
}

TEST(simple_strategy, without_a_delay_waits_from_100_ms_with_full_jitter) {
    shelf s;
    s.fail(attempts(4), shop_error("lost"));
    EXPECT_EQ(s.clock.waits(), (std::vector<duration>{50ms, 100ms, 200ms}));
}

TEST(simple_strategy, every_waits_the_same_time_exactly) {
    shelf s;
    s.fail(attempts(4).every(100ms), shop_error("lost"));
    EXPECT_EQ(s.clock.waits(), (std::vector<duration>{100ms, 100ms, 100ms}));
}

TEST(simple_strategy, linear_delays_grow_by_one_step_up_to_the_cap) {
    shelf s;
    s.fail(attempts(5).linear(100ms, 250ms), shop_error("lost"));
    EXPECT_EQ(s.clock.waits(), (std::vector<duration>{100ms, 200ms, 250ms, 250ms}));
}

TEST(simple_strategy, exponential_delays_grow_by_the_factor_up_to_the_cap) {
    shelf s;
    s.fail(attempts(5).exponential(10ms, 200ms, 3.0).with_jitter(jitter::none), shop_error("lost"));
    EXPECT_EQ(s.clock.waits(), (std::vector<duration>{10ms, 30ms, 90ms, 200ms}));
}

TEST(simple_strategy, jitter_may_be_named_before_or_after_the_delay) {
    shelf s;
    s.fail(attempts(3).with_jitter(jitter::full).every(100ms), shop_error("lost"));
    s.fail(attempts(3).every(100ms).with_jitter(), shop_error("lost"));
    s.fail(attempts(2).with_jitter(jitter::none).exponential(100ms), shop_error("lost"));
    EXPECT_EQ(s.clock.waits(), (std::vector<duration>{50ms, 50ms, 50ms, 50ms, 100ms}));
}

// The first one silently stayed in force.
TEST(simple_strategy, a_second_jitter_replaces_the_first) {
    shelf s;
    const auto shared = attempts(2).every(100ms).with_jitter(jitter::full);
    s.fail(shared.with_jitter(jitter::none), shop_error("lost"));
    s.fail(shared.exponential(200ms).with_jitter(jitter::equal), shop_error("lost"));
    EXPECT_EQ(s.clock.waits(), (std::vector<duration>{100ms, 150ms}));
}

TEST(simple_strategy, when_retries_only_failures_for_which_the_predicate_is_true) {
    shelf s;
    const auto rule = attempts(3).every(1ms).when([](const shop_error& e) { return e.is_busy(); });
    s.fail(rule, shop_error("busy"));
    EXPECT_EQ(s.calls, 3);
    s.fail(rule, shop_error("lost"));
    EXPECT_EQ(s.calls, 1);
    EXPECT_EQ(s.history.refusal(), refusal_reason::predicate_refused);
    s.fail(rule, std::logic_error("busy"));
    EXPECT_EQ(s.calls, 1);
}

TEST(simple_strategy, a_predicate_that_throws_counts_as_false) {
    shelf s;
    s.fail(attempts(3).when([](const shop_error&) -> bool { throw 1; }), shop_error("busy"));
    EXPECT_EQ(s.calls, 1);
}

TEST(simple_strategy, a_second_predicate_adds_to_the_selection) {
    shelf s;
    const auto rule = attempts(2)
                          .every(1ms)
                          .when([](const shop_error& e) { return e.is_busy(); })
                          .on<std::logic_error>();
    s.fail(rule, shop_error("busy"));
    EXPECT_EQ(s.calls, 2);
    s.fail(rule, std::logic_error("wrong"));
    EXPECT_EQ(s.calls, 2);
    s.fail(rule, shop_error("lost"));
    EXPECT_EQ(s.calls, 1);
}

TEST(simple_strategy, on_selects_by_type_and_takes_derived_exceptions) {
    shelf s;
    s.fail(attempts(2).every(1ms).on<shop_error>(), closed_error());
    EXPECT_EQ(s.calls, 2);
    s.fail(attempts(2).every(1ms).on<closed_error>(), shop_error("busy"));
    EXPECT_EQ(s.calls, 1);
}

TEST(simple_strategy, selects_the_error_of_an_expected_that_has_no_facts) {
    virtual_clock clock;
    int calls = 0;
    const auto find = [&] { return outcome<std::string>{++calls == 3, "busy"}; };
    const auto found = retry(
        attempts(3).every(1ms).when([](const std::string& e) { return e == "busy"; }),
        {.clock = &clock}, find);
    EXPECT_TRUE(found.has_value());
    calls = 0;
    const auto lost = retry(
        attempts(2).every(1ms).when([](const std::string& e) { return e == "lost"; }),
        {.clock = &clock}, find);
    EXPECT_FALSE(lost.has_value());
    EXPECT_EQ(calls, 1);
}

TEST(simple_strategy, a_predicate_on_error_codes_also_sees_thrown_system_errors) {
    shelf s;
    const auto rule = attempts(2).every(1ms).when(
        [](const std::error_code& code) { return code == std::errc::permission_denied; });
    s.fail(rule, std::system_error(make_error_code(std::errc::permission_denied)));
    EXPECT_EQ(s.calls, 2);
    s.fail(rule, std::system_error(make_error_code(std::errc::timed_out)));
    EXPECT_EQ(s.calls, 1);
    int calls = 0;
    const auto deny = [&] {
        ++calls;
        return make_error_code(std::errc::permission_denied);
    };
    EXPECT_TRUE(retry(rule, s.options(), deny));
    EXPECT_EQ(calls, 2);
}

TEST(simple_strategy, a_predicate_may_ask_for_the_facts) {
    shelf s;
    testing::scripted_operation service{testing::throttled(), testing::transient()};
    const auto result = retry(
        attempts(5).every(1ms).when([](const failure_facts& f) { return f.throttling; }),
        s.options(), std::ref(service));
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(service.calls(), 2U);
}

TEST(simple_strategy, without_a_predicate_respects_failures_that_forbid_a_retry) {
    shelf s;
    testing::scripted_operation forbidden{testing::permanent()};
    EXPECT_FALSE(retry(attempts(3), s.options(), std::ref(forbidden)).has_value());
    EXPECT_EQ(s.history.refusal(), refusal_reason::unsafe);
}

TEST(simple_strategy, a_call_that_is_not_repeatable_needs_failures_that_are_safe_for_certain) {
    shelf s;
    s.fail(attempts(3), shop_error("lost"), repeatability::not_repeatable);
    EXPECT_EQ(s.calls, 1);
    s.fail(attempts(3).on<shop_error>(), shop_error("lost"), repeatability::not_repeatable);
    EXPECT_EQ(s.calls, 1);
    EXPECT_EQ(s.history.refusal(), refusal_reason::not_repeatable);
}

TEST(simple_strategy, respects_the_minimum_wait_that_a_service_names) {
    shelf s;
    testing::scripted_operation service{testing::throttled(30s)};
    EXPECT_TRUE(retry(attempts(2).every(100ms), s.options(), std::ref(service)).has_value());
    EXPECT_EQ(s.clock.waits(), std::vector<duration>{30s});
}

TEST(simple_strategy, copies_share_the_budget_that_pays) {
    shelf s;
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 10});
    const auto rule = attempts(3).every(1ms).budget(bucket);
    s.fail(rule, shop_error("lost"));
    EXPECT_EQ(s.calls, 3);
    s.fail(rule.on<shop_error>(), shop_error("lost"));
    EXPECT_EQ(s.calls, 1);
    EXPECT_EQ(s.history.refusal(), refusal_reason::budget_exhausted);
}

TEST(simple_strategy, stops_at_the_deadline_of_the_call) {
    virtual_clock clock;
    int calls = 0;
    const auto fail = [&] {
        ++calls;
        throw shop_error("lost");
    };
    EXPECT_THROW(
        retry(unlimited_attempts().every(1s), {.timeout = 5500ms, .clock = &clock}, fail),
        shop_error);
    EXPECT_EQ(calls, 6);
}

TEST(simple_strategy, contradictions_are_refused_by_name) {
    EXPECT_THROW(static_cast<void>(attempts(0)), invalid_settings);
    EXPECT_THROW(static_cast<void>(attempts(3).every(-1s)), invalid_settings);
    EXPECT_THROW(static_cast<void>(attempts(3).linear(2s, 1s)), invalid_settings);
    EXPECT_EQ(check(driver::backoff_options{.step = -1s})->field, "step");
}

/// A mistake of the program that must never be repeated, and states so.
struct bad_order : std::invalid_argument {
    bad_order() : std::invalid_argument("bad order") {}
    [[nodiscard]] failure_facts retry_facts() const noexcept {
        return {.safety = retry_safety::no};
    }
};

// Naming a programming error allows its retry, but not against what it states itself. It did.
TEST(simple_strategy, a_named_programming_error_that_states_no_is_not_retried) {
    shelf s;
    s.fail(attempts(3).on<bad_order>(), bad_order());
    EXPECT_EQ(s.calls, 1);
    EXPECT_EQ(s.history.refusal(), refusal_reason::unsafe);
    s.fail(attempts(3).when([](const bad_order&) { return true; }), bad_order());
    EXPECT_EQ(s.calls, 1);
    s.fail(attempts(3).on<std::invalid_argument>(), std::invalid_argument("typo"));
    EXPECT_EQ(s.calls, 3) << "one that states nothing";
}

}  // namespace reprise::simple_strategy_test
