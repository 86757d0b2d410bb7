#include "http_services/routes.hpp"

#include <algorithm>

namespace reprise::sandbox::detail {

bool fits_path(std::string_view pattern, const std::vector<std::string>& parts) {
    std::size_t count = 0;
    pattern.remove_prefix(1);
    while (!pattern.empty()) {
        const std::string_view part = pattern.substr(0, pattern.find('/'));
        pattern.remove_prefix(std::min(part.size() + 1, pattern.size()));
        if (count == parts.size() || (!part.starts_with('{') && parts[count] != part)) {
            return false;
        }
        ++count;
    }
    return count == parts.size();
}

route_match find_route(std::span<const service_route> routes, const service_exchange& with) {
    route_match match;
    for (const service_route& route : routes) {
        if (!fits_path(route.path, with.parts)) {
            continue;
        }
        match.is_path = true;
        if (with.is(route.method)) {
            match.route = &route;
            break;
        }
    }
    return match;
}

}  // namespace reprise::sandbox::detail
