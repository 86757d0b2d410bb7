#pragma once

/// Files of `page/` that the build embeds into the program, with placeholders for
/// `lab::make_page`.

#include <string_view>

namespace reprise::app::embedded {

/// `page/console.html`
[[nodiscard]] std::string_view console_page() noexcept;

/// `page/demo.html`
[[nodiscard]] std::string_view demo_page() noexcept;

}  // namespace reprise::app::embedded
