#pragma once

/// Settings that contradict themselves are refused when a strategy or bucket is built, by name.

#include <optional>
#include <string>
#include <utility>

#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

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
}  // namespace detail

/// Passes `options` through if they hold together, throws `invalid_settings` otherwise. For member
/// initialiser lists.
template <class Options>
[[nodiscard]] Options checked(const Options& options) {
    if (std::optional<settings_error> error = check(options)) {
        detail::throw_invalid_settings(std::move(*error));
    }
    return options;
}

}  // namespace reprise
