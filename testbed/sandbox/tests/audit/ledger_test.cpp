#include <gtest/gtest.h>

#include <reprise/sandbox/ledger.hpp>

using reprise::sandbox::ledger;
using reprise::sandbox::ledger_fault;
using reprise::sandbox::write_outcome;

TEST(ledger, a_write_applied_once_and_reported_as_applied_is_clean) {
    ledger ledger;
    ledger.begin(1);
    ledger.on_applied(1);
    ledger.settle(1, write_outcome::applied);
    EXPECT_TRUE(ledger.totals().is_clean());
    EXPECT_EQ(
        to_string(ledger.totals()),
        "1 writes: 1 applied, 0 not applied, 0 unknown (0 applied); lost 0, duplicated 0");
}

TEST(ledger, a_success_that_no_server_saw_is_lost) {
    ledger ledger;
    ledger.begin(1, "upsert a");
    ledger.settle(1, write_outcome::applied);
    EXPECT_EQ(ledger.totals().lost, 1U);
    ASSERT_EQ(ledger.findings().size(), 1U);
    EXPECT_EQ(ledger.findings()[0].label, "upsert a");
    EXPECT_EQ(ledger.findings()[0].fault, ledger_fault::lost);
}

TEST(ledger, a_write_applied_three_times_is_one_duplicate_even_after_it_was_settled) {
    ledger ledger;
    ledger.begin(1);
    ledger.on_applied(1);
    ledger.settle(1, write_outcome::unknown);
    EXPECT_TRUE(ledger.totals().is_clean());
    ledger.on_applied(1);
    ledger.on_applied(1);
    EXPECT_EQ(ledger.totals().duplicated, 1U);
}

TEST(ledger, an_unambiguous_failure_must_not_be_applied_before_or_after) {
    ledger ledger;
    ledger.begin(1);
    ledger.on_applied(1);
    ledger.settle(1, write_outcome::not_applied);
    ledger.begin(2);
    ledger.settle(2, write_outcome::not_applied);
    EXPECT_EQ(ledger.totals().phantom, 1U);
    ledger.on_applied(2);
    EXPECT_EQ(ledger.totals().phantom, 2U);
}

TEST(ledger, an_ambiguous_write_may_be_applied_or_not) {
    ledger ledger;
    for (std::uint64_t write = 1; write <= 3; ++write) {
        ledger.begin(write);
    }
    ledger.on_applied(1);
    ledger.settle(1, write_outcome::unknown);
    ledger.settle(2, write_outcome::unknown);
    ledger.on_applied(2);
    ledger.settle(3, write_outcome::unknown);
    EXPECT_TRUE(ledger.totals().is_clean());
    EXPECT_EQ(ledger.totals().unknown, 3U);
    EXPECT_EQ(ledger.totals().unknown_applied, 2U);
}

TEST(ledger, unknown_and_forgotten_writes_are_ignored) {
    ledger ledger;
    ledger.on_applied(9);
    ledger.begin(1);
    ledger.on_applied(1);
    ledger.settle(1, write_outcome::applied);
    ledger.forget_settled();
    ledger.on_applied(1);
    EXPECT_TRUE(ledger.totals().is_clean());
    EXPECT_EQ(ledger.totals().writes, 1U);
}
