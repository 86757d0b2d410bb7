#pragma once

/// Warnings about settings, each with a run that shows what the warning is about.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/lab/lint.hpp>
#include <reprise/lab/scenario.hpp>
#include <reprise/retry/lint.hpp>

namespace reprise::lab {

struct shown_warning {
    std::string strategy;      ///< Name of the settings.
    retry_options settings{};  ///< As used by the clients.
    settings_warning warning;
    model shown{};  ///< The model that was run.
    run_result result;
    /// The same run with full jitter, for a warning about jitter.
    std::optional<run_result> with_jitter{};
};

/// All warnings about the strategies of a scenario. Runs the scenario for each strategy with
/// warnings; warnings about jitter are shown by the gallery's `jitter_herd`.
[[nodiscard]] std::vector<shown_warning> find_warnings(const scenario& in);

/// The scenario that shows what is wrong with settings that have none of their own.
[[nodiscard]] scenario scenario_of_settings(const retry_options& settings);

/// For terminals: curves are drawn with block characters. "No warnings." if there are none.
[[nodiscard]] std::string to_text(std::span<const shown_warning> warnings);

[[nodiscard]] std::string to_json(std::span<const shown_warning> warnings);

/// Returns one self-contained HTML file. `name` is the file that was checked.
[[nodiscard]] std::string to_html(
    std::span<const shown_warning> warnings, std::string_view name, std::string_view command);

}  // namespace reprise::lab
