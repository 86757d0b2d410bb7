#pragma once

/// A linter for the settings of a `standard_strategy`, and the figures that follow from them.

#include <string>
#include <vector>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/standard_strategy.hpp>

namespace reprise {

/// One legal but dangerous setting.
struct settings_warning {
    std::string field;
    std::string message;
};

/// The linter's assumptions about the service.
struct lint_context {
    /// Requests per second that the service can answer; 0 when not known.
    double service_capacity = 0.0;
    /// Requests per second that the clients send; 0 when not known.
    double load = 0.0;
};

/// Figures that follow from the settings, for people who must choose them.
struct settings_figures {
    double worst_amplification =
        1.0;  ///< Attempts per request while everything fails, bucket full.
    double lasting_amplification = 1.0;  ///< The same once the bucket is empty.
    duration give_up_after{};            ///< Sum of the longest delays of one request.
    double recovery_load = 0.0;  ///< Above this load an outage does not end without the bucket:
                                 ///< capacity / attempts; 0 when the capacity is not known.
};

/// Computes them.
[[nodiscard]] REPRISE_EXPORT settings_figures
figures(const standard_strategy::options& options, const lint_context& context = {});

/// Warnings for settings that are legal but known to hurt; empty if there are none.
[[nodiscard]] REPRISE_EXPORT std::vector<settings_warning> lint(
    const standard_strategy::options& options, const lint_context& context = {});

}  // namespace reprise
