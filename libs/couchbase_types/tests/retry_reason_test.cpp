#include <gtest/gtest.h>

#include <set>

#include <reprise/couchbase_types/retry_reason.hpp>

namespace reprise::couchbase {

TEST(retry_reason, RH_09_all_25_reasons_have_distinct_names_and_are_at_their_own_index) {
    std::set<std::string_view> names;
    ASSERT_EQ(all_retry_reasons().size(), 25U);
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        EXPECT_EQ(&info(facts.reason), &facts);
        EXPECT_FALSE(facts.meaning.empty());
        EXPECT_FALSE(facts.advice.empty());
        names.insert(facts.name);
    }
    EXPECT_EQ(names.size(), 25U);
}

TEST(retry_reason, RH_09_flags_are_those_of_the_table) {
    const std::set<retry_reason> not_for_non_idempotent{
        retry_reason::unknown, retry_reason::socket_closed_while_in_flight};
    const std::set<retry_reason> always{
        retry_reason::kv_not_my_vbucket, retry_reason::kv_collection_outdated,
        retry_reason::views_no_active_partition};
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        EXPECT_EQ(facts.allows_non_idempotent_retry, !not_for_non_idempotent.contains(facts.reason))
            << facts.name;
        EXPECT_EQ(facts.always_retry, always.contains(facts.reason)) << facts.name;
    }
}

TEST(retry_reason, RH_11_terminal_reasons_allow_non_idempotent_retry_and_are_not_always_retried) {
    std::size_t terminal_count = 0;
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        if (facts.is_terminal()) {
            ++terminal_count;
            EXPECT_TRUE(facts.allows_non_idempotent_retry) << facts.name;
            EXPECT_FALSE(facts.always_retry) << facts.name;
        }
    }
    EXPECT_EQ(terminal_count, 5U);
}

TEST(retry_reason, a_set_holds_each_reason_once) {
    retry_reason_set reasons;
    EXPECT_TRUE(reasons.empty());
    reasons.insert(retry_reason::kv_locked);
    reasons.insert(retry_reason::kv_locked);
    reasons.insert(retry_reason::collection_not_found);
    EXPECT_EQ(reasons.size(), 2U);
    EXPECT_TRUE(reasons.contains(retry_reason::collection_not_found));
    EXPECT_FALSE(reasons.contains(retry_reason::unknown));
}

}  // namespace reprise::couchbase
