#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry/adapters/sqlstate.hpp>

namespace {

using reprise::repeatability;
using reprise::retry_safety;
using reprise::adapters::is_sql_begin;
using reprise::adapters::is_sql_commit;
using reprise::adapters::is_sql_program;
using reprise::adapters::is_sql_restart;
using reprise::adapters::lost_commit_state;
using reprise::adapters::read_transaction_status;
using reprise::adapters::sql_stage;
using reprise::adapters::sqlstate_facts;
using reprise::adapters::sqlstate_text;

std::optional<reprise::failure_fault> fault_of(std::string_view state) {
    return sqlstate_facts(state, sql_stage::in_transaction).fault;
}

constexpr sql_stage every_stage[]{
    sql_stage::connecting, sql_stage::in_transaction, sql_stage::committing, sql_stage::alone};

// Transactions that compete for one row opened the circuit breaker of a server that worked.
TEST(sqlstate, conflicts_and_mistakes_do_not_open_a_circuit_breaker) {
    for (const char* state :
         {"40001", "40P01", "40000", "40002", "55P03", "55006", "02000", "0A000", "22P02", "23505",
          "25006", "25P02", "28P01", "3D000", "42601", "54023", "P0001", "38000"}) {
        EXPECT_EQ(fault_of(state), reprise::failure_fault::client) << state;
    }
}

// A server whose disk failed or whose index was corrupt counted as one that works: the circuit
// breaker stayed closed, because these states were taken for mistakes of the statement.
TEST(sqlstate, failures_of_the_server_open_a_circuit_breaker) {
    for (const char* state :
         {"53300", "53100", "57014", "57P03", "57P04", "58000", "58030", "F0001", "XX000",
          "XX001"}) {
        EXPECT_EQ(fault_of(state), reprise::failure_fault::server) << state;
    }
    for (const char* state : {"", "08006", "57P01", "40003", "72000", "HV00N"}) {
        EXPECT_EQ(fault_of(state), reprise::failure_fault::other) << state;
    }
}

TEST(sqlstate, state_that_is_unknown_is_not_the_callers_fault) {
    for (const char* state : {"A1000", "99999", "5", "ZZ"}) {
        EXPECT_EQ(fault_of(state), reprise::failure_fault::other) << state;
        EXPECT_EQ(sqlstate_facts(state, sql_stage::alone).safety, retry_safety::no) << state;
    }
}

// Appendix A of PostgreSQL's manual, without success (00) and warnings (01).
TEST(sqlstate, every_class_of_postgresql_is_in_the_table) {
    for (const char* state :
         {"02", "03", "08", "09", "0A", "0B", "0F", "0L", "0P", "0Z", "10", "20", "21", "22",
          "23", "24", "25", "26", "27", "28", "2B", "2D", "2F", "34", "38", "39", "3B", "3D",
          "3F", "40", "42", "44", "53", "54", "55", "57", "58", "72", "F0", "HV", "P0", "XX"}) {
        EXPECT_NE(reprise::adapters::detail::find_sqlstate(state), nullptr) << state;
    }
}

// A state of a row decides before its class does.
TEST(sqlstate, every_row_decides_about_its_own_states) {
    for (const auto& row : reprise::adapters::detail::sqlstate_rows) {
        const std::string state = std::string(row.name) + (row.name.size() == 2 ? "Z9Z" : "");
        const auto facts = sqlstate_facts(state, sql_stage::in_transaction);
        EXPECT_EQ(facts.fault, row.fault) << row.name;
        EXPECT_EQ(facts.throttling, row.throttling) << row.name;
        EXPECT_EQ(
            facts.safety == retry_safety::yes,
            row.safety == retry_safety::yes || reprise::adapters::is_lost_connection(state))
            << row.name;
    }
}

TEST(sqlstate, rolled_back_transaction_is_safe_in_every_stage) {
    for (const char* state : {"40001", "40P01", "40000", "55P03"}) {
        for (const sql_stage stage : every_stage) {
            EXPECT_EQ(sqlstate_facts(state, stage).safety, retry_safety::yes) << state;
        }
    }
}

TEST(sqlstate, connection_lost_before_commit_is_safe) {
    for (const char* state : {"", "08000", "08006", "57P01", "57P02", "57P05"}) {
        EXPECT_EQ(sqlstate_facts(state, sql_stage::connecting).safety, retry_safety::yes);
        EXPECT_EQ(sqlstate_facts(state, sql_stage::in_transaction).safety, retry_safety::yes);
    }
}

TEST(sqlstate, connection_lost_after_commit_is_not_repeated) {
    for (const char* state : {"", "08006", "57P01", "57P02", "40003"}) {
        for (const sql_stage stage : {sql_stage::committing, sql_stage::alone}) {
            EXPECT_TRUE(reprise::adapters::is_commit_unknown(state, stage)) << state;
            EXPECT_EQ(sqlstate_facts(state, stage).safety, retry_safety::no) << state;
            EXPECT_EQ(
                sqlstate_facts(state, stage, repeatability::repeatable).safety,
                retry_safety::maybe);
        }
    }
}

// A procedure commits its batches itself. A deadlock in the third one repeated the first two.
TEST(sqlstate, program_is_repeated_only_if_stated_whatever_ended_it) {
    for (const char* state : {"", "08006", "57P01", "40003", "40001", "40P01", "55P03", "53200"}) {
        EXPECT_TRUE(reprise::adapters::is_commit_unknown(state, sql_stage::program)) << state;
        EXPECT_EQ(sqlstate_facts(state, sql_stage::program).safety, retry_safety::no) << state;
        EXPECT_EQ(
            sqlstate_facts(state, sql_stage::program, repeatability::repeatable).safety,
            retry_safety::maybe)
            << state;
    }
    EXPECT_TRUE(reprise::adapters::is_commit_unknown("23505", sql_stage::program));
    EXPECT_EQ(
        sqlstate_facts("23505", sql_stage::program, repeatability::repeatable).safety,
        retry_safety::no)
        << "its own fault";
}

TEST(sqlstate, program_is_known_by_its_first_word) {
    for (const char* sql :
         {"call f()", "CALL f()", "Do $$begin end$$", "do$$begin end$$", " \t\r\n\f\v;call f();",
          "-- a comment\ncall f()", "--\r--\ncall f()", "/* a */call f()",
          "/* a /* b */ * / -- c */ /**/ call f()", "/*/ */call f()",
          "create unique index concurrently on t (x)", "CREATE INDEX CONCURRENTLY i ON t (x)",
          "drop index concurrently i", "reindex (verbose) table concurrently t",
          "alter table t detach partition p concurrently"}) {
        EXPECT_TRUE(is_sql_program(sql)) << sql;
    }
    for (const char* sql :
         {"",
          " ",
          "-- call f()",
          "/* call f() */",
          "/* /* */ call f()",
          "/",
          "-",
          "/*",
          "--",
          "select f()",
          "select 1; call f()",
          "calls",
          "doc",
          "update call set x = 1",
          "create index i on t (x)",
          "reindex table t",
          "vacuum",
          "cluster",
          "explain select 1",
          "insert into t values ('concurrently')",
          "refresh materialized view concurrently v"}) {
        EXPECT_FALSE(is_sql_program(sql)) << sql;
    }
}

// An UPDATE whose WHERE followed a zero changed all rows.
TEST(sqlstate, statement_that_libpq_would_cut_is_refused) {
    using namespace std::string_literals;
    using reprise::adapters::refusal_of_statement;
    EXPECT_FALSE(refusal_of_statement("update t set x = $1", std::array{"a"s, ""s}));
    const auto cut = refusal_of_statement("update t set x = 1\0 where y = 2"s, {});
    ASSERT_TRUE(cut);
    EXPECT_STREQ(cut->state, "22021");
    EXPECT_TRUE(refusal_of_statement("select $1, $2", std::array{"a"s, "b\0c"s}));
    const std::vector<std::string> most(65535);
    EXPECT_FALSE(refusal_of_statement("select", most));
    const auto long_one = refusal_of_statement("select", std::vector<std::string>(65536));
    ASSERT_TRUE(long_one);
    EXPECT_STREQ(long_one->state, "54023");
}

// The error of COPY (INSERT ...) TO STDOUT denied that the rows were inserted.
TEST(sqlstate, copy_of_a_statement_may_change_data) {
    using reprise::adapters::is_sql_copy_of_statement;
    for (const char* sql :
         {"copy (insert into t values (1) returning x) to stdout",
          "/* a */ COPY(select f()) to "
          "stdout",
          "copy -- a\n (table t) to stdout"}) {
        EXPECT_TRUE(is_sql_copy_of_statement(sql)) << sql;
    }
    for (const char* sql :
         {"copy t to stdout", "copy t (x) from stdin", "select (1)", "copy", "", "(copy)"}) {
        EXPECT_FALSE(is_sql_copy_of_statement(sql)) << sql;
    }
}

// A COMMIT after a statement that had failed counted as a success.
TEST(sqlstate, commit_that_the_server_answers_with_rollback_applies_nothing) {
    using reprise::adapters::is_rolled_back;
    EXPECT_TRUE(is_rolled_back(sql_stage::committing, "ROLLBACK"));
    EXPECT_FALSE(is_rolled_back(sql_stage::committing, "COMMIT"));
    EXPECT_FALSE(is_rolled_back(sql_stage::committing, "PREPARE TRANSACTION"));
    EXPECT_FALSE(is_rolled_back(sql_stage::in_transaction, "ROLLBACK"));
}

// COMMIT and END counted as statements inside of a transaction, which are safe if they are lost.
TEST(sqlstate, commit_is_known_by_its_first_words) {
    for (const char* sql :
         {"commit", "COMMIT", "Commit work;", "commit and chain", "commit prepared 'a'", "end",
          " ; /* a */ END", "-- a\nend transaction", "prepare transaction 'a'",
          "PREPARE/**/TRANSACTION 'a'"}) {
        EXPECT_TRUE(is_sql_commit(sql)) << sql;
        EXPECT_EQ(reprise::adapters::sql_stage_of(sql, true), sql_stage::committing) << sql;
        EXPECT_EQ(reprise::adapters::sql_stage_of(sql, false), sql_stage::alone) << sql;
    }
    for (const char* sql :
         {"", "commits", "comment on table t is 'commit'", "select 1; commit", "/* commit */",
          "-- end", "ending", "rollback", "begin", "prepare a as select 1", "prepare",
          "transaction", "prepare transactions as select 1", "execute a", "release savepoint a"}) {
        EXPECT_FALSE(is_sql_commit(sql)) << sql;
        EXPECT_EQ(reprise::adapters::sql_stage_of(sql, true), sql_stage::in_transaction) << sql;
    }
    EXPECT_EQ(reprise::adapters::sql_stage_of("call f()", false), sql_stage::program);
    EXPECT_EQ(reprise::adapters::sql_stage_of("call f()", true), sql_stage::in_transaction);
}

// After a ROLLBACK TO SAVEPOINT, the rest of a lost transaction would be executed outside of it.
TEST(sqlstate, begin_and_and_chain_open_a_transaction) {
    for (const char* sql :
         {"begin", "START TRANSACTION isolation level serializable", "commit and chain",
          "End Work And Chain", "rollback /* all */ transaction AND CHAIN;", "abort and chain"}) {
        EXPECT_TRUE(is_sql_begin(sql)) << sql;
    }
    for (const char* sql :
         {"", "commit", "commit and no chain", "rollback to savepoint a", "insert into chain",
          "prepare transaction 'and chain'", "end work"}) {
        EXPECT_FALSE(is_sql_begin(sql)) << sql;
    }
}

TEST(sqlstate, restart_leaves_nothing_of_the_transaction_before_it) {
    for (const char* sql :
         {"begin", "BEGIN isolation level serializable", "start transaction", "rollback",
          "Rollback;", "rollback work", "ROLLBACK TRANSACTION -- a\n;", "abort",
          "/* a */ abort work", "rollback/* to a */"}) {
        EXPECT_TRUE(is_sql_restart(sql)) << sql;
    }
    for (const char* sql :
         {"", "rollback to a", "rollback to savepoint a", "rollback work to savepoint a",
          "rollback transaction to a", "rollback and chain", "rollback prepared 'a'",
          "abort and chain", "rollbacks", "commit", "end", "savepoint a", "release a", "select 1",
          "-- rollback"}) {
        EXPECT_FALSE(is_sql_restart(sql)) << sql;
    }
}

/// Executes a statement that succeeds. True if what follows is executed as it should be, also on a
/// new connection.
bool executes(
    reprise::adapters::sql_own_transaction& own, std::string_view sql, bool is_inside,
    bool is_open_after) {
    const sql_stage stage = reprise::adapters::sql_stage_of(sql, is_inside);
    own.prepare(sql, true);
    own.start(sql, stage);
    return own.succeed(sql, stage, is_open_after);
}

// What followed was executed one by one on a new connection, where nothing had begun.
TEST(sqlstate, transaction_that_is_lost_is_not_continued_on_a_new_connection) {
    reprise::adapters::sql_own_transaction own;
    EXPECT_TRUE(executes(own, "begin", false, true));
    EXPECT_TRUE(own.has_begun()) << "also if nothing followed before the loss";
    EXPECT_TRUE(executes(own, "insert into t values (1)", true, true));
    own.prepare("insert into t values (2)", false);
    EXPECT_TRUE(own.has_begun());
    own.prepare("rollback to savepoint a", false);
    EXPECT_TRUE(own.has_begun());
    own.prepare("begin", true);
    EXPECT_TRUE(own.has_begun()) << "nothing is lost";
    own.prepare("begin", false);
    EXPECT_FALSE(own.has_begun());
}

TEST(sqlstate, transaction_that_is_lost_with_the_answer_to_its_begin_has_failed) {
    reprise::adapters::sql_own_transaction own;
    EXPECT_FALSE(executes(own, "begin", false, false));
    EXPECT_TRUE(own.has_begun());
    EXPECT_FALSE(executes(own, "rollback and chain", true, false));
    EXPECT_TRUE(executes(own, "commit and chain", true, false)) << "what was committed is done";
    EXPECT_TRUE(own.has_begun()) << "but what follows is in the next one";
    own.forget();
    EXPECT_FALSE(own.has_begun());
}

TEST(sqlstate, transaction_that_has_ended_cannot_be_lost) {
    for (const char* end : {"commit", "rollback"}) {
        reprise::adapters::sql_own_transaction own;
        EXPECT_TRUE(executes(own, "begin", false, true));
        EXPECT_TRUE(executes(own, end, true, false));
        EXPECT_FALSE(own.has_begun()) << end;
    }
    reprise::adapters::sql_own_transaction own;
    EXPECT_TRUE(executes(own, "insert into t values (1)", false, false));
    EXPECT_FALSE(own.has_begun());
}

// A ROLLBACK AND CHAIN ended the transaction of a body unnoticed.
TEST(sqlstate, body_of_a_transaction_cannot_end_it) {
    using reprise::adapters::is_outside_of_body;
    for (const char* sql :
         {"commit", "end", "prepare transaction 'a'", "rollback and chain", "commit and chain"}) {
        EXPECT_TRUE(is_outside_of_body(sql, true)) << sql;
    }
    for (const char* sql : {"select 1", "savepoint a", "rollback to a", "release a"}) {
        EXPECT_FALSE(is_outside_of_body(sql, true)) << sql;
        EXPECT_TRUE(is_outside_of_body(sql, false)) << sql;
    }
}

// `was_applied` was asked while COMMIT was still being executed, and found nothing yet.
TEST(sqlstate, transaction_that_is_in_progress_is_neither_applied_nor_not) {
    for (const bool has_crashed : {false, true}) {
        EXPECT_EQ(read_transaction_status("in progress", has_crashed), lost_commit_state::running);
        EXPECT_EQ(read_transaction_status("aborted", has_crashed), lost_commit_state::not_applied);
        EXPECT_EQ(read_transaction_status("", has_crashed), lost_commit_state::unknown);
    }
    EXPECT_EQ(read_transaction_status("committed", false), lost_commit_state::applied);
    EXPECT_EQ(read_transaction_status("committed", true), lost_commit_state::unknown)
        << "another transaction may have had the id";
}

// A wrong number of parameters was repeated three times, as if the connection had been lost.
TEST(sqlstate, protocol_violation_is_a_loss_only_if_the_connection_ends) {
    using reprise::adapters::is_refused_statement;
    for (const sql_stage stage : {sql_stage::in_transaction, sql_stage::alone}) {
        EXPECT_TRUE(is_refused_statement("08P01", stage, true));
        EXPECT_FALSE(is_refused_statement("08P01", stage, false)) << "a proxy lost the server";
        EXPECT_FALSE(is_refused_statement("08006", stage, true)) << "of a foreign server";
    }
    for (const sql_stage stage :
         {sql_stage::connecting, sql_stage::committing, sql_stage::program}) {
        EXPECT_FALSE(is_refused_statement("08P01", stage, true)) << "of a foreign server";
    }
}

TEST(sqlstate, too_many_connections_is_throttling) {
    const auto facts = sqlstate_facts("53300", sql_stage::connecting);
    EXPECT_EQ(facts.safety, retry_safety::yes);
    EXPECT_TRUE(facts.throttling);
    EXPECT_EQ(facts.code, 53300U);
    EXPECT_FALSE(sqlstate_facts("53200", sql_stage::alone).throttling);
}

TEST(sqlstate, server_that_starts_up_is_safe) {
    EXPECT_EQ(sqlstate_facts("57P03", sql_stage::connecting).safety, retry_safety::yes);
}

TEST(sqlstate, mistake_of_the_statement_is_never_repeated) {
    for (const char* state : {"23505", "42601", "28P01", "3D000", "25P02", "57014", "XX000"}) {
        EXPECT_EQ(sqlstate_facts(state, sql_stage::in_transaction).safety, retry_safety::no)
            << state;
    }
}

TEST(sqlstate, rows_of_the_table_agree_with_what_a_lost_connection_is) {
    for (const auto& row : reprise::adapters::detail::sqlstate_rows) {
        const bool is_lost = reprise::adapters::is_lost_connection(row.name);
        EXPECT_EQ(row.safety == retry_safety::maybe, is_lost || row.name == "40003") << row.name;
    }
}

TEST(sqlstate, is_found_in_a_verbose_message) {
    using reprise::adapters::sqlstate_in_message;
    EXPECT_EQ(sqlstate_in_message("FATAL:  53300: sorry, too many clients already"), "53300");
    EXPECT_EQ(sqlstate_in_message("connection failed: FATAL:  57P03: starting up"), "57P03");
    for (const char* text :
         {"", ":  ", ":  5330", "FATAL:  53300", "FATAL:  5330x: no", "53300: x"}) {
        EXPECT_EQ(sqlstate_in_message(text), "") << text;
    }
}

// Once, a history showed the server's sentence without its code, which is what one searches for.
TEST(sqlstate, the_text_of_a_failure_names_its_state_once) {
    const std::string text = sqlstate_text("could not serialize access\n", "40001");
    EXPECT_EQ(text, "SQLSTATE 40001: could not serialize access");
    EXPECT_EQ(sqlstate_text(text, "40001"), text) << "an error that is passed on keeps its text";
    EXPECT_EQ(sqlstate_text("connection refused\n", ""), "connection refused");
    EXPECT_EQ(sqlstate_text("", ""), "");
    EXPECT_EQ(sqlstate_text(" \n", ""), "");
}

// Keys of the program's data were in every log.
TEST(sqlstate, the_text_of_a_failure_has_no_values_of_keys) {
    EXPECT_EQ(
        sqlstate_text(
            "ERROR:  duplicate key value violates unique constraint \"people_pkey\"\r\n"
            "DETAIL:  Key (name)=(Ada) already exists.\n",
            "23505"),
        "SQLSTATE 23505: ERROR:  duplicate key value violates unique constraint \"people_pkey\"");
    EXPECT_EQ(sqlstate_text("\n  first\nsecond", ""), "first");
}

}  // namespace
