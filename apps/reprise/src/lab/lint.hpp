#pragma once

#include <string>

namespace reprise::app {

struct lab_lint_options {
    std::string file;  ///< A scenario, or settings.
    bool is_json = false;
    std::string html;  ///< File for the page; empty: none.
};

/// Prints the warnings about a file's settings, each with the curve of a run that shows it. Throws
/// `exit_request` with `exit_code::failed` if there are any.
void lint_file(const lab_lint_options& typed);

}  // namespace reprise::app
