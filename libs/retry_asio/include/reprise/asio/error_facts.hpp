#pragma once

/// Facts of the errors that Asio programs meet: `boost::system::error_code`,
/// `boost::system::system_error`, and results passed on as `std::exception_ptr`.

#include <exception>
#include <system_error>

#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/exception_facts.hpp>
#include <reprise/retry/outcome.hpp>

namespace reprise {

/// As `describe_error_code` for the codes both families know. Besides: the end of a stream is a
/// broken connection (safety `maybe`), a name server that asks to try again is safe. A canceled
/// operation (`operation_aborted`) has no facts: its caller does not want it again.
[[nodiscard]] REPRISE_EXPORT failure_facts
describe_error_code(const boost::system::error_code& code) noexcept;

template <>
struct failure_traits<boost::system::error_code> {
    [[nodiscard]] static failure_facts describe(const boost::system::error_code& code) noexcept {
        return describe_error_code(code);
    }
};

/// Not a `std::system_error`, although it looks like one.
template <>
struct failure_traits<boost::system::system_error> {
    [[nodiscard]] static failure_facts describe(const boost::system::system_error& error) noexcept {
        return describe_error_code(error.code());
    }
};

template <>
struct outcome_traits<boost::system::error_code> {
    [[nodiscard]] static bool is_failure(const boost::system::error_code& code) noexcept {
        return code.failed();
    }
    [[nodiscard]] static failure_facts facts(const boost::system::error_code& code) noexcept {
        return describe_error_code(code);
    }
};

namespace detail {

/// As in the blocking loop, and Boost's system errors as well. Types listed by the caller go first.
template <class... Exceptions>
[[nodiscard]] failure_facts describe_thrown(
    const std::exception_ptr& thrown, catching_t<Exceptions...> /*list*/) noexcept {
    return describe_exception(thrown, catching<Exceptions..., boost::system::system_error>);
}

}  // namespace detail

/// Null is success.
template <>
struct outcome_traits<std::exception_ptr> {
    [[nodiscard]] static bool is_failure(const std::exception_ptr& thrown) noexcept {
        return thrown != nullptr;
    }
    [[nodiscard]] static failure_facts facts(const std::exception_ptr& thrown) noexcept {
        return detail::describe_thrown(thrown, catching<>);
    }
};

/// What an asynchronous loop completes with when it is canceled before its first attempt, so that
/// there is no result to pass on (only possible when the initial token has a delay). Known for
/// error codes (`operation_canceled`; Boost's is Asio's `operation_aborted`), for exceptions
/// (`canceled_before_first_attempt`) and for results like `std::expected` whose error can be made
/// from a `std::error_code`. Specialise it with `static R make()` for your own result type.
template <class R>
struct canceled_outcome;

template <>
struct REPRISE_EXPORT canceled_outcome<boost::system::error_code> {
    [[nodiscard]] static boost::system::error_code make() noexcept;
};

template <>
struct canceled_outcome<std::error_code> {
    [[nodiscard]] static std::error_code make() noexcept {
        return make_error_code(std::errc::operation_canceled);
    }
};

template <>
struct canceled_outcome<std::exception_ptr> {
    [[nodiscard]] static std::exception_ptr make() noexcept {
        return std::make_exception_ptr(canceled_before_first_attempt{});
    }
};

template <detail::expected_like R>
    requires std::constructible_from<typename R::error_type, std::error_code>
struct canceled_outcome<R> {
    [[nodiscard]] static R make() {
        using error = typename R::error_type;
        return R(
            typename R::unexpected_type(error(make_error_code(std::errc::operation_canceled))));
    }
};

}  // namespace reprise
