#pragma once

#include <sys/types.h>

#include <expected>
#include <string>
#include <string_view>

namespace reprise::sandbox::detail {

// Puts a file in place whole or not at all: written beside `path`, then renamed over it, so that a
// reader never sees half of it. The error names the file and the system's reason.
std::expected<void, std::string> write_whole_file(
    const std::string& path, std::string_view content, mode_t mode);

}  // namespace reprise::sandbox::detail
