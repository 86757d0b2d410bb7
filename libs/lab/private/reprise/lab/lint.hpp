#pragma once

/// Warnings about retry settings of a layer: those of the retry library (`reprise::lint`), and some
/// for settings that only the lab has.

#include <vector>

#include <reprise/lab/retry_options.hpp>
#include <reprise/retry/lint.hpp>
#include <reprise/retry/standard_strategy.hpp>

namespace reprise::lab {

/// Legal settings that are known to hurt; empty if there are none.
[[nodiscard]] std::vector<settings_warning> lint(
    const retry_options& retries, const lint_context& context = {});

}  // namespace reprise::lab
