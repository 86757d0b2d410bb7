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
/// `std::error_code` and exceptions are described out of the box, with the facts of stream sockets:
/// a connected datagram socket can report `connection_refused` for a request that was executed, so
/// a client that uses one must provide facts of its own. A type with none of these has no facts. As
/// an exception it is retried by strategies that retry failures without facts, such as
/// `attempts(3)`; as the error of a result it does not compile with any other strategy.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
/// decides (`driver::safety_options::failures_without_facts`).
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
    /// The category of `code`, for its text; null: a plain number. Must outlive the process's
    /// histories, as every category does. Not used to decide.
    const std::error_category* category = nullptr;

    /// The facts of a request that was not sent, e.g. because the connection could not be made: a
    /// retry is safe.
    [[nodiscard]] static constexpr failure_facts not_sent() noexcept {
        return {.safety = retry_safety::yes, .fault = failure_fault::other};
    }

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

namespace detail {

/// True if no strategy may retry the failure, whatever the call is marked as.
[[nodiscard]] constexpr bool forbids_retry(const failure_facts& facts) noexcept {
    return facts.safety == retry_safety::no ||
           (!facts.safety && facts.fault == failure_fault::client);
}

/// `std::error_code`: a connection that was never made is safe to repeat. Everything that can also
/// be reported after the request was sent is `maybe`: broken connections, unreachable hosts and
/// networks, "try again" (a receive timeout of a socket is one), interrupted calls, and
/// `timed_out`, which is a timeout. Windows' own codes and those of Asio and its TLS streams are
/// described in the same way. Other codes have no facts. All of this holds for stream sockets only.
[[nodiscard]] REPRISE_EXPORT failure_facts
describe_error_code(const std::error_code& code) noexcept;

/// One row of a table of errors: an error and its facts.
struct error_row {
    int code = 0;                          ///< 0 where errors are known by their names.
    std::string_view name{};               ///< As its source spells it.
    std::optional<retry_safety> safety{};  ///< Absent: it has no facts.
    bool timeout = false;
    bool throttling = false;
    /// Every row with facts states it: a circuit breaker counts all but the client's.
    std::optional<failure_fault> fault{};
    /// Why a retry cannot execute anything twice. Every `yes` has a reason.
    std::string_view reason{};
};

/// Null if there is no such row.
[[nodiscard]] constexpr const error_row* find_row(
    std::span<const error_row> rows, int code) noexcept {
    for (const error_row& each : rows) {  // Compiles faster than an algorithm.
        if (each.code == code) {
            return &each;
        }
    }
    return nullptr;
}
[[nodiscard]] constexpr const error_row* find_row(
    std::span<const error_row> rows, std::string_view name) noexcept {
    for (const error_row& each : rows) {
        if (each.name == name) {
            return &each;
        }
    }
    return nullptr;
}

/// The errors of one category of error codes: "generic" holds every `std::errc`, "windows" what
/// `std::system_category` holds there, "http" the statuses that differ from their class.
struct error_table {
    std::string_view category;
    std::span<const error_row> rows;
};

/// All tables behind `detail::describe_error_code` and `http_facts`.
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
                return detail::describe_error_code(error);
            } else if constexpr (requires {
                                     error.code();
                                 } && std::is_base_of_v<std::system_error, E>) {
                return detail::describe_error_code(error.code());
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

namespace driver {

/// True for error types that have facts.
template <class E>
concept describes_failure =
    detail::has_failure_traits<E> || detail::has_adl_facts<E> || detail::has_member_facts<E> ||
    std::is_same_v<E, std::error_code> || std::is_base_of_v<std::system_error, E>;

}  // namespace driver

}  // namespace reprise

/// The failure itself, for strategies that need more than its facts.
/// ```
///     reprise::refusal_reason check(const reprise::driver::retry_question& question) const
///     noexcept {
///         const auto* error = question.failure.get_if<shop::stock_error>();
///         ...
///     }
/// ```

