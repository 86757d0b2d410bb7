#pragma once

/// Files that the build embeds into the library; see `cmake/embed_file.cmake`.

#include <string_view>

namespace reprise::lab::embedded {

/// Chart.js, minified, as the distribution ships it, with its licence note.
[[nodiscard]] std::string_view chart_library() noexcept;

/// `page/page.html` of this folder: the report with placeholders, written `{{name}}`.
[[nodiscard]] std::string_view page() noexcept;

}  // namespace reprise::lab::embedded
