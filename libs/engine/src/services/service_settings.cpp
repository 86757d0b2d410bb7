#include "services/service_settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace reprise::engine {
namespace {

using budget_field = std::optional<service_budget> service_budgets::*;

// The field of each service that has one, by the service's name.
struct named_budget_field {
    std::string_view service;
    budget_field budget;
};

constexpr auto named_budget_fields = std::to_array<named_budget_field>({
    {"key_value", &service_budgets::key_value},
    {"query", &service_budgets::query},
    {"analytics", &service_budgets::analytics},
    {"search", &service_budgets::search},
    {"views", &service_budgets::views},
    {"management", &service_budgets::management},
});

// Services that have no field of their own share management's.
consteval std::array<budget_field, wire::service_count> make_budget_fields() {
    std::array<budget_field, wire::service_count> fields{};
    fields.fill(&service_budgets::management);
    for (const named_budget_field& each : named_budget_fields) {
        const auto* const of =
            std::ranges::find(wire::service_table, each.service, &wire::service_facts::name);
        fields[static_cast<std::size_t>(of->which)] = each.budget;
    }
    return fields;
}

constexpr auto budget_fields = make_budget_fields();

static_assert(
    std::ranges::count_if(wire::service_table, &wire::service_facts::is_used) ==
        std::ssize(named_budget_fields),
    "each service that the client uses has a budget");

}  // namespace

service_budget* find_budget(service_budgets& given, wire::service service) noexcept {
    auto& budget = given.*budget_fields[static_cast<std::size_t>(service)];
    return budget ? &*budget : nullptr;
}

}  // namespace reprise::engine
