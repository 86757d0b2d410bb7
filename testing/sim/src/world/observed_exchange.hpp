#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <reprise/engine/http_operation.hpp>

#include "world/world.hpp"

namespace reprise::sim {

// Wraps the exchange of a call: forwards its requests and answers and records them. It numbers the
// requests, so that they can be recognised everywhere.
class observed_exchange final : public engine::http_exchange {
public:
    observed_exchange(
        world& owner, std::uint32_t operation, std::unique_ptr<engine::http_exchange> inner)
        : world_(owner), operation_(operation), inner_(std::move(inner)) {}

    void compose(engine::http_call& call) override {
        inner_->compose(call);
        call.headers.push_back({std::string(call_number_field), std::to_string(operation_)});
        world_.checks.calls.on_composed(operation_, call);
    }
    engine::exchange_result judge(const engine::http_answer& answer) override {
        engine::exchange_result verdict = inner_->judge(answer);
        world_.checks.calls.on_judged(operation_, answer, verdict);
        return verdict;
    }

private:
    world& world_;
    std::uint32_t operation_;
    std::unique_ptr<engine::http_exchange> inner_;
};

}  // namespace reprise::sim
