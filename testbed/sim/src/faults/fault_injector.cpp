#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/sandbox/services.hpp>

#include "faults/fault_injector.hpp"
#include "faults/server_rules.hpp"
#include "scenario/random_choice.hpp"
#include "world/world.hpp"

// The first half of the faults: the network, simple failures of servers, names and identities, and
// how all faults end.

namespace reprise::sim {

namespace {

using engine::connect_failure;
using sandbox::node_id;

std::string named_collection(const planned_fault& fault) {
    return "c" + std::to_string(1 + fault.detail % named_collection_count);
}

constexpr bool is_disturbance(fault_kind kind) noexcept {
    return kind >= fault_kind::corrupt_answers && kind <= fault_kind::hide_service;
}

constexpr bool is_service_fault(fault_kind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return index >= service_fault_kind_first && index < hostile_fault_kind_first;
}

constexpr bool is_hostile_fault(fault_kind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return index >= hostile_fault_kind_first && index < field_fault_kind_first;
}

constexpr bool is_field_fault(fault_kind kind) noexcept {
    return static_cast<std::size_t>(kind) >= field_fault_kind_first;
}

}  // namespace

fault_injector::fault_injector(world& owner)
    : world_(owner), vbuckets_(owner), rule_ids_(2 * owner.plan.faults.size()) {}

node_id fault_injector::node_of(const planned_fault& fault) const {
    return node_id{static_cast<std::uint32_t>(fault.node % world_.plan.node_slots())};
}

void fault_injector::begin(const planned_fault& fault, std::uint32_t index) {
    if (world_.record.is_tracing()) {
        world_.record.line(
            "fault " + std::to_string(index) + " begins: " + std::string(to_string(fault.kind)) +
            ", node " + std::to_string(fault.node) + ", client " + std::to_string(fault.client));
    }
    world_.cluster.on_time(world_.server_now());
    const auto number = static_cast<std::uint32_t>(fault.client % world_.clients.size());
    sim_client& client = *world_.clients[number];
    switch (fault.kind) {
        case fault_kind::reset_connections:
            world_.net.reset(number, node_of(fault).value, fault.detail % 2 == 0);
            break;
        case fault_kind::garbage:
            world_.net.send_garbage(number, node_of(fault).value, fault.detail);
            break;
        case fault_kind::stall_client:
            client.stalled_until = std::max(
                client.stalled_until,
                std::min(world_.now + fault.length, world_.origin + world_.plan.span));
            break;
        case fault_kind::close_client:
            if (client.stalled_until > world_.now) {
                world_.queue.push(client.stalled_until, event_kind::begin_fault, index);
            } else if (!client.is_closed()) {
                client.close();
            }
            break;
        default:  // by group, each with a switch of its own
            if (fault.kind <= fault_kind::fail_tls) {
                begin_network_fault(fault, 1);
            } else if (is_service_fault(fault.kind)) {
                begin_service_fault(fault, index);
            } else if (is_hostile_fault(fault.kind)) {
                begin_hostile_fault(fault, index);
            } else if (is_field_fault(fault.kind)) {
                begin_field_fault(fault, index);
            } else if (is_disturbance(fault.kind)) {
                begin_disturbance(fault, index);
            } else {
                begin_server_fault(fault, index);
            }
            break;
    }
    world_.net.pump_wakeups();
    if (!world_.plan.calls.empty()) {
        world_.net.services().refresh();
    }
}

void fault_injector::end(const planned_fault& fault, std::uint32_t index) {
    if (world_.record.is_tracing()) {
        world_.record.line(
            "fault " + std::to_string(index) + " ends: " + std::string(to_string(fault.kind)));
    }
    world_.cluster.on_time(world_.server_now());
    if (fault.kind <= fault_kind::fail_tls) {
        begin_network_fault(fault, -1);
    } else if (is_service_fault(fault.kind)) {
        end_service_fault(fault, index);
    } else if (is_hostile_fault(fault.kind)) {
        end_hostile_fault(fault, index);
    } else if (is_field_fault(fault.kind)) {
        end_field_fault(fault);
    } else if (is_disturbance(fault.kind)) {
        end_disturbance(fault, index);
    } else {
        end_server_fault(fault, index);
    }
    world_.net.pump_wakeups();
    if (!world_.plan.calls.empty()) {
        world_.net.services().refresh();
    }
}

// `step` is 1 at the start and -1 at the end.
void fault_injector::begin_network_fault(const planned_fault& fault, int step) {
    const auto client = static_cast<std::uint32_t>(fault.client % world_.clients.size());
    const std::uint32_t node = node_of(fault).value;
    path_trouble& path = world_.net.path(client, node);
    switch (fault.kind) {
        case fault_kind::partition:
            path.blocked_up += step;
            path.blocked_down += step;
            break;
        case fault_kind::partition_to_server:
            path.blocked_up += step;
            break;
        case fault_kind::partition_to_client:
            path.blocked_down += step;
            break;
        case fault_kind::slow_link:
            path.slow += step;
            break;
        case fault_kind::tiny_writes:
            path.tiny_writes += step;
            break;
        case fault_kind::refuse_connects:
            path.refuse += step;
            break;
        case fault_kind::ignore_connects:
            path.ignore += step;
            break;
        case fault_kind::fail_names:
            path.no_name += step;
            break;
        case fault_kind::fail_tls: {
            constexpr std::array<connect_failure, 6> kinds = {
                connect_failure::tls_untrusted, connect_failure::tls_wrong_host,
                connect_failure::tls_expired,   connect_failure::tls_alert,
                connect_failure::tls_protocol,  connect_failure::reset};
            path.tls += step;
            path.tls_kind = kinds[fault.detail % kinds.size()];
            break;
        }
        default:  // of another group: begin_fault does not send it here
            REPRISE_ASSERT(false && "no network fault");
    }
    if (step < 0) {
        world_.net.resume(client, node);
        return;
    }
    // Only connecting clients notice faults of connecting.
    if (fault.kind >= fault_kind::refuse_connects && fault.detail % 4 != 0) {
        world_.net.reset(client, node, fault.detail % 8 < 4);
    }
}

void fault_injector::begin_server_fault(const planned_fault& fault, std::uint32_t index) {
    const node_id node = node_of(fault);
    switch (fault.kind) {
        case fault_kind::server_rule:
        case fault_kind::own_rule: {
            const sandbox::fault_rule rule = make_server_rule(fault, node);
            if (const auto partner = make_partner_rule(rule)) {
                rule_ids_[index + world_.plan.faults.size()] =
                    world_.cluster.faults().add(*partner);
            }
            rule_ids_[index] = world_.cluster.faults().add(rule);
            break;
        }
        case fault_kind::bootstrap_rule:
            rule_ids_[index] = world_.cluster.faults().add(make_server_rule(fault, node));
            world_.net.reset(
                static_cast<std::uint32_t>(fault.client % world_.clients.size()), node.value,
                false);
            break;
        case fault_kind::node_down:
            (void)world_.cluster.topology().set_node_state(node, false);
            break;
        case fault_kind::failover:
            fail_over(fault);
            break;
        case fault_kind::move_vbuckets:
            vbuckets_.move_some(fault.detail, false);
            break;
        case fault_kind::forward_map:
            vbuckets_.move_some(fault.detail, true);
            if (fault.detail % 2 == 0) {
                rule_ids_[index] = world_.cluster.faults().add(make_takeover_rule());
            }
            break;
        case fault_kind::hold_configuration:
            (void)world_.cluster.disturbances().hold_configuration(node, true);
            if (fault.detail % 2 == 0) {
                // It misses a change and sends old configurations to clients that connect in the
                // meantime.
                vbuckets_.move_some(fault.detail, false);
                world_.queue.push(world_.now + fault.length / 2, event_kind::step_fault, index);
            }
            break;
        case fault_kind::hold_replication:
            world_.cluster.durability().hold_replication(true);
            break;
        case fault_kind::hold_persistence:
            world_.cluster.durability().hold_persistence(true);
            break;
        case fault_kind::wrong_password:
        case fault_kind::deny_bucket:
            change_identity(fault, true);
            break;
        case fault_kind::drop_collection:
        case fault_kind::drop_scope:
        case fault_kind::drop_bucket:
            change_names(fault, true);
            break;
        default:  // of another group: begin_fault does not send it here
            REPRISE_ASSERT(false && "no server fault");
    }
}

void fault_injector::end_server_fault(const planned_fault& fault, std::uint32_t index) {
    const node_id node = node_of(fault);
    switch (fault.kind) {
        case fault_kind::server_rule:
        case fault_kind::own_rule:
        case fault_kind::bootstrap_rule:
            (void)world_.cluster.faults().remove(rule_ids_[index]);
            (void)world_.cluster.faults().remove(rule_ids_[index + world_.plan.faults.size()]);
            break;
        case fault_kind::node_down:
            (void)world_.cluster.topology().set_node_state(node, true);
            break;
        case fault_kind::forward_map:
            (void)world_.cluster.faults().remove(rule_ids_[index]);
            vbuckets_.follow_announcement();
            break;
        case fault_kind::hold_configuration:
            (void)world_.cluster.disturbances().hold_configuration(node, false);
            break;
        case fault_kind::hold_replication:
            world_.cluster.durability().hold_replication(false);
            break;
        case fault_kind::hold_persistence:
            world_.cluster.durability().hold_persistence(false);
            break;
        case fault_kind::wrong_password:
        case fault_kind::deny_bucket:
            change_identity(fault, false);
            break;
        case fault_kind::drop_collection:
        case fault_kind::drop_scope:
        case fault_kind::drop_bucket:
            change_names(fault, false);
            break;
        default:  // those that happen at once have no end
            break;
    }
}

void fault_injector::change_identity(const planned_fault& fault, bool is_begin) {
    if (fault.kind == fault_kind::deny_bucket) {
        (void)world_.cluster.buckets().deny(bucket_name, user_name, is_begin);
    } else if (is_begin && fault.detail % 3 == 0) {
        (void)world_.cluster.accounts().drop_user(user_name);
    } else {
        world_.cluster.accounts().put_user(
            {std::string(user_name),
             std::string(is_begin ? "another" : right_password),
             std::string(is_begin ? "another" : right_token),
             {},
             true});
    }
    for (std::uint32_t client = 0; is_begin && client < world_.clients.size(); ++client) {
        for (std::uint32_t node = 0; node < world_.plan.node_slots(); ++node) {
            world_.net.reset(client, node, fault.detail % 2 == 0);
        }
    }
}

void fault_injector::change_names(const planned_fault& fault, bool is_begin) {
    switch (fault.kind) {
        case fault_kind::drop_collection:
            if (is_begin) {
                (void)world_.cluster.buckets().drop_collection(
                    bucket_name, scope_name, named_collection(fault));
            } else {
                (void)world_.cluster.buckets().create_collection(
                    bucket_name, scope_name, named_collection(fault));
            }
            break;
        case fault_kind::drop_scope:
            if (is_begin) {
                (void)world_.cluster.buckets().drop_scope(bucket_name, scope_name);
            } else {
                make_names();
            }
            break;
        case fault_kind::drop_bucket:
            if (!is_begin) {
                make_names();
            } else if (world_.cluster.buckets().drop(bucket_name)) {
                world_.checks.documents.note_loss();
            }
            break;
        default:  // only the three above are about names
            REPRISE_ASSERT(false && "no fault of names");
    }
}

// Recreates what is missing of bucket, scope and collections.
void fault_injector::make_names() {
    if (world_.cluster.buckets().manifest(bucket_name) == nullptr) {
        (void)world_.cluster.buckets().create(make_bucket(world_.plan));
    }
    world_.is_default_restored =
        world_.cluster.buckets().restore_default_collection(bucket_name).has_value() ||
        world_.is_default_restored;
    (void)world_.cluster.buckets().create_scope(bucket_name, scope_name);
    for (std::size_t named = 1; named <= named_collection_count; ++named) {
        (void)world_.cluster.buckets().create_collection(
            bucket_name, scope_name, "c" + std::to_string(named));
    }
    if (!world_.plan.calls.empty()) {
        make_definitions();
    }
}

void fault_injector::fail_over(const planned_fault& fault) {
    // Copies that are outdated or missing make it lossy.
    const auto is_troubled = [this](const planned_fault& other) {
        const bool is_on =
            other.at <= world_.elapsed() && world_.elapsed() <= other.at + other.length;
        return is_on &&
               (other.kind == fault_kind::hold_replication || other.kind == fault_kind::node_down ||
                other.kind == fault_kind::kill_node || other.kind == fault_kind::restart_node);
    };
    if (world_.plan.replica_count == 0 || std::ranges::any_of(world_.plan.faults, is_troubled)) {
        world_.checks.documents.note_loss();
    }
    (void)world_.cluster.topology().failover(node_of(fault));
}

void fault_injector::end_all() {
    if (world_.record.is_tracing()) {
        world_.record.line("all faults end");
    }
    world_.cluster.on_time(world_.server_now());
    world_.cluster.faults().clear();
    end_disturbances();
    for (std::uint32_t node = 0; node < world_.plan.node_slots(); ++node) {
        (void)world_.cluster.disturbances().hold_configuration(node_id{node}, false);
    }
    world_.cluster.durability().hold_replication(false);
    world_.cluster.durability().hold_persistence(false);
    world_.cluster.accounts().put_user(
        {std::string(user_name), std::string(right_password), std::string(right_token), {}, true});
    make_names();
    (void)world_.cluster.buckets().deny(bucket_name, user_name, false);
    vbuckets_.withdraw_announcement();
    if (!world_.plan.calls.empty()) {
        world_.cluster.services().faults().clear();
        make_definitions();
        world_.net.services().refresh();
    }
    world_.net.pump_wakeups();
    for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
        for (std::uint32_t node = 0; node < world_.plan.node_slots(); ++node) {
            world_.net.path(client, node) = {};
            world_.net.resume(client, node);
        }
    }
}

}  // namespace reprise::sim
