#pragma once

/// PostgreSQL through libpq: a connection that reconnects, and whole transactions as operations
/// that `reprise::retry` repeats.
/// ```
///     const auto sell = [](reprise::adapters::pq_connection& connection) {
///         connection.execute("update stock set n = n - 1 where item = $1", {"lamp"});
///     };
///     ...
///     reprise::retry(strategy, options, reprise::adapters::pq_transaction(database, sell));
/// ```
/// A COMMIT whose answer is lost is never repeated blindly. `pq_transaction` first finds out
/// whether it was applied.

#if defined(_WIN32)
#error "this adapter waits with POSIX calls and does not support Windows"
#endif

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <libpq-fe.h>

#include <reprise/retry/adapters/pq_parameters.hpp>
#include <reprise/retry/adapters/sqlstate.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/outcome.hpp>

namespace reprise::adapters {

/// An error that libpq or the server reported. It has facts for the retry loops. `what()`, which
/// histories and logs show, is one line: the SQLSTATE and the message without DETAIL, HINT and
/// CONTEXT, which may contain values of keys. An application's own RAISE, and some errors in values
/// (22P02), name values in the message itself.
class pq_error : public std::runtime_error, public failure_description {
public:
    pq_error(const std::string& message, std::string state, failure_facts facts, bool is_unknown)
        : std::runtime_error(sqlstate_text(message, state)),
          details_(message),
          state_(std::move(state)),
          facts_(facts),
          is_commit_unknown_(is_unknown) {}

    /// All lines of the message, for where values of keys may be seen.
    [[nodiscard]] const std::string& details() const noexcept { return details_; }
    /// Five characters; empty if the failure did not come from the server.
    [[nodiscard]] const std::string& state() const noexcept { return state_; }
    /// The work, or a part of it, may have been applied, although it failed.
    [[nodiscard]] bool is_commit_unknown() const noexcept { return is_commit_unknown_; }
    [[nodiscard]] failure_facts retry_facts() const noexcept override { return facts_; }

private:
    std::string details_;
    std::string state_;
    failure_facts facts_;
    bool is_commit_unknown_;
};

/// Releases what libpq returned.
struct pq_result_deleter {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using pq_result = std::unique_ptr<PGresult, pq_result_deleter>;  ///< An answer with its rows.

/// One connection, for one thread at a time. Opened when it is first needed and reopened after it
/// was lost. Every wait ends at the limit set last, except that for the name resolution; a
/// connection that answered too late is closed.
///
/// A transaction that you begin with `execute` is lost with its connection. The loss is safe, so
/// that a loop around the whole transaction repeats it. A loop inside it cannot: all statements
/// fail from then on, until you begin a new transaction, roll back or call `close`. The rest of
/// a session is lost without an error: SET, LISTEN, prepared statements, session-level locks.
class pq_connection {
public:
    /// `parameters` as for PQconnectdb, except that `connect_timeout` is refused (and
    /// PGCONNECT_TIMEOUT ignored): limit the time of the attempts instead. With several hosts, one
    /// that does not answer takes all of it.
    explicit pq_connection(std::string parameters) : parameters_(std::move(parameters)) {}

