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

// A service that the client uses. The engine checks the rows against its own table.
struct used_service {
    std::string_view name;
    std::string_view report_name;  // in metrics and reports, as in all SDKs
    decltype(service_budgets::query) service_budgets::* budget;
};

inline constexpr auto used_services = std::to_array<used_service>({
    {"key_value", "kv", &service_budgets::key_value},
    {"query", "query", &service_budgets::query},
    {"analytics", "analytics", &service_budgets::analytics},
    {"search", "search", &service_budgets::search},
    {"views", "views", &service_budgets::views},
    {"management", "mgmt", &service_budgets::management},
});

}  // namespace detail

}  // namespace reprise::couchbase
