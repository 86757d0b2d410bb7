#pragma once

/// Inline code that is compiled in another way with -fno-exceptions lives in an inline namespace of
/// its own for each of the two. If the sources of a program mix them, the linker then keeps both;
/// of two functions with one name it would keep any. Member templates of plain types have
/// `detail::variant` as a template argument for the same reason.
#if defined(__cpp_exceptions)
#define REPRISE_VARIANT with_exceptions
#else
#define REPRISE_VARIANT without_exceptions
#endif

namespace reprise::detail {

inline namespace REPRISE_VARIANT {

/// The way in which this source is compiled.
struct variant {};

}  // namespace REPRISE_VARIANT

}  // namespace reprise::detail
