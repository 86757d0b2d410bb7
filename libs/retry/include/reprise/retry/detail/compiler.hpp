#pragma once

/// Macros that depend on how a source is compiled: exported symbols, inline namespaces, exceptions,
/// and the compiler's defects.

#include <type_traits>

/// The single header contains this header, too: the second of the two reports what is wrong.
#ifdef REPRISE_COMPILER_HPP
#error "include either Reprise's single header or its headers in libs/, not both"
#endif
#define REPRISE_COMPILER_HPP

/// `REPRISE_EXPORT` marks what a shared library of ours exports: everything else stays hidden. The
/// mark is the same for the library and for its users, so no definition has to agree between the
/// two. The single header exports nothing: it is part of the program or plugin that includes it,
/// and with -fvisibility=hidden two plugins can each have a copy.
#if defined(REPRISE_SINGLE_HEADER) || defined(_WIN32) || !defined(__GNUC__)
#define REPRISE_EXPORT
#else
#define REPRISE_EXPORT [[gnu::visibility("default")]]
#endif

/// Inline code that is compiled in another way with -fno-exceptions, or with the standalone Asio
/// instead of Boost's, lives in an inline namespace of its own for each of these. If the sources of
/// a program mix them, the linker then keeps them all; of two functions with the same name it would
/// keep an arbitrary one. The same holds for what calls such code, and for plain functions that
/// return such types. Member templates of plain types have `detail::variant` as a template argument
/// for the same reason. `libs/retry/tests/mixed/check_variants.py` compares the bodies.
#if defined(__cpp_exceptions) && defined(REPRISE_STANDALONE_ASIO)
#define REPRISE_VARIANT standalone_asio_with_exceptions
#elif defined(__cpp_exceptions)
#define REPRISE_VARIANT with_exceptions
#elif defined(REPRISE_STANDALONE_ASIO)
#define REPRISE_VARIANT standalone_asio_without_exceptions
#else
#define REPRISE_VARIANT without_exceptions
#endif

namespace reprise::detail {

inline namespace REPRISE_VARIANT {

/// The way in which this source is compiled.
struct variant {};

/// The result of `call`, or `fallback` if it throws. For code that has a name for each variant.
template <class Result, class Call>
[[nodiscard]] Result result_or(Result fallback, Call&& call) noexcept {
#if defined(__cpp_exceptions)
    try {
        return call();
    } catch (...) {
        return fallback;
    }
#else
    static_cast<void>(fallback);
    return call();
#endif
}

}  // namespace REPRISE_VARIANT

/// Calls `call(data)`; false if it throws. Compiled into the library, so that sources with and
/// without exceptions share one body. A library built without exceptions makes the call as it is.
[[nodiscard]] REPRISE_EXPORT bool completes(void (*call)(void*), void* data) noexcept;

/// The same as `result_or` for code whose name does not depend on the variant.
template <class Result, class Call>
[[nodiscard]] Result guarded(Result fallback, Call&& call) noexcept {
    if constexpr (noexcept(call())) {
        return call();
    } else {
        struct parts {
            Result& result;
            std::remove_reference_t<Call>& call;
        };
        parts both{fallback, call};
        const auto run = [](void* data) {
            auto& given = *static_cast<parts*>(data);
            given.result = given.call();
        };
        static_cast<void>(completes(run, &both));  // If it threw, `fallback` is unchanged.
        return fallback;
    }
}

// GCC before 13 destroys some temporaries of a `co_await` expression twice: aggregates made in
// place
// (`options{.timeout = 1s}`, `{}`) and closures (`[url] { ... }`). Whatever they own is then freed
// twice. Functions whose results are awaited refuse such arguments on these compilers.
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
