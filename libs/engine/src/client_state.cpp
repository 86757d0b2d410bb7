#include "client_state.hpp"

#include <algorithm>

#include "services/service_settings.hpp"

namespace reprise::engine {

client_budgets::client_budgets(const engine_options& options)
    : of_client_(options.retry_budget), of_services_(options.service_retry_budgets) {
    for (std::size_t index = 0; index < by_service_.size(); ++index) {
        retry_budget* const own = find_budget(of_services_, static_cast<wire::service>(index));
        retry_budget* const shared = of_client_ ? &*of_client_ : nullptr;
        by_service_[index] = own != nullptr ? own : shared;
    }
}

template <class State>
std::shared_ptr<State> terminal_states::find(state_map<State>& in, std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto known = in.by_name.find(std::string(name));
    if (known != in.by_name.end()) {
        if (auto state = known->second.lock()) {
            return state;
        }
    }
    // Servers name nodes: what no loop knows any more must not pile up. Looking for it only when
    // the map has doubled keeps the cost of a new name constant on average.
    if (in.by_name.size() >= in.sweep_size) {
        std::erase_if(in.by_name, [](const auto& each) { return each.second.expired(); });
        in.sweep_size = std::max(sweep_size_min, 2 * in.by_name.size());
    }
    auto made = std::make_shared<State>();
    in.by_name.insert_or_assign(std::string(name), made);
    return made;
}

std::shared_ptr<node_terminal_state> terminal_states::of_node(std::string_view name) {
    return find(nodes_, name);
}

std::shared_ptr<bucket_terminal_state> terminal_states::of_bucket(std::string_view name) {
    return find(buckets_, name);
}

}  // namespace reprise::engine
