#pragma once

#include <string>

namespace reprise::app {

/// Prints the warnings about a file's settings, each with the curve of a run that shows it. Throws
/// `exit_request` with `exit_code::failed` if there are any.
void lint_file(const std::string& path, bool is_json);

}  // namespace reprise::app
