#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include <reprise/retry/trace.hpp>

namespace reprise {

using namespace std::chrono_literals;

TEST(trace, tells_what_failed_how_long_was_waited_and_who_refused) {
    decision_trace trace;
    trace.record({1, 503, 0s, 250ms, 495'000, refusal_reason::none, false, false});
    trace.record({2, 0, 251ms, 0s, 3'500, refusal_reason::budget_exhausted, true, true});
    EXPECT_EQ(trace.refusal(), refusal_reason::budget_exhausted);
    std::ostringstream out;
    out << trace;
    EXPECT_EQ(
        out.str(),
        "attempt 1 failed at +0.000 us, code 503: retried after 250.000 ms (budget 495.000)\n"
        "attempt 2 failed at +251.000 ms, timeout, throttled: gave up, budget exhausted "
        "(budget 3.500)\n");
}

TEST(trace, keeps_the_first_8_and_the_last_24_and_says_how_many_are_left_out) {
    decision_trace trace;
    for (std::uint32_t attempt = 1; attempt <= 100; ++attempt) {
        trace.record({attempt, 0, 0s, 1s, -1, refusal_reason::none, false, false});
    }
    const auto& entries = trace.entries();
    EXPECT_EQ(entries.total(), 100U);
    ASSERT_EQ(entries.size(), 32U);
    EXPECT_EQ(entries[0].attempt, 1U);
    EXPECT_EQ(entries[7].attempt, 8U);
    EXPECT_EQ(entries[8].attempt, 77U);
    EXPECT_EQ(entries[31].attempt, 100U);
    EXPECT_EQ(entries.back().attempt, 100U);
    EXPECT_NE(to_string(trace).find("... 68 attempts left out ..."), std::string::npos);
    trace.clear();
    EXPECT_EQ(to_string(trace), "no attempt failed\n");
    EXPECT_EQ(trace.refusal(), refusal_reason::none);
}

TEST(trace, every_refusal_has_a_name_of_its_own) {
    std::vector<std::string_view> seen;
    for (int value = 0; value <= static_cast<int>(refusal_reason::strategy_failed); ++value) {
        const std::string_view name = to_string(static_cast<refusal_reason>(value));
        EXPECT_EQ(std::count(seen.begin(), seen.end(), name), 0) << name;
        seen.push_back(name);
    }
    EXPECT_EQ(to_string(static_cast<refusal_reason>(200)), "unknown refusal");
}

}  // namespace reprise
