#include <gtest/gtest.h>

#include <reprise/retry.hpp>

#include "misbehaving_server.hpp"
#include "postgres_test.hpp"

// What `pq_connection` refuses to do, and what it does after a loss, on a PostgreSQL server of its
// own.

namespace adapters {
namespace {

class libpq_connections : public postgres_test {
protected:
    /// The error of a call of up to three attempts.
    template <class Operation>
    static pq_error fail_three_times(Operation operation) {
        attempts_ = 0;
        reprise::retry_history history;
        try {
            reprise::retry(
                reprise::attempts(3).every(0ms), {.timeout = 20s, .history = &history},
                [&](const reprise::attempt&) {
                    ++attempts_;
                    operation();
                });
        } catch (const pq_error& error) {
            history_ = to_string(history);
            return error;
        }
        ADD_FAILURE() << "it has succeeded";
        return {"", "", {}, false};
    }
    static void lose(pq_connection& connection) {
        EXPECT_THROW(connection.execute("select pg_terminate_backend(pg_backend_pid())"), pq_error);
    }
    static std::string applied() {
        const auto rows =
            sql("select coalesce(string_agg(id::text, ',' order by id), '') from ledger");
        return PQgetvalue(rows.get(), 0, 0);
    }

    static inline int attempts_ = 0;
    static inline std::string history_;
    pq_connection connection_{server_->parameters()};
};

// Row 2 was inserted on a new connection and committed on its own; row 1 was gone.
TEST_F(libpq_connections, statements_never_leave_a_transaction_begun_by_hand) {
    connection_.execute("begin");
    connection_.execute("insert into ledger values (1)");
    lose(connection_);
    const auto error =
        fail_three_times([&] { connection_.execute("insert into ledger values (2)"); });
    EXPECT_EQ(attempts_, 1);
    EXPECT_EQ(error.state(), "25P02");
    EXPECT_FALSE(error.is_commit_unknown());
    for (const std::string statement : {"rollback to savepoint a", "commit", "select 1"}) {
        EXPECT_THROW(connection_.execute(statement), pq_error) << statement;
    }
    EXPECT_THROW(connection_.open(), pq_error);
    EXPECT_THROW(
        reprise::retry(reprise::attempts(1), pq_transaction(connection_, [](auto&) {})), pq_error);
    EXPECT_EQ(applied(), "");
}

// The program's own COPY noticed the loss, and row 1 was inserted on a new connection and committed
// on its own.
TEST_F(libpq_connections, statements_never_leave_a_transaction_that_was_lost_by_other_calls) {
    connection_.execute("begin");
    sql("select pg_terminate_backend($1::int)",
        {std::to_string(PQbackendPID(connection_.native()))});
    const pq_result copied(PQexec(connection_.native(), "copy ledger from stdin"));
    EXPECT_EQ(PQresultStatus(copied.get()), PGRES_FATAL_ERROR);
    try {
        connection_.execute("insert into ledger values (1)");
        ADD_FAILURE() << "the transaction is lost";
    } catch (const pq_error& error) {
        EXPECT_EQ(error.state(), "25P02");
    }
    EXPECT_EQ(applied(), "");
    connection_.execute("begin");
    connection_.execute("insert into ledger values (2)");
    connection_.execute("commit");
    EXPECT_EQ(applied(), "2");
}

TEST_F(libpq_connections, lost_transaction_ends_with_a_rollback_a_new_one_or_a_close) {
    const auto begin_and_lose = [&] {
        connection_.execute("begin");
        connection_.execute("insert into ledger values (1)");
        lose(connection_);
    };
    begin_and_lose();
    connection_.execute("rollback");
    connection_.execute("insert into ledger values (2)");
    begin_and_lose();
    connection_.execute("begin");
    connection_.execute("insert into ledger values (3)");
    connection_.execute("commit");
    begin_and_lose();
    connection_.close();
    connection_.execute("insert into ledger values (4)");
    EXPECT_EQ(applied(), "2,3,4");
}

TEST_F(libpq_connections, transaction_begun_by_hand_is_repeated_if_the_loop_begins_it) {
    int calls = 0;
    reprise::retry(reprise::attempts(3).every(0ms), {.timeout = 20s}, [&] {
        connection_.execute("begin");
        connection_.execute("insert into ledger values (1)");
        connection_.execute(
            ++calls == 1 ? "select pg_terminate_backend(pg_backend_pid())" : "select 1");
        connection_.execute("commit");
    });
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(applied(), "1");
}

TEST_F(libpq_connections, connection_lost_after_the_end_of_a_transaction_is_reopened) {
    for (const std::string end : {"commit", "rollback"}) {
        connection_.execute("begin");
        connection_.execute(end);
        lose(connection_);
        EXPECT_EQ(PQntuples(connection_.execute("select 1").get()), 1) << end;
    }
}

// Its state, 08P01, is of the class of lost connections: the transaction was repeated, and a
// connection in good order was closed.
TEST_F(libpq_connections, wrong_number_of_parameters_is_a_mistake_of_the_statement) {
    auto error = fail_three_times([&] {
        pq_transaction(connection_, [](pq_connection& on) { on.execute("select 1", {"x"}); })({});
    });
    EXPECT_EQ(attempts_, 1);
    EXPECT_EQ(error.state(), "08P01");
    error = fail_three_times([&] { connection_.execute("select 1", {"x"}); });
    EXPECT_EQ(attempts_, 1);
    EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::no);
    EXPECT_FALSE(error.is_commit_unknown());
    EXPECT_TRUE(connection_.is_open());
    EXPECT_EQ(PQntuples(connection_.execute("select 1").get()), 1);
}

// Nothing was sent, and yet the statement counted as executed perhaps.
TEST_F(libpq_connections, more_parameters_than_the_protocol_has_room_for_are_not_sent) {
    std::vector<std::string> values(65536, "1");
    const auto error = fail_three_times([&] { connection_.execute("select 1", values); });
    EXPECT_EQ(attempts_, 1);
    EXPECT_EQ(error.state(), "54023");
    EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::no);
    EXPECT_FALSE(error.is_commit_unknown());
    EXPECT_TRUE(connection_.is_open());
    std::string size = "select cardinality(array[$1::int";
    for (int number = 2; number <= 65535; ++number) {
        size += ", $" + std::to_string(number);
    }
    values.pop_back();
    const auto row = connection_.execute(size + "])", values);
    EXPECT_STREQ(PQgetvalue(row.get(), 0, 0), "65535");
}

