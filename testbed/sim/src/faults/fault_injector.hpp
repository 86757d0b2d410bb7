#pragma once

#include <cstdint>
#include <vector>

#include <reprise/sandbox/ids.hpp>
#include <reprise/sim/scenario.hpp>
#include <reprise/wire/cluster_node.hpp>

#include "faults/vbucket_moves.hpp"
#include "world/operation_records.hpp"

namespace reprise::sim {

class world;

// Plays the planned faults of a scenario on the network, the cluster and the clients, and takes
// them back. `index` is the number of a fault in the plan.
class fault_injector {
public:
    explicit fault_injector(world& owner);

    void begin(const planned_fault& fault, std::uint32_t index);
    // The next step of a fault that has several.
    void step(const planned_fault& fault, std::uint32_t index);
    void end(const planned_fault& fault, std::uint32_t index);
    // Ends everything that is still active, and recreates what is missing.
    void end_all();
    // Creates the definitions for searches and views, which are lost with the bucket.
    void make_definitions();

private:
    void begin_network_fault(const planned_fault& fault, int step);
    void begin_server_fault(const planned_fault& fault, std::uint32_t index);
    void end_server_fault(const planned_fault& fault, std::uint32_t index);
    void change_identity(const planned_fault& fault, bool is_begin);
    void change_names(const planned_fault& fault, bool is_begin);
    void fail_over(const planned_fault& fault);
    void make_names();
    // disturbance_faults.cpp: the kinds from corrupt_answers to hide_service.
    void begin_disturbance(const planned_fault& fault, std::uint32_t index);
    void end_disturbance(const planned_fault& fault, std::uint32_t index);
    void begin_rebalance(const planned_fault& fault, std::uint32_t index);
    void change_disturbance(const planned_fault& fault, bool is_begin);
    // Ends those that are still active; part of `end_all`.
    void end_disturbances();
    void hide_services(bool is_begin);
    void announce();
    void announce(std::uint32_t node);
    [[nodiscard]] wire::cluster_node offered_endpoints(std::uint32_t node) const;
    // service_faults.cpp: the kinds from service_rule on.
    void begin_service_fault(const planned_fault& fault, std::uint32_t index);
    void end_service_fault(const planned_fault& fault, std::uint32_t index);
    // hostile_faults.cpp: the kinds from lie_about_lengths on.
    void begin_hostile_fault(const planned_fault& fault, std::uint32_t index);
    void end_hostile_fault(const planned_fault& fault, std::uint32_t index);
    void redirect_again(const planned_fault& fault, std::uint32_t index);
    // field_faults.cpp: the kinds from restart_node on.
    void begin_field_fault(const planned_fault& fault, std::uint32_t index);
    void step_field_fault(const planned_fault& fault, std::uint32_t index);
    void end_field_fault(const planned_fault& fault);
    void change_refusal(const planned_fault& fault, bool is_begin);
    void change_left_over(const planned_fault& fault, int step);
    void change_slow_seeds(int step);
    void flood(const planned_fault& fault, std::uint32_t index);
    [[nodiscard]] sandbox::node_id node_of(const planned_fault& fault) const;

    world& world_;
    vbucket_moves vbuckets_;
    std::vector<std::uint64_t> rule_ids_;      // by fault, then their partners
    std::uint32_t rebalance_fault_ = no_link;  // the rebalance whose steps are in progress
    std::uint32_t added_node_count_ = 0;
    bool are_services_hidden_ = false;
    bool are_calls_hidden_ = false;
};

}  // namespace reprise::sim