namespace reprise {

namespace detail {

/// One object per type; its address names the type. Not constant: linkers may merge constants.
/// Visible across shared libraries as far as `E` is.
template <class E>
struct REPRISE_EXPORT type_tag {
    inline static char place = 0;
};

inline namespace REPRISE_VARIANT {

/// Calls `visit` with the thrown object if it is an `E` or derived from one; false if it is not.
template <class E, class Visit>
bool visit_thrown(const std::exception_ptr& thrown, const Visit& visit) {
#if defined(__cpp_exceptions)
    if (thrown != nullptr) {
        try {
            std::rethrow_exception(thrown);
        } catch (const E& error) {
            visit(error);
            return true;
        } catch (...) {
            return false;
        }
    }
#else
    static_cast<void>(thrown);
    static_cast<void>(visit);
#endif
    return false;
}

/// The thrown object if it is an `E` or derived from one. It lives as long as `thrown` does. Null
/// with MSVC's library, which throws a copy that is gone after the handler.
template <class E>
[[nodiscard]] const E* find_thrown([[maybe_unused]] const std::exception_ptr& thrown) noexcept {
    const E* found = nullptr;
#if !defined(_MSC_VER)
    visit_thrown<E>(thrown, [&found](const E& error) { found = std::addressof(error); });
#endif
    return found;
}

}  // namespace REPRISE_VARIANT

/// The message of a code. Where the system has none (Windows' C library has no text for codes of
/// sockets), the name of the code: "connection refused".
[[nodiscard]] REPRISE_EXPORT std::string text_of_code(const std::error_code& code);

/// `what()` of the exception, or the thrown text or number itself; empty for other types.
[[nodiscard]] REPRISE_EXPORT std::string text_of_thrown(const std::exception_ptr& thrown);

/// The text of an error type: `what()`, `message()`, or a `to_string` found by its argument.
template <class E>
[[nodiscard]] std::string text_of(const E& error) {
    if constexpr (std::is_same_v<E, std::exception_ptr>) {
        return text_of_thrown(error);
    } else if constexpr (std::is_same_v<E, std::error_code>) {
        return text_of_code(error);
    } else if constexpr (requires { std::string(error.what()); }) {
        return std::string(error.what());
    } else if constexpr (requires { std::string(error.message()); }) {
        return std::string(error.message());
    } else if constexpr (std::is_class_v<E> && requires { std::string(to_string(error)); }) {
        return std::string(to_string(error));
    } else {
        return {};
    }
}

template <class E>
[[nodiscard]] std::string text_of_object(const void* error) {
    return text_of(*static_cast<const E*>(error));
}

}  // namespace detail

/// A failed attempt's error, by reference: three pointers, no ownership, no allocation. A view is
/// valid during the call that receives it; copy the error to keep it.
///
/// It refers to what the operation reported:
///
///     something like std::expected   its error; with `fails_if`, the whole result
///     std::error_code and the like   the code
///     any other result               the result, or the part that `outcome_traits::failure` names
///     an exception                   the exception, by its own type or any base of it
class failure_view {
public:
    /// Nothing is known beyond the facts.
    failure_view() noexcept = default;

    /// A view of `failure`, which must outlive it. A non-null `std::exception_ptr` stands for the
    /// exception it holds.
    template <class E>
    [[nodiscard]] static failure_view of(const E& failure) noexcept {
        failure_view view;
        view.object_ = std::addressof(failure);
        view.type_ = &detail::type_tag<E>::place;
        view.text_ = &detail::text_of_object<E>;
        return view;
    }

    /// The failure if it is an `E`, otherwise null. Results match by their exact type and cost one
    /// comparison. Exceptions match as in a `catch` clause, which takes about a microsecond. With
    /// MSVC an exception is never found here: use `visit`.
    template <class E, class = detail::variant>
    [[nodiscard]] const E* get_if() const noexcept {
        static_assert(
            std::is_same_v<E, std::remove_cvref_t<E>>, "name the type without const and &");
        if (type_ == &detail::type_tag<E>::place) {
            return static_cast<const E*>(object_);
        }
        const auto* thrown = get_if_thrown();
        return thrown != nullptr ? detail::find_thrown<E>(*thrown) : nullptr;
    }
    /// Calls `visit(const E&)` if the failure is an `E`, otherwise returns false. What it gets
    /// lives during the call.
    template <class E, class Visit, class = detail::variant>
    bool visit(const Visit& visit) const {
        if (type_ == &detail::type_tag<E>::place) {
            visit(*static_cast<const E*>(object_));
            return true;
        }
        const auto* thrown = get_if_thrown();
        return thrown != nullptr && detail::visit_thrown<E>(*thrown, visit);
    }

