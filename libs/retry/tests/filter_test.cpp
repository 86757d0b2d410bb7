#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

// A filter narrows: it can forbid a retry that the failure allows, never allow one that the failure
// forbids. Once, `attempts(3).when(status == 503)` sent a POST three times whose failure stated
// `no`, while `attempts(3)` sent it once.
namespace reprise::filter_test {

using namespace std::chrono_literals;
using testing::scripted_error;

constexpr std::array marks{
    repeatability::unspecified, repeatability::repeatable, repeatability::not_repeatable};

/// A POST that was answered with 503, in the words of the HTTP adapters.
const failure_facts lost_post{
    .safety = retry_safety::no, .fault = failure_fault::server, .code = 503};

struct bench {
    testing::virtual_clock clock;
    retry_history trace;

    /// How often a loop calls an operation that always fails with `facts`.
    template <class Strategy>
    [[nodiscard]] std::size_t calls(
        Strategy&& strategy, const failure_facts& facts, repeatability repeat = {}) {
        auto operation = testing::scripted_operation{facts}.fail_forever();
        const call_options options{.repeat = repeat, .history = &trace, .clock = &clock};
        EXPECT_FALSE(
            retry(std::forward<Strategy>(strategy), options, std::ref(operation)).has_value());
        return operation.calls();
    }
};

const auto is_503 = [](const scripted_error& error) { return error.facts.code == 503; };

TEST(filter, SM_10_a_stated_no_is_final_in_every_form_of_a_filter_and_for_every_mark) {
    bench b;
    const auto filters = std::tuple{
        attempts(3),
        attempts(3).when(is_503),
        attempts(3).on<scripted_error>(),
        attempts(3).when([](const failure_facts&) { return true; }),
        attempts(3).when([](const driver::retry_question&) { return true; }),
        attempts(3).when([](const failure_view&) { return true; }),
        attempts(3).when([](const scripted_error&) { return false; }).when(is_503),
        attempts(3).on<scripted_error>().budget(std::make_shared<token_bucket>()),
    };
    for (const repeatability mark : marks) {
        std::apply(
            [&](const auto&... filter) {
                EXPECT_EQ((b.calls(filter, lost_post, mark) + ...), sizeof...(filter));
            },
            filters);
        EXPECT_EQ(b.trace.refusal(), refusal_reason::unsafe);
    }
}

TEST(filter, SM_10_a_strategy_that_proposes_a_retry_of_a_stated_no_is_refused) {
    struct stubborn final : driver::retry_strategy {
        void retry_after(
            const driver::retry_question& question, driver::retry_sink& sink) override {
            sink.answer(
                question.retry_attempts < 2 ? driver::retry_action::after(0s)
                                            : driver::retry_action::no());
        }
    } plug_in;
    struct everything {
        [[nodiscard]] refusal_reason check(const failure_facts&, repeatability) const noexcept {
            return refusal_reason::none;
        }
    };
    driver::composed_strategy policies(
        {3}, everything{}, driver::exponential_backoff{}, driver::no_budget{});
    bench b;
    for (const repeatability mark : marks) {
        EXPECT_EQ(b.calls(plug_in, lost_post, mark), 1U);
        EXPECT_EQ(b.trace.refusal(), refusal_reason::unsafe);
        EXPECT_EQ(b.calls(policies, lost_post, mark), 1U);
    }
    driver::token_result first = policies.acquire_initial_token();
    const driver::token_result second =
        policies.refresh_token(first.token, {.facts = lost_post, .repeat = marks[1]});
    EXPECT_FALSE(second);
    EXPECT_EQ(second.why.refusal, refusal_reason::unsafe);
}

TEST(filter, SM_10_a_client_fault_is_not_retried_because_a_filter_selects_it) {
    bench b;
    const failure_facts facts{.fault = failure_fault::client, .code = 503};
    EXPECT_EQ(b.calls(attempts(3).when(is_503), facts), 1U);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::client_fault);
    EXPECT_EQ(b.calls(attempts(3), facts), 1U);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::client_fault);
}