// libpq quotes what it cannot read, and the attempts were repeated.
TEST_F(libpq_connections, malformed_parameters_are_not_repeated_and_no_part_of_them_is_shown) {
    for (const std::string parameters :
         {"host=/tmp password=my secret", "host=/tmp password='secret",
          "postgresql://app:p%zzsecret@127.0.0.1:1/postgres",
          "postgresql://app:my@secret@127.0.0.1:1/postgres",
          "postgresql://app:secret/word@127.0.0.1:1/postgres",
          "postgres://app:my@secret/word@127.0.0.1:1/postgres",
          "postgresql://app:my@secret@127.0.0.1,127.0.0.1:1/postgres"}) {
        pq_connection connection(parameters);
        const auto error = fail_three_times([&] { connection.open(); });
        EXPECT_EQ(attempts_, 1) << parameters;
        EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::no) << parameters;
        EXPECT_FALSE(error.is_commit_unknown());
        EXPECT_EQ(history_.find("secret"), std::string::npos) << history_;
        EXPECT_EQ(error.details().find("secret"), std::string::npos) << error.details();
    }
}

// It was ignored: a first host that did not answer took all the time of each attempt, and the
// second one was never reached.
TEST_F(libpq_connections, limit_of_libpq_for_connecting_is_refused) {
    pq_connection limited(server_->parameters() + " connect_timeout=2");
    const auto error = fail_three_times([&] { limited.open(); });
    EXPECT_EQ(attempts_, 1);
    EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::no);
    EXPECT_NE(history_.find("connect_timeout"), std::string::npos) << history_;
    pq_connection unlimited(server_->parameters() + " connect_timeout=0");
    unlimited.open();
    EXPECT_TRUE(unlimited.is_open());
}

// libpq reads texts up to their first zero: the rest of the statement, its WHERE, was not executed,
// and the rest of the value was not stored.
TEST_F(libpq_connections, text_with_a_zero_is_not_executed_in_part) {
    using namespace std::string_literals;
    sql("insert into ledger values (1), (2)");
    const auto statement = "update ledger set id = 7 \0 where id = 1"s;
    auto error = fail_three_times([&] { connection_.execute(statement); });
    EXPECT_EQ(attempts_, 1);
    EXPECT_EQ(error.state(), "22021");
    EXPECT_FALSE(error.is_commit_unknown());
    error = fail_three_times([&] {
        connection_.execute(
            "delete from ledger where id = $1", {"1\0"
                                                 "2"s});
    });
    EXPECT_EQ(attempts_, 1);
    EXPECT_EQ(error.state(), "22021");
    EXPECT_TRUE(connection_.is_open());
    EXPECT_EQ(number("select count(*) from ledger where id in (1, 2)"), 2);
    pq_connection truncated(server_->parameters() + "\0 sslmode=require"s);
    EXPECT_THROW(truncated.open(), pq_error);
}

// Twenty programs without a password kept all others away from a server that works.
TEST(libpq_passwords, missing_password_is_the_callers_fault) {
    misbehaving_server server({talks([](int client) {
        std::array<char, 1024> startup{};
        static_cast<void>(::recv(client, startup.data(), startup.size(), 0));
        const std::string_view wants_password("R\0\0\0\10\0\0\0\3", 9);
        static_cast<void>(
            ::send(client, wants_password.data(), wants_password.size(), MSG_NOSIGNAL));
        static_cast<void>(::recv(client, startup.data(), startup.size(), 0));
    })});
    pq_connection connection(
        "host=127.0.0.1 sslmode=disable gssencmode=disable user=app dbname=shop passfile=/none "
        "port=" +
        server.port());
    try {
        connection.open();
        ADD_FAILURE() << "it has no password";
    } catch (const pq_error& error) {
        EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::no);
        EXPECT_EQ(error.retry_facts().fault, reprise::failure_fault::client);
    }
}

}  // namespace
}  // namespace adapters
