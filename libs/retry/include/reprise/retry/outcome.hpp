#pragma once

/// Distinguishes failed results from successes, for all loops.
///
/// ```
/// shaped like `std::expected`     failed without a value; its error has facts
/// `std::error_code`               failed if it is set
/// your own type                   as its specialisation of `outcome_traits` decides
/// class types, floating-point     plain values: always a success, the operation fails only by
/// values, unsigned integers,      throwing
/// characters, `void`
/// `bool`, `std::optional`,        do not compile: some of their values usually mean failure (-1, a
/// signed integers, enumerations,  null pointer, `CURLE_COULDNT_CONNECT`), but which ones
/// raw pointers                    cannot be seen from the type
/// classes with `ok()`, or with    do not compile either: they are statuses (`grpc::Status`,
/// `value()` and `category()`      `std::error_condition`), but no loop can read them
/// futures, awaitables             do not compile either: they fail after the operation has
///                                 returned
/// a result inside a result, also  does not compile either: only the outer one would be read, and
/// in a pair, tuple, variant, or   nothing of a pair such as `std::pair<std::error_code, T>`
/// in a range such as a vector
/// an error with facts by itself   does not compile either: a value of it may be a failure or not
/// ```
///
/// A class derived from a type with `outcome_traits` is a type of its own: specialise them for it,
/// too, or it counts as a plain value.
///
/// For the last five groups name the failures with `fails_if(predicate, operation)`, specialise
/// `outcome_traits`, or state that there are none among the values:
/// `throws_on_failure(operation)`. An error without facts compiles only with a strategy that
/// decides about such failures, such as `attempts(3)`. In programs built without exceptions, and as
/// the first completion argument of an Asio operation, plain values need `fails_if`, too, because
/// nothing is thrown there.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

namespace detail {

template <class R>
concept optional_like = !expected_like<R> && requires(const R& r) {
    { r.has_value() } -> std::convertible_to<bool>;
    *r;
};

/// `char` and `wchar_t` are signed on some platforms only.
template <class R>
concept signed_number =
    std::signed_integral<R> && !std::same_as<R, char> && !std::same_as<R, wchar_t>;

/// Types of which some values usually mean failure, without a rule for which.
template <class R>
concept may_hide_failure =
    std::same_as<R, bool> || optional_like<R> || std::same_as<R, std::exception_ptr> ||
    (std::is_enum_v<R> && !std::same_as<R, std::byte>) || signed_number<R> ||
    std::is_pointer_v<R> || std::is_null_pointer_v<R>;

/// Classes that report a success or a failure in a way that nothing here reads: `absl::Status`, or
/// Boost's error codes where no header of the Asio forms is included.
template <class R>
concept unread_status = requires(const R& r) {
    { r.ok() } -> std::same_as<bool>;
} || requires(const R& r) {
    r.value();
    r.category();
};

/// True for work of another kind that has not even started, such as Asio's deferred operations.
template <class R>
inline constexpr bool is_not_started = false;

/// Work that has not ended: futures, and coroutines that nothing has awaited.
template <class R>
concept unfinished_work = is_not_started<R> || requires(R& r) {
    r.valid();
    r.wait();
    r.get();
} || requires(R& r) { r.await_ready(); } || requires(R& r) { r.operator co_await(); };

/// The base of operations that carry more than a call: a predicate, a fallback, hedging.
struct operation_wrapper {};

/// True for `std::ref` of such an operation. A loop would see the call and nothing else.
template <class Operation>
inline constexpr bool hides_wrapper = false;
template <class Operation>
inline constexpr bool hides_wrapper<std::reference_wrapper<Operation>> =
    std::derived_from<Operation, operation_wrapper>;

/// True for an operation that can be called with any arguments and ignores them: `std::bind`
/// without placeholders. It takes no `attempt`, although it can be called with one.
template <class Operation>
inline constexpr bool ignores_arguments =
    std::is_bind_expression_v<Operation> && std::invocable<Operation&>;
template <class Operation>
    requires requires { requires Operation::ignores_arguments; }
inline constexpr bool ignores_arguments<Operation> = true;
template <class Operation>
inline constexpr bool ignores_arguments<std::reference_wrapper<Operation>> =
    ignores_arguments<std::remove_cv_t<Operation>>;

/// Fails to compile, with a readable error, if a wrapper hides a part of an operation.
template <class Operation>
constexpr void check_visible() noexcept {
    static_assert(
        !hides_wrapper<Operation>,
        "std::ref hides what fails_if, throws_on_failure, with_fallback and hedged add to an "
        "operation; put std::ref inside: reprise::fails_if(predicate, std::ref(operation))");
}

struct plain_outcome {};
struct expected_outcome {};

inline namespace REPRISE_VARIANT {

#if defined(__cpp_exceptions)
inline constexpr bool can_throw = true;
#else
inline constexpr bool can_throw = false;
#endif

}  // namespace REPRISE_VARIANT

}  // namespace detail

