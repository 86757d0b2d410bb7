#pragma once

/// Builds the errors that `check` functions return.

#include <optional>
#include <string>
#include <utility>

#include <reprise/retry/retry_errc.hpp>

namespace reprise::retry_json::detail {

using invalid_option = std::optional<settings_error>;

[[nodiscard]] inline invalid_option refuse(std::string field, std::string message) {
    return settings_error{std::move(field), std::move(message)};
}

/// Puts `path` before the field of an error, if there is one.
[[nodiscard]] inline invalid_option under(const std::string& path, invalid_option error) {
    if (error) {
        error->field = path + "." + error->field;
    }
    return error;
}

}  // namespace reprise::retry_json::detail
