#pragma once

/// Settings that contradict themselves are refused when a strategy or bucket is built, by name.

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <reprise/retry/detail/export.hpp>

namespace reprise {

/// One setting that cannot work, and why.
struct settings_error {
    std::string field;    ///< As written in the options struct, e.g. "backoff.cap".
    std::string message;  ///< One sentence for people.
};

/// Thrown by constructors that take options. Programs without a handler for it can call
/// `check(options)` first, which returns the same thing as a value. Built with `-fno-exceptions`,
/// the constructors write the message to stderr and abort.
class REPRISE_EXPORT invalid_settings : public std::invalid_argument {
public:
    explicit invalid_settings(settings_error error)
        : std::invalid_argument(error.field + ": " + error.message), error_(std::move(error)) {}

    [[nodiscard]] const std::string& field() const noexcept { return error_.field; }
    [[nodiscard]] const std::string& message() const noexcept { return error_.message; }

private:
    settings_error error_;
};

namespace detail {
[[noreturn]] REPRISE_EXPORT void throw_invalid_settings(settings_error error);
/// For a blocking operation that takes no `attempt`.
[[noreturn]] REPRISE_EXPORT void throw_unseen_attempt_timeout();
}

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
