#pragma once

/// Facts of PostgreSQL's SQLSTATEs. Needs no client library: use it with any
/// client that reports SQLSTATEs.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise::adapters {

/// Where in a transaction a failure happened.
enum class sql_stage : std::uint8_t {
    connecting,      ///< Nothing was sent.
    in_transaction,  ///< After BEGIN and before COMMIT: the server keeps nothing of it.
    committing,      ///< COMMIT was sent: a lost answer leaves open whether it was applied.
    alone,           ///< A statement outside of a transaction, which commits on its own.
    program,         ///< The same, but it may commit parts of its work (`is_sql_program`).
};

/// The protocol counts the parameters of a statement in 16 bits.
inline constexpr std::size_t sql_parameters_max = 65535;

/// Why a statement is not sent.
struct sql_refusal {
    const char* text;
    const char* state;
};

/// Empty for a statement that can be sent. Of a text with a zero, libpq would send the part before
/// it: a statement without its WHERE, for example.
[[nodiscard]] inline std::optional<sql_refusal> refusal_of_statement(
    std::string_view statement, std::span<const std::string> values) noexcept {
    if (values.size() > sql_parameters_max) {
        return sql_refusal{"a statement has at most 65535 parameters", "54023"};
    }
    const auto has_zero = [](std::string_view text) { return text.find('\0') != text.npos; };
    if (has_zero(statement) || std::ranges::any_of(values, has_zero)) {
        return sql_refusal{"a text cannot contain a zero character", "22021"};
    }
    return std::nullopt;
}

/// True if the state reports a lost connection: no state at all, class 08, or a server that shuts
/// down or crashed (57P01, 57P02, 57P05).
[[nodiscard]] constexpr bool is_lost_connection(std::string_view state) noexcept {
    return state.empty() || state.starts_with("08") || state == "57P01" || state == "57P02" ||
           state == "57P05";
}

/// True for 08P01 as the statement's own fault, such as a wrong number of parameters: then the
/// connection stays open. Otherwise it is a lost one, which is how proxies report that they have
/// lost the server. A COMMIT or a program may pass on the 08P01 of a foreign server.
[[nodiscard]] constexpr bool is_refused_statement(
    std::string_view state, sql_stage stage, bool is_open) noexcept {
    return state == "08P01" && is_open &&
           (stage == sql_stage::in_transaction || stage == sql_stage::alone);
}

/// The state of a transaction whose COMMIT was lost, as the server reports it.
enum class lost_commit_state : std::uint8_t {
    running,      ///< It may still be applied: nothing that its effects show counts yet.
    applied,      ///< It has taken effect.
    not_applied,  ///< It was rolled back.
    unknown,      ///< The server has no record of it.
};

/// Reads the answer of `pg_xact_status`; empty for NULL. After a crash the server may have used the
/// transaction id again, so 'committed' is not trusted then.
[[nodiscard]] constexpr lost_commit_state read_transaction_status(
    std::string_view status, bool has_crashed) noexcept {
    if (status == "in progress") {
        return lost_commit_state::running;
    }
    if (status == "aborted") {
        return lost_commit_state::not_applied;
    }
    return status == "committed" && !has_crashed ? lost_commit_state::applied
                                                 : lost_commit_state::unknown;
}

/// True if the failure leaves open whether the server has committed. A connection that is lost
/// after COMMIT does, even if the server gave a reason: it may have committed before. Every failure
/// of a program does: it may have committed a part.
[[nodiscard]] constexpr bool is_commit_unknown(std::string_view state, sql_stage stage) noexcept {
    if (stage == sql_stage::program) {
        return true;
    }
    return (stage == sql_stage::committing || stage == sql_stage::alone) &&
           (is_lost_connection(state) || state == "40003");
}

