#pragma once

/// The library's own errors: one enumeration, one category, and one exception that carries them.
/// They are reported only where the operation has no error of its own, because no attempt was made.

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/refusal_reason.hpp>

namespace reprise {

/// Their category is "reprise.retry". Compare a code with an enumerator, `code ==
/// retry_errc::circuit_open`: that also holds for a code from another copy of this library, e.g. in
/// a plugin, whose category is another object of the same name.
enum class retry_errc {
    /// A circuit breaker is open: nothing was sent. Safe to retry later.
    circuit_open = 1,
    /// The caller asked to stop before the first attempt: nothing was sent. Also equals
    /// `std::errc::operation_canceled`.
    canceled = 2,
    /// A setting or an option cannot work (`invalid_settings`). A retry does not help.
    invalid_settings = 3,
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
namespace detail {

/// Why the loop made no attempt; `none` for errors that are no refusals.
[[nodiscard]] REPRISE_EXPORT refusal_reason refusal_of(retry_errc error) noexcept;

}  // namespace detail

/// The exception of this library. Loops throw it when they make no attempt and the result cannot
/// carry the error.
class REPRISE_EXPORT retry_error : public std::system_error {
public:
    explicit retry_error(retry_errc error)
        : std::system_error(make_error_code(error)), refusal_(detail::refusal_of(error)) {}

    /// As the history and observers report it.
    [[nodiscard]] refusal_reason refusal() const noexcept { return refusal_; }

private:
    refusal_reason refusal_;
};

/// One setting that cannot work, and why.
struct settings_error {
    std::string field;    ///< As written in the options struct, e.g. "backoff.cap".
    std::string message;  ///< One sentence for people.
};

/// Thrown by constructors that take options. Programs without a handler for it can call
/// `check(options)` first, which returns the same thing as a value. Built with `-fno-exceptions`,
/// the constructors write the message to stderr and abort.
class REPRISE_EXPORT invalid_settings : public retry_error {
public:
    explicit invalid_settings(settings_error error)
        : retry_error(retry_errc::invalid_settings),
          error_(std::move(error)),
          text_(error_.field + ": " + error_.message) {}

    /// "backoff.cap: must not be below the base".
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
    [[nodiscard]] const std::string& field() const noexcept { return error_.field; }
    [[nodiscard]] const std::string& message() const noexcept { return error_.message; }

private:
    settings_error error_;
    std::string text_;
};

namespace detail {

[[noreturn]] REPRISE_EXPORT void throw_invalid_settings(settings_error error);
/// For a blocking operation that takes no `attempt`.
[[noreturn]] REPRISE_EXPORT void throw_unseen_attempt_timeout();

/// Passes `options` through if they hold together, throws `invalid_settings` otherwise. For member
/// initialiser lists.
template <class Options>
[[nodiscard]] Options checked(const Options& options) {
    if (std::optional<settings_error> error = check(options)) {
        throw_invalid_settings(std::move(*error));
    }
    return options;
}

}  // namespace detail

}  // namespace reprise

template <>
struct std::is_error_condition_enum<reprise::retry_errc> : std::true_type {};
