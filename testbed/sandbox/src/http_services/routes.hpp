#pragma once

#include <span>
#include <string_view>

#include "http_services/service_state.hpp"
#include "management/roles.hpp"

namespace reprise::sandbox::detail {

// One method of one path of a service. docs/sandbox.md is printed from these tables, too.
struct service_route {
    std::string_view method;
    // Parts in braces match any text.
    std::string_view path;
    service_response (*answer)(service_exchange& with);
    // The privilege that the user needs, in the bucket if there is one.
    privilege needs;
    std::string_view what;  // readable description
};

struct route_match {
    const service_route* route = nullptr;
    bool is_path = false;  // the path is known, but maybe only with other methods
};
// Whether a path has the form of the pattern.
bool fits_path(std::string_view pattern, const std::vector<std::string>& parts);
route_match find_route(std::span<const service_route> routes, const service_exchange& with);

std::span<const service_route> query_routes() noexcept;
std::span<const service_route> analytics_routes() noexcept;
std::span<const service_route> search_routes() noexcept;
std::span<const service_route> views_routes() noexcept;
std::span<const service_route> management_routes() noexcept;

}  // namespace reprise::sandbox::detail
