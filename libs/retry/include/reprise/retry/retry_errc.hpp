#pragma once

/// The library's own errors: one enumeration, one category, and one exception that carries them.
/// They are reported only where the operation has no error of its own, because no attempt was made.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>

/// Why there was no (further) retry, and whether a call may be executed twice.

namespace reprise {

/// Why there was no (further) retry. Recorded with the attempt; never replaces the operation's own
/// error.
enum class refusal_reason : std::uint8_t {
    none,                ///< Not refused.
    unsafe,              ///< The failure itself states that it must not be retried.
    not_repeatable,      ///< Safety unknown and the call is marked as not repeatable.
    client_fault,        ///< No retry information, and the request itself was at fault.
    unclassified,        ///< Nothing is known about the failure that would allow a retry.
    attempts_exhausted,  ///< The strategy's maximum number of attempts has been made.
    budget_exhausted,    ///< The budget cannot pay the whole cost of another attempt.
    deadline,            ///< The retry could not have started before the deadline.
    outer_allowance,     ///< An enclosing loop has no retries left.
    canceled,            ///< The caller asked to stop.
    no_initial_token,    ///< The strategy granted no token: one attempt, no retries.
    invalid_token,       ///< A token of another strategy, or one already used.
    strategy_refused,    ///< The strategy answered no and named no other reason.
    strategy_failed,     ///< The strategy threw, or dropped the question.
    may_have_acted,      ///< Sent, then the connection closed; executing it twice is not safe.
    queue_full,          ///< Too many requests wait for a retry.
    partly_delivered,    ///< The caller has a part of the answer: a retry would repeat it.
    not_allowed,         ///< The options do not allow the request to be sent.
    predicate_refused,   ///< The strategy's predicate does not ask for a retry of this failure.
    circuit_open,        ///< A circuit breaker keeps requests away from the service.
    programming_error,   ///< Such as `std::logic_error`: retried only if the strategy names it.
    unmarked_call,       ///< Safety unknown, and the strategy refuses calls without a mark.
};

/// One short lower-case phrase, for logs and histories.
[[nodiscard]] REPRISE_EXPORT std::string_view to_string(refusal_reason reason) noexcept;

namespace detail {

/// The change to the program that leads to a retry, as one phrase; empty if nothing is
/// missing. Histories of loops contain it.
[[nodiscard]] REPRISE_EXPORT std::string_view remedy_for(refusal_reason reason) noexcept;

}  // namespace detail

/// Whether the caller may have its operation executed twice.
enum class repeatability : std::uint8_t {
    unspecified,     ///< Nothing stated: as `repeatable`, unless the strategy refuses such calls.
    repeatable,      ///< Idempotent: failures of safety `maybe` are retried.
    not_repeatable,  ///< Only failures that are safe for certain (`retry_safety::yes`) are retried.
};

/// Their category is "reprise.retry". Compare a code with an enumerator, `code ==
/// retry_errc::circuit_open`: that also holds for a code from another copy of this library, e.g. in
/// a plugin, whose category is another object of the same name.
enum class retry_errc {
    /// A circuit breaker is open: nothing was sent. Safe to retry later.
    circuit_open = 1,
    /// The caller asked to stop before the first attempt: nothing was sent. Also equals
    /// `std::errc::operation_canceled`.
    canceled = 2,
    /// A setting or an option cannot work (`invalid_settings`). A retry does not help.
    invalid_settings = 3,
};

namespace detail {

/// The category of `retry_errc`.
[[nodiscard]] REPRISE_EXPORT const std::error_category& retry_category() noexcept;
/// The error as a code. Programs compare codes with enumerators and need no code of their own.
[[nodiscard]] inline std::error_code to_code(retry_errc error) noexcept {
    return {static_cast<int>(error), retry_category()};
}

}  // namespace detail

/// Found by the constructor of std::error_condition.
[[nodiscard]] inline std::error_condition make_error_condition(retry_errc error) noexcept {
    return {static_cast<int>(error), detail::retry_category()};
}
namespace detail {

/// Why the loop made no attempt; `none` for errors that are no refusals.
[[nodiscard]] REPRISE_EXPORT refusal_reason refusal_of(retry_errc error) noexcept;

}  // namespace detail

/// The exception of this library. Loops throw it when they make no attempt and the result cannot
/// carry the error.
class REPRISE_EXPORT retry_error : public std::system_error {
public:
    explicit retry_error(retry_errc error)
        : std::system_error(detail::to_code(error)), refusal_(detail::refusal_of(error)) {}

