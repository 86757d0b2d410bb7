#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>

#include <reprise/retry.hpp>

#include "commit_cutter.hpp"
#include "postgres_test.hpp"
#include "run_example.hpp"

// The libpq adapter on a PostgreSQL server of its own.

namespace adapters {
namespace {

constexpr int account_count = 4;

/// Short waits, and a budget that does not end a test of contention.
reprise::standard_strategy make_strategy(std::uint32_t attempts_max = 200) {
    return reprise::standard_strategy(
        {.attempts_max = attempts_max,
         .backoff = {.base = 2ms, .cap = 200ms},
         .bucket = {.capacity = 1'000'000}});
}

class libpq_adapter : public postgres_test {
protected:
    void SetUp() override {
        postgres_test::SetUp();
        sql("drop table if exists accounts, stock");
        sql("create table accounts (id int primary key, balance bigint not null)");
        for (int id = 0; id < account_count; ++id) {
            sql("insert into accounts values ($1, 1000)", {std::to_string(id)});
        }
    }
};

/// Moves 1 between two accounts and notes the id of the work in the ledger.
struct transfer {
    std::int64_t id;
    int from;
    int to;

    void operator()(pq_connection& connection) const {
        const auto read = [&](int account) {
            const pq_result row = connection.execute(
                "select balance from accounts where id = $1", {std::to_string(account)});
            return std::stoll(PQgetvalue(row.get(), 0, 0));
        };
        const auto write = [&](int account, long long balance) {
            connection.execute(
                "update accounts set balance = $1 where id = $2",
                {std::to_string(balance), std::to_string(account)});
        };
        const auto of_from = read(from);
        const auto of_to = read(to);
        write(from, of_from - 1);
        write(to, of_to + 1);
        connection.execute("insert into ledger values ($1)", {std::to_string(id)});
    }
};

/// The results of the workers' calls.
struct reported {
    std::mutex mutex;
    std::map<std::int64_t, int> applied_min;  ///< By id of the work: 1 succeeded, 0 otherwise.
    std::map<std::int64_t, int> applied_max;  ///< 0 failed for certain, 1 otherwise.
    std::map<std::string, int> states;        ///< SQLSTATEs of failed attempts.
    int retried = 0;
    int unknown = 0;
    int failed = 0;
    int named = 0;  ///< Calls whose history names the state of a conflict.

    /// Waits until so many more calls have ended.
    [[nodiscard]] bool grows_by(std::size_t count) {
        const auto size = [this] {
            const std::scoped_lock lock(mutex);
            return applied_min.size();
        };
        return becomes_ready([size, until = size() + count] { return size() >= until; });
    }
    void add(std::int64_t id, int at_least, int at_most) {
        const std::scoped_lock lock(mutex);
        applied_min[id] = at_least;
        applied_max[id] = at_most;
    }
};

/// Notes the states of failed attempts on their way into the loop.
struct noted_transfer {
    pq_transaction<transfer> work;
    reported* to;

