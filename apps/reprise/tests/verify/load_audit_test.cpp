#include "verify/load_audit.hpp"

#include <gtest/gtest.h>

namespace sandbox = reprise::sandbox;
using reprise::app::audit_turn;
using reprise::app::stamped_write;
using reprise::app::turn_contents;
using reprise::app::turn_writes;
using sandbox::write_outcome;

namespace {

constexpr auto applied = write_outcome::applied;
constexpr auto not_applied = write_outcome::not_applied;
constexpr auto unknown = write_outcome::unknown;

// Begins every write and enters the turn.
sandbox::ledger_totals totals_after(const turn_writes& writes, const turn_contents& found) {
    sandbox::ledger ledger;
    for (const auto* list : {&writes.journal, &writes.counter, &writes.inserts, &writes.versions}) {
        for (const stamped_write& each : *list) {
            ledger.begin(each.stamp);
        }
    }
    audit_turn(ledger, writes, found);
    return ledger.totals();
}

}  // namespace

TEST(load_audit, a_turn_that_contains_every_write_once_is_clean) {
    const turn_writes writes{
        .journal = {{1, applied}, {2, applied}},
        .counter = {{3, applied}, {4, applied}},
        .inserts = {{5, applied}},
        .versions = {{6, applied}, {7, applied}}};
    const auto totals =
        totals_after(writes, {.journal = {1, 2}, .counter = 2, .inserts = {5}, .version = 7});
    EXPECT_TRUE(totals.is_clean());
    EXPECT_EQ(totals.applied, 7U);
    EXPECT_EQ(totals.open, 0U);
    EXPECT_TRUE(writes.is_settled());
}

TEST(load_audit, a_stamp_missing_in_the_journal_is_lost_and_one_found_twice_is_duplicated) {
    const turn_writes writes{.journal = {{1, applied}, {2, applied}}};
    const auto totals = totals_after(writes, {.journal = {2, 2}});
    EXPECT_EQ(totals.lost, 1U);
    EXPECT_EQ(totals.duplicated, 1U);
}

TEST(load_audit, a_counter_below_the_successes_lost_one) {
    const turn_writes writes{.counter = {{1, applied}, {2, applied}, {3, unknown}}};
    const auto totals = totals_after(writes, {.counter = 1});
    EXPECT_EQ(totals.lost, 1U);
    EXPECT_EQ(totals.duplicated, 0U);
}

TEST(load_audit, ambiguous_increments_explain_a_higher_counter) {
    const turn_writes writes{.counter = {{1, unknown}, {2, applied}, {3, unknown}}};
    const auto totals = totals_after(writes, {.counter = 2});
    EXPECT_TRUE(totals.is_clean());
    EXPECT_EQ(totals.unknown_applied, 1U);
    EXPECT_FALSE(writes.is_settled());
}

TEST(load_audit, a_counter_above_all_explanations_was_incremented_twice) {
    const turn_writes writes{.counter = {{1, applied}, {2, unknown}}};
    EXPECT_EQ(totals_after(writes, {.counter = 3}).duplicated, 1U);
    // However wrong it is, the audit ends.
    EXPECT_EQ(totals_after(writes, {.counter = ~std::uint64_t{0}}).duplicated, 2U);
    EXPECT_TRUE(totals_after({}, {.counter = 5}).is_clean());
}

TEST(load_audit, an_increment_that_was_reported_as_refused_must_not_count) {
    const turn_writes writes{.counter = {{1, applied}, {2, not_applied}}};
    EXPECT_EQ(totals_after(writes, {.counter = 2}).phantom, 1U);
}

TEST(load_audit, a_missing_insert_is_lost_and_a_refused_one_that_exists_is_a_phantom) {
    const turn_writes writes{.inserts = {{1, applied}, {2, not_applied}}};
    const auto totals = totals_after(writes, {.inserts = {std::nullopt, 2}});
    EXPECT_EQ(totals.lost, 1U);
    EXPECT_EQ(totals.phantom, 1U);
}

TEST(load_audit, a_later_version_proves_the_earlier_one) {
    const turn_writes writes{.versions = {{1, applied}, {2, unknown}}};
    EXPECT_TRUE(totals_after(writes, {.version = 2}).is_clean());
    EXPECT_TRUE(totals_after(writes, {.version = 1}).is_clean());
    EXPECT_EQ(totals_after(writes, {}).lost, 1U);
}

TEST(load_audit, an_old_version_means_that_the_new_one_is_lost) {
    const turn_writes writes{.versions = {{1, applied}, {2, applied}}};
    EXPECT_EQ(totals_after(writes, {.version = 1}).lost, 1U);
    EXPECT_EQ(totals_after(writes, {.version = 99}).lost, 2U) << "nobody wrote this version";
}
