#include <gtest/gtest.h>

#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "postgres_test.hpp"

// Transactions whose bodies hide errors or end them, on a PostgreSQL server of their own.

namespace adapters {
namespace {

class libpq_transactions : public postgres_test {};

/// Ends the connection of the body, which hides that.
void lose_connection(pq_connection& on) {
    try {
        on.execute("select pg_terminate_backend(pg_backend_pid())");
    } catch (const pq_error&) {
    }
}

// The statements after the loss were executed on a new connection and outside of a transaction;
// those before it were gone, and the transaction had succeeded.
TEST_F(libpq_transactions, statements_never_leave_a_transaction_whose_connection_was_lost) {
    pq_connection connection(server_->parameters());
    const pq_transaction_options ask_program{.was_applied = [](auto&) { return false; }};
    for (const pq_transaction_options& options : {pq_transaction_options{}, ask_program}) {
        sql("delete from ledger");
        int calls = 0;
        const auto body = [&](pq_connection& on) {
            on.execute("insert into ledger values (1)");
            if (++calls == 1) {
                lose_connection(on);
            }
            on.execute("insert into ledger values (2)");
        };
        reprise::retry(
            reprise::attempts(3).every(0ms), {.timeout = 20s},
            pq_transaction(connection, body, options));
        EXPECT_EQ(calls, 2);
        EXPECT_EQ(number("select sum(id) from ledger"), 3);
        EXPECT_EQ(number("select count(*) from ledger"), 2);
    }
}

TEST_F(libpq_transactions, transaction_whose_connection_was_lost_at_its_end_is_repeated) {
    pq_connection connection(server_->parameters());
    int calls = 0;
    const auto body = [&](pq_connection& on) {
        on.execute("insert into ledger values (1)");
        if (++calls == 1) {
            lose_connection(on);
        }
    };
    reprise::retry(
        reprise::attempts(3).every(0ms), {.timeout = 20s}, pq_transaction(connection, body));
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(number("select count(*) from ledger"), 1);
    EXPECT_EQ(PQntuples(connection.execute("select 1").get()), 1) << "a lone statement reconnects";
}

// The inner one committed the work of both, and the outer one was then repeated.
TEST_F(libpq_transactions, refuses_a_transaction_inside_another_one_on_the_same_connection) {
    pq_connection connection(server_->parameters());
    int calls = 0;
    const auto insert = [](pq_connection& on) { on.execute("insert into ledger values (1)"); };
    const auto nested = [&](pq_connection& on) {
        reprise::retry(reprise::attempts(1), pq_transaction(on, insert));
        if (++calls < 3) {
            throw pq_error("", "40001", {.safety = reprise::retry_safety::yes}, false);
        }
    };
    try {
        reprise::retry(
            reprise::attempts(3).every(0ms), {.timeout = 20s}, pq_transaction(connection, nested));
        ADD_FAILURE() << "PostgreSQL has no transactions inside others";
    } catch (const pq_error& error) {
        EXPECT_EQ(error.state(), "25001");
    }
    EXPECT_EQ(number("select count(*) from ledger"), 0);
}

// It was reported as a success, although nothing was applied.
TEST_F(libpq_transactions, reports_a_transaction_that_its_body_has_ended) {
    pq_connection connection(server_->parameters());
    int calls = 0;
    const auto body = [&](pq_connection& on) {
        ++calls;
        on.execute("insert into ledger values (1)");
        on.execute("rollback");
    };
    try {
        reprise::retry(
            reprise::attempts(3).every(0ms), {.timeout = 20s}, pq_transaction(connection, body));
        ADD_FAILURE() << "nothing was applied";
    } catch (const pq_error& error) {
        EXPECT_EQ(error.state(), "25P01");
        EXPECT_TRUE(error.is_commit_unknown()) << "it could have been a COMMIT";
    }
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(number("select count(*) from ledger"), 0);
}

// Row 1 was rolled back, row 2 was committed, and the transaction had succeeded.
TEST_F(libpq_transactions, refuses_a_chain_that_ends_the_transaction_of_the_body) {
    pq_connection connection(server_->parameters());
    for (const std::string end : {"rollback and chain", "ABORT work AND CHAIN"}) {
        const auto body = [&](pq_connection& on) {
            on.execute("insert into ledger values (1)");
            on.execute(end);
            on.execute("insert into ledger values (2)");
        };
        try {
            reprise::retry(
                reprise::attempts(3).every(0ms), {.timeout = 20s},
                pq_transaction(connection, body));
            ADD_FAILURE() << end;
        } catch (const pq_error& error) {
            EXPECT_EQ(error.state(), "25P01");
            EXPECT_FALSE(error.is_commit_unknown());
        }
        EXPECT_EQ(number("select count(*) from ledger"), 0);
    }
}

// The limit of the transaction's last attempt stayed: lone statements after it had no time left,
// and the connection asked a clock that had ended with the call.
TEST_F(libpq_transactions, limit_of_a_transaction_ends_with_it) {
    pq_connection connection(server_->parameters());
    {
        reprise::testing::virtual_clock clock;
        const auto body = [](pq_connection& on) { on.execute("insert into ledger values (1)"); };
        reprise::retry(
            reprise::attempts(1), {.timeout = 1s, .clock = &clock},
            pq_transaction(connection, body));
        clock.advance(1h);
        EXPECT_EQ(PQntuples(connection.execute("select pg_sleep(0.05)").get()), 1);
    }
    EXPECT_EQ(PQntuples(connection.execute("select pg_sleep(0.05)").get()), 1);
}

}  // namespace
}  // namespace adapters
