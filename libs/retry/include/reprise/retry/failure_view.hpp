#pragma once

/// The failure itself, for strategies that want more than its facts.
///
///     decision refresh(token_state& token, const retry_question& question) {
///         if (const auto* error = question.failure.get_if<shop::order_error>()) { ... }
///     }

#include <exception>
#include <memory>
#include <type_traits>

#include <reprise/retry/detail/export.hpp>

namespace reprise {

namespace detail {

/// One object per type; its address names the type. Not constant: linkers may merge constants.
/// Visible across shared libraries as far as `E` is.
template <class E>
struct REPRISE_EXPORT type_tag {
    inline static char place = 0;
};

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

}  // namespace detail

/// A failed attempt's error, by reference: two pointers, no ownership, no allocation. A view is
/// valid during the call that receives it; copy the error to keep it.
///
/// It refers to what the operation reported:
///
///     something like std::expected   its error
///     std::error_code and the like   the code
///     any other result               the result
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
        return view;
    }

    /// The failure if it is an `E`, otherwise null. Results match by their exact type and cost one
    /// comparison. Exceptions match as in a `catch` clause, which takes about a microsecond.
    template <class E>
    [[nodiscard]] const E* get_if() const noexcept {
        static_assert(
            std::is_same_v<E, std::remove_cvref_t<E>>, "name the type without const and &");
        if (type_ == &detail::type_tag<E>::place) {
            return static_cast<const E*>(object_);
        }
        const auto* thrown = get_if_thrown();
        return thrown != nullptr ? detail::find_thrown<E>(*thrown) : nullptr;
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
};

}  // namespace reprise