/// Customisation point: `is_failure` must not throw; `facts` is called only for failures, which
/// have no facts if it throws. Optional: `failure(result)` returns a reference to the part of the
/// result that strategies see in a `failure_view`; without it, or if it throws, they see the whole
/// result.
template <class R>
struct outcome_traits : detail::plain_outcome {
    [[nodiscard]] static bool is_failure(const R&) noexcept { return false; }
    [[nodiscard]] static failure_facts facts(const R&) noexcept { return {}; }
};

template <detail::expected_like R>
struct outcome_traits<R> : detail::expected_outcome {
    using error = std::remove_cvref_t<decltype(std::declval<const R&>().error())>;

    [[nodiscard]] static bool is_failure(const R& result) noexcept { return !result.has_value(); }
    // A result of a third state, such as one that holds an exception, throws: it has no error.
    template <class = detail::variant>
    [[nodiscard]] static failure_facts facts(const R& result) {
        return facts_of(result.error());
    }
    [[nodiscard]] static const error& failure(const R& result)
        requires std::is_lvalue_reference_v<decltype(std::declval<const R&>().error())>
    {
        return result.error();
    }
};

template <>
struct outcome_traits<std::error_code> {
    [[nodiscard]] static bool is_failure(const std::error_code& code) noexcept {
        return static_cast<bool>(code);
    }
    template <class = detail::variant>
    [[nodiscard]] static failure_facts facts(const std::error_code& code) noexcept {
        return facts_of(code);
    }
};