    void operator()(const reprise::attempt& current) {
        try {
            work(current);
        } catch (const pq_error& error) {
            const std::scoped_lock lock(to->mutex);
            ++to->states[error.state().empty() ? "lost" : error.state()];
            throw;
        }
    }
};

/// Makes transfers until `is_over()`.
template <class IsOver>
void work(
    const std::string& parameters, int worker, reprise::standard_strategy& strategy,
    reported& report, IsOver is_over) {
    pq_connection connection(parameters);
    std::mt19937 random(static_cast<unsigned>(worker));
    for (std::int64_t count = 0; !is_over(count); ++count) {
        const std::int64_t id = worker * 1'000'000 + count;
        const int from = static_cast<int>(random() % account_count);
        const int to =
            (from + 1 + static_cast<int>(random() % (account_count - 1))) % account_count;
        reprise::retry_history history;
        try {
            reprise::retry(
                strategy, {.timeout = 60s, .history = &history},
                noted_transfer{
                    {connection, {id, from, to}, {.begin = "begin isolation level serializable"}},
                    &report});
            report.add(id, 1, 1);
        } catch (const pq_error& error) {
            report.add(id, 0, error.is_commit_unknown() ? 1 : 0);
            const std::scoped_lock lock(report.mutex);
            ++(error.is_commit_unknown() ? report.unknown : report.failed);
        }
        const std::scoped_lock lock(report.mutex);
        report.retried += history.failed_attempts() > 0 ? 1 : 0;
        const bool is_named = to_string(history).find("SQLSTATE 40001") != std::string::npos;
        report.named += is_named ? 1 : 0;
    }
}

/// Compares what was reported with what the ledger has.
void expect_ledger_agrees(const reported& report, const pq_result& ledger) {
    std::map<std::int64_t, int> applied;
    for (int row = 0; row < PQntuples(ledger.get()); ++row) {
        applied[std::stoll(PQgetvalue(ledger.get(), row, 0))] =
            std::stoi(PQgetvalue(ledger.get(), row, 1));
    }
    int lost = 0;
    int doubled = 0;
    for (const auto& [id, at_least] : report.applied_min) {
        lost += applied[id] < at_least ? 1 : 0;
        doubled += applied[id] > report.applied_max.at(id) ? 1 : 0;
    }
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(doubled, 0);
    EXPECT_EQ(applied.size(), report.applied_min.size());
    std::cout << report.applied_min.size() << " transactions, " << report.retried << " retried, "
              << report.failed << " failed, " << report.unknown << " unknown; lost " << lost
              << ", doubled " << doubled << "; failed attempts:";
    for (const auto& [state, count] : report.states) {
        std::cout << ' ' << state << " x" << count;
    }
    std::cout << '\n';
}

TEST_F(libpq_adapter, loses_and_doubles_nothing_under_serializable_contention) {
    reported report;
    auto strategy = make_strategy();
    {
        std::vector<std::jthread> workers;
        for (int worker = 1; worker <= 6; ++worker) {
            workers.emplace_back([&, worker] {
                work(server_->parameters(), worker, strategy, report, [](std::int64_t count) {
                    return count == 25;
                });
            });
        }
    }
    expect_ledger_agrees(report, sql("select id, count(*) from ledger group by id"));
    EXPECT_EQ(report.failed + report.unknown, 0);
    EXPECT_GT(report.retried, 0);
    EXPECT_GT(report.states["40001"], 0);
    EXPECT_GT(report.named, 0);
    EXPECT_EQ(number("select sum(balance) from accounts"), account_count * 1000);
}

TEST_F(libpq_adapter, loses_and_doubles_nothing_while_the_server_restarts_and_crashes) {
    reported report;
    auto strategy = make_strategy();
    std::atomic<bool> is_over = false;
    {
        std::vector<std::jthread> workers;
        for (int worker = 1; worker <= 6; ++worker) {
            workers.emplace_back([&, worker] {
                work(server_->parameters(), worker, strategy, report, [&](std::int64_t) {
                    return is_over.load();
                });
            });
        }
        for (const int signal : {SIGINT, SIGQUIT, SIGINT, SIGQUIT}) {
            EXPECT_TRUE(report.grows_by(100));
            server_->restart(signal);
        }
        EXPECT_TRUE(report.grows_by(100));
        is_over = true;
    }
    expect_ledger_agrees(report, sql("select id, count(*) from ledger group by id"));
    EXPECT_GT(report.retried, 0);
    EXPECT_EQ(report.failed, 0);
    EXPECT_LE(report.unknown, report.states["40003"]);  // Only if the server cannot find out.
    EXPECT_EQ(number("select sum(balance) from accounts"), account_count * 1000);
}

/// One transaction through a proxy that loses its COMMIT.
struct cut_commit {
    std::string statement = "insert into ledger values (7)";
    int calls = 0;
    bool has_failed = false;
    bool is_unknown = false;
    reprise::retry_history history;

