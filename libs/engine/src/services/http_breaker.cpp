// Circuit breakers of HTTP endpoints. They belong to the endpoints and are checked before a request
// is queued. The canary is a request of the client itself to the service's health path.

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <reprise/engine/service_exchange.hpp>

#include "services/http_operations.hpp"

namespace reprise::engine {
namespace {

// Accepts any answer, unless the service itself reports that it does not work.
class canary_exchange final : public http_exchange {
public:
    explicit canary_exchange(wire::service service) : path_(wire::facts_of(service).health_path) {}
    void compose(http_call& call) override {
        call.method = "GET";
        call.target = path_;
    }
    exchange_result judge(const http_answer& answer) override {
        exchange_result verdict;
        if (answer.status >= 500) {
            verdict.what = exchange_result::step::failed;
        }
        return verdict;
    }

private:
    std::string_view path_;
};

}  // namespace

void http_operations::breaker_refused(http_slot& slot, time_point now) {
    raise(slot, retry_reason::circuit_breaker_open, now);
}

// A sent request has succeeded or failed. If this opens the breaker, requests that still wait for a
// connection to the endpoint must not be sent.
void http_operations::note_outcome(
    http_pool& pool, const std::error_code& outcome, time_point now) {
    if (!http_nodes::is_allowed(pool)) {
        return;
    }
    parts_.nodes.breakers_of_nodes().on_outcome(*pool.endpoint, outcome, now);
    if (http_nodes::is_allowed(pool)) {
        return;
    }
    for (std::size_t left = pool.queue.size(); left > 0; --left) {
        http_slot& slot = *pool.queue.front();
        leave_place(slot);
        breaker_refused(slot, now);
    }
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
    asked.strategy = {std::shared_ptr<retry_strategy>(), &parts_.decider.own_strategy()};
    http_slot& slot = make_slot(std::move(asked));
    parts_.life.start(slot, {}, {.deadline = endpoint.breaker->next_due().value_or(now)}, now);
    static_cast<void>(parts_.decider.begin(slot, now));
    slot.is_canary = true;
    ++canary_count_;
    slot.endpoint = static_cast<std::int32_t>(endpoint.number);
    enqueue(slot, *pool, now);
    return true;
}

void http_operations::end_canary(http_slot& slot, bool is_answered, time_point now) {
    endpoint_record& endpoint = parts_.nodes.endpoints()[slot.endpoint];
    parts_.life.drop(slot);
    slots_.erase(slot.id.value);
    --canary_count_;
    if (is_answered) {
        parts_.nodes.close_breaker(endpoint, now);
    } else {
        parts_.nodes.breakers_of_nodes().on_canary_lost(endpoint, now);
    }
}

void http_operations::wake_refused(time_point now) {
    wake_if(
        breaker_waiters_, now, [&](const http_slot& slot) { return candidates_.would_pass(slot); });
}

}  // namespace reprise::engine
