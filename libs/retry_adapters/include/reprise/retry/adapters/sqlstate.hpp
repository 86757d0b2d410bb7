#pragma once

/// What a SQLSTATE of PostgreSQL says about a retry. Needs no client library: use it with any
/// client that reports SQLSTATEs.

#include <cstdint>
#include <string_view>

#include <reprise/retry/decision.hpp>

namespace reprise::adapters {

/// Where in a transaction a failure happened.
enum class sql_stage : std::uint8_t {
    connecting,      ///< Nothing was sent.
    in_transaction,  ///< After BEGIN and before COMMIT: the server keeps nothing of it.
    committing,      ///< COMMIT was sent: a lost answer leaves open whether it was applied.
    alone,           ///< A statement outside of a transaction, which commits on its own.
};

/// True if the state reports a lost connection: no state at all, class 08, or a server that shuts
/// down or crashed (57P01, 57P02, 57P05).
[[nodiscard]] constexpr bool is_lost_connection(std::string_view state) noexcept {
    return state.empty() || state.starts_with("08") || state == "57P01" || state == "57P02" ||
           state == "57P05";
}

/// True if the failure leaves open whether the server has committed. A connection that is lost
/// after COMMIT does, also when the server said why: it may have committed before it said so.
[[nodiscard]] constexpr bool is_commit_unknown(std::string_view state, sql_stage stage) noexcept {
    return (stage == sql_stage::committing || stage == sql_stage::alone) &&
           (is_lost_connection(state) || state == "40003");
}

namespace detail {

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

/// The facts of a failed statement, where a retry means to repeat the whole transaction.
///
/// ```
/// 40001, 40P01, 40000, 55P03   rolled back or not executed: safe
/// 53300                        too many connections: safe, throttling
/// 53xxx                        out of resources: safe
/// 57P03                        the server starts up or shuts down: safe
/// lost connection              safe before COMMIT. After it, the outcome is unknown: not repeated
///                              unless you state that the work is repeatable
/// others                       the statement's own fault: never
/// ```
[[nodiscard]] constexpr failure_facts sqlstate_facts(
    std::string_view state, sql_stage stage,
    repeatability stated = repeatability::unspecified) noexcept {
    failure_facts facts{.safety = retry_safety::yes, .fault = failure_fault::server};
    facts.code = detail::number_of(state);
    if (is_commit_unknown(state, stage)) {
        facts.safety = stated == repeatability::repeatable ? retry_safety::maybe : retry_safety::no;
        facts.fault = failure_fault::other;
    } else if (is_lost_connection(state)) {
        facts.fault = failure_fault::other;
    } else if (state.starts_with("53")) {
        facts.throttling = state == "53300";
    } else if (state == "40001" || state == "40P01" || state == "40000" || state == "55P03") {
        facts.fault = failure_fault::other;  // Two transactions met.
    } else if (state != "57P03") {
        facts.safety = retry_safety::no;
        facts.fault = failure_fault::client;
    }
    return facts;
}

}  // namespace reprise::adapters
