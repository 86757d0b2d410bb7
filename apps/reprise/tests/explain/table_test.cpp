#include "explain/table.hpp"

#include <set>

#include <gtest/gtest.h>

namespace app = reprise::app;
namespace couchbase = reprise::couchbase;
namespace wire = reprise::wire;

TEST(explain_table, has_advice_for_every_listed_status) {
    EXPECT_GT(wire::all_statuses().size(), 80U);
    for (const auto& facts : wire::all_statuses()) {
        EXPECT_FALSE(app::advice_on(facts.code).empty()) << facts.name;
    }
}

TEST(explain_table, has_advice_for_every_error_and_none_for_other_numbers) {
    const auto errors = app::all_errors();
    EXPECT_GT(errors.size(), 50U);
    EXPECT_EQ(std::set(errors.begin(), errors.end()).size(), errors.size());
    for (const couchbase::errc error : errors) {
        EXPECT_FALSE(app::advice_on(error).empty()) << to_string(error);
    }
    EXPECT_TRUE(app::advice_on(static_cast<couchbase::errc>(999)).empty());
}

// Each errc of the client is in the list; the last ones are its own.
TEST(explain_table, lists_the_first_and_the_last_error) {
    const auto errors = app::all_errors();
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors.front(), couchbase::errc::request_canceled);
    EXPECT_EQ(errors.back(), couchbase::errc::read_in_progress);
}

// A status is either retried, reported as an error, or has its own text, but never two of these.
TEST(explain_table, no_status_is_both_retried_and_reported) {
    for (const auto& facts : wire::all_statuses()) {
        EXPECT_FALSE(app::reason_of(facts.code) && app::error_of(facts.code)) << facts.name;
    }
}

TEST(explain_table, has_a_meaning_and_advice_for_every_refusal) {
    EXPECT_EQ(app::all_refusals().front().reason, reprise::refusal_reason::unsafe);
    EXPECT_EQ(app::refusal_name(reprise::refusal_reason::unmarked_call), "unmarked_call");
    for (const auto& refusal : app::all_refusals()) {
        EXPECT_FALSE(refusal.meaning.empty() || refusal.advice.empty())
            << app::refusal_name(refusal.reason);
    }
}

TEST(explain_table, explains_every_strategy_by_name_with_the_default_first) {
    const auto strategies = app::all_strategies();
    ASSERT_GE(strategies.size(), 4U);
    EXPECT_EQ(strategies.front().name, "fail_fast_on_terminal_error_strategy");
    for (const auto& strategy : strategies) {
        EXPECT_FALSE(strategy.meaning.empty() || strategy.delays.empty() || strategy.advice.empty())
            << strategy.name;
    }
}
