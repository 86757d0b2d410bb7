#include <gtest/gtest.h>

#include <reprise/retry.hpp>

#include "commit_cutter.hpp"
#include "postgres_test.hpp"

// COMMITs that take longer than their attempt, and those that the program sends itself, on a
// PostgreSQL server of their own.

namespace adapters {
namespace {

/// What became of a call.
struct ended {
    int calls = 0;
    std::string state;  ///< Of the error; "" for a success.
    bool is_unknown = false;
};

class libpq_commits : public postgres_test {
protected:
    /// The first COMMIT that inserts into the ledger takes 0.8 s.
    static void make_first_commit_slow() {
        sql("create sequence if not exists commits");
        sql("alter sequence commits restart");
        sql("create or replace function be_slow() returns trigger language plpgsql as $$ begin "
            "if nextval('commits') = 1 then perform pg_sleep(0.8); end if; return null; end $$");
        sql("create constraint trigger slow after insert on ledger deferrable initially deferred "
            "for each row execute function be_slow()");
    }
    static std::int64_t applied() { return number("select count(*) from ledger"); }
    static std::string folder() {
        const std::string parameters = server_->parameters();
        return parameters.substr(5, parameters.find(' ') - 5);
    }
    /// `operation(current, calls)` in up to three attempts.
    template <class Operation>
    static ended run_three_times(Operation operation) {
        ended result;
        try {
            reprise::retry(
                reprise::attempts(3).every(0ms),
                {.timeout = 20s, .repeat = reprise::repeatability::not_repeatable},
                [&](const reprise::attempt& current) { operation(current, ++result.calls); });
        } catch (const pq_error& error) {
            result.state = error.state().empty() ? "lost" : error.state();
            result.is_unknown = error.is_commit_unknown();
        }
        return result;
    }
};

// `was_applied` found no row yet, and the work was applied by every attempt until one of them was
// answered in time.
TEST_F(libpq_commits, commit_that_takes_longer_than_its_attempt_is_applied_once) {
    const pq_transaction_options ask_program{.was_applied = [](pq_connection& on) {
        return PQntuples(on.execute("select 1 from ledger where id = 7").get()) > 0;
    }};
    for (const pq_transaction_options& options : {ask_program, pq_transaction_options{}}) {
        sql("drop table ledger");
        sql("create table ledger (id bigint not null)");
        make_first_commit_slow();
        pq_connection connection(server_->parameters());
        int calls = 0;
        const auto body = [&](pq_connection& on) {
            ++calls;
            on.execute("insert into ledger values (7)");
        };
        reprise::retry(
            reprise::attempts(100).every(50ms), {.timeout = 20s, .attempt_timeout = 400ms},
            pq_transaction(connection, body, options));
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(applied(), 1);
    }
}

// A transaction that only reads leaves no trace, and the server refuses the state of an id that it
// has not given away.
TEST_F(libpq_commits, program_decides_about_a_commit_whose_id_a_crash_has_erased) {
    const commit_cutter proxy(folder(), commit_cutter::cut::request);
    pq_connection connection(proxy.parameters());
    int calls = 0;
    int asked = 0;
    pq_transaction work(
        connection,
        [&](pq_connection& on) {
            ++calls;
            on.execute("select 1");
        },
        {.was_applied = [&](auto&) {
            ++asked;
            return false;
        }});
    reprise::retry(
        reprise::attempts(3).every(0ms), {.timeout = 20s}, [&](const reprise::attempt& current) {
            if (current.number == 2) {
                server_->restart(SIGQUIT);
            }
            work(current);
        });
    EXPECT_TRUE(proxy.has_cut());
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(calls, 2);
}

// It counted as a statement inside of a transaction, which the server discards.
TEST_F(libpq_commits, commit_of_the_programs_own_is_not_repeated_if_its_answer_was_lost) {
    for (const std::string end : {"commit", "/* commit */ END", "-- commit\ncommit and chain"}) {
        sql("delete from ledger");
        const commit_cutter proxy(folder(), commit_cutter::cut::answer);
        pq_connection connection(proxy.parameters());
        const ended call = run_three_times([&](const reprise::attempt& current, int) {
            connection.limit_time(current);
            connection.execute("begin");
            connection.execute("insert into ledger values (7)");
            connection.execute(end);
        });
        EXPECT_TRUE(proxy.has_cut());
        EXPECT_EQ(call.calls, 1) << end;
        EXPECT_TRUE(call.is_unknown) << end;
        EXPECT_EQ(applied(), 1) << end;
    }
}

// PgBouncer reports that it lost the server with the state of a mistake in the protocol.
TEST_F(libpq_commits, statement_whose_server_a_proxy_has_lost_may_be_executed) {
    const commit_cutter proxy(folder(), commit_cutter::cut::report);
    pq_connection connection(proxy.parameters());
    const ended call = run_three_times([&](const reprise::attempt& current, int) {
        connection.limit_time(current);
        connection.execute("insert into ledger values (7) /* commit */");
    });
    EXPECT_TRUE(proxy.has_cut());
    EXPECT_EQ(call.calls, 1);
    EXPECT_EQ(call.state, "08P01");
    EXPECT_TRUE(call.is_unknown);
    EXPECT_FALSE(connection.is_open());
    EXPECT_EQ(applied(), 1);
}

TEST_F(libpq_commits, transaction_of_the_programs_own_is_repeated_after_a_conflict) {
    pq_connection connection(server_->parameters());
    const ended call = run_three_times([&](const reprise::attempt&, int calls) {
        connection.execute("rollback");
        connection.execute("begin");
        connection.execute("insert into ledger values (7)");
        connection.execute(
            calls == 1 ? "do $$begin raise exception 'x' using errcode = '40P01'; end$$"
                       : "select 1");
        connection.execute("commit");
    });
    EXPECT_EQ(call.calls, 2);
    EXPECT_EQ(call.state, "");
    EXPECT_EQ(applied(), 1);
}

// The server answers such a COMMIT with ROLLBACK, which is no error: the call succeeded, although
// nothing was applied.
TEST_F(libpq_commits, commit_of_a_transaction_that_has_failed_is_no_success) {
    pq_connection connection(server_->parameters());
    for (const std::string end : {"commit", "END", "commit and chain", "prepare transaction 'a'"}) {
        const ended call = run_three_times([&](const reprise::attempt& current, int) {
            connection.execute(current, "rollback");
            connection.execute(current, "begin");
            connection.execute(current, "insert into ledger values (7)");
            EXPECT_THROW(connection.execute(current, "insert into ledger values (null)"), pq_error);
            connection.execute(current, end);
        });
        EXPECT_EQ(call.calls, 1) << end;
        EXPECT_EQ(call.state, "25P02") << end;
        EXPECT_FALSE(call.is_unknown) << end;
        EXPECT_EQ(applied(), 0) << end;
    }
    connection.execute("rollback");
    connection.execute("begin");
    connection.execute("insert into ledger values (8)");
    connection.execute("commit");
    EXPECT_EQ(applied(), 1);
}

// What it had committed was applied again by every attempt.
TEST_F(libpq_commits, body_cannot_commit) {
    pq_connection connection(server_->parameters());
    for (const std::string end : {"commit", "end", "prepare transaction 'a'"}) {
        const ended call = run_three_times([&](const reprise::attempt& current, int) {
            const auto body = [&](pq_connection& on) {
                on.execute("insert into ledger values (7)");
                on.execute(end);
                on.execute("begin");
                on.execute("do $$begin raise exception 'x' using errcode = '40P01'; end$$");
            };
            pq_transaction(connection, body)(current);
        });
        EXPECT_EQ(call.calls, 1) << end;
        EXPECT_EQ(call.state, "25P01") << end;
        EXPECT_FALSE(call.is_unknown) << "nothing is committed";
        EXPECT_EQ(applied(), 0) << end;
    }
}

// It committed on its own, and was executed again with the transaction.
TEST_F(libpq_commits, body_that_has_rolled_back_cannot_go_on) {
    pq_connection connection(server_->parameters());
    const ended call = run_three_times([&](const reprise::attempt& current, int) {
        const auto body = [](pq_connection& on) {
            on.execute("rollback");
            on.execute("insert into ledger values (7)");
            throw pq_error("", "40001", {.safety = reprise::retry_safety::yes}, false);
        };
        pq_transaction(connection, body)(current);
    });
    EXPECT_EQ(call.calls, 1);
    EXPECT_EQ(call.state, "25P01");
    EXPECT_EQ(applied(), 0);
}

// Only a body that returned was checked.
TEST_F(libpq_commits, body_that_commits_past_the_connection_and_fails_is_not_repeated) {
    pq_connection connection(server_->parameters());
    const ended call = run_three_times([&](const reprise::attempt& current, int) {
        const auto body = [](pq_connection& on) {
            on.execute("insert into ledger values (7)");
            PQclear(PQexec(on.native(), "commit"));
            throw pq_error("", "40001", {.safety = reprise::retry_safety::yes}, false);
        };
        pq_transaction(connection, body)(current);
    });
    EXPECT_EQ(call.calls, 1);
    EXPECT_EQ(call.state, "25P01");
    EXPECT_TRUE(call.is_unknown);
    EXPECT_EQ(applied(), 1);
}

}  // namespace
}  // namespace adapters
