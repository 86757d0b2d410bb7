#include <gtest/gtest.h>

#include <reprise/retry.hpp>

#include "commit_cutter.hpp"
#include "postgres_test.hpp"

// Statements outside of a transaction that are executed as a part of an attempt.

namespace adapters {
namespace {

using reprise::repeatability;
using enum reprise::repeatability;

class libpq_attempts : public postgres_test {
protected:
    /// How often a call of up to three attempts executed the statement.
    static int executions(
        pq_connection& on, const std::string& statement, repeatability mark,
        repeatability stated = unspecified) {
        int count = 0;
        const auto execute = [&](const reprise::attempt& current) {
            ++count;
            on.execute(current, statement, {}, stated);
        };
        try {
            reprise::retry(
                reprise::attempts(3).every(0ms), {.timeout = 20s, .repeat = mark}, execute);
        } catch (const pq_error& error) {
            EXPECT_TRUE(error.is_commit_unknown()) << error.what();
        }
        return count;
    }
};

// Only what the statement itself stated counted.
TEST_F(libpq_attempts, mark_of_the_call_decides_about_a_statement_whose_answer_was_lost) {
    const auto insert_and_lose_the_answer = [](repeatability mark, repeatability stated) {
        const commit_cutter proxy(socket_folder(server_->parameters()), commit_cutter::cut::answer);
        pq_connection connection(proxy.parameters());
        return executions(connection, "insert into ledger values (7) /* commit */", mark, stated);
    };
    EXPECT_EQ(insert_and_lose_the_answer(unspecified, unspecified), 1);
    EXPECT_EQ(insert_and_lose_the_answer(not_repeatable, unspecified), 1);
    EXPECT_EQ(insert_and_lose_the_answer(repeatable, unspecified), 2);
    EXPECT_EQ(insert_and_lose_the_answer(repeatable, not_repeatable), 1)
        << "what the statement states about itself counts more";
    EXPECT_EQ(number("select count(*) from ledger"), 5);
}

TEST_F(libpq_attempts, mark_of_the_call_decides_about_a_program) {
    pq_connection connection(server_->parameters());
    const std::string program =
        "do $$ begin insert into ledger values (1); commit; "
        "raise exception 'deadlock' using errcode = '40P01'; end $$";
    EXPECT_EQ(executions(connection, program, unspecified), 1);
    EXPECT_EQ(executions(connection, program, not_repeatable), 1);
    EXPECT_EQ(executions(connection, program, repeatable), 3);
    EXPECT_EQ(number("select count(*) from ledger"), 5);
}

TEST_F(libpq_attempts, statement_ends_with_the_time_of_its_attempt_and_the_next_one_has_no_limit) {
    pq_connection connection(server_->parameters());
    const auto sleep = [&](const reprise::attempt& current) {
        connection.execute(current, "select pg_sleep(30)");
    };
    try {
        reprise::retry(reprise::attempts(3).every(0ms), {.attempt_timeout = 100ms}, sleep);
        ADD_FAILURE() << "slept";
    } catch (const pq_error& error) {
        EXPECT_TRUE(error.retry_facts().timeout) << error.what();
    }
    EXPECT_EQ(PQntuples(connection.execute("select pg_sleep(0.05)").get()), 1);
}

}  // namespace
}  // namespace adapters
