#pragma once

#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::engine {

using service_budget = decltype(service_budgets::management)::value_type;

// The budget that pays for retries of a service; management's for services without one of their
// own. Null if the user gave none.
[[nodiscard]] service_budget* find_budget(service_budgets& given, wire::service service) noexcept;

}  // namespace reprise::engine
