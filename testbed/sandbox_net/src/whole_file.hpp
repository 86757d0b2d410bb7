#pragma once

#include <sys/types.h>

#include <expected>
#include <string>
#include <string_view>

namespace reprise::sandbox::detail {

// Writes a file atomically: writes a file next to `path`, then renames it, so that a reader never
// sees half of it. The error contains the file name and the system's reason.
std::expected<void, std::string> write_whole_file(
    const std::string& path, std::string_view content, mode_t mode);

// The same for a file that must not exist yet. Two processes cannot both succeed.
std::expected<void, std::string> write_new_file(
    const std::string& path, std::string_view content, mode_t mode);

}  // namespace reprise::sandbox::detail