namespace detail {

template <class R>
concept plain_result = std::derived_from<outcome_traits<R>, plain_outcome>;

/// A result like `std::expected` whose error has no facts.
template <class R>
inline constexpr bool has_silent_error = false;

template <class R>
    requires std::derived_from<outcome_traits<R>, expected_outcome>
inline constexpr bool has_silent_error<R> =
    !driver::describes_failure<typename outcome_traits<R>::error>;

/// A value that reports failures or is one, even if loops cannot read it.
template <class V>
concept reports_failure =
    !std::is_void_v<V> &&
    (!plain_result<V> || unread_status<V> || unfinished_work<V> || driver::describes_failure<V>);

/// A pair, tuple, array or variant with such a value in it.
template <class R>
inline constexpr bool holds_result = false;

template <class V>
inline constexpr bool is_or_holds_result = reports_failure<V> || holds_result<V>;

template <class R>
    requires requires { std::tuple_size<R>::value; }
inline constexpr bool holds_result<R> = []<std::size_t... Index>(std::index_sequence<Index...>) {
    return (is_or_holds_result<std::remove_cvref_t<std::tuple_element_t<Index, R>>> || ...);
}(std::make_index_sequence<std::tuple_size<R>::value>{});

template <class... V>
inline constexpr bool holds_result<std::variant<V...>> = (is_or_holds_result<V> || ...);

/// A range of such values: `std::vector<std::error_code>`. Only the outermost range is looked into,
/// because the types of some elements, such as those of trees, lead back to the range.
template <class R>
inline constexpr bool has_result_elements = false;

template <class R>
    requires requires(const R& r) {
        requires !std::same_as<typename R::value_type, R>;
        r.begin();
        r.end();
    }
inline constexpr bool has_result_elements<R> =
    is_or_holds_result<std::remove_cv_t<typename R::value_type>>;

/// A result like `std::expected` with such a value, or with one in a part of its value.
template <class R>
concept result_of_result =
    std::derived_from<outcome_traits<R>, expected_outcome> &&
    requires(const R& r) { requires is_or_holds_result<std::remove_cvref_t<decltype(*r)>>; };

/// A strategy that also decides about failures without facts, such as `attempts(3).when(...)`.
template <class Strategy>
concept decides_without_facts = requires { requires Strategy::decides_without_facts; };

/// False for a strategy that names an error which the result `R` cannot have, by `when` or `on`.
template <class Strategy, class R>
inline constexpr bool can_match_error = true;

/// The visible part of a failed result like `std::expected`: its error, or all of it if the
/// error is returned by value.
template <class R>
using seen_failure = std::conditional_t<requires(const R& result) {
    outcome_traits<R>::failure(result);
}, typename outcome_traits<R>::error, R>;

template <class Strategy, class R>
    requires std::derived_from<outcome_traits<R>, expected_outcome> &&
                 requires { Strategy::template can_match<seen_failure<R>>; }
inline constexpr bool can_match_error<Strategy, R> = Strategy::template can_match<seen_failure<R>>;

/// The same for an operation with `fails_if`, of which strategies see the whole result.
template <class Strategy, class R>
inline constexpr bool can_match_result = true;

template <class Strategy, class R>
    requires std::derived_from<outcome_traits<R>, expected_outcome> &&
                 requires { Strategy::template can_match<R>; }
inline constexpr bool can_match_result<Strategy, R> = Strategy::template can_match<R>;

/// An operation that comes with its own predicate (`fails_if`).
template <class Operation, class R>
concept judges_result = requires(const Operation& operation, const R& result) {
    { operation.judge(result) } -> std::same_as<std::optional<failure_facts>>;
};

/// An operation of which no value is a failure (`throws_on_failure`), also behind `std::ref`.
template <class Operation>
concept fails_only_by_throwing = requires {
    requires std::remove_reference_t<std::unwrap_reference_t<Operation>>::fails_only_by_throwing;
};

/// Does not compile for results that could hide a failure. `Throws`: the loop also sees what the
/// operation throws.
template <class Strategy, class Operation, class R, bool Throws>
constexpr void check_result_type() noexcept {
    check_visible<Operation>();
    static_assert(
        !judges_result<Operation, R> || can_match_result<Strategy, R>,
        "the strategy's when(predicate) or on<E>() names an error type, but fails_if lets it see "
        "the "
        "whole result: name the result's type, an exception, or reprise::failure_facts");
    if constexpr (!judges_result<Operation, R>) {
        constexpr bool is_unsaid = plain_result<R> && !fails_only_by_throwing<Operation>;
        constexpr bool is_doubtful = is_unsaid && may_hide_failure<R>;
        constexpr bool is_unread = is_unsaid && unread_status<R>;
        constexpr bool is_unfinished = is_unsaid && unfinished_work<R>;
        constexpr bool is_described =
            is_unsaid && !is_doubtful && !is_unread && driver::describes_failure<R>;
        constexpr bool is_in_parts = is_unsaid && (holds_result<R> || has_result_elements<R>);
        static_assert(
            !has_silent_error<R> || decides_without_facts<Strategy>,
            "the error in this result has no retry facts; give it (1) a function "
            "retry_facts(const E&) in its namespace, (2) a member retry_facts() const, or (3) a "
            "specialisation of reprise::failure_traits<E>; or select the failures to retry in "
            "place: reprise::attempts(3).when(predicate)");
        static_assert(
            can_match_error<Strategy, R>,
            "the strategy's when(predicate) or on<E>() names an error type that this result cannot "
            "have: name the error of the result, or an exception; where error() returns a copy, "
            "name std::error_code or reprise::failure_facts");
        static_assert(
            !is_doubtful,
            "some values of bool, optional, signed integers, enumerations and raw pointers usually "
            "mean failure; define which: reprise::fails_if(predicate, operation), or "
            "reprise::throws_on_failure(operation) if the operation fails only by throwing");
        static_assert(
            !is_unread,
            "this class has a status of its own, ok() or value() and category(), which loops do "
            "not read; define when it is a failure: reprise::fails_if(predicate, operation), a "
            "specialisation of reprise::outcome_traits, or reprise::throws_on_failure(operation); "
            "for Boost's error codes include <reprise/asio/error_facts.hpp>");
        static_assert(
            !is_unfinished,
            "this result is work that has not ended, such as a future or a coroutine, and no loop "
            "would see it fail; wait for it inside the operation (coroutines: "
            "reprise::async_retry)");
        static_assert(
            !result_of_result<R> || fails_only_by_throwing<Operation>,
            "the value of this result is a result itself, and no loop would see it fail; return "
            "one of them, or define when it is a failure: reprise::fails_if(predicate, operation)");
        static_assert(
            !is_in_parts,
            "a part of this result reports failures, such as the error code of a pair, a tuple or "
            "a vector, and no loop would see it fail; define when it is a failure: "
            "reprise::fails_if(predicate, operation), or return something like std::expected");
        static_assert(
            !is_described,
            "this result describes failures (retry_facts, reprise::failure_traits), but nothing "
            "defines when it is one; return it as the error of something like std::expected, or "
            "define when it is a failure: a specialisation of reprise::outcome_traits, or "
            "reprise::fails_if(predicate, operation)");
        static_assert(
            is_doubtful || is_unread || is_unfinished || is_in_parts || is_described ||
                !plain_result<R> || Throws,
            "this result cannot report a failure; return something like std::expected or "
            "std::error_code, or use reprise::fails_if(predicate, operation)");
    }
}

inline namespace REPRISE_VARIANT {

/// The facts of `result` if it is a failure.
template <class Operation, class R>
[[nodiscard]] std::optional<failure_facts> failure_in(
    [[maybe_unused]] const Operation& operation, const R& result) noexcept {
    if constexpr (judges_result<Operation, R>) {
        return operation.judge(result);
    } else {
        if (!outcome_traits<R>::is_failure(result)) {
            return std::nullopt;
        }
        return result_or(failure_facts{}, [&] { return outcome_traits<R>::facts(result); });
    }
}

/// A failed `result` as a strategy sees it.
template <class Operation, class R>
[[nodiscard]] failure_view view_of(const Operation&, const R& result) noexcept {
    if constexpr (!judges_result<Operation, R>) {
        if constexpr (requires { outcome_traits<R>::failure(result); }) {
            static_assert(
                std::is_lvalue_reference_v<decltype(outcome_traits<R>::failure(result))>,
                "outcome_traits<R>::failure must return a reference to a part of the result: "
                "strategies and observers look at it later");
            return result_or(failure_view::of(result), [&] {
                return failure_view::of(outcome_traits<R>::failure(result));
            });
        }
    }
    return failure_view::of(result);
}

}  // namespace REPRISE_VARIANT

}  // namespace detail

}  // namespace reprise

