#pragma once

namespace reprise::base {

/// Prints the failed expression and its location to standard error, then aborts. Never returns.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace reprise::base

/// States what must hold in our own code. It is active in every build, including release builds, so
/// the condition must be cheap. Use it only for programming errors: bytes from a network are
/// checked and become named errors, never assertions. Assert one condition at a time, so that the
/// message shows which one failed.
#define REPRISE_ASSERT(expression) \
    (static_cast<bool>(expression) \
         ? static_cast<void>(0)    \
         : ::reprise::base::assertion_failed(#expression, __FILE__, __LINE__))