    void run(
        const std::string& parameters, std::uint32_t attempts_max,
        pq_transaction_options options = {}) {
        pq_connection connection(parameters);
        auto strategy = make_strategy(attempts_max);
        const auto body = [this](pq_connection& on) {
            ++calls;
            on.execute(statement);
        };
        try {
            reprise::retry(
                strategy, {.timeout = 20s, .history = &history},
                pq_transaction(connection, body, std::move(options)));
        } catch (const pq_error& error) {
            has_failed = true;
            is_unknown = error.is_commit_unknown();
        }
    }
};

TEST_F(libpq_adapter, does_not_repeat_a_commit_that_was_applied_although_its_answer_was_lost) {
    const commit_cutter proxy(socket_folder(server_->parameters()), commit_cutter::cut::answer);
    cut_commit cut;
    cut.run(proxy.parameters(), 10);
    EXPECT_TRUE(proxy.has_cut());
    EXPECT_FALSE(cut.is_unknown);
    EXPECT_EQ(cut.calls, 1);
    EXPECT_EQ(number("select count(*) from ledger"), 1);
}

// A transaction that had written no row had no id yet when it was asked for one, so that it counted
// as not applied.
TEST_F(libpq_adapter, sends_a_notification_once_although_the_answer_to_its_commit_was_lost) {
    pq_connection listener(server_->parameters());
    listener.execute("listen sold");
    const commit_cutter proxy(socket_folder(server_->parameters()), commit_cutter::cut::answer);
    cut_commit cut;
    cut.statement = "notify sold";
    cut.run(proxy.parameters(), 10);
    EXPECT_TRUE(proxy.has_cut());
    EXPECT_FALSE(cut.is_unknown);
    EXPECT_EQ(cut.calls, 1);
    listener.execute("select 1");
    int sent = 0;
    while (PGnotify* const notification = PQnotifies(listener.native())) {
        PQfreemem(notification);
        ++sent;
    }
    EXPECT_EQ(sent, 1);
}

TEST_F(libpq_adapter, repeats_a_transaction_on_a_standby_whose_commit_was_lost) {
    postgres_server standby;
    standby.restart_as_standby();
    const commit_cutter proxy(socket_folder(standby.parameters()), commit_cutter::cut::answer);
    cut_commit cut;
    cut.statement = "select 1";
    cut.run(proxy.parameters(), 10);
    EXPECT_TRUE(proxy.has_cut());
    EXPECT_FALSE(cut.has_failed) << "a standby has no transaction ids";
    EXPECT_EQ(cut.calls, 2);
}

TEST_F(libpq_adapter, repeats_a_commit_that_did_not_arrive) {
    const commit_cutter proxy(socket_folder(server_->parameters()), commit_cutter::cut::request);
    cut_commit cut;
    cut.run(proxy.parameters(), 10);
    EXPECT_TRUE(proxy.has_cut());
    EXPECT_EQ(cut.calls, 2);
    EXPECT_EQ(number("select count(*) from ledger"), 1);
}

TEST_F(libpq_adapter, asks_the_program_whether_a_commit_was_applied) {
    for (const auto what : {commit_cutter::cut::request, commit_cutter::cut::answer}) {
        sql("delete from ledger");
        const commit_cutter proxy(socket_folder(server_->parameters()), what);
        cut_commit cut;
        cut.run(proxy.parameters(), 10, {.was_applied = [](pq_connection& connection) {
                    const auto found = connection.execute("select 1 from ledger where id = 7");
                    return PQntuples(found.get()) > 0;
                }});
        EXPECT_EQ(cut.calls, what == commit_cutter::cut::request ? 2 : 1);
        EXPECT_EQ(number("select count(*) from ledger"), 1);
    }
}

TEST_F(libpq_adapter, reports_a_commit_as_unknown_if_it_ends_before_it_could_ask) {
    const commit_cutter proxy(socket_folder(server_->parameters()), commit_cutter::cut::answer);
    cut_commit cut;
    cut.run(proxy.parameters(), 1);
    EXPECT_TRUE(cut.is_unknown);
    EXPECT_EQ(cut.calls, 1);
}

TEST_F(libpq_adapter, never_repeats_a_lone_statement_whose_answer_was_lost) {
    const commit_cutter proxy(socket_folder(server_->parameters()), commit_cutter::cut::answer);
    pq_connection connection(proxy.parameters());
    auto strategy = make_strategy();
    const auto insert = [&] { connection.execute("insert into ledger values (7) /* commit */"); };
    EXPECT_THROW(reprise::retry(strategy, insert), pq_error);
    EXPECT_EQ(number("select count(*) from ledger"), 1);
}

TEST_F(libpq_adapter, repeats_both_sides_of_a_deadlock_until_both_succeed) {
    auto strategy = make_strategy();
    std::atomic<int> arrived = 0;
    std::atomic<int> deadlocks = 0;
    const auto lock_both = [&](std::string first, std::string second) {
        pq_connection connection(server_->parameters());
        const auto body = [&](pq_connection& on) {
            on.execute("set local deadlock_timeout = '50ms'");
            on.execute("update accounts set balance = balance + 1 where id = $1", {first});
            for (++arrived; arrived < 2;) {
                std::this_thread::yield();
            }
            try {
                on.execute("update accounts set balance = balance - 1 where id = $1", {second});
            } catch (const pq_error& error) {
                deadlocks += error.state() == "40P01" ? 1 : 0;
                throw;
            }
        };
        reprise::retry(strategy, {.timeout = 20s}, pq_transaction(connection, body));
    };
    {
        const std::jthread one([&] { lock_both("0", "1"); });
        const std::jthread other([&] { lock_both("1", "0"); });
    }
    EXPECT_GE(deadlocks, 1);
    EXPECT_EQ(number("select count(*) from accounts where balance = 1000"), account_count);
}

TEST_F(libpq_adapter, waits_for_a_connection_when_the_server_has_too_many) {
    std::vector<pq_connection> taken;
    std::string state;
    try {
        for (int count = 0; count < 60; ++count) {
            taken.emplace_back(server_->parameters()).open();
        }
    } catch (const pq_error& error) {
        state = error.state();
        EXPECT_TRUE(error.retry_facts().throttling);
    }
    EXPECT_EQ(state, "53300");
    pq_connection connection(server_->parameters());
    auto strategy = make_strategy();
    reprise::retry(strategy, {.timeout = 20s}, [&](const reprise::attempt& current) {
        if (current.number == 3) {
            taken.clear();
        }
        connection.open();
    });
    EXPECT_TRUE(connection.is_open());
}

TEST_F(libpq_adapter, never_repeats_a_violated_constraint) {
    pq_connection connection(server_->parameters());
    auto strategy = make_strategy();
    int calls = 0;
    const auto body = [&](pq_connection& on) {
        ++calls;
        on.execute("insert into accounts values (0, 1)");
    };
    EXPECT_THROW(reprise::retry(strategy, pq_transaction(connection, body)), pq_error);
    EXPECT_EQ(calls, 1);
}

// The key was in histories and logs.
TEST_F(libpq_adapter, history_of_a_violated_constraint_has_no_values) {
    pq_connection connection(server_->parameters());
    sql("create table if not exists people (name text primary key)");
    const auto insert = [&] { connection.execute("insert into people values ('Ada')"); };
    insert();
    reprise::retry_history history;
    try {
        reprise::retry(reprise::attempts(2), {.history = &history}, insert);
        ADD_FAILURE() << "the key is not unique";
    } catch (const pq_error& error) {
        EXPECT_NE(error.details().find("(name)=(Ada)"), std::string::npos) << error.details();
    }
    EXPECT_NE(to_string(history).find("people_pkey"), std::string::npos);
    EXPECT_EQ(to_string(history).find("Ada"), std::string::npos) << to_string(history);
}

TEST_F(libpq_adapter, reports_a_rollback_where_the_body_hides_an_error) {
    pq_connection connection(server_->parameters());
    auto strategy = make_strategy();
    const auto body = [&](pq_connection& on) {
        try {
            on.execute("select 1 / 0");
        } catch (const pq_error&) {
        }
    };
    EXPECT_THROW(
        reprise::retry(
            strategy,
            pq_transaction(connection, body, {.was_applied = [](auto&) { return false; }})),
        pq_error);
}

TEST_F(libpq_adapter, ends_an_attempt_in_time_and_repeats_it) {
    pq_connection connection(server_->parameters());
    auto strategy = make_strategy();
    int calls = 0;
    const auto body = [&](pq_connection& on) {
        on.execute("insert into ledger values (1)");
        on.execute(++calls == 1 ? "select pg_sleep(30)" : "select 1");
        return calls;
    };
    const auto begin = std::chrono::steady_clock::now();
    const int result =
        reprise::retry(strategy, {.attempt_timeout = 500ms}, pq_transaction(connection, body));
    EXPECT_EQ(result, 2);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
    EXPECT_EQ(number("select count(*) from ledger"), 1);
}

TEST_F(libpq_adapter, commits_once_whatever_value_the_body_returns) {
    pq_connection connection(server_->parameters());
    int calls = 0;
    const auto body = [&](pq_connection& on) -> std::optional<std::string> {
        on.execute("insert into ledger values ($1)", {std::to_string(++calls)});
        return std::nullopt;
    };
    pq_transaction work(connection, body);
    const auto rule = reprise::attempts(3).every(0ms);
    EXPECT_EQ(reprise::retry(rule, pq_transaction(connection, body)), std::nullopt);
    EXPECT_EQ(reprise::retry(rule, std::ref(work)), std::nullopt);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(number("select count(*) from ledger"), 2);
}

// libpq reports the state of a COPY again and again until the program has copied, so the wait for
// the end of the statement never ended.
TEST_F(libpq_adapter, refuses_to_copy_from_or_to_the_program) {
    pq_connection connection(server_->parameters());
    for (const std::string statement : {"copy accounts to stdout", "copy accounts from stdin"}) {
        int calls = 0;
        const auto copy = [&](const reprise::attempt& current) {
            ++calls;
            connection.limit_time(current);
            connection.execute(statement);
        };
        try {
            reprise::retry(reprise::attempts(3).every(0ms), {.timeout = 20s}, copy);
            ADD_FAILURE() << statement;
        } catch (const pq_error& error) {
            EXPECT_EQ(error.state(), "0A000");
            EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::no);
            EXPECT_FALSE(error.is_commit_unknown());
        }
        EXPECT_EQ(calls, 1) << statement;
        EXPECT_FALSE(connection.is_open()) << "nothing else ends a COPY at once";
        EXPECT_EQ(PQntuples(connection.execute("select 1").get()), 1) << "on a new connection";
    }
    EXPECT_EQ(number("select count(*) from accounts"), account_count);
}

TEST_F(libpq_adapter, rolls_back_a_transaction_that_tries_to_copy) {
    pq_connection connection(server_->parameters());
    const auto body = [](pq_connection& on) {
        on.execute("insert into ledger values (1)");
        on.execute("copy accounts to stdout");
    };
    EXPECT_THROW(
        reprise::retry(reprise::attempts(3), {.timeout = 20s}, pq_transaction(connection, body)),
        pq_error);
    EXPECT_EQ(number("select count(*) from ledger"), 0);
}

// The statement was sent in libpq's blocking mode, which waits without a limit for a server that
// does not read.
TEST_F(libpq_adapter, ends_in_time_while_a_long_statement_is_being_sent) {
    const commit_cutter proxy(socket_folder(server_->parameters()), commit_cutter::cut::reading);
    pq_connection connection(proxy.parameters());
    const std::string value(std::size_t{64} << 20, 'x');
    const auto begin = std::chrono::steady_clock::now();
    try {
        reprise::retry(
            reprise::attempts(1), {.timeout = 500ms}, [&](const reprise::attempt& current) {
                connection.limit_time(current);
                connection.execute("select length($1) /* commit */", {value});
            });
        ADD_FAILURE() << "nobody has read it";
    } catch (const pq_error& error) {
        EXPECT_TRUE(error.retry_facts().timeout);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

TEST_F(libpq_adapter, reports_a_connection_that_breaks_while_a_long_statement_is_being_sent) {
    const commit_cutter proxy(socket_folder(server_->parameters()), commit_cutter::cut::request);
    pq_connection connection(proxy.parameters());
    const std::string value(std::size_t{64} << 20, 'x');
    try {
        connection.execute("select length($1) /* commit */", {value});
        ADD_FAILURE() << "nobody has read it";
    } catch (const pq_error& error) {
        EXPECT_TRUE(error.is_commit_unknown());
        EXPECT_FALSE(error.retry_facts().timeout);
    }
    EXPECT_TRUE(proxy.has_cut());
    EXPECT_FALSE(connection.is_open());
}

TEST_F(libpq_adapter, sends_a_statement_that_is_longer_than_the_buffers) {
    pq_connection connection(server_->parameters());
    const std::string value(std::size_t{64} << 20, 'x');
    const auto answer = connection.execute("select $1", {value});
    EXPECT_EQ(PQgetlength(answer.get(), 0, 0), static_cast<int>(value.size()));
}

TEST_F(libpq_adapter, first_program_sells_a_lamp) {
    sql("create table stock (item text, n int)");
    sql("insert into stock values ('lamp', 3)");
    const auto ran = run_example("example_4_adapters_libpq", {server_->parameters()});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.output, "sold\n");
    EXPECT_EQ(number("select n from stock"), 2);
}

}  // namespace
}  // namespace adapters
