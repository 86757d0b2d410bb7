#pragma once

/// The version of the whole project. This header is the one place that states it: CMake reads the
/// three numbers, and the package files, the SONAME, `reprise --version` and the recipes follow.

#include <string_view>

#define REPRISE_VERSION_MAJOR 0
#define REPRISE_VERSION_MINOR 1
#define REPRISE_VERSION_PATCH 0

#define REPRISE_DETAIL_QUOTE(x) #x
#define REPRISE_DETAIL_JOIN(major, minor, patch) \
    REPRISE_DETAIL_QUOTE(major) "." REPRISE_DETAIL_QUOTE(minor) "." REPRISE_DETAIL_QUOTE(patch)

namespace reprise {

/// `"MAJOR.MINOR.PATCH"` of the headers that a program was compiled with.
inline constexpr std::string_view version =
    REPRISE_DETAIL_JOIN(REPRISE_VERSION_MAJOR, REPRISE_VERSION_MINOR, REPRISE_VERSION_PATCH);

}  // namespace reprise

#undef REPRISE_DETAIL_JOIN
#undef REPRISE_DETAIL_QUOTE