/// Defines which results of an operation are failures, for types that do not show it themselves.
/// ```
///     const std::optional<std::string> row = reprise::retry(
///         strategy, reprise::fails_if(std::logical_not<>{}, [&] { return find_row(asked); }));
/// ```

namespace reprise {

namespace detail {

/// An operation that `fails_if` has wrapped.
template <class Operation>
concept has_predicate = requires { requires Operation::has_predicate; };

/// An operation that is called like the one in it and passes on what that one has: a predicate
/// (`fails_if`), a statement (`throws_on_failure`), a fallback (`with_fallback`), hedging
/// (`hedged`, of the Asio forms).
template <class Operation>
class wrapped_operation : public operation_wrapper {
public:
    static constexpr bool fails_only_by_throwing = detail::fails_only_by_throwing<Operation>;
    static constexpr bool has_predicate = detail::has_predicate<Operation>;
    static constexpr bool ignores_arguments = detail::ignores_arguments<Operation>;

    explicit wrapped_operation(Operation operation) : operation_(std::move(operation)) {
        check_visible<Operation>();
    }

    template <class... Args>
        requires std::invocable<Operation&, Args...>
    decltype(auto) operator()(Args&&... args) {
        return std::invoke(operation_, std::forward<Args>(args)...);
    }
    template <class Result, class = variant>
        requires judges_result<Operation, Result>
    [[nodiscard]] std::optional<failure_facts> judge(const Result& result) const noexcept {
        return operation_.judge(result);
    }
    [[nodiscard]] decltype(auto) recover(const failure_view& failure)
        requires requires(Operation& operation) { operation.recover(failure); }
    {
        return operation_.recover(failure);
    }
    [[nodiscard]] decltype(auto) hedging() const noexcept
        requires requires(const Operation& operation) { operation.hedging(); }
    {
        return operation_.hedging();
    }

private:
    Operation operation_;
};

/// A predicate that returns facts. Facts alone would make a failure of every result.
template <class Predicate, class Result>
concept gives_facts = requires(const Predicate& predicate, const Result& result) {
    { std::invoke(predicate, result) } -> std::same_as<std::optional<failure_facts>>;
};

/// The facts of a failure that states nothing itself, but was named by a predicate.
[[nodiscard]] constexpr failure_facts unless_marked(failure_facts facts) noexcept {
    facts.safety = retry_safety::maybe;
    return facts;
}

/// What a predicate states about a failure with facts of its own: a predicate narrows.
[[nodiscard]] inline failure_facts narrowed(
    failure_facts given, const std::optional<failure_facts>& own) {
    if (own && forbids_retry(*own)) {
        given.safety = retry_safety::no;
    }
    if (own) {
        given.minimum_wait = std::max(given.minimum_wait, own->minimum_wait);
    }
    return given;
}

/// An operation and the predicate that judges its results. Made by `fails_if`.
template <class Predicate, class Operation>
class judged_operation : public wrapped_operation<Operation> {
    static_assert(
        !has_predicate<Operation>,
        "this operation has a predicate already, which a second fails_if would replace; "
        "combine both in one predicate");
    static_assert(
        !detail::fails_only_by_throwing<Operation>,
        "this operation states that none of its values is a failure, as throws_on_failure and "
        "transactions do; remove fails_if, and throw where it fails");

public:
    static constexpr bool has_predicate = true;

