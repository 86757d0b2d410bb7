#include <gtest/gtest.h>

#include <reprise/retry.hpp>
#include <reprise/retry/modelled_failure.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

using namespace std::chrono_literals;

namespace http_test {

// Sun, 06 Nov 1994 08:49:37 GMT
const std::chrono::sys_seconds reference{std::chrono::seconds{784111777}};

// The delay that a throttled answer with this header asks for.
std::optional<duration> minimum_wait(
    std::string_view retry_after, std::chrono::sys_seconds now,
    std::chrono::seconds retry_after_max = std::chrono::hours{24}) {
    return http_facts(429, retry_after, now, retry_after_max).minimum_wait;
}

}  // namespace http_test

TEST(http_facts, SM_12_statuses_give_safety_fault_throttling_and_timeout) {
    struct row {
        int status;
        retry_safety safety;
        failure_fault fault;
        bool throttling;
        bool timeout;
    };
    using rs = retry_safety;
    using ff = failure_fault;
    const row rows[] = {
        {400, rs::no, ff::client, false, false},    {401, rs::no, ff::client, false, false},
        {404, rs::no, ff::client, false, false},    {408, rs::yes, ff::client, false, true},
        {409, rs::no, ff::client, false, false},    {429, rs::yes, ff::client, true, false},
        {499, rs::no, ff::client, false, false},    {500, rs::maybe, ff::server, false, false},
        {501, rs::maybe, ff::server, false, false}, {502, rs::maybe, ff::server, false, false},
        {503, rs::maybe, ff::server, false, false}, {504, rs::maybe, ff::server, false, true},
        {599, rs::maybe, ff::server, false, false},
    };
    for (const row& each : rows) {
        const failure_facts facts = http_facts(each.status);
        EXPECT_EQ(facts.safety, each.safety) << each.status;
        EXPECT_EQ(facts.fault, each.fault) << each.status;
        EXPECT_EQ(facts.throttling, each.throttling) << each.status;
        EXPECT_EQ(facts.timeout, each.timeout) << each.status;
        EXPECT_EQ(facts.code, static_cast<std::uint32_t>(each.status));
    }
    for (const int status : {-1, 0, 100, 200, 302, 399, 600, 100000}) {
        EXPECT_EQ(http_facts(status), failure_facts{}) << status;
    }
    EXPECT_EQ(failure_facts::not_sent().safety, retry_safety::yes);
}

TEST(http_facts, SM_12_a_call_that_must_not_be_repeated_is_not_repeated_after_any_5xx) {
    standard_strategy strategy;
    const auto attempts = [&](const failure_facts& facts, repeatability repeat) {
        testing::virtual_clock clock;
        auto operation = testing::scripted_operation{facts}.fail_forever();
        static_cast<void>(retry(strategy, {.repeat = repeat, .clock = &clock}, operation));
        return operation.calls();
    };
    for (int status = 500; status < 600; ++status) {
        EXPECT_EQ(attempts(http_facts(status), repeatability::not_repeatable), 1U) << status;
    }
    EXPECT_EQ(attempts(http_facts(503), repeatability::unspecified), 5U);
    for (const failure_facts& safe :
         {http_facts(408), http_facts(429), failure_facts::not_sent()}) {
        EXPECT_EQ(attempts(safe, repeatability::not_repeatable), 5U) << safe.code;
    }
}

TEST(http_facts, SM_12_retry_after_in_seconds) {
    EXPECT_EQ(http_test::minimum_wait("120", {}), 120s);
    EXPECT_EQ(http_test::minimum_wait(" 0\t", {}), 0s);
    for (const int status : {200, 399, 600}) {
        EXPECT_EQ(http_facts(status, "120", {}), failure_facts{}) << "no failure, no wait";
    }
    EXPECT_EQ(http_facts(503).minimum_wait, std::nullopt);
}

