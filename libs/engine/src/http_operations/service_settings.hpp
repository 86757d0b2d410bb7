#pragma once

#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::engine {

using service_budget = decltype(service_budgets::management)::value_type;

// The budget for retries of a service. Services without a budget of their own use that of
// management. Null if the user set none.
[[nodiscard]] service_budget* find_budget(service_budgets& given, wire::service service) noexcept;

}  // namespace reprise::engine
