#include <algorithm>
#include <array>
#include <iterator>

#include <reprise/base/assert.hpp>
#include <reprise/sandbox/node_disturbance.hpp>
#include <reprise/sandbox/rebalance.hpp>

#include "faults/fault_injector.hpp"
#include "world/world.hpp"

// The second half of the faults: wrong answers of nodes, outdated nodes, and step-by-step changes
// of the cluster.

namespace reprise::sim {

namespace {

using namespace std::chrono_literals;
using sandbox::node_id;
using wire::opcode;

// How an answer is corrupted. Opaques change only in bits that no request uses: an answer to
// another request could not be recognised as wrong.
sandbox::fault_effect corrupt_answer(random_stream& random) {
    // The last three rarely occur on their own. The error map contains the last one.
    constexpr std::array<wire::status, 9> misplaced = {
        wire::status::locked,
        wire::status::etmpfail,
        wire::status::not_my_vbucket,
        wire::status::unknown_collection,
        wire::status::sync_write_in_progress,
        wire::status::sync_write_in_progress,
        wire::status::sync_write_re_commit_in_progress,
        wire::status::sync_write_re_commit_in_progress,
        static_cast<wire::status>(0x7ff0)};
    switch (random.below(9)) {
        case 0:
            return sandbox::fault_answer_twice{};
        case 1:
            return sandbox::fault_wrong_opaque{random.percent(50) ? 0x8000'0000U : 0x0100'0000U};
        case 2:
            return sandbox::fault_truncate{random.below(40)};
        case 3:
            return sandbox::fault_garbage{random.between(1, 60)};
        case 4:
            return sandbox::fault_trickle{random.between(duration{1us}, duration{2ms})};
        case 5:
            return sandbox::fault_status{wire::status::success, {}};
        default:
            // The client accepts it for any request.
            return sandbox::fault_status{misplaced[random.below(misplaced.size())], {}};
    }
}

// A success without a body is not a valid answer to these. For a mutation it is: its token is
// optional.
constexpr bool must_bring_something(opcode op) noexcept {
    using enum wire::response_shape;
    const wire::response_shape answer = wire::opcode_info(op).response;
    return answer == document || answer == counter || answer == meta || answer == subdoc_lookup;
}

sandbox::fault_rule corrupting_rule(std::uint64_t detail, node_id node) {
    random_stream random(detail, 1);
    sandbox::fault_rule rule;
    rule.effect = corrupt_answer(random);
    rule.node = node;
    rule.bucket = bucket_name;
    rule.when.every = random.between(1, 4);
    rule.when.probability = random.percent(50) ? 1.0 : 0.3;
    if (random.percent(70)) {
        rule.when.limit = random.between(1, 8);
    }
    if (auto* announced = std::get_if<sandbox::fault_status>(&rule.effect);
        announced != nullptr && announced->status == wire::status::success) {
        if (random.percent(25)) {
            // A success whose text is not a list of results.
            announced->context.context = "corrupt";
            rule.ops = {opcode::subdoc_multi_mutation};
            return rule;
        }
        // A success without content, only for requests whose answer must have content, since
        // nothing was done.
        for (const engine::operation_facts& facts : engine::operation_table) {
            if (must_bring_something(facts.op)) {
                rule.ops.push_back(facts.op);
            }
        }
    } else if (announced != nullptr && random.percent(60)) {
        // Rare requests would hardly encounter it otherwise.
        constexpr std::array<opcode, 8> rare = {
            opcode::get_replica, opcode::noop,     opcode::subdoc_multi_lookup,
            opcode::unlock,      opcode::get_meta, opcode::subdoc_multi_mutation,
            opcode::get_locked,  opcode::touch};
        rule.ops = {rare[random.below(rare.size())]};
        std::ranges::copy_if(
            rare, std::back_inserter(rule.ops), [&random](opcode) { return random.percent(50); });
        rule.node.reset();
        rule.when.limit.reset();
        rule.when.every = 1;
    }
    return rule;
}

std::string collection_of(const planned_fault& fault) {
    return "c" + std::to_string(1 + fault.detail % named_collection_count);
}

}  // namespace

void fault_injector::change_disturbance(const planned_fault& fault, bool is_begin) {
    const node_id node = node_of(fault);
    sandbox::node_disturbance how = world_.cluster.disturbances().of(node);
    switch (fault.kind) {
        case fault_kind::freeze_node:
            how.is_frozen = is_begin;
            break;
        case fault_kind::corrupt_error_map:
            how.is_error_map_corrupt = is_begin;
            break;
        case fault_kind::corrupt_configuration:
            how.is_configuration_corrupt = is_begin;
            break;
        case fault_kind::reject_credentials:
            how.rejects_credentials = is_begin;
            break;
        case fault_kind::stale_credentials:
            how.stale_login_count = !is_begin               ? 0
                                    : fault.detail % 2 == 0 ? 1 + fault.detail / 2 % 3
                                                            : sandbox::node_disturbance::no_limit;
            break;
        default:  // no other fault disturbs a node
            REPRISE_ASSERT(false && "no disturbance of a node");
    }
    (void)world_.cluster.disturbances().set(node, how);
    // Only connecting clients notice faults of connecting.
    const bool is_about_connecting = fault.kind == fault_kind::corrupt_error_map ||
                                     fault.kind == fault_kind::reject_credentials ||
                                     fault.kind == fault_kind::stale_credentials;
    for (std::uint32_t client = 0;
         is_begin && is_about_connecting && client < world_.clients.size(); ++client) {
        world_.net.reset(client, node.value, false);
    }
}

void fault_injector::begin_disturbance(const planned_fault& fault, std::uint32_t index) {
    const node_id node = node_of(fault);
    switch (fault.kind) {
        case fault_kind::corrupt_answers:
            rule_ids_[index] = world_.cluster.faults().add(corrupting_rule(fault.detail, node));
            break;
        case fault_kind::replay_configuration:
            (void)world_.cluster.disturbances().replay_configuration(node);
            break;
        case fault_kind::hide_collection:
            (void)world_.cluster.buckets().hide_collection(
                node, bucket_name, scope_name, collection_of(fault), true);
            break;
        case fault_kind::recreate_collection:
            (void)world_.cluster.buckets().recreate_collection(
                bucket_name, scope_name, collection_of(fault));
            break;
        case fault_kind::hide_bucket:
            (void)world_.cluster.buckets().set_presence(
                node, bucket_name,
                fault.detail % 2 == 0 ? sandbox::bucket_presence::absent
                                      : sandbox::bucket_presence::config_only);
            break;
        case fault_kind::rebalance:
        case fault_kind::graceful_failover:
            begin_rebalance(fault, index);
            break;
        case fault_kind::kill_node:
            (void)world_.cluster.topology().kill(node);
            break;
        case fault_kind::delay_replication:
            world_.cluster.durability().set_replication_delay(1us * (fault.detail % 200'000));
            break;
        case fault_kind::delay_recommit:
            world_.cluster.durability().set_recommit_delay(1us * (fault.detail % 200'000));
            world_.cluster.durability().hold_recommit(fault.detail % 5 == 0);
            break;
        case fault_kind::hide_service:
            hide_services(true);
            break;
        case fault_kind::freeze_node:
        case fault_kind::corrupt_error_map:
        case fault_kind::corrupt_configuration:
        case fault_kind::reject_credentials:
        case fault_kind::stale_credentials:
            change_disturbance(fault, true);
            break;
        default:  // of another group: only disturbances are sent here
            REPRISE_ASSERT(false && "no disturbance");
    }
    world_.net.pump_wakeups();
}

void fault_injector::end_disturbance(const planned_fault& fault, std::uint32_t index) {
    const node_id node = node_of(fault);
    switch (fault.kind) {
        case fault_kind::corrupt_answers:
            (void)world_.cluster.faults().remove(rule_ids_[index]);
            break;
        case fault_kind::replay_configuration:
        case fault_kind::recreate_collection:
            break;
        case fault_kind::hide_collection:
            (void)world_.cluster.buckets().hide_collection(
                node, bucket_name, scope_name, collection_of(fault), false);
            break;
        case fault_kind::hide_bucket:
            (void)world_.cluster.buckets().set_presence(
                node, bucket_name, sandbox::bucket_presence::full);
            break;
        case fault_kind::rebalance:
        case fault_kind::graceful_failover:
            if (rebalance_fault_ == index) {
                rebalance_fault_ = no_link;
                (void)world_.cluster.topology().stop_rebalance();
            }
            break;
        case fault_kind::kill_node: {
            const bool is_lossy = fault.detail % 3 == 0;
            if (is_lossy) {
                world_.checks.documents.note_loss();
            }
            (void)world_.cluster.topology().restart(
                node,
                is_lossy ? sandbox::restart_kind::without_data : sandbox::restart_kind::with_data);
            break;
        }
        case fault_kind::delay_replication:
            world_.cluster.durability().set_replication_delay(0ns);
            break;
        case fault_kind::delay_recommit:
            world_.cluster.durability().set_recommit_delay(0ns);
            world_.cluster.durability().hold_recommit(false);
            break;
        case fault_kind::hide_service:
            hide_services(false);
            break;
        case fault_kind::freeze_node:
        case fault_kind::corrupt_error_map:
        case fault_kind::corrupt_configuration:
        case fault_kind::reject_credentials:
        case fault_kind::stale_credentials:
            change_disturbance(fault, false);
            break;
        default:  // of another group: only disturbances are sent here
            REPRISE_ASSERT(false && "no disturbance");
    }
    world_.net.pump_wakeups();
}

// Nodes are added back, added and removed as the detail determines, as long as the cluster stays
// usable.
void fault_injector::begin_rebalance(const planned_fault& fault, std::uint32_t index) {
    if (world_.cluster.topology().rebalance_status().is_running) {
        return;
    }
    if (fault.kind == fault_kind::graceful_failover) {
        if (!world_.cluster.topology().begin_graceful_failover(node_of(fault))) {
            return;
        }
    } else {
        random_stream random(fault.detail, 2);
        if (random.percent(50)) {
            for (const sandbox::node_overview& each : world_.cluster.topology().overview()) {
                if (each.state == sandbox::node_state::failed_over &&
                    world_.cluster.topology().add_back(each.node)) {
                    announce(each.node.value);  // it may have missed a change of its ports
                }
            }
        }
        if (added_node_count_ < world_.plan.spare_node_count && random.percent(60)) {
            const std::size_t node = world_.plan.node_count + added_node_count_;
            added_node_count_ +=
                world_.cluster.topology().add_node(make_endpoints(world_.plan, node)) ? 1U : 0U;
        }
        sandbox::rebalance_options options;
        if (world_.cluster.topology().nodes().size() > world_.plan.replica_count + 1 &&
            random.percent(40)) {
            options.eject.push_back(node_of(fault));
        }
        if (!world_.cluster.topology().begin_rebalance(options)) {
            return;
        }
    }
    rebalance_fault_ = index;
    world_.queue.push(world_.now, event_kind::step_fault, index);
}

void fault_injector::step(const planned_fault& fault, std::uint32_t index) {
    if (fault.kind == fault_kind::hold_configuration) {
        for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
            world_.net.reset(client, node_of(fault).value, false);
        }
        return;
    }
    if (fault.kind == fault_kind::redirect_endlessly) {
        return redirect_again(fault, index);
    }
    if (static_cast<std::size_t>(fault.kind) >= field_fault_kind_first) {
        return step_field_fault(fault, index);
    }
    const sandbox::rebalance_progress progress = world_.cluster.topology().rebalance_status();
    if (rebalance_fault_ != index || !progress.is_running) {
        return;
    }
    const auto step = world_.cluster.topology().step_rebalance();
    if (!step || step->is_end) {
        rebalance_fault_ = no_link;
    } else {
        const duration pause = fault.length / static_cast<int>(progress.moves_total + 3);
        world_.queue.push(world_.now + pause, event_kind::step_fault, index);
    }
    if (world_.record.is_tracing()) {
        world_.record.line(
            "rebalance: " + std::to_string(progress.moves_done) + " of " +
            std::to_string(progress.moves_total) + " moves" +
            (!step          ? ", failed"
             : step->is_end ? ", done"
                            : ""));
    }
    world_.net.pump_wakeups();
    if (!world_.plan.calls.empty()) {
        world_.net.services().refresh();
    }
}

void fault_injector::hide_services(bool is_begin) {
    if (is_begin == are_services_hidden_) {
        return;  // two concurrent ones count as one
    }
    are_services_hidden_ = is_begin;
    announce();
}

// Every node announces its ports again, without the hidden ones.
void fault_injector::announce() {
    for (std::uint32_t node = 0; node < world_.plan.node_slots(); ++node) {
        (void)world_.cluster.topology().set_endpoints(node_id{node}, offered_endpoints(node));
    }
}

// One node announces its ports if they changed. Nodes that are failed over cannot be changed.
void fault_injector::announce(std::uint32_t node) {
    const wire::cluster_node* const announced =
        world_.cluster.topology().endpoints_of(node_id{node});
    if (wire::cluster_node offered = offered_endpoints(node);
        announced && announced->ports != offered.ports) {
        (void)world_.cluster.topology().set_endpoints(node_id{node}, std::move(offered));
    }
}

wire::cluster_node fault_injector::offered_endpoints(std::uint32_t node) const {
    wire::cluster_node at = make_endpoints(world_.plan, node);
    for (std::size_t index = 0; index < wire::service_count; ++index) {
        const auto service = static_cast<wire::service>(index);
        const bool is_data = service == wire::service::key_value;
        if (is_data ? are_services_hidden_ : are_calls_hidden_) {
            at.ports.set(service, wire::transport::plain, 0);
            at.ports.set(service, wire::transport::tls, 0);
        }
    }
    return at;
}

void fault_injector::end_disturbances() {
    hide_services(false);
    if (are_calls_hidden_) {
        are_calls_hidden_ = false;
        announce();
    }
    world_.cluster.durability().set_replication_delay(0ns);
    world_.cluster.durability().set_recommit_delay(0ns);
    world_.cluster.durability().hold_recommit(false);
    for (std::uint32_t node = 0; node < world_.plan.node_slots(); ++node) {
        const node_id which{node};
        (void)world_.cluster.disturbances().set(which, {});
        (void)world_.cluster.buckets().set_presence(
            which, bucket_name, sandbox::bucket_presence::full);
        for (const std::string_view name : {"c1", "c2"}) {
            (void)world_.cluster.buckets().hide_collection(
                which, bucket_name, scope_name, name, false);
        }
        if (world_.cluster.topology().state_of(which) == sandbox::node_state::down) {
            (void)world_.cluster.topology().set_node_state(which, true);
        }
    }
    rebalance_fault_ = no_link;
    (void)world_.cluster.topology().stop_rebalance();
    world_.net.pump_wakeups();
}

}  // namespace reprise::sim
