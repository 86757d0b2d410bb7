#pragma once

/// Facts of the errors that Asio programs meet: `boost::system::error_code`,
/// `boost::system::system_error`, and results passed on as `std::exception_ptr`. With the
/// standalone Asio errors are `std::error_code`, which the core describes.

#include <concepts>
#include <exception>
#include <optional>
#include <system_error>

#if !defined(REPRISE_STANDALONE_ASIO)
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#endif

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/outcome.hpp>

namespace reprise {

#if !defined(REPRISE_STANDALONE_ASIO)

namespace detail {

/// As `describe_error_code` for the same code of the standard library. A canceled operation
/// (`operation_aborted`) has no facts: only the loop can determine whether its caller canceled it,
/// in which case it is not retried.
[[nodiscard]] REPRISE_EXPORT failure_facts
describe_error_code(const boost::system::error_code& code) noexcept;

}  // namespace detail

template <>
struct failure_traits<boost::system::error_code> {
    [[nodiscard]] static failure_facts describe(const boost::system::error_code& code) noexcept {
        return detail::describe_error_code(code);
    }
};

/// Not a `std::system_error`, although it looks like one.
template <>
struct failure_traits<boost::system::system_error> {
    [[nodiscard]] static failure_facts describe(const boost::system::system_error& error) noexcept {
        return detail::describe_error_code(error.code());
    }
};

template <>
struct outcome_traits<boost::system::error_code> {
    [[nodiscard]] static bool is_failure(const boost::system::error_code& code) noexcept {
        return code.failed();
    }
    [[nodiscard]] static failure_facts facts(const boost::system::error_code& code) noexcept {
        return detail::describe_error_code(code);
    }
};

#endif

namespace detail::inline REPRISE_VARIANT {

/// A result like `std::expected` whose error is an exception.
template <class R>
concept holds_exception = std::derived_from<outcome_traits<R>, expected_outcome> && requires {
    requires std::same_as<typename outcome_traits<R>::error, std::exception_ptr>;
};

/// As in the blocking loop, and Boost's system errors and codes as well. Types listed by the caller
/// go first.
template <class... Exceptions>
[[nodiscard]] failure_facts describe_thrown(
    const std::exception_ptr& thrown, detail::catching_t<Exceptions...> /*list*/) noexcept {
#if defined(REPRISE_STANDALONE_ASIO)
    return describe_exception(thrown, catching<Exceptions...>);
#else
    return describe_exception(
        thrown, catching<Exceptions..., boost::system::system_error, boost::system::error_code>);
#endif
}

/// The facts of `result` if it is a failure. The exception in a result like
/// `std::expected<T, std::exception_ptr>` has those that it would have if it were thrown.
template <class Operation, class R>
[[nodiscard]] std::optional<failure_facts> failure_with_thrown(
    const Operation& operation, const R& result) noexcept {
    std::optional<failure_facts> facts = failure_in(operation, result);
    if constexpr (!judges_result<Operation, R> && holds_exception<R>) {
        if (facts) {
            facts = describe_thrown(result.error(), catching<>);
        }
    }
    return facts;
}

}  // namespace detail::inline REPRISE_VARIANT

/// Null is success.
template <>
struct outcome_traits<std::exception_ptr> {
    [[nodiscard]] static bool is_failure(const std::exception_ptr& thrown) noexcept {
        return thrown != nullptr;
    }
    template <class = detail::variant>
    [[nodiscard]] static failure_facts facts(const std::exception_ptr& thrown) noexcept {
        return detail::describe_thrown(thrown, catching<>);
    }
};

#if !defined(REPRISE_STANDALONE_ASIO)

/// Canceled: Asio's `operation_aborted`.
template <>
struct REPRISE_EXPORT driver::unattempted_outcome<boost::system::error_code> {
    [[nodiscard]] static boost::system::error_code make(refusal_reason why) noexcept;
};

#endif

template <>
struct driver::unattempted_outcome<std::exception_ptr> {
    [[nodiscard]] static std::exception_ptr make(refusal_reason why) noexcept {
        return std::make_exception_ptr(retry_error(detail::unattempted_errc(why)));
    }
};

}  // namespace reprise
