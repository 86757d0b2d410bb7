#pragma once

/// The failure itself, for strategies that need more than its facts.
/// ```
///     reprise::refusal_reason check(const reprise::driver::retry_question& question) const
///     noexcept {
///         const auto* error = question.failure.get_if<shop::stock_error>();
///         ...
///     }
/// ```

#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>

namespace reprise {

namespace detail {

/// One object per type; its address names the type. Not constant: linkers may merge constants.
/// Visible across shared libraries as far as `E` is.
template <class E>
struct REPRISE_EXPORT type_tag {
    inline static char place = 0;
};

inline namespace REPRISE_VARIANT {

/// The thrown object if it is an `E` or derived from one. It lives as long as `thrown` does.
template <class E>
[[nodiscard]] const E* find_thrown(const std::exception_ptr& thrown) noexcept {
#if defined(__cpp_exceptions)
    if (thrown != nullptr) {
        try {
            std::rethrow_exception(thrown);
        } catch (const E& error) {
            return std::addressof(error);
        } catch (...) {
            return nullptr;
        }
    }
#else
    static_cast<void>(thrown);
#endif
    return nullptr;
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
    /// comparison. Exceptions match as in a `catch` clause, which takes about a microsecond.
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
