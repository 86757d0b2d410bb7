#pragma once

/// What depends on how a source is compiled: exported symbols, inline namespaces, exceptions.

#include <type_traits>

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
/// a program mix them, the linker then keeps all; of two functions with one name it would keep any.
/// The same holds for what calls such code, and for plain functions that return such types. Member
/// templates of plain types have `detail::variant` as a template argument for the same reason.
/// `tests/mixed/check_variants.py` compares the bodies.
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

/// What `call` returns, or `fallback` if it throws. For code that has a name for each variant.
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
        static_cast<void>(completes(run, &both));  // Otherwise the fallback is still there.
        return fallback;
    }
}

}  // namespace reprise::detail
