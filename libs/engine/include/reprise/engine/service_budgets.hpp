#pragma once

#include <optional>

#include <reprise/retry/budget.hpp>

// Needs the standard library and reprise::retry only; part of the vocabulary that users see.

namespace reprise::engine {

// Retry budgets of single services: retries of one are paid from its own bucket, so that a service
// in trouble cannot use up what the others need. Copies of one budget share its bucket. Absent: the
// service draws from the client's budget, if there is one.
struct service_budgets {
    std::optional<token_bucket_budget> key_value{};
    std::optional<token_bucket_budget> query{};
    std::optional<token_bucket_budget> analytics{};
    std::optional<token_bucket_budget> search{};
    std::optional<token_bucket_budget> views{};
    std::optional<token_bucket_budget> management{};
};

}  // namespace reprise::engine