TEST(filter, SM_10_a_selected_failure_keeps_its_own_safety) {
    bench b;
    const auto rule = attempts(3).when(is_503);
    failure_facts safe = testing::transient();
    safe.code = 503;
    EXPECT_EQ(b.calls(rule, safe, repeatability::not_repeatable), 3U)
        << "certain: nothing happened";
    failure_facts open = testing::timed_out();
    open.code = 503;
    EXPECT_EQ(b.calls(rule, open, repeatability::unspecified), 3U);
    EXPECT_EQ(b.calls(rule, open, repeatability::not_repeatable), 1U);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::not_repeatable);
}

TEST(filter, forbids_what_the_failure_allows) {
    bench b;
    EXPECT_EQ(b.calls(attempts(3).when(is_503), testing::transient()), 1U);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::predicate_refused);
}

/// An exception with facts that `catching` does not list.
struct order_error : std::runtime_error {
    explicit order_error(bool is_final) : runtime_error("order"), is_last(is_final) {}
    [[nodiscard]] failure_facts retry_facts() const {
        return {.safety = is_last ? retry_safety::no : retry_safety::maybe};
    }
    bool is_last;
};

// `on<order_error>()` retried an error that stated `no`, because its type was not listed for the
// loop.
TEST(filter, SM_10_a_named_exception_that_states_no_is_final_also_if_the_loop_does_not_list_it) {
    const auto is_order_error = [](const order_error&) { return true; };
    const auto calls = [](const auto& strategy, bool is_final, repeatability repeat = {}) {
        testing::virtual_clock clock;
        std::size_t made = 0;
        try {
            retry(strategy, {.repeat = repeat, .clock = &clock}, [&] {
                ++made;
                throw order_error(is_final);
            });
        } catch (const order_error&) {
        }
        return made;
    };
    EXPECT_EQ(calls(attempts(3).on<order_error>(), true), 1U);
    EXPECT_EQ(calls(attempts(3).on<std::bad_alloc, order_error>(), true), 1U);
    EXPECT_EQ(calls(attempts(3).when(is_order_error), true), 1U);
    EXPECT_EQ(calls(attempts(3).on<std::bad_alloc>().when(is_order_error), true), 1U);
    EXPECT_EQ(calls(attempts(3).on<order_error>(), false), 3U);
    EXPECT_EQ(calls(attempts(3).on<order_error>(), false, repeatability::not_repeatable), 1U);
}

/// States that nothing happened.
struct unsent_order : std::runtime_error {
    unsent_order() : runtime_error("order") {}
    [[nodiscard]] failure_facts retry_facts() const { return failure_facts::not_sent(); }
};

TEST(filter, SM_10_a_named_exception_allows_a_retry_only_if_the_loop_lists_it) {
    const auto calls = [](auto list) {
        testing::virtual_clock clock;
        const call_options options{.repeat = repeatability::not_repeatable, .clock = &clock};
        std::size_t made = 0;
        const auto order = [&] {
            ++made;
            throw unsent_order();
        };
        EXPECT_THROW(retry(attempts(3).on<unsent_order>(), options, list, order), unsent_order);
        return made;
    };
    EXPECT_EQ(calls(catching<>), 1U);
    EXPECT_EQ(calls(catching<unsent_order>), 3U);
}

TEST(filter, a_predicate_for_error_codes_sees_every_failure_that_carries_one) {
    bench b;
    const auto is_refused = [](const std::error_code& code) {
        return code == std::errc::connection_refused;
    };
    failure_facts refused = testing::transient();
    refused.code = static_cast<std::uint32_t>(std::errc::connection_refused);
    EXPECT_EQ(b.calls(attempts(3).when(is_refused), refused), 1U) << "a number of another system";
    refused.category = &std::generic_category();
    EXPECT_EQ(b.calls(attempts(3).when(is_refused), refused), 3U);
    refused.code = static_cast<std::uint32_t>(std::errc::connection_reset);
    EXPECT_EQ(b.calls(attempts(3).when(is_refused), refused), 1U);
}

/// A system error whose own facts take precedence over those of its code.
struct refused_order : std::system_error {
    using std::system_error::system_error;
    [[nodiscard]] failure_facts retry_facts() const { return {.safety = retry_safety::no}; }
};
/// One that adds nothing to its code.
struct unclear_order : std::system_error {
    using std::system_error::system_error;
    [[nodiscard]] failure_facts retry_facts() const { return {}; }
};

