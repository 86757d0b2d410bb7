#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/outcome.hpp>

namespace facts_test {

// Three user types, none of which inherits from a type of the library.
struct with_traits {
    int code = 0;
};
struct with_function {};
struct with_member {
    [[nodiscard]] reprise::failure_facts retry_facts() const { return {.timeout = true}; }
};
struct without_facts {};
struct throwing_description {};
struct result_without_description {};

reprise::failure_facts retry_facts(const with_function&) {
    return {.throttling = true};
}
reprise::failure_facts retry_facts(const throwing_description&) {
    throw std::runtime_error("no description today");
}

struct described_exception : std::runtime_error, reprise::failure_description {
    described_exception() : std::runtime_error("described") {}
    [[nodiscard]] reprise::failure_facts retry_facts() const noexcept override {
        return {.safety = reprise::retry_safety::yes};
    }
};

// Has the shape of std::expected, which C++20 does not have.
template <class T, class E>
struct expected_shape {
    std::optional<T> held;
    E failure{};
    [[nodiscard]] bool has_value() const { return held.has_value(); }
    [[nodiscard]] const E& error() const { return failure; }
};

}  // namespace facts_test

template <>
struct reprise::failure_traits<facts_test::with_traits> {
    static failure_facts describe(const facts_test::with_traits& error) {
        return {.safety = retry_safety::yes, .code = static_cast<std::uint32_t>(error.code)};
    }
};

template <>
struct reprise::outcome_traits<facts_test::result_without_description> {
    static bool is_failure(const facts_test::result_without_description&) noexcept { return true; }
    static failure_facts facts(const facts_test::result_without_description&) {
        throw std::runtime_error("no description today");
    }
};

