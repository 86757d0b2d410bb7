#pragma once

#include <array>

#include <reprise/base/enum_table.hpp>
#include <reprise/wire/service.hpp>

#include "http_services/service_state.hpp"

namespace reprise::sandbox::detail {

// The services. Each accepts any path and answers unknown ones with 404.
service_response answer_query(service_exchange& with);
service_response answer_analytics(service_exchange& with);
service_response answer_search(service_exchange& with);
service_response answer_views(service_exchange& with);
service_response answer_management_port(service_exchange& with);

// The handler of a service's port.
struct service_handler {
    wire::service which;
    service_response (*answer)(service_exchange&) = nullptr;  // null: there is none
};

inline constexpr std::array service_handlers{
    service_handler{wire::service::key_value},
    service_handler{wire::service::management, answer_management_port},
    service_handler{wire::service::views, answer_views},
    service_handler{wire::service::query, answer_query},
    service_handler{wire::service::search, answer_search},
    service_handler{wire::service::analytics, answer_analytics},
    service_handler{wire::service::eventing},
    service_handler{wire::service::backup},
    service_handler{wire::service::index},
};
static_assert(base::has_row_per_enumerator(service_handlers, &service_handler::which));

}  // namespace reprise::sandbox::detail
