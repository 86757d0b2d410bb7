#pragma once

/// The facts of a failure, and how an error type provides them.
///
/// Retry strategies do not depend on error types: they see only `failure_facts`. Any error type can
/// provide them, without inheriting from anything, in one of three ways (first match wins):
///
///   1. specialise `reprise::failure_traits<E>` with `static failure_facts describe(const E&)`;
///   2. a function `retry_facts(const E&)` found by argument-dependent lookup;
///   3. a member `retry_facts() const`.
///
/// `std::error_code` and exceptions are described out of the box. A type with none of these has no
/// facts. As an exception it is retried by strategies that retry failures without facts, such as
/// `attempts(3)`; as the error of a result it does not compile with any other strategy.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/time.hpp>

namespace reprise {

/// May the failed attempt be repeated?
enum class retry_safety : std::uint8_t {
    yes,    ///< Allowed (which does not mean that it will happen).
    no,     ///< Never: repeating it is wrong or pointless.
    maybe,  ///< Not known; allowed unless the call is marked as not repeatable.
};

/// Who caused the failure, if that is known.
enum class failure_fault : std::uint8_t {
    client,  ///< The request was wrong; sending it again does not help.
    server,  ///< The service failed; the same request may succeed later.
    other,   ///< Neither, or both.
};

/// The facts of one failure. A default-constructed value means "nothing is known": the strategy
/// decides (`safety_options::failures_without_facts`).
struct failure_facts {
    /// Absent: the failure brings no retry information, the fault decides instead.
    std::optional<retry_safety> safety{};
    /// The service reported too many requests.
    bool throttling = false;
    /// No answer came in time. Strategies charge more for these, because they suggest an unhealthy
    /// service.
    bool timeout = false;
    /// The service asked for at least this much pause. Negative values count as zero.
    std::optional<duration> minimum_wait{};
    /// Decides when `safety` is absent: a server's fault is retried, a client's is not.
    std::optional<failure_fault> fault{};
    /// Any number that helps a reader of the trace (an HTTP status, an errno). Not used to decide.
    std::uint32_t code = 0;
    /// Knows the text of `code`; null: it is a plain number. Must outlive the process's histories,
    /// as every category does. Not used to decide.
    const std::error_category* category = nullptr;

    /// Ignores the category.
    friend bool operator==(const failure_facts& left, const failure_facts& right) noexcept {
        return left.safety == right.safety && left.throttling == right.throttling &&
               left.timeout == right.timeout && left.minimum_wait == right.minimum_wait &&
               left.fault == right.fault && left.code == right.code;
    }
};

/// Customisation point 1: specialise for a type you cannot touch.
template <class E>
struct failure_traits;

/// `std::error_code`: a connection that was never made is safe to repeat. Everything that can also
/// be reported after the request was sent is `maybe`: broken connections, unreachable hosts and
/// networks, "try again" (a receive timeout of a socket is one), interrupted calls, and
/// `timed_out`, which is a timeout. Windows' own codes and those of Asio and its TLS streams are
/// described in the same way. Other codes have no facts.
[[nodiscard]] REPRISE_EXPORT failure_facts
describe_error_code(const std::error_code& code) noexcept;

namespace detail {

/// One row of a table of errors: an error and its facts.
struct error_row {
    int code = 0;                          ///< 0 where errors are known by their names.
    std::string_view name{};               ///< As its source spells it.
    std::optional<retry_safety> safety{};  ///< Absent: it has no facts.
    bool timeout = false;
    bool throttling = false;
    /// Why a retry cannot execute anything twice. Every `yes` has a reason.
    std::string_view reason{};
};

/// Null if there is no such row.
[[nodiscard]] constexpr const error_row* find_row(
    std::span<const error_row> rows, int code) noexcept {
    const auto found = std::ranges::find(rows, code, &error_row::code);
    return found != rows.end() ? &*found : nullptr;
}
[[nodiscard]] constexpr const error_row* find_row(
    std::span<const error_row> rows, std::string_view name) noexcept {
    const auto found = std::ranges::find(rows, name, &error_row::name);
    return found != rows.end() ? &*found : nullptr;
}

/// The errors of one category of error codes: "generic" holds every `std::errc`, "windows" what
/// `std::system_category` holds there, "http" the statuses that differ from their class.
struct error_table {
    std::string_view category;
    std::span<const error_row> rows;
};

/// All tables behind `describe_error_code` and `http_facts`.
[[nodiscard]] REPRISE_EXPORT std::span<const error_table> error_tables() noexcept;
/// The row of a code in the table of that name; null if there is none.
[[nodiscard]] REPRISE_EXPORT const error_row* find_error(
    std::string_view category, int code) noexcept;
/// The row of a `std::errc` in the table "generic".
[[nodiscard]] REPRISE_EXPORT const error_row* find_errno(int code) noexcept;

template <class E>
concept has_failure_traits = requires(const E& e) {
    { failure_traits<E>::describe(e) } -> std::convertible_to<failure_facts>;
};

template <class E>
concept has_adl_facts = requires(const E& e) {
    { retry_facts(e) } -> std::convertible_to<failure_facts>;
};

template <class E>
concept has_member_facts = requires(const E& e) {
    { e.retry_facts() } -> std::convertible_to<failure_facts>;
};

inline namespace REPRISE_VARIANT {

struct facts_of_fn {
    /// Never throws: a description that throws counts as "no facts".
    template <class E>
    [[nodiscard]] failure_facts operator()(const E& error) const noexcept {
        return result_or(failure_facts{}, [&]() -> failure_facts {
            if constexpr (has_failure_traits<E>) {
                return failure_traits<E>::describe(error);
            } else if constexpr (has_adl_facts<E>) {
                return retry_facts(error);
            } else if constexpr (has_member_facts<E>) {
                return error.retry_facts();
            } else if constexpr (std::is_same_v<E, std::error_code>) {
                return describe_error_code(error);
            } else if constexpr (requires {
                                     error.code();
                                 } && std::is_base_of_v<std::system_error, E>) {
                return describe_error_code(error.code());
            } else {
                return failure_facts{};
            }
        });
    }
};

}  // namespace REPRISE_VARIANT

}  // namespace detail

inline namespace REPRISE_VARIANT {

/// The facts of any error value. Types that describe themselves in none of the ways above yield the
/// empty facts.
inline constexpr detail::facts_of_fn facts_of{};

}  // namespace REPRISE_VARIANT

/// True for error types that have facts.
template <class E>
concept describes_failure =
    detail::has_failure_traits<E> || detail::has_adl_facts<E> || detail::has_member_facts<E> ||
    std::is_same_v<E, std::error_code> || std::is_base_of_v<std::system_error, E>;

}  // namespace reprise
