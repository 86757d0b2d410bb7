#include <gtest/gtest.h>

#include <reprise/retry.hpp>

#include "postgres_test.hpp"

// Statements that commit parts of their work themselves, on a PostgreSQL server of their own.

namespace adapters {
namespace {

using reprise::repeatability;

/// The state of the failure with which a call of up to three attempts ended; "" for a success.
std::string execute_three_times(
    pq_connection& connection, const std::string& statement,
    repeatability stated = repeatability::unspecified,
    repeatability mark = repeatability::unspecified) {
    try {
        reprise::retry(reprise::attempts(3).every(0ms), {.timeout = 20s, .repeat = mark}, [&] {
            connection.execute(statement, {}, stated);
        });
    } catch (const pq_error& error) {
        EXPECT_TRUE(error.is_commit_unknown()) << "a part of the work is applied";
        return error.state();
    }
    return {};
}

class libpq_programs : public postgres_test {
protected:
    void SetUp() override {
        postgres_test::SetUp();
        sql(std::string("create or replace procedure archive() language plpgsql as $$") +
            archive_body + "$$");
    }
    static std::int64_t applied() { return number("select count(*) from ledger"); }

    /// Commits one row, and fails in the next transaction.
    static constexpr const char* archive_body =
        "begin insert into ledger values (1); commit; "
        "raise exception 'deadlock' using errcode = '40P01'; end";
    pq_connection connection_{server_->parameters()};
};

// Its first part was applied again by every attempt.
TEST_F(libpq_programs, program_that_failed_after_a_commit_of_its_own_is_not_repeated) {
    const std::string block = std::string("do $$") + archive_body + "$$";
    for (const std::string& statement :
         {std::string("call archive()"),
          std::string(" /* every /* single */ night */ CALL archive()"),
          std::string("-- every night\n;call archive();"), block}) {
        sql("delete from ledger");
        EXPECT_EQ(execute_three_times(connection_, statement), "40P01") << statement;
        EXPECT_EQ(applied(), 1) << statement;
    }
}

TEST_F(libpq_programs, program_is_repeated_if_its_execution_states_it) {
    using enum repeatability;
    EXPECT_EQ(execute_three_times(connection_, "call archive()", repeatable), "40P01");
    EXPECT_EQ(applied(), 3);
    EXPECT_EQ(
        execute_three_times(connection_, "call archive()", repeatable, not_repeatable), "40P01");
    EXPECT_EQ(applied(), 4) << "the mark of the call";
}

// The index stayed behind as an invalid one, and the next attempt succeeded because it existed.
TEST_F(libpq_programs, index_that_failed_while_it_was_built_concurrently_is_not_a_success) {
    pq_connection writer(server_->parameters());
    writer.execute("begin");
    writer.execute("insert into ledger values (1)");
    connection_.execute("set lock_timeout = '100ms'");
    EXPECT_EQ(
        execute_three_times(
            connection_, "create index concurrently if not exists ledger_ids on ledger (id)"),
        "55P03");
    EXPECT_EQ(number("select count(*) from pg_index where not indisvalid"), 1);
}

TEST_F(libpq_programs, program_inside_a_transaction_is_repeated_with_it) {
    sql("create or replace procedure work(is_first bool) language plpgsql as $$ begin "
        "insert into ledger values (1); if is_first then "
        "raise exception 'deadlock' using errcode = '40P01'; end if; end $$");
    int calls = 0;
    const auto body = [&](pq_connection& on) {
        on.execute("call work($1)", {++calls == 1 ? "true" : "false"});
    };
    reprise::retry(
        reprise::attempts(3).every(0ms), {.timeout = 20s}, pq_transaction(connection_, body));
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(applied(), 1);
}

// So a program is always the first word.
TEST_F(libpq_programs, several_statements_in_one_text_are_refused) {
    try {
        connection_.execute("select 1; call archive()");
        ADD_FAILURE() << "two statements";
    } catch (const pq_error& error) {
        EXPECT_EQ(error.state(), "42601");
    }
    EXPECT_EQ(applied(), 0);
}

// A COPY to the program executes its statement before the program reads anything. The error denied
// that anything was applied.
TEST_F(libpq_programs, copy_to_the_program_may_have_applied_its_statement) {
    const std::string statement = "copy (insert into ledger values (7) returning id) to stdout";
    EXPECT_EQ(execute_three_times(connection_, statement), "0A000");
    EXPECT_TRUE(becomes_ready([] { return applied() == 1; }));
    const auto is_unknown = [&](const std::string& refused) {
        try {
            connection_.execute(refused);
        } catch (const pq_error& error) {
            return error.is_commit_unknown();
        }
        return false;
    };
    EXPECT_FALSE(is_unknown("copy ledger from stdin"));
    connection_.execute("begin");
    EXPECT_FALSE(is_unknown(statement)) << "the server discards the transaction";
    EXPECT_EQ(applied(), 1);
}

}  // namespace
}  // namespace adapters