namespace detail {

/// Never repeated.
[[nodiscard]] constexpr reprise::detail::error_row final_sqlstate_row(
    std::string_view name, failure_fault fault) noexcept {
    return {.name = name, .safety = retry_safety::no, .fault = fault};
}
/// The connection is lost or about to be, or the result of the statement is: the stage decides.
[[nodiscard]] constexpr reprise::detail::error_row lost_sqlstate_row(
    std::string_view name) noexcept {
    return {.name = name, .safety = retry_safety::maybe, .fault = failure_fault::other};
}
[[nodiscard]] constexpr reprise::detail::error_row safe_sqlstate_row(
    std::string_view name, failure_fault fault, std::string_view reason) noexcept {
    return {.name = name, .safety = retry_safety::yes, .fault = fault, .reason = reason};
}

/// PostgreSQL's classes of SQLSTATEs (two characters), and the states that differ from their class.
/// What the statement, its values or the rules of the program's own functions caused, and conflicts
/// with other transactions, are the client's fault. States of no row are not: nothing is known of
/// them.
inline constexpr std::array sqlstate_rows = [] {
    using enum failure_fault;
    reprise::detail::error_row too_many_connections =
        safe_sqlstate_row("53300", server, "too many connections: this one was refused");
    too_many_connections.throttling = true;
    return std::array{
        final_sqlstate_row("02", client),  // no data
        final_sqlstate_row("03", client),  // statement not yet complete
        lost_sqlstate_row("08"),           // connection
        final_sqlstate_row("09", client),  // triggered action
        final_sqlstate_row("0A", client),  // feature not supported
        final_sqlstate_row("0B", client),  // transaction initiation
        final_sqlstate_row("0F", client),  // locator
        final_sqlstate_row("0L", client),  // grantor
        final_sqlstate_row("0P", client),  // role
        final_sqlstate_row("0Z", client),  // diagnostics
        final_sqlstate_row("10", client),  // XQuery
        final_sqlstate_row("20", client),  // CASE not found
        final_sqlstate_row("21", client),  // cardinality
        final_sqlstate_row("22", client),  // data
        final_sqlstate_row("23", client),  // integrity constraint
        final_sqlstate_row("24", client),  // cursor state
        final_sqlstate_row("25", client),  // transaction state
        final_sqlstate_row("26", client),  // statement name
        final_sqlstate_row("27", client),  // triggered data change
        final_sqlstate_row("28", client),  // authorization
        final_sqlstate_row("2B", client),  // dependent privileges
        final_sqlstate_row("2D", client),  // transaction termination
        final_sqlstate_row("2F", client),  // SQL routine
        final_sqlstate_row("34", client),  // cursor name
        final_sqlstate_row("38", client),  // external routine
        final_sqlstate_row("39", client),  // invocation of an external routine
        final_sqlstate_row("3B", client),  // savepoint
        final_sqlstate_row("3D", client),  // catalog name
        final_sqlstate_row("3F", client),  // schema name
        final_sqlstate_row("40", client),  // transaction rollback: 40002, a deferred constraint
        safe_sqlstate_row("40000", client, "the transaction was rolled back"),
        safe_sqlstate_row(
            "40001", client, "serialization failure: the transaction was rolled back"),
        lost_sqlstate_row("40003"),
        safe_sqlstate_row("40P01", client, "deadlock: the transaction was rolled back"),
        final_sqlstate_row("42", client),  // syntax, names, access
        final_sqlstate_row("44", client),  // WITH CHECK OPTION
        safe_sqlstate_row("53", server, "the server lacked a resource: the statement was undone"),
        too_many_connections,
        final_sqlstate_row("54", client),  // program limits
        final_sqlstate_row("55", client),  // state of an object
        safe_sqlstate_row(
            "55P03", client, "a lock was not available: the statement was not executed"),
        final_sqlstate_row("57", server),  // operator intervention
        lost_sqlstate_row("57P01"),
        lost_sqlstate_row("57P02"),
        safe_sqlstate_row(
            "57P03", server, "the server starts up or shuts down and accepted no connection"),
        lost_sqlstate_row("57P05"),
        final_sqlstate_row("58", server),  // system
        final_sqlstate_row("72", other),   // snapshot too old
        final_sqlstate_row("F0", server),  // configuration file
        final_sqlstate_row("HV", other),   // foreign servers
        final_sqlstate_row("P0", client),  // PL/pgSQL: RAISE
        final_sqlstate_row("XX", server),  // internal
    };
}();

/// The row of the state, otherwise that of its class; null if there is neither. Without a state the
/// connection was lost.
[[nodiscard]] constexpr const reprise::detail::error_row* find_sqlstate(
    std::string_view state) noexcept {
    const std::string_view known = state.empty() ? "08" : state;
    const auto* const exact = reprise::detail::find_row(sqlstate_rows, known);
    return exact != nullptr ? exact : reprise::detail::find_row(sqlstate_rows, known.substr(0, 2));
}

[[nodiscard]] constexpr bool is_space(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// `sql` from its first word on: without white space, comments, which can contain others, and empty
/// statements. Empty if a comment has no end.
[[nodiscard]] constexpr std::string_view from_first_word(std::string_view sql) noexcept {
    while (!sql.empty()) {
        if (is_space(sql.front()) || sql.front() == ';') {
            sql.remove_prefix(1);
        } else if (sql.starts_with("--")) {
            sql.remove_prefix(std::min(sql.find_first_of("\r\n"), sql.size()));
        } else if (sql.starts_with("/*")) {
            int depth = 0;
            do {
                const std::size_t at = sql.find_first_of("/*");
                sql.remove_prefix(std::min(at, sql.size()));
                const int step = sql.starts_with("/*") ? 1 : sql.starts_with("*/") ? -1 : 0;
                depth += step;
                sql.remove_prefix(std::min<std::size_t>(step != 0 ? 2 : 1, sql.size()));
            } while (depth > 0 && !sql.empty());
        } else {
            break;
        }
    }
    return sql;
}

[[nodiscard]] constexpr char to_upper(char c) noexcept {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// Removes the next word of letters from `sql`, after comments and white space; empty if something
/// else comes first.
[[nodiscard]] constexpr std::string_view take_word(std::string_view& sql) noexcept {
    sql = from_first_word(sql);
    const auto is_letter = [](char c) { return to_upper(c) >= 'A' && to_upper(c) <= 'Z'; };
    const auto size = std::ranges::find_if_not(sql, is_letter) - sql.begin();
    const std::string_view word = sql.substr(0, static_cast<std::size_t>(size));
    sql.remove_prefix(word.size());
    return word;
}

/// Compares a word of a statement with a name in capitals.
[[nodiscard]] constexpr bool is_sql_word(std::string_view word, std::string_view upper) noexcept {
    return std::ranges::equal(word, upper, {}, to_upper);
}

/// Skips an optional WORK or TRANSACTION, which changes nothing, as in COMMIT WORK.
constexpr void skip_noise_word(std::string_view& sql) noexcept {
    std::string_view rest = sql;
    const std::string_view word = take_word(rest);
    if (is_sql_word(word, "WORK") || is_sql_word(word, "TRANSACTION")) {
        sql = rest;
    }
}

/// The number for readers of a history; 0 for a state with letters.
[[nodiscard]] constexpr std::uint32_t number_of(std::string_view state) noexcept {
    std::uint32_t number = 0;
    for (const char digit : state.substr(0, 5)) {
        if (digit < '0' || digit > '9') {
            return 0;
        }
        number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return number;
}

}  // namespace detail

/// The SQLSTATE in a verbose message such as "FATAL:  53300: sorry, too many clients already".
/// libpq has no other way to get that of a refused connection. Empty if there is none.
[[nodiscard]] constexpr std::string_view sqlstate_in_message(std::string_view message) noexcept {
    const auto is_state = [](std::string_view text) {
        return std::ranges::all_of(
            text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
    };
    for (std::size_t at = message.find(":  "); at != std::string_view::npos;
         at = message.find(":  ", at + 1)) {
        const std::string_view rest = message.substr(at + 3);
        if (rest.size() > 5 && rest[5] == ':' && is_state(rest.substr(0, 5))) {
            return rest.substr(0, 5);
        }
    }
    return {};
}

/// True for a statement that may commit parts of its work if it is outside of a transaction: CALL,
/// DO, and ALTER, CREATE, DROP and REINDEX with CONCURRENTLY, which leave an invalid index behind,
/// or a partition that is half detached. Not for others that work in steps, VACUUM, CLUSTER and
/// REINDEX: to do a step again is harmless. A SELECT cannot commit, whatever functions it calls.
[[nodiscard]] constexpr bool is_sql_program(std::string_view sql) noexcept {
    const std::string_view word = detail::take_word(sql);
    const auto is_word = [word](std::string_view name) { return detail::is_sql_word(word, name); };
    if (is_word("CALL") || is_word("DO")) {
        return true;
    }
    constexpr std::array<std::string_view, 4> in_steps{"ALTER", "CREATE", "DROP", "REINDEX"};
    constexpr std::string_view concurrently = "CONCURRENTLY";
    return std::ranges::any_of(in_steps, is_word) &&
           !std::ranges::search(sql, concurrently, {}, detail::to_upper).empty();
}

/// True for a COPY of the rows of a statement, which can change data: INSERT ... RETURNING, or a
/// SELECT that calls functions.
[[nodiscard]] constexpr bool is_sql_copy_of_statement(std::string_view sql) noexcept {
    return detail::is_sql_word(detail::take_word(sql), "COPY") &&
           detail::from_first_word(sql).starts_with('(');
}

/// True for a statement that applies the transaction in which it is executed: COMMIT, END and
/// PREPARE TRANSACTION.
[[nodiscard]] constexpr bool is_sql_commit(std::string_view sql) noexcept {
    const std::string_view word = detail::take_word(sql);
    return detail::is_sql_word(word, "COMMIT") || detail::is_sql_word(word, "END") ||
           (detail::is_sql_word(word, "PREPARE") &&
            detail::is_sql_word(detail::take_word(sql), "TRANSACTION"));
}

/// True for a statement after which nothing is left of the transaction before it, also if that was
/// lost with its connection: BEGIN, START TRANSACTION, and a ROLLBACK or ABORT of the whole.
[[nodiscard]] constexpr bool is_sql_restart(std::string_view sql) noexcept {
    const std::string_view word = detail::take_word(sql);
    if (detail::is_sql_word(word, "BEGIN") || detail::is_sql_word(word, "START")) {
        return true;
    }
    if (!detail::is_sql_word(word, "ROLLBACK") && !detail::is_sql_word(word, "ABORT")) {
        return false;
    }
    detail::skip_noise_word(sql);
    return detail::from_first_word(sql).empty();
}

/// True for a statement after which a transaction is open if it succeeds: BEGIN, START TRANSACTION,
/// and the end of another one with AND CHAIN.
[[nodiscard]] constexpr bool is_sql_begin(std::string_view sql) noexcept {
    const std::string_view word = detail::take_word(sql);
    const auto is_word = [word](std::string_view name) { return detail::is_sql_word(word, name); };
    if (is_word("BEGIN") || is_word("START")) {
        return true;
    }
    constexpr std::array<std::string_view, 4> ends{"COMMIT", "END", "ROLLBACK", "ABORT"};
    detail::skip_noise_word(sql);
    return std::ranges::any_of(ends, is_word) &&
           detail::is_sql_word(detail::take_word(sql), "AND") &&
           detail::is_sql_word(detail::take_word(sql), "CHAIN");
}

/// The stage of a statement that a program executes, inside of a transaction or outside.
[[nodiscard]] constexpr sql_stage sql_stage_of(
    std::string_view sql, bool is_in_transaction) noexcept {
    if (is_in_transaction) {
        return is_sql_commit(sql) ? sql_stage::committing : sql_stage::in_transaction;
    }
    return is_sql_program(sql) ? sql_stage::program : sql_stage::alone;
}

/// True if a COMMIT that succeeded has applied nothing, because a statement before it had failed:
/// the server reports what it did instead.
[[nodiscard]] constexpr bool is_rolled_back(
    sql_stage stage, std::string_view command_tag) noexcept {
    return stage == sql_stage::committing && command_tag == "ROLLBACK";
}

/// True if the body of a transaction must not execute the statement: it is outside of the
/// transaction already, or would end it.
[[nodiscard]] constexpr bool is_outside_of_body(
    std::string_view sql, bool is_in_transaction) noexcept {
    const bool is_chain = is_sql_begin(sql) && !is_sql_restart(sql);
    return !is_in_transaction || is_chain || is_sql_commit(sql);
}

/// The transaction that a program begins with a statement of its own. If its connection is lost,
/// nothing is executed until the program begins again: it would be executed outside of the
/// transaction.
class sql_own_transaction {
public:
    /// True if the rest of the transaction cannot be executed on a new connection.
    [[nodiscard]] constexpr bool has_begun() const noexcept { return has_begun_; }
    /// Before a statement is executed, on a new connection if there is no open one.
    constexpr void prepare(std::string_view sql, bool is_open) noexcept {
        has_begun_ = has_begun_ && (is_open || !is_sql_restart(sql));
    }
    /// The statement is sent now.
    constexpr void start(std::string_view sql, sql_stage stage) noexcept {
        has_begun_ = stage == sql_stage::in_transaction && !is_sql_restart(sql);
    }
    /// The statement has succeeded. False if the transaction that it began is lost, because its
    /// answer was the last one of the connection.
    [[nodiscard]] constexpr bool succeed(
        std::string_view sql, sql_stage stage, bool is_open) noexcept {
        if (!is_sql_begin(sql)) {
            return true;
        }
        has_begun_ = true;
        return is_open || stage == sql_stage::committing;  // What was committed is not repeated.
    }
    /// The program has closed the connection.
    constexpr void forget() noexcept { has_begun_ = false; }

private:
    bool has_begun_ = false;
};

/// The facts of a failed statement, where a retry means to repeat the whole transaction.
///
/// ```
/// 40001, 40P01, 40000, 55P03   rolled back or not executed: safe
/// 53300                        too many connections: safe, throttling
/// 53xxx                        out of resources: safe
/// 57P03                        the server starts up or shuts down: safe
/// lost connection              safe before COMMIT. After it, the outcome is unknown: not repeated
///                              unless you state that the work is repeatable
/// others                       never
/// ```
///
/// A program may have committed a part of its work before any of them: it is not repeated unless
/// you state that it is repeatable.
///
/// Conflicts with other transactions (40xxx, 55P03) come from a server that works: a circuit
/// breaker does not count them, nor the statement's own faults. It counts what the server is to
/// blame for (53, 57, 58, XX, ...), lost connections, and states that are unknown here.
[[nodiscard]] constexpr failure_facts sqlstate_facts(
    std::string_view state, sql_stage stage,
    repeatability stated = repeatability::unspecified) noexcept {
    failure_facts facts{.safety = retry_safety::no, .fault = failure_fault::other};
    facts.code = detail::number_of(state);
    const reprise::detail::error_row* const row = detail::find_sqlstate(state);
    if (row == nullptr) {
        return facts;
    }
    facts.safety = row->safety;
    facts.throttling = row->throttling;
    facts.fault = row->fault;
    if (facts.safety != retry_safety::no && is_commit_unknown(state, stage)) {
        facts.safety = stated == repeatability::repeatable ? retry_safety::maybe : retry_safety::no;
    } else if (facts.safety == retry_safety::maybe) {
        // Without a COMMIT the server discards the transaction.
        facts.safety = is_lost_connection(state) ? retry_safety::yes : retry_safety::no;
    }
    return facts;
}

/// The text of a failure for histories and logs: "SQLSTATE 40001: ERROR:  could not serialize
/// access". Only the first line of the message, because those after it (DETAIL, CONTEXT, LINE)
/// repeat values of keys and parts of statements. Without a state the line alone, and a text that
/// was made here stays as it is.
[[nodiscard]] inline std::string sqlstate_text(std::string_view message, std::string_view state) {
    constexpr std::string_view prefix = "SQLSTATE ";
    constexpr std::string_view space = " \r\n";
    message.remove_prefix(std::min(message.find_first_not_of(space), message.size()));
    message = message.substr(0, message.find('\n'));
    message = message.substr(0, message.find_last_not_of(space) + 1);
    if (state.empty() || message.starts_with(prefix)) {
        return std::string(message);
    }
    return std::string(prefix).append(state).append(": ").append(message);
}

}  // namespace reprise::adapters
