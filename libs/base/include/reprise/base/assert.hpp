#pragma once

namespace reprise::base {

// Prints the failed expression and where it stands to standard error, then aborts. Never returns.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace reprise::base

// States what must hold in our own code; active in every build, release included, so the condition
// must be cheap. For programming errors only: bytes from a network are checked and become named
// errors, never assertions. One condition per assertion, so that the message says which one failed.
#define REPRISE_ASSERT(expression) \
    (static_cast<bool>(expression) \
         ? static_cast<void>(0)    \
         : ::reprise::base::assertion_failed(#expression, __FILE__, __LINE__))
