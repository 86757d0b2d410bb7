#pragma once

/// Inline code that is compiled in another way with -fno-exceptions, or with the standalone Asio
/// instead of Boost's, lives in an inline namespace of its own for each of these. If the sources of
/// a program mix them, the linker then keeps all; of two functions with one name it would keep any.
/// Member templates of plain types have `detail::variant` as a template argument for the same
/// reason.
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

}  // namespace REPRISE_VARIANT

}  // namespace reprise::detail
