#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::sandbox {

/// One field of an HTTP header. Names are compared case-insensitively.
struct service_header {
    std::string name{};
    std::string value{};
};

/// In the order of the message; a name may occur more than once.
using service_header_list = std::vector<service_header>;

/// Returns the value of the first field with this name. The view is valid until the list changes.
std::optional<std::string_view> find_header(
    const service_header_list& headers, std::string_view name) noexcept;

}  // namespace reprise::sandbox