    judged_operation(Predicate predicate, Operation operation)
        : wrapped_operation<Operation>(std::move(operation)), predicate_(std::move(predicate)) {}

    /// The facts of a failed result; absent for a success. If the predicate throws, the result may
    /// have been a success: it counts as a failure that must not be retried.
    template <class Result, class = variant>
    [[nodiscard]] std::optional<failure_facts> judge(const Result& result) const noexcept {
        using verdict = std::optional<failure_facts>;
        constexpr bool is_plain = std::predicate<const Predicate&, const Result&>;
        static_assert(
            is_plain || gives_facts<Predicate, Result>,
            "the predicate takes the operation's result and returns bool (true: failed) or "
            "std::optional<reprise::failure_facts> (std::nullopt: a success)");
        return result_or(verdict{failure_facts{.safety = retry_safety::no}}, [&]() -> verdict {
            if constexpr (is_plain) {
                if (!std::invoke(predicate_, result)) {
                    return std::nullopt;
                }
                const failure_facts own = own_facts(result).value_or(failure_facts{});
                return own.safety || own.fault ? own : unless_marked(own);
            } else {
                verdict given = std::invoke(predicate_, result);
                return given ? narrowed(*given, own_facts(result)) : given;
            }
        });
    }

private:
    /// The facts that a failed result has without the predicate.
    template <class Result, class = variant>
    [[nodiscard]] static std::optional<failure_facts> own_facts(const Result& result) {
        if constexpr (!plain_result<Result>) {
            if (outcome_traits<Result>::is_failure(result)) {
                return outcome_traits<Result>::facts(result);
            }
        }
        return std::nullopt;
    }

    Predicate predicate_;
};

/// An operation of which no result is a failure. Made by `throws_on_failure`.
template <class Operation>
class throwing_operation : public wrapped_operation<Operation> {
public:
    static constexpr bool fails_only_by_throwing = true;
    static_assert(
        !detail::has_predicate<Operation>,
        "this operation has a predicate (fails_if), which throws_on_failure would contradict; "
        "remove one of them");

    using wrapped_operation<Operation>::wrapped_operation;
};

}  // namespace detail

/// Wraps `operation` so that every loop treats a result as a failure if `predicate` returns true.
/// The predicate decides instead of `outcome_traits`; exceptions are failures as always.
///
/// It returns `bool` or `std::optional<failure_facts>`. `true` means: failed, with the facts that
/// the result has itself; if it has none, the call may be repeated unless it is marked as not
/// repeatable (`retry_safety::maybe`). Facts add details: whether a retry is safe, how long to
/// wait. They cannot allow a retry that the result itself forbids. In the completion-token loop it
/// sees the first completion argument. Both arguments are copied or moved in; pass
/// `std::ref(operation)` to keep your own.
template <class Predicate, class Operation>
[[nodiscard]] auto fails_if(Predicate&& predicate, Operation&& operation) {
    return detail::judged_operation<std::decay_t<Predicate>, std::decay_t<Operation>>(
        std::forward<Predicate>(predicate), std::forward<Operation>(operation));
}

/// States that `operation` fails only by throwing, so that every loop treats a plain result as a
/// success, although its type has values that often mean failure: an `int`, an enumeration, a
/// pointer, a `bool`, a `std::optional`. Results that report failures themselves, such as
/// `std::expected`, still do.
template <class Operation>
[[nodiscard]] auto throws_on_failure(Operation&& operation) {
    return detail::throwing_operation<std::decay_t<Operation>>(std::forward<Operation>(operation));
}

}  // namespace reprise
