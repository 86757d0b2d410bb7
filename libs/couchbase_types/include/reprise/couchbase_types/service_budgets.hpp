#pragma once

#include <optional>

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

}  // namespace reprise::couchbase