template <class Error, class Strategy>
[[nodiscard]] int calls_of_order(const Strategy& strategy) {
    bench b;
    int calls = 0;
    const auto order = [&]() -> unsigned {
        ++calls;
        throw Error(make_error_code(std::errc::connection_reset));
    };
    EXPECT_THROW(static_cast<void>(retry(strategy, {.clock = &b.clock}, order)), Error);
    return calls;
}

// The code of the base class stated `maybe`, and the type's own facts were not used.
TEST(filter, SM_10_a_named_system_error_that_states_no_is_final_whatever_its_code_states) {
    EXPECT_EQ(calls_of_order<refused_order>(attempts(3).on<refused_order>()), 1);
    EXPECT_EQ(calls_of_order<refused_order>(attempts(3).on<std::logic_error, refused_order>()), 1);
    EXPECT_EQ(
        calls_of_order<refused_order>(attempts(3).when([](const refused_order&) { return true; })),
        1);
    EXPECT_EQ(calls_of_order<unclear_order>(attempts(3).on<unclear_order>()), 3);
    EXPECT_EQ(
        calls_of_order<unclear_order>(
            attempts(3).failures_without_facts(when_unstated::refuse).on<unclear_order>()),
        3);
}

/// The facts of a derived error take precedence over those of its base.
struct any_order_error : std::runtime_error {
    any_order_error() : std::runtime_error("order") {}
    [[nodiscard]] failure_facts retry_facts() const {
        return {.safety = retry_safety::maybe, .minimum_wait = 1s};
    }
};
struct lost_order : any_order_error {
    [[nodiscard]] failure_facts retry_facts() const { return {.safety = retry_safety::no}; }
};
struct paused_order : any_order_error {
    [[nodiscard]] failure_facts retry_facts() const {
        return {.safety = retry_safety::yes, .minimum_wait = 2s};
    }
};

template <class Error, class Strategy>
[[nodiscard]] std::vector<duration> waits_of_order(const Strategy& strategy) {
    bench b;
    const auto order = []() -> unsigned { throw Error(); };
    EXPECT_THROW(static_cast<void>(retry(strategy, {.clock = &b.clock}, order)), Error);
    return b.clock.waits();
}

// Only the facts of the base class were used, not those of the derived class.
TEST(filter, SM_10_a_named_type_that_states_no_is_final_after_its_named_base_class_too) {
    const auto rule = attempts(3).every(1ms);
    const auto is_any = [](const any_order_error&) { return true; };
    const auto is_lost = [](const lost_order&) { return true; };
    const std::vector<duration> none;
    EXPECT_EQ(waits_of_order<lost_order>(rule.on<any_order_error, lost_order>()), none);
    EXPECT_EQ(waits_of_order<lost_order>(rule.on<lost_order, any_order_error>()), none);
    EXPECT_EQ(waits_of_order<lost_order>(rule.on<any_order_error>().on<lost_order>()), none);
    EXPECT_EQ(waits_of_order<lost_order>(rule.when(is_any).when(is_lost)), none);
    EXPECT_EQ(waits_of_order<lost_order>(rule.when(is_lost).when(is_any)), none);
}

// The hint of an exception that only the filter named had no effect.
TEST(filter, a_named_type_lengthens_the_delay_also_if_the_loop_does_not_list_it) {
    const auto rule = attempts(2).every(1ms);
    const std::vector<duration> one_second{1s};
    const std::vector<duration> two_seconds{2s};
    EXPECT_EQ(waits_of_order<any_order_error>(rule.on<any_order_error>()), one_second);
    EXPECT_EQ(waits_of_order<paused_order>(rule.on<paused_order, any_order_error>()), two_seconds);
    EXPECT_EQ(
        waits_of_order<paused_order>(rule.on<any_order_error>().on<paused_order>()), two_seconds);
    EXPECT_EQ(
        waits_of_order<paused_order>(rule.when([](const paused_order&) { return true; })),
        two_seconds);
    EXPECT_EQ(
        waits_of_order<any_order_error>(attempts(2).every(5s).on<any_order_error>()),
        std::vector<duration>{5s});
}

}  // namespace reprise::filter_test
