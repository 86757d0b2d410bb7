#pragma once

/// Files that the build embeds into the library; see `cmake/embed_file.cmake`.

#include <string_view>

namespace reprise::lab::embedded {

/// Chart.js, minified, as the distribution ships it, with its licence note.
[[nodiscard]] std::string_view chart_library() noexcept;

/// `page/page.html` of this folder: the report with placeholders, written `{{name}}`.
[[nodiscard]] std::string_view page() noexcept;

/// `page/style.css`, `page/chart_parts.js` and `page/charts.js`, which pages with charts contain.
[[nodiscard]] std::string_view style() noexcept;
[[nodiscard]] std::string_view chart_parts() noexcept;
[[nodiscard]] std::string_view charts() noexcept;

/// `page/live.html`: the interactive page, with the same placeholders.
[[nodiscard]] std::string_view live_page() noexcept;

/// `page/region.html`: the page of a safe region, with the same placeholders.
[[nodiscard]] std::string_view region_page() noexcept;

/// `page/lint.html`: the page of a settings check, with the same placeholders.
[[nodiscard]] std::string_view lint_page() noexcept;

/// The files of `gallery/`.
[[nodiscard]] std::string_view gallery_outage() noexcept;
[[nodiscard]] std::string_view gallery_metastable() noexcept;
[[nodiscard]] std::string_view gallery_budgets() noexcept;
[[nodiscard]] std::string_view gallery_slow_down() noexcept;
[[nodiscard]] std::string_view gallery_layers() noexcept;
[[nodiscard]] std::string_view gallery_cold_fleet() noexcept;
[[nodiscard]] std::string_view gallery_deploy() noexcept;
[[nodiscard]] std::string_view gallery_bad_node() noexcept;
[[nodiscard]] std::string_view gallery_hedging() noexcept;
[[nodiscard]] std::string_view gallery_jitter_herd() noexcept;
[[nodiscard]] std::string_view gallery_rebalance() noexcept;
[[nodiscard]] std::string_view gallery_new() noexcept;

}  // namespace reprise::lab::embedded
