#pragma once

/// Calls into user code from functions that never throw. In programs built without exceptions the
/// call is made as it is.

#include <utility>

#include <reprise/retry/detail/variant.hpp>

namespace reprise::detail::inline REPRISE_VARIANT {

/// What `call` returns, or `fallback` if it throws.
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

}  // namespace reprise::detail::inline REPRISE_VARIANT