TEST(http_facts, SM_12_retry_after_as_a_date_in_all_three_formats) {
    const auto now = http_test::reference - 90s;
    EXPECT_EQ(http_test::minimum_wait("Sun, 06 Nov 1994 08:49:37 GMT", now), 90s);
    EXPECT_EQ(http_test::minimum_wait("Sunday, 06-Nov-94 08:49:37 GMT", now), 90s);
    EXPECT_EQ(http_test::minimum_wait("Sun Nov  6 08:49:37 1994", now), 90s);
}

TEST(http_facts, SM_12_a_past_date_is_zero) {
    EXPECT_EQ(
        http_test::minimum_wait("Sun, 06 Nov 1994 08:49:37 GMT", http_test::reference + 1h), 0s);
}

TEST(http_facts, SM_12_unparsable_negative_and_huge_values_are_ignored) {
    for (const char* text :
         {"", " ", "-1", "+5", "1.5", "12x", "0x10", "soon", "Sun, 06 Nov 1994",
          "99999999999999999999", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
          "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 GMT!",
          "Xyz Nov  6 08:49:37 1994", "Sun, 06 Foo 1994 08:49:37 GMT"}) {
        EXPECT_EQ(http_test::minimum_wait(text, http_test::reference), std::nullopt) << text;
    }
    EXPECT_EQ(http_test::minimum_wait("86400", {}), 24h);
    EXPECT_EQ(http_test::minimum_wait("86401", {}), std::nullopt) << "above 24 h";
    EXPECT_EQ(http_test::minimum_wait("9223372036854775807", {}), std::nullopt);
    EXPECT_EQ(http_test::minimum_wait("86401", {}, 48h), 86401s) << "configurable";
    EXPECT_EQ(
        http_test::minimum_wait("Mon, 06 Nov 2034 08:49:37 GMT", http_test::reference),
        std::nullopt);
}

// With a limit above 292 years, longer waits overflowed, and the retry did not wait at all.
TEST(http_facts, SM_12_a_wait_that_no_duration_can_hold_is_ignored_whatever_the_limit) {
    const auto wait = [](std::string_view text) {
        return http_test::minimum_wait(text, http_test::reference, std::chrono::seconds::max());
    };
    EXPECT_EQ(wait("9223372036"), 9223372036s);
    EXPECT_FALSE(wait("9223372037"));
    EXPECT_FALSE(wait("99999999999999999999"));
    EXPECT_FALSE(wait("Fri, 31 Dec 9999 23:59:59 GMT"));
}

TEST(modelled_failure, SM_11_safety_derives_from_the_traits) {
    using ff = failure_fault;
    const auto facts = [](error_model model) { return modelled_failure(model).retry_facts(); };
    EXPECT_EQ(facts({ff::client, true, false}).safety, retry_safety::yes);
    EXPECT_EQ(facts({ff::server, true, false}).safety, retry_safety::yes);
    EXPECT_EQ(facts({ff::client, false, false}).safety, retry_safety::no);
    EXPECT_EQ(facts({ff::server, false, false}).safety, retry_safety::maybe);
    EXPECT_TRUE(facts({ff::client, true, true}).throttling);
    EXPECT_FALSE(facts({ff::client, false, true}).throttling) << "only the trait can set it";
    EXPECT_EQ(facts({ff::server, false, false}).fault, ff::server);
}

TEST(modelled_failure, SM_11_timeout_and_minimum_wait_are_settable_after_construction) {
    modelled_failure failure(error_model{failure_fault::client, true, true});
    EXPECT_EQ(facts_of(failure).minimum_wait, std::nullopt);
    failure.set_minimum_wait(3s);
    EXPECT_EQ(facts_of(failure).minimum_wait, 3s);
    EXPECT_FALSE(facts_of(failure).timeout);
    failure.set_timeout(true);
    EXPECT_TRUE(facts_of(failure).timeout);
}

}  // namespace reprise
