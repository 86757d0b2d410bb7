#include "services/service_settings.hpp"

#include <algorithm>
#include <array>

namespace reprise::engine {
namespace {

using budget_field = std::optional<service_budget> service_budgets::*;

// Services that have no field of their own share management's.
consteval std::array<budget_field, wire::service_count> make_budget_fields() {
    std::array<budget_field, wire::service_count> fields{};
    fields.fill(&service_budgets::management);
    for (const auto& each : couchbase::detail::used_services) {
        const auto* const of =
            std::ranges::find(wire::service_table, each.name, &wire::service_facts::name);
        if (of->report_name != each.report_name) {
            throw "metrics would count the service as an unknown one";
        }
        fields[static_cast<std::size_t>(of->which)] = each.budget;
    }
    return fields;
}

constexpr auto budget_fields = make_budget_fields();

static_assert(
    std::ranges::count_if(wire::service_table, &wire::service_facts::is_used) ==
        std::ssize(couchbase::detail::used_services),
    "each service that the client uses has a budget, and counters in metrics");

}  // namespace

service_budget* find_budget(service_budgets& given, wire::service service) noexcept {
    auto& budget = given.*budget_fields[static_cast<std::size_t>(service)];
    return budget ? &*budget : nullptr;
}

}  // namespace reprise::engine
