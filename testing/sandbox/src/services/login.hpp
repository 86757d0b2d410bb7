#pragma once

#include <string_view>

#include <reprise/sandbox/cluster.hpp>

namespace reprise::sandbox::detail {

// Who an HTTP request comes from: the user of a verified client certificate if there is one,
// otherwise whoever the Authorization header names with the right secret. Null: nobody.
const user_options* find_login(
    const cluster& cluster, std::string_view authorization, std::string_view certificate_user);

}  // namespace reprise::sandbox::detail
