#include "http_operations/service_settings.hpp"

#include <algorithm>
#include <array>

#include <reprise/engine/engine_options.hpp>

namespace reprise::engine {
namespace {

using couchbase::cluster_options;
using couchbase::detail::used_service;

// Services that have no fields of their own share management's.
consteval std::array<used_service, wire::service_count> make_fields() {
    std::array<used_service, wire::service_count> fields{};
    fields.fill({{}, {}, &service_budgets::management, &cluster_options::management_timeout});
    for (const used_service& each : couchbase::detail::used_services) {
        const auto* const of =
            std::ranges::find(wire::service_table, each.name, &wire::service_facts::name);
        if (of->report_name != each.report_name) {
            throw "metrics would count the service as an unknown one";
        }
        fields[static_cast<std::size_t>(of->which)] = each;
    }
    return fields;
}

constexpr auto service_fields = make_fields();

static_assert(
    std::ranges::count_if(wire::service_table, &wire::service_facts::is_used) ==
        std::ssize(couchbase::detail::used_services),
    "each service that the client uses has a budget, a timeout, and counters in metrics");

}  // namespace

service_budget* find_budget(service_budgets& given, wire::service service) noexcept {
    auto& budget = given.*service_fields[static_cast<std::size_t>(service)].budget;
    return budget ? &*budget : nullptr;
}

duration timeout_of(wire::service service, const cluster_options& options) noexcept {
    return options.*service_fields[static_cast<std::size_t>(service)].timeout;
}

}  // namespace reprise::engine