    /// As the history and observers report it.
    [[nodiscard]] refusal_reason refusal() const noexcept { return refusal_; }

private:
    refusal_reason refusal_;
};

namespace driver {

/// One setting that cannot work, and why.
struct settings_error {
    std::string field;    ///< As written in the options struct, e.g. "backoff.cap".
    std::string message;  ///< One sentence for people.
};

}  // namespace driver

/// Thrown by constructors that take options. Programs without a handler for it can call
/// `check(options)` first, which returns the same thing as a value. Built with `-fno-exceptions`,
/// the constructors write the message to stderr and abort.
class REPRISE_EXPORT invalid_settings : public retry_error {
public:
    explicit invalid_settings(driver::settings_error error)
        : retry_error(retry_errc::invalid_settings),
          error_(std::move(error)),
          text_(error_.field + ": " + error_.message) {}

    /// "backoff.cap: must not be below the base".
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
    [[nodiscard]] const std::string& field() const noexcept { return error_.field; }
    [[nodiscard]] const std::string& message() const noexcept { return error_.message; }

private:
    driver::settings_error error_;
    std::string text_;
};

namespace detail {

[[noreturn]] REPRISE_EXPORT void throw_invalid_settings(driver::settings_error error);
/// For a blocking operation that takes no `attempt`.
[[noreturn]] REPRISE_EXPORT void throw_unseen_attempt_timeout();

/// Returns `options` if they are valid, throws `invalid_settings` otherwise. For member initialiser
/// lists.
template <class Options>
[[nodiscard]] Options checked(const Options& options) {
    if (std::optional<driver::settings_error> error = check(options)) {
        throw_invalid_settings(std::move(*error));
    }
    return options;
}

}  // namespace detail

namespace detail {

[[noreturn]] REPRISE_EXPORT void throw_circuit_open();

/// A result like `std::expected`.
template <class R>
concept expected_like = requires(const R& r) {
    { r.has_value() } -> std::convertible_to<bool>;
    r.error();
};

/// A result like `std::expected` that its error alone can make: as an `unexpected_type`, or as it
/// is where no value could be meant (`boost::system::result`).
template <class R>
concept made_from_error =
    requires { typename R::unexpected_type; } ||
    (std::constructible_from<R, typename R::error_type> &&
     (std::is_void_v<typename R::value_type> ||
      !std::constructible_from<typename R::value_type, typename R::error_type>));

/// The error of a loop that made no attempt because it was refused as `why`.
[[nodiscard]] constexpr retry_errc unattempted_errc(refusal_reason why) noexcept {
    return why == refusal_reason::circuit_open ? retry_errc::circuit_open : retry_errc::canceled;
}
[[nodiscard]] inline std::error_code unattempted_error(refusal_reason why) noexcept {
    return to_code(unattempted_errc(why));
}

}  // namespace detail

namespace driver {

/// The result of a loop that was canceled (`refusal_reason::canceled`; only possible when the
/// initial token has a delay) or refused by a circuit breaker (`refusal_reason::circuit_open`)
/// before its first attempt. Known for error codes, for results like `std::expected` whose error
/// can be made from a `std::error_code`, and with the Asio forms for `std::exception_ptr`.
/// Specialise it with `static R make(refusal_reason)` for your own result type.
template <class R>
struct unattempted_outcome;

template <>
struct unattempted_outcome<std::error_code> {
    [[nodiscard]] static std::error_code make(refusal_reason why) noexcept {
        return detail::unattempted_error(why);
    }
};

template <detail::expected_like R>
    requires std::constructible_from<typename R::error_type, std::error_code> &&
             detail::made_from_error<R>
struct unattempted_outcome<R> {
    [[nodiscard]] static R make(refusal_reason why) {
        typename R::error_type error(detail::unattempted_error(why));
        if constexpr (requires { typename R::unexpected_type; }) {
            return R(typename R::unexpected_type(std::move(error)));
        } else {
            return R(std::move(error));
        }
    }
};

}  // namespace driver

namespace detail {

template <class R>
concept has_unattempted_outcome = requires {
    { driver::unattempted_outcome<R>::make(refusal_reason::canceled) } -> std::convertible_to<R>;
};

}  // namespace detail

}  // namespace reprise

template <>
struct std::is_error_condition_enum<reprise::retry_errc> : std::true_type {};
