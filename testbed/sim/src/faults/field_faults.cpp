#include <algorithm>
#include <array>
#include <string>

#include <reprise/base/assert.hpp>
#include <reprise/base/byte_writer.hpp>
#include <reprise/sandbox/node_disturbance.hpp>
#include <reprise/sandbox/rebalance.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_messages.hpp>

#include "faults/fault_injector.hpp"
#include "world/world.hpp"

// Faults that were seen on real clusters or used in attacks, before the simulation covered them.

namespace reprise::sim {
namespace {

using namespace std::chrono_literals;
using engine::connect_failure;
using sandbox::node_id;

// A restart is over after a quarter of the fault; the rest is the time until the node has its
// bucket and its indexes.
constexpr int restart_share = 4;

// How the node starts: it is silent for none, for a part or for all of that time.
sandbox::restart_warmup warmup_of(const planned_fault& fault) {
    const duration time = fault.length - fault.length / restart_share;
    const std::array<duration, 4> silences = {0ns, 0ns, time / 3, time};
    return {silences[fault.detail % silences.size()], time};
}

// A configuration of many nodes. Its revision is older than any of the cluster, so it changes
// nothing: it only costs time.
std::vector<std::byte> large_push(std::uint64_t detail) {
    wire::cluster_configuration_description configuration;
    configuration.revision = {0, 1};
    configuration.bucket_name = bucket_name;
    const std::size_t count = 64 + detail % 400;
    for (std::size_t number = 0; number < count; ++number) {
        wire::cluster_node node;
        node.hostname = "flood" + std::to_string(number) + ".example";
        node.ports.set(wire::service::key_value, wire::transport::plain, 11210);
        configuration.nodes.push_back(std::move(node));
    }
    configuration.kv_node_count = count;
    configuration.vbucket_map.assign(16, {0});
    const std::string text = wire::encode_cluster_configuration(configuration);
    wire::cluster_map_change_notification push;
    push.epoch = configuration.revision.epoch;
    push.rev = configuration.revision.rev;
    push.bucket = bucket_name;
    push.config = base::as_bytes(text);
    std::vector<std::byte> bytes;
    base::byte_writer writer(bytes);
    (void)push.encode(writer);
    return bytes;
}

}  // namespace

void fault_injector::begin_field_fault(const planned_fault& fault, std::uint32_t index) {
    switch (fault.kind) {
        case fault_kind::restart_node:
            (void)world_.cluster.topology().kill(node_of(fault));
            world_.queue.push(
                world_.now + fault.length / restart_share, event_kind::step_fault, index);
            break;
        case fault_kind::drop_default_collection:
            if (world_.cluster.buckets().drop_collection(bucket_name, default_name, default_name)) {
                world_.checks.documents.forget_default_documents();
            }
            break;
        case fault_kind::leave_refusing:
            change_refusal(fault, true);
            world_.queue.push(world_.now + fault.length / 2, event_kind::step_fault, index);
            break;
        case fault_kind::flood_configurations:
            flood(fault, index);
            break;
        case fault_kind::left_over_bytes:
            change_left_over(fault, 1);
            break;
        case fault_kind::slow_seeds:
            change_slow_seeds(1);
            break;
        default:  // of another group: begin_fault does not send it here
            REPRISE_ASSERT(false && "no fault from the field");
    }
}

void fault_injector::step_field_fault(const planned_fault& fault, std::uint32_t index) {
    world_.cluster.on_time(world_.server_now());
    if (fault.kind == fault_kind::restart_node) {
        world_.warming_until[node_of(fault).value] = world_.now + warmup_of(fault).absence;
        (void)world_.cluster.topology().restart(
            node_of(fault), sandbox::restart_kind::with_data, warmup_of(fault));
    } else if (fault.kind == fault_kind::leave_refusing) {
        fail_over(fault);
    } else if (world_.elapsed() < fault.at + fault.length) {
        flood(fault, index);
    }
    world_.net.pump_wakeups();
    if (!world_.plan.calls.empty()) {
        world_.net.services().refresh();
    }
}

void fault_injector::end_field_fault(const planned_fault& fault) {
    switch (fault.kind) {
        case fault_kind::drop_default_collection:
            world_.is_default_restored =
                world_.cluster.buckets().restore_default_collection(bucket_name) ||
                world_.is_default_restored;
            break;
        case fault_kind::leave_refusing:
            change_refusal(fault, false);
            break;
        case fault_kind::left_over_bytes:
            change_left_over(fault, -1);
            break;
        case fault_kind::slow_seeds:
            change_slow_seeds(-1);
            break;
        default:  // the others end on their own
            break;
    }
}

// The node refuses every login, or no client can trust its certificate.
void fault_injector::change_refusal(const planned_fault& fault, bool is_begin) {
    const node_id node = node_of(fault);
    const bool is_about_tls = std::ranges::all_of(
        world_.plan.clients,
        [](const planned_client& each) { return !each.uses_scram && !each.uses_bearer; });
    sandbox::node_disturbance how = world_.cluster.disturbances().of(node);
    how.rejects_credentials = is_begin && !is_about_tls && fault.detail % 3 != 0;
    (void)world_.cluster.disturbances().set(node, how);
    for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
        if (is_about_tls || fault.detail % 3 != 1) {
            path_trouble& path = world_.net.path(client, node.value);
            path.tls += is_begin ? 1 : -1;
            path.tls_kind = connect_failure::tls_untrusted;
        }
        if (is_begin) {
            world_.net.reset(client, node.value, false);
        }
    }
}

void fault_injector::change_left_over(const planned_fault& fault, int step) {
    for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
        world_.net.path(client, node_of(fault).value).left_over += step;
    }
}

void fault_injector::change_slow_seeds(int step) {
    for (std::uint32_t client = 0; client < world_.clients.size(); ++client) {
        for (std::uint32_t node = 0; node < world_.plan.node_slots(); ++node) {
            if (!world_.plan.is_hostile(node)) {
                world_.net.path(client, node).slow += step;
            }
        }
    }
}

// One large configuration that is old, and a new one.
void fault_injector::flood(const planned_fault& fault, std::uint32_t index) {
    const std::size_t pushed =
        world_.net.push_configuration(node_of(fault).value, large_push(fault.detail));
    for (std::size_t each = 0; each < pushed; ++each) {
        world_.situations.note(situation::configuration_flood);
    }
    announce();
    world_.net.pump_wakeups();
    world_.queue.push(
        world_.now + 1ms + 1us * (fault.detail % 3000), event_kind::step_fault, index);
}

}  // namespace reprise::sim
