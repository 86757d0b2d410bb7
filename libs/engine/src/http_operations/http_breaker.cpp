// Circuit breakers of HTTP endpoints. They belong to the endpoints and are checked before a request
// is queued. The canary is a request of the client itself to the service's health path.

#include <memory>
#include <utility>

#include "http_operations/http_operations.hpp"

namespace reprise::engine {
namespace {

// Accepts any answer, unless the service itself reports that it does not work.
class canary_exchange final : public http_exchange {
public:
    explicit canary_exchange(wire::service service) {
        call_.service = service;
        call_.target = wire::facts_of(service).health_path;
    }
    const service_call& compose(const wire::cluster_configuration*) override { return call_; }
    exchange_result judge(const http_answer& answer) override {
        exchange_result verdict;
        if (answer.status >= 500) {
            verdict.what = exchange_result::step::failed;
        }
        return verdict;
    }

private:
    service_call call_;
};

}  // namespace

void http_operations::breaker_refused(http_slot& slot, time_point now) {
    raise(slot, retry_reason::circuit_breaker_open, now);
}

void http_operations::note_outcome(
    http_pool& pool, const std::error_code& outcome, time_point now) {
    if (!http_nodes::is_allowed(pool)) {
        return;
    }
    parts_.nodes.breakers_of_nodes().on_outcome(*pool.endpoint, outcome, now);
    if (http_nodes::is_allowed(pool)) {
        return;
    }
    waiting_.empty_queue(pool, [&](http_slot& slot) { breaker_refused(slot, now); });
}

// It checks one endpoint, so no other one will do.
void http_operations::end_canary(http_slot& slot, time_point now) {
    endings_.complete_error(slot, errc::request_canceled, false, {}, now);
}

bool http_operations::send_canary(const endpoint_record& endpoint, time_point now) {
    http_pool* pool = pools_.find(endpoint);
    if (pool == nullptr || context_.is_closed) {
        return false;
    }
    http_request asked;
    asked.service = pool->service;
    asked.operation = "canary";
    asked.is_idempotent = true;
    asked.exchange = std::make_unique<canary_exchange>(asked.service);
    // A non-owning pointer: the strategy lives as long as the engine.
    asked.strategy = {std::shared_ptr<driver::retry_strategy>(), &parts_.decider.own_strategy()};
    http_slot& slot = endings_.make_canary(std::move(asked));
    parts_.life.start(slot, {}, {.deadline = endpoint.breaker->next_due().value_or(now)}, now);
    static_cast<void>(parts_.decider.begin(slot, now));
    slot.endpoint = static_cast<std::int32_t>(endpoint.number);
    enqueue(slot, *pool, now);
    return true;
}

}  // namespace reprise::engine
