#pragma once

#include <string_view>

#include <reprise/sandbox/cluster.hpp>

namespace reprise::sandbox::detail {

// Returns the user of an HTTP request: that of a verified client certificate if there is one,
// otherwise the one that the Authorization header names with the correct secret. Null if there is
// none.
const user_options* find_login(
    const cluster& cluster, std::string_view authorization, std::string_view certificate_user);

}  // namespace reprise::sandbox::detail
