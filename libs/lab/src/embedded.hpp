#pragma once

/// Files put into the library when it is built; see `cmake/embed_file.cmake`.

#include <string_view>

namespace reprise::lab::embedded {

/// Chart.js, minified, as the distribution ships it, with its licence note.
[[nodiscard]] std::string_view chart_library() noexcept;

/// `page/page.html` of this folder: the report with places to fill in, written `{{name}}`.
[[nodiscard]] std::string_view page() noexcept;

}  // namespace reprise::lab::embedded
