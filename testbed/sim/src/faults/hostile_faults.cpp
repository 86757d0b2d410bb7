#include <algorithm>

#include "faults/fault_injector.hpp"
#include "world/world.hpp"

// Hostile servers of the cluster. They have the password and are trusted, so the checks are that
// the client stays bounded, keeps its deadlines and recovers.

namespace reprise::sim {
namespace {

using namespace std::chrono_literals;
using sandbox::node_id;
using wire::opcode;

// Redirects every operation on this node's documents.
sandbox::fault_rule redirecting_rule(node_id node) {
    sandbox::fault_rule rule;
    rule.effect = sandbox::fault_status{wire::status::not_my_vbucket, {}};
    rule.node = node;
    rule.bucket = bucket_name;
    rule.ops = {opcode::get,    opcode::set,       opcode::add,       opcode::replace,
                opcode::remove, opcode::increment, opcode::decrement, opcode::touch};
    return rule;
}

}  // namespace

void fault_injector::begin_hostile_fault(const planned_fault& fault, std::uint32_t index) {
    if (fault.kind == fault_kind::lie_about_lengths) {
        world_.net.lie_about_length(
            static_cast<std::uint32_t>(fault.client % world_.clients.size()), node_of(fault).value,
            fault.detail);
        return;
    }
    rule_ids_[index] = world_.cluster.faults().add(redirecting_rule(node_of(fault)));
    world_.queue.push(world_.now, event_kind::step_fault, index);
}

// Publishes a newer configuration with the same content: the node owns what it has just refused.
void fault_injector::redirect_again(const planned_fault& fault, std::uint32_t index) {
    if (rule_ids_[index] == 0) {
        return;
    }
    announce();
    world_.net.pump_wakeups();
    world_.queue.push(
        world_.now + 1ms + 1us * (fault.detail % 4000), event_kind::step_fault, index);
}

void fault_injector::end_hostile_fault(const planned_fault& fault, std::uint32_t index) {
    if (fault.kind == fault_kind::lie_about_lengths) {
        for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
            world_.net.reset(client, node_of(fault).value, false);
        }
        return;
    }
    (void)world_.cluster.faults().remove(rule_ids_[index]);
    rule_ids_[index] = 0;
}

}  // namespace reprise::sim
