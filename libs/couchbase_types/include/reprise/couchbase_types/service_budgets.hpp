#pragma once

#include <array>
#include <optional>
#include <string_view>

#include <reprise/retry/budget.hpp>

namespace reprise::couchbase {

/// Retry budgets of single services. Retries of a service are paid from its own bucket, so that a
/// service in trouble cannot use up what the others need. Copies of a budget share its bucket. A
/// service without a budget uses the client's, if there is one.
struct service_budgets {
    std::optional<token_bucket_budget> key_value{};
    std::optional<token_bucket_budget> query{};
    std::optional<token_bucket_budget> analytics{};
    std::optional<token_bucket_budget> search{};
    std::optional<token_bucket_budget> views{};
    std::optional<token_bucket_budget> management{};
};

namespace detail {

// The field of each service, by the service's name.
struct service_budget_field {
    std::string_view service;
    decltype(service_budgets::query) service_budgets::* budget;
};

inline constexpr auto service_budget_fields = std::to_array<service_budget_field>({
    {"key_value", &service_budgets::key_value},
    {"query", &service_budgets::query},
    {"analytics", &service_budgets::analytics},
    {"search", &service_budgets::search},
    {"views", &service_budgets::views},
    {"management", &service_budgets::management},
});

}  // namespace detail

}  // namespace reprise::couchbase
