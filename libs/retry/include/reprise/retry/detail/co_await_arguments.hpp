#pragma once

/// Which arguments may be temporaries in a `co_await` expression.
///
/// GCC before 13 destroys some temporaries of such an expression twice: aggregates made in place
/// (`options{.timeout = 1s}`, `{}`) and closures (`[url] { ... }`). Whatever they own is then freed
/// twice. Functions whose results are awaited refuse such arguments on these compilers.

#include <type_traits>

namespace reprise::detail {

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
inline constexpr bool co_await_destroys_twice = true;
#else
inline constexpr bool co_await_destroys_twice = false;
#endif

/// `T` as deduced from a forwarding reference `T&&`: not a reference for a temporary.
template <class T>
inline constexpr bool may_be_temporary_in_co_await =
    !co_await_destroys_twice || std::is_reference_v<T> || std::is_trivially_destructible_v<T>;

/// Does not compile if the result of a call is awaited and one of its arguments would be destroyed
/// twice.
template <bool IsAwaited, class... Given>
constexpr void check_co_await_arguments() noexcept {
    static_assert(
        !IsAwaited || (may_be_temporary_in_co_await<Given> && ...),
        "GCC 12 miscompiles this: name it first");
}

}  // namespace reprise::detail
