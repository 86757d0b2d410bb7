// Circuit breakers of HTTP endpoints: the endpoints' own, asked before a request is queued. The
// canary is a request of the client's own to the service's health path.

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <reprise/engine/service_exchange.hpp>

#include "engine_core.hpp"
#include "http_flow.hpp"

namespace reprise::engine {
namespace {

// Any answer will do unless the service says itself that it does not work.
class canary_exchange final : public http_exchange {
public:
    explicit canary_exchange(wire::service service) : path_(wire::facts_of(service).health_path) {}
    void compose(http_call& call) override {
        call.method = "GET";
        call.target = path_;
    }
    exchange_verdict judge(const http_answer& answer) override {
        exchange_verdict verdict;
        if (answer.status >= 500) {
            verdict.what = exchange_verdict::step::failed;
        }
        return verdict;
    }

private:
    std::string_view path_;
};

}  // namespace

bool http_flow::is_allowed(const http_pool& pool) noexcept {
    return !pool.endpoint->breaker || pool.endpoint->breaker->allows();
}

void http_flow::breaker_refused(http_slot& slot, time_point now) {
    raise(slot, retry_reason::circuit_breaker_open, now);
}

// A request that was sent has ended, well or not. Those still waiting for a connection there must
// not be sent once the breaker is open.
void http_flow::note_outcome(http_pool& pool, const std::error_code& outcome, time_point now) {
    if (!is_allowed(pool)) {
        return;
    }
    core_.breakers_.on_outcome(*pool.endpoint, outcome, now);
    if (is_allowed(pool)) {
        return;
    }
    for (std::size_t left = pool.queue.size(); left > 0; --left) {
        http_slot& slot = *pool.queue.front();
        leave_place(slot);
        breaker_refused(slot, now);
    }
}

bool http_flow::send_canary(const endpoint_record& endpoint, time_point now) {
    const auto found =
        std::ranges::find_if(pools_, [&](const auto& pool) { return pool->endpoint == &endpoint; });
    if (found == pools_.end() || core_.is_closed_) {
        return false;
    }
    http_request asked;
    asked.service = (*found)->service;
    asked.operation = "canary";
    asked.is_idempotent = true;
    asked.exchange = std::make_unique<canary_exchange>(asked.service);
    // Not ours to keep alive: it lives as long as the engine.
    asked.strategy = {std::shared_ptr<retry_strategy>(), &core_.own_requests_};
    http_slot& slot = make_slot(std::move(asked), now);
    slot.is_canary = true;
    ++canary_count_;
    slot.deadline = endpoint.breaker->next_due().value_or(now);
    slot.endpoint = static_cast<std::int32_t>(endpoint.number);
    enqueue(slot, **found, now);
    return true;
}

void http_flow::end_canary(http_slot& slot, bool is_answered, time_point now) {
    endpoint_record& endpoint = *core_.endpoints_[static_cast<std::size_t>(slot.endpoint)];
    core_.context_.wheel.disarm(slot);
    slots_.erase(slot.id.value);
    --canary_count_;
    if (is_answered) {
        core_.topology_.close_breaker(endpoint, now);
    } else {
        core_.breakers_.on_canary_lost(endpoint, now);
    }
}

void http_flow::wake_refused(time_point now) {
    for (std::size_t left = breaker_waiters_.size(); left > 0 && !breaker_waiters_.empty();
         --left) {
        http_slot& slot = *breaker_waiters_.front();
        const wire::cluster_configuration* known = configuration_for(slot);
        const http_pool* pool = known == nullptr ? nullptr : choose_pool(slot, *known, turn_);
        if (pool != nullptr && !is_allowed(*pool)) {
            breaker_waiters_.erase(slot);  // its backoff goes on
            breaker_waiters_.push_back(slot);
        } else {
            leave_place(slot);
            begin_attempt(slot, now);
        }
    }
}

// Those that a configuration in use names.
std::unordered_set<const http_pool*> http_flow::offered_pools() const {
    std::unordered_set<const http_pool*> offered;
    for (const auto& bucket : core_.topology_.buckets()) {
        const auto nodes = bucket->configuration ? bucket->configuration->nodes()
                                                 : std::span<const wire::cluster_node>{};
        for (const auto& node : nodes) {
            for (std::size_t index = 0; index < wire::service_count; ++index) {
                const auto service = static_cast<wire::service>(index);
                const auto at =
                    node.endpoint(service, core_.options_.transport, core_.topology_.network());
                if (at) {
                    offered.insert(find_pool(*at, service));
                }
            }
        }
    }
    return offered;
}

// Addresses that no configuration names any more. Connections that are left end by themselves.
void http_flow::forget_pools() {
    if (pools_.empty()) {
        return;
    }
    const auto offered = offered_pools();
    std::erase_if(pools_, [&](const auto& pool) {
        if (offered.contains(pool.get())) {
            return false;
        }
        if (pool->endpoint->link_count == 0) {
            core_.breakers_.forget(*pool->endpoint);
        }
        const bool is_in_use = !pool->connections.empty() || !pool->queue.empty() ||
                               std::ranges::any_of(closing_, [&](const auto& each) {
                                   return each->pool == pool.get();
                               });
        if (!is_in_use) {
            pool->endpoint->is_pooled = false;
            core_.context_.gate.withdraw(*pool);
            pool_index_.erase(pool_key(*pool->endpoint, pool->service));
        }
        return !is_in_use;
    });
    for (const auto& pool : pools_) {
        pool->endpoint->is_pooled = true;  // two services may share an address
    }
}

}  // namespace reprise::engine
