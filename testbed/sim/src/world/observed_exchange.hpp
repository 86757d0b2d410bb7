#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <reprise/services/http_exchange.hpp>

#include "world/world.hpp"

namespace reprise::sim {

// Wraps the exchange of a call: forwards its requests and answers and records them. It numbers the
// requests, so that they can be recognised everywhere.
class observed_exchange final : public services::http_exchange {
public:
    observed_exchange(
        world& owner, std::uint32_t operation, std::unique_ptr<services::http_exchange> inner)
        : world_(owner), operation_(operation), inner_(std::move(inner)) {}

    const services::service_call& compose(const wire::cluster_configuration* cluster) override {
        call_ = inner_->compose(cluster);
        call_.headers.push_back({std::string(call_number_field), std::to_string(operation_)});
        world_.checks.calls.on_composed(operation_, call_);
        return call_;
    }
    services::exchange_result judge(const services::http_answer& answer) override {
        services::exchange_result verdict = inner_->judge(answer);
        world_.checks.calls.on_judged(operation_, answer, verdict);
        return verdict;
    }

private:
    world& world_;
    std::uint32_t operation_;
    std::unique_ptr<services::http_exchange> inner_;
    services::service_call call_;
};

}  // namespace reprise::sim