    /// Everything from now on must end before the attempt's deadline, by the call's clock. After
    /// the call, `limit_time({})` removes the limit.
    void limit_time(const attempt& current) noexcept {
        deadline_ = current.deadline;
        clock_ = &current.clock_or_real();
    }
    /// Opens the connection unless it is open. Throws `pq_error`, also if it was lost inside a
    /// transaction: what followed on a new one would not be part of it.
    void open() {
        if (is_open()) {
            return;
        }
        if (is_in_transaction_) {
            fail_lost_transaction();
        }
        if (own_.has_begun()) {
            fail_misused(
                "the connection of the transaction was lost: begin a new one or roll back", "25P02",
                false);
        }
        check_parameters();
        connection_.reset(PQconnectStart(parameters_.c_str()));
        if (connection_ == nullptr) {
            throw std::bad_alloc{};
        }
        PQsetErrorVerbosity(native(), PQERRORS_VERBOSE);  // So that messages have a SQLSTATE.
        PostgresPollingStatusType next =
            PQstatus(native()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
        while (next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
            if (!wait_for(next == PGRES_POLLING_READING ? POLLIN : POLLOUT)) {
                fail_timeout(sql_stage::connecting, repeatability::unspecified);
            }
            next = PQconnectPoll(native());
        }
        if (next == PGRES_POLLING_FAILED) {
            fail_connecting();
        }
        PQsetErrorVerbosity(native(), PQERRORS_DEFAULT);
        watch_for_closed_connection();
    }
    [[nodiscard]] bool is_open() const noexcept {
        return connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK;
    }
    void close() noexcept {
        connection_.reset();
        own_.forget();
    }
    /// For calls of your own; null if not open.
    [[nodiscard]] PGconn* native() const noexcept { return connection_.get(); }

    /// Executes one statement with the values of $1, $2, ..., within the time of the attempt.
    /// Throws `pq_error`. Outside of a transaction the statement commits on its own. If its answer
    /// is lost, it is repeated only if you state, here or in the call's options, that it is
    /// repeatable. So is a CALL or a DO that fails in any other way, because it may have committed
    /// a part of its work (`is_sql_program`), and a COMMIT of your own whose answer is lost
    /// (`is_sql_commit`). A COPY from or to the program fails and closes the connection; copy with
    /// libpq's own functions on `native()`.
    pq_result execute(
        const attempt& current, const std::string& statement,
        const std::vector<std::string>& values = {},
        repeatability repeat = repeatability::unspecified) {
        const attempt_limit limit(*this, current);
        return execute(statement, values, current.stated_or_mark(repeat));
    }
    /// The same within the limit that was set last, and without the mark of a call.
    pq_result execute(
        const std::string& statement, const std::vector<std::string>& values = {},
        repeatability repeat = repeatability::unspecified) {
        own_.prepare(statement, is_open());
        open();
        const bool is_inside = PQtransactionStatus(native()) != PQTRANS_IDLE;
        const sql_stage stage = sql_stage_of(statement, is_inside);
        if (is_in_transaction_) {
            if (is_outside_of_body(statement, is_inside)) {
                fail_misused("the body of a transaction cannot end it", "25P01", !is_inside);
            }
            own_.forget();
            return run(statement, values, stage, repeat);
        }
        own_.start(statement, stage);
        pq_result answer = run(statement, values, stage, repeat);
        const bool is_whole = own_.succeed(statement, stage, is_open());
        check_applied(answer.get(), stage);
        if (!is_whole) {
            fail_lost_transaction();
        }
        return answer;
    }
    /// The same for a statement of a known stage, on a connection that is open.
    pq_result run(
        const std::string& statement, const std::vector<std::string>& values, sql_stage stage,
        repeatability repeat = repeatability::unspecified) {
        if (const auto refusal = refusal_of_statement(statement, values)) {
            fail_misused(refusal->text, refusal->state, false);
        }
        std::vector<const char*> texts;
        std::ranges::transform(
            values, std::back_inserter(texts), [](const std::string& v) { return v.c_str(); });
        // Not blocking, because libpq would wait without a limit for a server that does not read.
        if (PQsetnonblocking(native(), 1) != 0 ||
            PQsendQueryParams(
                native(), statement.c_str(), static_cast<int>(texts.size()), nullptr, texts.data(),
                nullptr, nullptr, 0) == 0) {
            fail_lost(stage, repeat);
        }
        flush(stage, repeat);
        // The first result counts: a server that shuts down may add an error of its own to it.
        pq_result first = next_result(stage, repeat);
        if (is_copy(first.get())) {
            // Until the program has copied, there is no end of the results.
            fail_copy(stage == sql_stage::alone && is_sql_copy_of_statement(statement));
        }
        while (first != nullptr && is_open() && next_result(stage, repeat) != nullptr) {
        }
        const ExecStatusType status = PQresultStatus(first.get());
        if (first == nullptr || status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) {
            fail_statement(first.get(), stage, repeat);
        }
        return first;
    }

private:
    template <class Body>
    friend class pq_transaction;
    /// Limits the time of the connection as long as the attempt runs. Its clock may end with the
    /// call, and later statements are not part of it.
    class attempt_limit {
    public:
        attempt_limit(pq_connection& on, const attempt& current)
            : on_(&on), deadline_(on.deadline_), clock_(on.clock_) {
            on.limit_time(current);
        }
        ~attempt_limit() {
            on_->deadline_ = deadline_;
            on_->clock_ = clock_;
        }
        attempt_limit(const attempt_limit&) = delete;
        attempt_limit& operator=(const attempt_limit&) = delete;

    private:
        pq_connection* on_;
        time_point deadline_;
        retry_clock* clock_;
    };
    struct connection_deleter {
        void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
    };

    /// False when the time is over.
    [[nodiscard]] bool wait_for(short events) const noexcept {
        pollfd socket{PQsocket(native()), events, 0};
        for (;;) {
            const duration left = driver::time_left(clock_->now(), deadline_);
            const duration piece = std::min<duration>(left, std::chrono::hours{1});
            const auto wait = std::chrono::ceil<std::chrono::milliseconds>(piece);
            const int ready = ::poll(&socket, 1, static_cast<int>(wait.count()));
            if (ready > 0) {
                return true;
            }
            // A wait for all that was left ends the time, also on a clock that stood still.
            if (left == duration::zero() || (ready == 0 && piece == left)) {
                return false;
            }
        }
    }
    /// Asks the server to end a statement whose client has closed the connection. Otherwise an
    /// attempt that took too long would keep its locks, and block the one that repeats it.
    void watch_for_closed_connection() {
        try {
            run("select set_config('client_connection_check_interval', '1s', false)", {},
                sql_stage::connecting);
        } catch (const pq_error& error) {
            if (is_lost_connection(error.state())) {
                throw;
            }  // Otherwise a server before PostgreSQL 14.
        }
    }
    /// Sends what libpq holds back. It also reads meanwhile, because a server whose answers are not
    /// read stops reading itself.
    void flush(sql_stage stage, repeatability repeat) {
        int unsent = PQflush(native());
        while (unsent > 0) {
            if (!wait_for(POLLIN | POLLOUT)) {
                fail_timeout(stage, repeat);
            }
            unsent = PQconsumeInput(native()) != 0 ? PQflush(native()) : -1;
        }
        // If the connection was lost, the results describe it better than libpq's message here.
        static_cast<void>(PQsetnonblocking(native(), 0));
    }
    [[nodiscard]] pq_result next_result(sql_stage stage, repeatability repeat) {
        // A connection that was lost while sending has no socket, and old versions of libpq call it
        // busy.
        while (is_open() && PQisBusy(native()) != 0) {
            if (!wait_for(POLLIN)) {
                fail_timeout(stage, repeat);
            }
            if (PQconsumeInput(native()) == 0) {
                break;  // Lost; PQgetResult returns what arrived.
            }
        }
        return pq_result(PQgetResult(native()));
    }

    [[nodiscard]] static bool is_copy(const PGresult* result) noexcept {
        const ExecStatusType status = PQresultStatus(result);
        return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
    }

    /// libpq's own texts for parameters that it cannot read quote parts of passwords.
    void check_parameters() const {
        struct options_deleter {
            void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
        };
        const std::unique_ptr<PQconninfoOption, options_deleter> options(
            PQconninfoParse(parameters_.c_str(), nullptr));
        const char* fault = fault_of_pq_text(parameters_);
        if (fault == nullptr && options == nullptr) {
            fault = "libpq cannot read the connection parameters";
        }
        for (const auto* each = options.get(); fault == nullptr && each->keyword != nullptr;
             ++each) {
            fault = fault_of_pq_parameter(each->keyword, each->val != nullptr ? each->val : "");
        }
        if (fault != nullptr) {
            fail_misused(fault, "", false);
        }
    }
    /// Nothing has been copied, and the server discards a transaction around it. A statement whose
    /// rows are copied may be executed.
    [[noreturn]] void fail_copy(bool is_unknown) {
        connection_.reset();
        throw pq_error(
            "COPY from or to the program needs libpq's own functions", "0A000",
            sqlstate_facts("0A000", sql_stage::in_transaction), is_unknown);
    }
    [[noreturn]] void fail_connecting() {
        const std::string message = PQerrorMessage(native());
        const std::string state = std::string(sqlstate_in_message(message));
        failure_facts facts = sqlstate_facts(state, sql_stage::connecting);
        if (PQconnectionNeedsPassword(native()) != 0) {
            facts = {.safety = retry_safety::no, .fault = failure_fault::client};
        }
        close();
        throw pq_error(message, state, facts, false);
    }
    [[noreturn]] static void fail_lost_transaction() {
        throw pq_error(
            "the connection of the transaction was lost", {},
            sqlstate_facts({}, sql_stage::in_transaction), false);
    }
    static void check_applied(PGresult* done, sql_stage stage) {
        if (is_rolled_back(stage, PQcmdStatus(done))) {
            fail_misused("rolled back: a statement had failed before", "25P02", false);
        }
    }
    [[noreturn]] static void fail_misused(
        const std::string& message, const std::string& state, bool is_unknown) {
        const failure_facts facts{.safety = retry_safety::no, .fault = failure_fault::client};
        throw pq_error(message, state, facts, is_unknown);
    }
    [[noreturn]] void fail_lost(sql_stage stage, repeatability repeat) {
        const std::string message = PQerrorMessage(native());
        connection_.reset();
        throw pq_error(
            message, {}, sqlstate_facts({}, stage, repeat), adapters::is_commit_unknown({}, stage));
    }
    [[noreturn]] void fail_timeout(sql_stage stage, repeatability repeat) {
        connection_.reset();
        failure_facts facts = sqlstate_facts({}, stage, repeat);
        facts.timeout = true;
        throw pq_error(
            "the server did not answer in time", {}, facts, adapters::is_commit_unknown({}, stage));
    }
    [[noreturn]] void fail_statement(
        const PGresult* result, sql_stage stage, repeatability repeat) {
        const char* const field =
            result != nullptr ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
        const std::string state = field != nullptr ? field : "";
        const std::string message =
            result != nullptr ? PQresultErrorMessage(result) : PQerrorMessage(native());
        if (is_refused_statement(state, stage, is_open())) {
            fail_misused(message, state, false);
        }
        if (is_lost_connection(state)) {
            connection_.reset();
        }
        throw pq_error(
            message, state, sqlstate_facts(state, stage, repeat),
            adapters::is_commit_unknown(state, stage));
    }

    std::string parameters_;
    std::unique_ptr<PGconn, connection_deleter> connection_;
    time_point deadline_ = driver::no_deadline;
    retry_clock* clock_ = &retry_clock::real();
    bool is_in_transaction_ = false;  ///< Set by a `pq_transaction` while its body runs.
    sql_own_transaction own_;
};

/// The start of a transaction of `pq_transaction`, and how it finds out about a lost COMMIT.
struct pq_transaction_options {
    /// The statement that starts the transaction, e.g. "begin isolation level serializable".
    std::string begin = "begin";
    /// Asked on a new connection after the answer to COMMIT was lost, once the server no longer
    /// executes it: has the work been applied? For example, look for a row with an id that your
    /// work inserts. Empty: the state of the transaction id decides.
    std::function<bool(class pq_connection&)> was_applied{};
};

/// A whole transaction as an operation for `reprise::retry`: each attempt opens the connection if
/// needed, begins, calls `body(connection)`, commits, and returns what `body` returned. `body` is
/// called once per attempt, so it must have no effect outside of the database. What it throws rolls
/// the transaction back. What it returns does not: the transaction is committed whatever the value
/// is, and what is committed is never repeated because of a value. A result that reports failures,
/// such as `std::error_code` or `std::expected`, therefore does not compile, nor does `fails_if`
/// around the transaction: a body that fails throws.
///
/// If the answer to COMMIT is lost, the next attempt asks whether it was applied before it does
/// anything else. For that every transaction uses a transaction id, also if it only reads
/// (PostgreSQL 13 and later). Applied: the attempt succeeds with the value of the earlier one. Not
/// applied: the transaction is repeated. Still being committed: the attempt fails, and the one
/// after it asks again. If that cannot be found out, the call fails with an error whose
/// `is_commit_unknown()` is true, and so does a call that ends before it was found out. Another
/// call of the same object continues there; for new work use a new object.
///
/// A connection that is lost while `body` runs ends the transaction, even if `body` hides the
/// error. A transaction inside another one on the same connection fails, and so does one that
/// `body` ends itself.
///
/// The server's own answer counts only if it has not crashed in between, because PostgreSQL can use
/// a transaction id again after a crash. Set `was_applied` to decide also then.
template <class Body>
class pq_transaction {
public:
    using result = std::invoke_result_t<Body&, pq_connection&>;
    static_assert(
        !reprise::detail::is_or_holds_result<std::remove_cvref_t<result>>,
        "a transaction is committed whatever its body returns, but this result can report a "
        "failure; let the body throw if it fails, which rolls back, and return what it found");
    /// A committed transaction has succeeded, whatever value the body returned.
    static constexpr bool fails_only_by_throwing = true;

