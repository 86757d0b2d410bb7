#pragma once

/// What a loop returns when it has made no attempt, so that the operation has no result of its own.

#include <concepts>
#include <stdexcept>
#include <system_error>

#include <reprise/retry/decision.hpp>
#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/outcome.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

/// Thrown by the blocking loop and the coroutine loop when they are stopped during the delay of the
/// initial token.
class REPRISE_EXPORT canceled_before_first_attempt : public std::runtime_error {
public:
    canceled_before_first_attempt() : std::runtime_error("canceled before the first attempt") {}
};

/// Thrown by the blocking loop and the coroutine loop when a circuit breaker refuses the first
/// attempt and the result cannot carry `retry_errc::circuit_open`.
class REPRISE_EXPORT circuit_open_error : public std::system_error {
public:
    circuit_open_error() : std::system_error(make_error_code(retry_errc::circuit_open)) {}
};

namespace detail {

[[noreturn]] REPRISE_EXPORT void throw_circuit_open();

/// The error of a loop that made no attempt because it was refused as `why`.
[[nodiscard]] inline std::error_code unattempted_error(refusal_reason why) noexcept {
    return why == refusal_reason::circuit_open ? make_error_code(retry_errc::circuit_open)
                                               : make_error_code(std::errc::operation_canceled);
}

}  // namespace detail

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
    requires std::constructible_from<typename R::error_type, std::error_code>
struct unattempted_outcome<R> {
    [[nodiscard]] static R make(refusal_reason why) {
        using error = typename R::error_type;
        return R(typename R::unexpected_type(error(detail::unattempted_error(why))));
    }
};

namespace detail {

template <class R>
concept has_unattempted_outcome = requires {
    { unattempted_outcome<R>::make(refusal_reason::canceled) } -> std::convertible_to<R>;
};

}  // namespace detail

}  // namespace reprise
