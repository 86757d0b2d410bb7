#pragma once

#include <span>
#include <string_view>

#include "management/roles.hpp"
#include "services/service_state.hpp"

namespace reprise::sandbox::detail {

// One method of one path of a service. The tables are also what docs/sandbox.md lists.
struct service_route {
    std::string_view method;
    // Parts in braces stand for any text.
    std::string_view path;
    service_response (*answer)(service_exchange& with);
    // What the user must be allowed to do, in the bucket if there is one.
    privilege needs;
    std::string_view what;  // for people
};

struct route_match {
    const service_route* route = nullptr;
    bool is_path = false;  // the path is known, if perhaps with other methods only
};
route_match find_route(std::span<const service_route> routes, const service_exchange& with);

std::span<const service_route> query_routes() noexcept;
std::span<const service_route> analytics_routes() noexcept;
std::span<const service_route> search_routes() noexcept;
std::span<const service_route> views_routes() noexcept;
std::span<const service_route> management_routes() noexcept;

}  // namespace reprise::sandbox::detail
