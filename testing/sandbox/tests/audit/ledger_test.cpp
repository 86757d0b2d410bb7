#include <gtest/gtest.h>

#include <reprise/sandbox/ledger.hpp>

using reprise::sandbox::ledger;
using reprise::sandbox::ledger_fault;
using reprise::sandbox::write_outcome;

TEST(ledger, a_write_applied_once_and_told_so_is_clean) {
    ledger book;
    book.begin(1);
    book.on_applied(1);
    book.settle(1, write_outcome::applied);
    EXPECT_TRUE(book.totals().is_clean());
    EXPECT_EQ(
        to_string(book.totals()),
        "1 writes: 1 applied, 0 not applied, 0 unknown (0 applied); lost 0, duplicated 0");
}

TEST(ledger, a_success_that_no_server_saw_is_lost) {
    ledger book;
    book.begin(1, "upsert a");
    book.settle(1, write_outcome::applied);
    EXPECT_EQ(book.totals().lost, 1U);
    ASSERT_EQ(book.findings().size(), 1U);
    EXPECT_EQ(book.findings()[0].label, "upsert a");
    EXPECT_EQ(book.findings()[0].fault, ledger_fault::lost);
}

TEST(ledger, a_write_applied_three_times_is_one_duplicate_even_after_it_was_settled) {
    ledger book;
    book.begin(1);
    book.on_applied(1);
    book.settle(1, write_outcome::unknown);
    EXPECT_TRUE(book.totals().is_clean());
    book.on_applied(1);
    book.on_applied(1);
    EXPECT_EQ(book.totals().duplicated, 1U);
}

TEST(ledger, an_unambiguous_failure_must_not_be_applied_before_or_after) {
    ledger book;
    book.begin(1);
    book.on_applied(1);
    book.settle(1, write_outcome::not_applied);
    book.begin(2);
    book.settle(2, write_outcome::not_applied);
    EXPECT_EQ(book.totals().phantom, 1U);
    book.on_applied(2);
    EXPECT_EQ(book.totals().phantom, 2U);
}

TEST(ledger, ambiguous_writes_may_go_either_way) {
    ledger book;
    for (std::uint64_t write = 1; write <= 3; ++write) {
        book.begin(write);
    }
    book.on_applied(1);
    book.settle(1, write_outcome::unknown);
    book.settle(2, write_outcome::unknown);
    book.on_applied(2);
    book.settle(3, write_outcome::unknown);
    EXPECT_TRUE(book.totals().is_clean());
    EXPECT_EQ(book.totals().unknown, 3U);
    EXPECT_EQ(book.totals().unknown_applied, 2U);
}

TEST(ledger, strangers_are_ignored_and_forgotten_writes_too) {
    ledger book;
    book.on_applied(9);
    book.begin(1);
    book.on_applied(1);
    book.settle(1, write_outcome::applied);
    book.forget_settled();
    book.on_applied(1);
    EXPECT_TRUE(book.totals().is_clean());
    EXPECT_EQ(book.totals().writes, 1U);
}
