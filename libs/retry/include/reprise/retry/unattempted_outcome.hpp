#pragma once

/// The result of a loop that has made no attempt, so that there is no result of the operation.

#include <concepts>
#include <system_error>

#include <reprise/retry/decision.hpp>
#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/outcome.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

namespace detail {

[[noreturn]] REPRISE_EXPORT void throw_circuit_open();

/// The error of a loop that made no attempt because it was refused as `why`.
[[nodiscard]] constexpr retry_errc unattempted_errc(refusal_reason why) noexcept {
    return why == refusal_reason::circuit_open ? retry_errc::circuit_open : retry_errc::canceled;
}
[[nodiscard]] inline std::error_code unattempted_error(refusal_reason why) noexcept {
    return make_error_code(unattempted_errc(why));
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