    pq_transaction(pq_connection& connection, Body body, pq_transaction_options options = {})
        : connection_(&connection), body_(std::move(body)), options_(std::move(options)) {}

    result operator()(const attempt& current) {
        const pq_connection::attempt_limit limit(*connection_, current);
        if (!is_applied()) {
            run();
        }
        if constexpr (!std::is_void_v<result>) {
            return std::move(*value_);
        }
    }

private:
    using stored = std::conditional_t<std::is_void_v<result>, char, result>;
    /// A COMMIT that was sent and whose answer was lost.
    struct lost_commit {
        std::string transaction_id;  ///< Empty: on a standby, which applies nothing.
        std::string server_epoch;    ///< Changes when the server crashes.
    };

    /// True if an earlier attempt turns out to be applied.
    [[nodiscard]] bool is_applied() {
        if (!lost_) {
            return false;
        }
        const bool applied = doubting([&] {
            connection_->open();
            return ask_server();
        });
        lost_.reset();
        return applied;
    }
    [[nodiscard]] bool ask_server() {
        const lost_commit_state state =
            lost_->transaction_id.empty() ? lost_commit_state::not_applied : state_of_transaction();
        if (state == lost_commit_state::running) {
            throw pq_error(
                "the earlier attempt is still being committed", "40003",
                {.safety = retry_safety::yes, .fault = failure_fault::other}, true);
        }
        if (options_.was_applied) {
            return options_.was_applied(*connection_);
        }
        if (state == lost_commit_state::unknown) {
            throw pq_error(
                "the answer to COMMIT was lost, and the server cannot say whether it was applied",
                "40003", {.safety = retry_safety::no, .fault = failure_fault::other}, true);
        }
        return state == lost_commit_state::applied;
    }
    [[nodiscard]] lost_commit_state state_of_transaction() {
        try {
            const pq_result answer = connection_->execute(
                "select pg_xact_status($1::text::xid8), "
                "(select stats_reset from pg_stat_bgwriter)::text",
                {lost_->transaction_id}, repeatability::repeatable);
            const bool has_crashed = lost_->server_epoch != PQgetvalue(answer.get(), 0, 1);
            return read_transaction_status(PQgetvalue(answer.get(), 0, 0), has_crashed);
        } catch (const pq_error& error) {
            if (error.state() == "22023") {  // The server has forgotten the id in a crash.
                return lost_commit_state::unknown;
            }
            throw;
        }
    }

