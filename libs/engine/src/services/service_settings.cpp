#include "services/service_settings.hpp"

#include <array>

#include <reprise/base/enum_table.hpp>
#include <reprise/engine/http_options.hpp>

namespace reprise::engine {
namespace {

// Where the user sets what for a service.
struct service_setting {
    wire::service which;
    duration http_options::* timeout;
    std::optional<service_budget> service_budgets::* budget;
};

constexpr std::array service_settings{
    service_setting{
        wire::service::key_value, &http_options::management_timeout, &service_budgets::key_value},
    service_setting{
        wire::service::management, &http_options::management_timeout, &service_budgets::management},
    service_setting{wire::service::views, &http_options::views_timeout, &service_budgets::views},
    service_setting{wire::service::query, &http_options::query_timeout, &service_budgets::query},
    service_setting{wire::service::search, &http_options::search_timeout, &service_budgets::search},
    service_setting{
        wire::service::analytics, &http_options::analytics_timeout, &service_budgets::analytics},
    service_setting{
        wire::service::eventing, &http_options::management_timeout, &service_budgets::management},
    service_setting{
        wire::service::backup, &http_options::management_timeout, &service_budgets::management},
    service_setting{
        wire::service::index, &http_options::management_timeout, &service_budgets::management},
};
static_assert(base::has_row_per_enumerator(service_settings, &service_setting::which));

}  // namespace

duration http_options::timeout_of(wire::service service) const noexcept {
    return this->*service_settings[static_cast<std::size_t>(service)].timeout;
}

service_budget* find_budget(service_budgets& given, wire::service service) noexcept {
    auto& budget = given.*service_settings[static_cast<std::size_t>(service)].budget;
    return budget ? &*budget : nullptr;
}

}  // namespace reprise::engine
