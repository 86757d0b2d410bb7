#include "client_state.hpp"

#include "http_operations/service_settings.hpp"

namespace reprise::engine {

client_budgets::client_budgets(const engine_options& options)
    : of_client_(options.retry_budget), of_services_(options.service_retry_budgets) {
    for (std::size_t index = 0; index < by_service_.size(); ++index) {
        driver::retry_budget* const own =
            find_budget(of_services_, static_cast<wire::service>(index));
        driver::retry_budget* const shared = of_client_ ? &*of_client_ : nullptr;
        by_service_[index] = own != nullptr ? own : shared;
    }
}

}  // namespace reprise::engine