    void run() {
        connection_->open();
        if (PQtransactionStatus(connection_->native()) != PQTRANS_IDLE) {
            pq_connection::fail_misused(
                "a transaction is open on this connection already", "25001", false);
        }
        connection_->run(options_.begin, {}, sql_stage::in_transaction);
        lost_commit commit;
        try {
            run_body();
            commit = prepare_commit();
        } catch (...) {
            roll_back();
            throw;
        }
        try {
            const pq_result done = connection_->run("commit", {}, sql_stage::committing);
            pq_connection::check_applied(done.get(), sql_stage::committing);
        } catch (const pq_error& error) {
            if (error.is_commit_unknown()) {
                lost_ = std::move(commit);
                doubting([&] { throw error; });
            }
            roll_back();
            throw;
        }
    }
    void run_body() {
        struct transaction_mark {
            explicit transaction_mark(bool& given) : is_set(&given) { given = true; }
            ~transaction_mark() { *is_set = false; }
            transaction_mark(const transaction_mark&) = delete;
            transaction_mark& operator=(const transaction_mark&) = delete;
            bool* is_set;
        };
        const transaction_mark mark(connection_->is_in_transaction_);
        try {
            if constexpr (std::is_void_v<result>) {
                body_(*connection_);
            } else {
                value_.emplace(body_(*connection_));
            }
        } catch (...) {
            check_not_ended();
            throw;
        }
        connection_->open();  // Throws if it was lost, and the body has hidden that.
        check_not_ended();
    }
    void check_not_ended() const {
        if (connection_->is_open() && PQtransactionStatus(connection_->native()) == PQTRANS_IDLE) {
            pq_connection::fail_misused("the body has ended the transaction itself", "25P01", true);
        }
    }
    /// Asks for what is needed to find out about a lost answer. Assigns the transaction an id, even
    /// if it has written nothing so far: a NOTIFY is written by COMMIT.
    [[nodiscard]] lost_commit prepare_commit() {
        const pq_result answer = connection_->run(
            "select (case when not pg_is_in_recovery() then pg_current_xact_id() end)::text, "
            "(select stats_reset from pg_stat_bgwriter)::text",
            {}, sql_stage::in_transaction);
        return {PQgetvalue(answer.get(), 0, 0), PQgetvalue(answer.get(), 0, 1)};
    }
    void roll_back() noexcept {
        try {
            if (connection_->is_open() &&
                PQtransactionStatus(connection_->native()) != PQTRANS_IDLE) {
                connection_->run("rollback", {}, sql_stage::in_transaction);
            }
        } catch (...) {
            connection_->close();
        }
    }
    /// Runs `work` while a COMMIT is in doubt: all its failures report so. None of them repeats
    /// anything, so failures of the connection are safe: the next attempt asks again.
    template <class Work>
    std::invoke_result_t<Work> doubting(Work work) {
        try {
            return work();
        } catch (const pq_error& error) {
            failure_facts facts = error.retry_facts();
            if (is_lost_connection(error.state())) {
                facts.safety = retry_safety::yes;
            }
            throw pq_error(error.details(), error.state(), facts, true);
        }
    }

    pq_connection* connection_;
    Body body_;
    pq_transaction_options options_;
    std::optional<lost_commit> lost_;
    std::optional<stored> value_;
};

}  // namespace reprise::adapters