namespace reprise {

TEST(failure_facts, SM_08_a_users_own_type_takes_part_in_three_ways_without_inheriting) {
    EXPECT_EQ(facts_of(facts_test::with_traits{7}).code, 7U);
    EXPECT_EQ(facts_of(facts_test::with_traits{7}).safety, retry_safety::yes);
    EXPECT_TRUE(facts_of(facts_test::with_function{}).throttling);
    EXPECT_TRUE(facts_of(facts_test::with_member{}).timeout);
    EXPECT_TRUE(driver::describes_failure<facts_test::with_function>);
    EXPECT_FALSE(driver::describes_failure<facts_test::without_facts>);
}

TEST(failure_facts, SM_08_a_type_without_facts_has_empty_facts_and_is_not_retried) {
    const failure_facts facts = facts_of(facts_test::without_facts{});
    EXPECT_EQ(facts, failure_facts{});
    EXPECT_EQ(
        driver::stated_safety{}.check(facts, repeatability::unspecified),
        refusal_reason::unclassified);
}

TEST(failure_facts, a_description_that_throws_counts_as_no_facts) {
    EXPECT_EQ(facts_of(facts_test::throwing_description{}), failure_facts{});
    const auto operation = [] { return facts_test::result_without_description{}; };
    EXPECT_EQ(detail::failure_in(operation, operation()), failure_facts{});
}

TEST(failure_facts, SM_08_error_codes_describe_themselves) {
    const auto refused = facts_of(std::make_error_code(std::errc::connection_refused));
    EXPECT_EQ(refused.safety, retry_safety::yes);
    const auto reset = facts_of(std::make_error_code(std::errc::connection_reset));
    EXPECT_EQ(reset.safety, retry_safety::maybe);
    const auto late = facts_of(std::make_error_code(std::errc::timed_out));
    EXPECT_TRUE(late.timeout);
    const auto denied = facts_of(std::make_error_code(std::errc::permission_denied));
    EXPECT_FALSE(denied.safety.has_value());
    EXPECT_NE(denied.code, 0U);
}

TEST(failure_facts, SM_08_exceptions_are_described_by_list_inheritance_or_system_error) {
    const auto thrown = [](auto error) { return std::make_exception_ptr(error); };
    const auto listed = detail::describe_exception(
        thrown(facts_test::with_traits{3}), catching<facts_test::with_traits>);
    EXPECT_EQ(listed.code, 3U);
    const auto described =
        detail::describe_exception(thrown(facts_test::described_exception{}), catching<>);
    EXPECT_EQ(described.safety, retry_safety::yes);
    const std::system_error system(std::make_error_code(std::errc::connection_refused));
    EXPECT_EQ(detail::describe_exception(thrown(system), catching<>).safety, retry_safety::yes);
    EXPECT_EQ(detail::describe_exception(thrown(std::string("odd")), catching<>), failure_facts{});
    EXPECT_EQ(
        detail::describe_exception(thrown(42), catching<facts_test::with_traits>), failure_facts{});
}

TEST(failure_facts, SM_08_a_code_that_is_thrown_as_it_is_has_its_own_facts) {
    const auto facts_if_thrown = [](auto code) {
        return detail::describe_exception(std::make_exception_ptr(code), catching<>);
    };
    const std::errc refused = std::errc::connection_refused;
    const failure_facts expected = facts_of(std::make_error_code(refused));
    EXPECT_EQ(expected.safety, retry_safety::yes);
    EXPECT_EQ(facts_if_thrown(std::make_error_code(refused)), expected);
    EXPECT_EQ(facts_if_thrown(std::make_error_condition(refused)), expected);
    EXPECT_EQ(facts_if_thrown(refused), expected);
    EXPECT_EQ(
        detail::text_of_thrown(std::make_exception_ptr(std::make_error_code(refused))),
        detail::text_of(std::make_error_code(refused)));
    EXPECT_NE(
        detail::text_of(std::make_error_code(refused)).find("onnection refused"), std::string::npos)
        << "systems differ in the first letter";
}

TEST(failure_facts, SM_08_anything_shaped_like_expected_is_a_result) {
    using result = facts_test::expected_shape<int, facts_test::with_function>;
    EXPECT_FALSE(outcome_traits<result>::is_failure(result{1, {}}));
    EXPECT_TRUE(outcome_traits<result>::is_failure(result{std::nullopt, {}}));
    EXPECT_TRUE(outcome_traits<result>::facts(result{std::nullopt, {}}).throttling);
    EXPECT_TRUE(
        outcome_traits<std::error_code>::is_failure(std::make_error_code(std::errc::timed_out)));
    EXPECT_FALSE(outcome_traits<std::error_code>::is_failure(std::error_code{}));
    EXPECT_FALSE(outcome_traits<int>::is_failure(0));
}

// It had no facts, so a rule of one line repeated what the exception itself forbids.
TEST(failure_facts, SM_08_an_exception_that_is_returned_has_the_facts_of_one_that_is_thrown) {
    using result = facts_test::expected_shape<int, std::exception_ptr>;
    const auto facts_with = [](auto error) {
        return outcome_traits<result>::facts({std::nullopt, std::make_exception_ptr(error)});
    };
    EXPECT_EQ(facts_with(facts_test::described_exception{}).safety, retry_safety::yes);
    const std::system_error lost(std::make_error_code(std::errc::connection_reset));
    EXPECT_EQ(facts_with(lost).safety, retry_safety::maybe);
    EXPECT_EQ(facts_with(42), failure_facts{});
    EXPECT_EQ(outcome_traits<result>::facts({std::nullopt, nullptr}), failure_facts{});
}

TEST(failure_facts, SM_10_stated_safety_beats_fault) {
    struct row {
        failure_facts facts;
        repeatability repeat;
        refusal_reason expected;
    };
    using rs = retry_safety;
    using ff = failure_fault;
    constexpr auto open = repeatability::unspecified;
    constexpr auto once = repeatability::not_repeatable;
    const row rows[] = {
        // The sample in Smithy's guide would fall through to the server's fault here and retry.
        {{.safety = rs::no, .fault = ff::server}, open, refusal_reason::unsafe},
        {{.safety = rs::no}, open, refusal_reason::unsafe},
        {{.safety = rs::no}, repeatability::repeatable, refusal_reason::unsafe},
        {{.safety = rs::no}, once, refusal_reason::unsafe},
        {{.safety = rs::yes, .fault = ff::client}, open, refusal_reason::none},
        {{.safety = rs::yes}, once, refusal_reason::none},
        {{.safety = rs::maybe}, open, refusal_reason::none},
        {{.safety = rs::maybe}, repeatability::repeatable, refusal_reason::none},
        {{.safety = rs::maybe}, once, refusal_reason::not_repeatable},
        {{.fault = ff::server}, open, refusal_reason::none},
        {{.fault = ff::server}, once, refusal_reason::not_repeatable},
        {{.fault = ff::client}, open, refusal_reason::client_fault},
        {{.fault = ff::other}, open, refusal_reason::unclassified},
        {{}, open, refusal_reason::unclassified},
        {{.safety = static_cast<rs>(9)}, open, refusal_reason::unsafe},
        {{.safety = rs::maybe}, static_cast<repeatability>(9), refusal_reason::not_repeatable},
    };
    for (const row& each : rows) {
        EXPECT_EQ(driver::stated_safety{}.check(each.facts, each.repeat), each.expected)
            << "row " << (&each - rows);
    }
}

}  // namespace reprise
