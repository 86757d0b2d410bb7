#include <reprise/lab/scenario.hpp>

namespace reprise::lab {

namespace {

/// Options that the strategy does not set stay as they are.
void replace(retry_options& replaced, const strategy_choice& choice) {
    retry_options retries = choice.retries;
    if (!retries.attempt_timeout) {
        retries.attempt_timeout = replaced.attempt_timeout;
    }
    if (!retries.deadline) {
        retries.deadline = replaced.deadline;
    }
    retries.propagates_deadline |= replaced.propagates_deadline;
    replaced = std::move(retries);
}

}  // namespace

model with_strategy(const scenario& in, const strategy_choice& choice) {
    model result = in.model;
    replace(result.clients.retries, choice);
    if (choice.is_in_every_layer) {
        for (service_options& service : result.services) {
            replace(service.retries, choice);
        }
    }
    return result;
}

comparison compare(const scenario& asked) {
    comparison result{asked, {}};
    for (const strategy_choice& choice : asked.strategies) {
        result.results.push_back({choice, run(with_strategy(asked, choice))});
    }
    return result;
}

}  // namespace reprise::lab
