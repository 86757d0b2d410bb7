#pragma once

/// The library's own errors: reported only where no attempt was made, so that the operation has no
/// error of its own.

#include <system_error>

#include <reprise/retry/detail/export.hpp>

namespace reprise {

/// Their category is "reprise.retry". Compare a code with an enumerator, `code ==
/// retry_errc::circuit_open`: that also holds for a code from another copy of this library, e.g. in
/// a plugin, whose category is another object of the same name.
enum class retry_errc {
    /// A circuit breaker is open: nothing was sent. Safe to retry later.
    circuit_open = 1,
};

/// The category of retry_errc.
[[nodiscard]] REPRISE_EXPORT const std::error_category& retry_category() noexcept;
/// The error as a code.
[[nodiscard]] inline std::error_code make_error_code(retry_errc error) noexcept {
    return {static_cast<int>(error), retry_category()};
}
/// Found by the constructor of std::error_condition.
[[nodiscard]] inline std::error_condition make_error_condition(retry_errc error) noexcept {
    return {static_cast<int>(error), retry_category()};
}

}  // namespace reprise

template <>
struct std::is_error_condition_enum<reprise::retry_errc> : std::true_type {};