    /// The text of the failure: an exception's `what()`, a thrown text or number, the message of an
    /// error code, the `what()`, `message()` or `to_string` of any other type. Empty if it has
    /// none.
    [[nodiscard]] std::string text() const {
        return text_ == nullptr ? std::string() : text_(object_);
    }

    /// False for a default-constructed view.
    [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }

private:
    [[nodiscard]] const std::exception_ptr* get_if_thrown() const noexcept {
        return type_ == &detail::type_tag<std::exception_ptr>::place
                   ? static_cast<const std::exception_ptr*>(object_)
                   : nullptr;
    }

    const void* object_ = nullptr;
    const void* type_ = nullptr;
    std::string (*text_)(const void*) = nullptr;
};

namespace detail {

/// The text of a failure for histories and logs: its own text, that of its code, or that something
/// of an unknown type was thrown.
[[nodiscard]] REPRISE_EXPORT std::string text_of_failure(
    const failure_view& failure, const failure_facts& facts);

}  // namespace detail

}  // namespace reprise

/// Facts of thrown exceptions.
///
/// The loop catches whatever an operation throws and asks, in this order: the exception types
/// listed with `catching<...>`, `failure_description` (for exceptions that can inherit from it),
/// `std::system_error`, and codes that are thrown as they are (`std::error_code`,
/// `std::error_condition`, `std::errc`). Boost's system errors are known to the Asio forms only;
/// for the blocking loop, list them: `catching<boost::system::system_error>`, with
/// `<reprise/asio/error_facts.hpp>`. An exception that none of these covers has no facts: the
/// strategy decides
/// (`driver::safety_options::failures_without_facts`). What is not retried goes on to the caller as
/// the very object that was thrown.

namespace reprise {

/// Base for exception hierarchies that describe themselves.
class REPRISE_EXPORT failure_description {
public:
    failure_description() = default;
    failure_description(const failure_description&) = default;
    failure_description& operator=(const failure_description&) = default;
    virtual ~failure_description();

    /// Called once per failed attempt, from the thread that runs the loop.
    [[nodiscard]] virtual failure_facts retry_facts() const noexcept = 0;
};

namespace detail {

/// A list of exception types that the loop should describe with `facts_of`. Pass it to `retry`:
/// `retry(strategy, options, catching<db_error, http_error>, operation)`.
template <class... Exceptions>
struct catching_t {};

}  // namespace detail

/// The list as an argument.
template <class... Exceptions>
inline constexpr detail::catching_t<Exceptions...> catching{};

namespace detail {

/// Facts by inheritance, or of a code of the standard library; empty for everything else.
[[nodiscard]] REPRISE_EXPORT failure_facts
describe_exception(const std::exception_ptr& thrown) noexcept;

}  // namespace detail

/// An exception that an operation returns instead of throwing it, such as the error of a
/// `std::expected<T, std::exception_ptr>`, has the facts that it would have if it were thrown and
/// no list were given.
template <>
struct failure_traits<std::exception_ptr> {
    [[nodiscard]] static failure_facts describe(const std::exception_ptr& thrown) noexcept {
        return thrown == nullptr ? failure_facts{} : detail::describe_exception(thrown);
    }
};

namespace detail {

inline namespace REPRISE_VARIANT {

template <class E>
[[nodiscard]] std::optional<failure_facts> describe_as(const std::exception_ptr& thrown) noexcept {
    static_assert(
        driver::describes_failure<E>,
        "this exception has no retry facts; give it (1) a function retry_facts(const E&) "
        "in its namespace, (2) a member retry_facts() const, or (3) a specialisation of "
        "reprise::failure_traits<E>");
    std::optional<failure_facts> found;
    visit_thrown<E>(thrown, [&found](const E& error) { found = facts_of(error); });
    return found;
}

template <class... Exceptions>
[[nodiscard]] failure_facts describe_exception(
    const std::exception_ptr& thrown, detail::catching_t<Exceptions...>) noexcept {
    std::optional<failure_facts> found;
    // The first listed type that matches wins, as in a sequence of catch clauses.
    static_cast<void>(((found = describe_as<Exceptions>(thrown)).has_value() || ...));
    return found ? *found : detail::describe_exception(thrown);
}

}  // namespace REPRISE_VARIANT

}  // namespace detail

}  // namespace reprise
