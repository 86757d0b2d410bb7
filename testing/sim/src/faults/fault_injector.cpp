#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/sandbox/services.hpp>

#include "faults/fault_injector.hpp"
#include "scenario/random_choice.hpp"
#include "world/world.hpp"

// The first half of the faults: the network, simple failures of servers, names and identities, and
// how all faults end.

namespace reprise::sim {

namespace {

using engine::connect_failure;
using sandbox::node_id;
using wire::opcode;
using wire::status;

template <class Value, std::size_t Count>
Value pick_from(random_stream& random, const std::array<Value, Count>& from) {
    return from[random.below(Count)];
}

// Faults of any request: it is delayed or lost, or the connection breaks.
sandbox::fault_effect lost_or_late(random_stream& random) {
    switch (random.below(4)) {
        case 0:
            return sandbox::fault_delay{random.between(duration{1000}, duration{300'000'000})};
        case 1:
            return sandbox::fault_no_answer{};
        case 2:
            return sandbox::fault_close_before{};
        default:
            return sandbox::fault_close_after{};
    }
}

status operation_status(random_stream& random) {
    constexpr std::array<status, 20> known = {
        status::etmpfail,        status::ebusy,
        status::enomem,          status::locked,
        status::not_my_vbucket,  status::not_my_vbucket,
        status::key_enoent,      status::key_eexists,
        status::einternal,       status::unknown_collection,
        status::eaccess,         status::not_supported,
        status::cancelled,       status::rate_limited_max_commands,
        status::bucket_paused,   status::sync_write_in_progress,
        status::not_initialized, status::sync_write_re_commit_in_progress,
        status::no_bucket,       status::sync_write_ambiguous,
    };
    if (random.percent(60)) {
        return pick_from(random, known);
    }
    // The error map contains these, the first three with a waiting rule, but not the last one.
    return static_cast<status>(0x7ff0 + random.below(random.percent(50) ? 3 : 8));
}

// The opcodes for documents, and two for a single path.
std::vector<opcode> document_ops() {
    std::vector<opcode> ops;
    for (const engine::operation_facts& facts : engine::operation_table) {
        if (wire::opcode_info(facts.op).has_document_key) {
            ops.push_back(facts.op);
        }
    }
    ops.insert(ops.end(), {opcode::subdoc_get, opcode::subdoc_array_push_last});
    return ops;
}

sandbox::fault_rule operation_rule(random_stream& random) {
    sandbox::fault_rule rule;
    for (const opcode op : document_ops()) {
        if (random.percent(70)) {
            rule.ops.push_back(op);
        }
    }
    if (rule.ops.empty()) {
        rule.ops.push_back(opcode::get);
    }
    rule.effect = random.percent(60)
                      ? sandbox::fault_effect{sandbox::fault_status{operation_status(random), {}}}
                      : lost_or_late(random);
    return rule;
}

sandbox::fault_rule bootstrap_rule(random_stream& random) {
    constexpr std::array<opcode, 7> steps = {opcode::hello,
                                             opcode::sasl_list_mechanisms,
                                             opcode::sasl_auth,
                                             opcode::sasl_step,
                                             opcode::select_bucket,
                                             opcode::get_error_map,
                                             opcode::get_cluster_config};
    constexpr std::array<status, 9> refusals = {
        status::etmpfail,   status::eaccess,       status::auth_error,
        status::key_enoent, status::not_supported, status::unknown_command,
        status::einternal,  status::no_bucket,     status::not_initialized};
    sandbox::fault_rule rule;
    rule.ops.push_back(pick_from(random, steps));
    rule.effect =
        random.percent(50)
            ? sandbox::fault_effect{sandbox::fault_status{pick_from(random, refusals), {}}}
            : lost_or_late(random);
    return rule;
}

sandbox::fault_rule own_rule(random_stream& random) {
    constexpr std::array<opcode, 3> requests = {
        opcode::get_cluster_config, opcode::get_collection_id, opcode::noop};
    constexpr std::array<status, 8> refusals = {status::etmpfail,       status::eaccess,
                                                status::key_enoent,     status::unknown_collection,
                                                status::unknown_scope,  status::einternal,
                                                status::not_my_vbucket, status::ebusy};
    sandbox::fault_rule rule;
    rule.ops.push_back(pick_from(random, requests));
    rule.effect =
        random.percent(50)
            ? sandbox::fault_effect{sandbox::fault_status{pick_from(random, refusals), {}}}
            : lost_or_late(random);
    return rule;
}

sandbox::fault_rule rule_of(const planned_fault& fault, node_id node) {
    random_stream random(fault.detail, 3);
    sandbox::fault_rule rule = fault.kind == fault_kind::server_rule      ? operation_rule(random)
                               : fault.kind == fault_kind::bootstrap_rule ? bootstrap_rule(random)
                                                                          : own_rule(random);
    if (random.percent(70)) {
        rule.node = node;
    }
    random_cadence(random, rule);
    return rule;
}

// The error map counts consecutive answers with one status: another status in between must end the
// count.
std::optional<sandbox::fault_rule> partner_of(const sandbox::fault_rule& rule) {
    constexpr std::uint16_t first = 0x7ff0;
    constexpr std::uint16_t count = 3;
    const auto* const with_status = std::get_if<sandbox::fault_status>(&rule.effect);
    const auto code =
        with_status == nullptr ? std::uint16_t{0} : static_cast<std::uint16_t>(with_status->status);
    if (code < first || code >= first + count) {
        return std::nullopt;
    }
    sandbox::fault_rule partner;
    partner.ops = rule.ops;
    partner.node = rule.node;
    partner.when.probability = 0.4;
    partner.effect =
        sandbox::fault_status{static_cast<status>(first + (code - first + 1) % count), {}};
    return partner;
}

// During the takeover of a vbucket, neither of its nodes owns it.
sandbox::fault_rule takeover_rule() {
    sandbox::fault_rule rule;
    rule.bucket = bucket_name;
    rule.ops = document_ops();
    rule.when.probability = 0.6;
    rule.effect = sandbox::fault_status{status::not_my_vbucket, {}};
    return rule;
}

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
    : world_(owner), rule_ids_(2 * owner.plan.faults.size()) {}

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
            const sandbox::fault_rule rule = rule_of(fault, node);
            if (const auto partner = partner_of(rule)) {
                rule_ids_[index + world_.plan.faults.size()] =
                    world_.cluster.faults().add(*partner);
            }
            rule_ids_[index] = world_.cluster.faults().add(rule);
            break;
        }
        case fault_kind::bootstrap_rule:
            rule_ids_[index] = world_.cluster.faults().add(rule_of(fault, node));
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
            move_some_vbuckets(fault, false);
            break;
        case fault_kind::forward_map:
            move_some_vbuckets(fault, true);
            if (fault.detail % 2 == 0) {
                rule_ids_[index] = world_.cluster.faults().add(takeover_rule());
            }
            break;
        case fault_kind::hold_configuration:
            (void)world_.cluster.disturbances().hold_configuration(node, true);
            if (fault.detail % 2 == 0) {
                // It misses a change and sends old configurations to clients that connect in the
                // meantime.
                move_some_vbuckets(fault, false);
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
            follow_announced_map();
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

void fault_injector::move_some_vbuckets(const planned_fault& fault, bool is_announced_only) {
    random_stream random(fault.detail, 4);
    const std::vector<node_id> members = world_.cluster.topology().nodes();
    wire::vbucket_rows rows;
    for (std::size_t number = 0; number < world_.plan.vbucket_count; ++number) {
        const wire::vbucket_id vbucket{static_cast<std::uint16_t>(number)};
        std::vector<std::int16_t> row = world_.cluster.topology().copies_of(bucket_name, vbucket);
        if (row.empty()) {
            return;  // no bucket
        }
        if (random.percent(30)) {
            const node_id to = members[random.below(members.size())];
            const auto name = static_cast<std::int16_t>(to.value);
            if (!is_announced_only) {
                (void)world_.cluster.topology().move_vbucket(bucket_name, vbucket, to);
            }
            // A copy that becomes active swaps places with the previous one.
            std::ranges::replace(row, name, row[0]);
            row[0] = name;
        }
        rows.push_back(std::move(row));
    }
    if (!is_announced_only || !world_.cluster.topology().set_forward_map(bucket_name, rows)) {
        return;
    }
    // Some of them move at once without an announcement: their old nodes answer not-my-vbucket.
    for (std::size_t number = 0; number < rows.size(); ++number) {
        if (rows[number][0] >= 0 && random.percent(30)) {
            (void)world_.cluster.topology().move_vbucket(
                bucket_name, wire::vbucket_id{static_cast<std::uint16_t>(number)},
                node_id{static_cast<std::uint32_t>(rows[number][0])});
        }
    }
    announced_ = std::move(rows);
}

void fault_injector::follow_announced_map() {
    for (std::size_t number = 0; number < announced_.size(); ++number) {
        const wire::vbucket_id vbucket{static_cast<std::uint16_t>(number)};
        const auto active = world_.cluster.topology().active_node(bucket_name, vbucket);
        const std::int16_t to = announced_[number][0];
        if (to >= 0 && active && active->value != static_cast<std::uint32_t>(to)) {
            (void)world_.cluster.topology().move_vbucket(
                bucket_name, vbucket, node_id{static_cast<std::uint32_t>(to)});
        }
    }
    announced_.clear();
    (void)world_.cluster.topology().set_forward_map(bucket_name, {});
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

void fault_injector::heal() {
    if (world_.record.is_tracing()) {
        world_.record.line("all faults end");
    }
    world_.cluster.on_time(world_.server_now());
    world_.cluster.faults().clear();
    heal_disturbances();
    for (std::uint32_t node = 0; node < world_.plan.node_slots(); ++node) {
        (void)world_.cluster.disturbances().hold_configuration(node_id{node}, false);
    }
    world_.cluster.durability().hold_replication(false);
    world_.cluster.durability().hold_persistence(false);
    world_.cluster.accounts().put_user(
        {std::string(user_name), std::string(right_password), std::string(right_token), {}, true});
    make_names();
    (void)world_.cluster.buckets().deny(bucket_name, user_name, false);
    announced_.clear();
    (void)world_.cluster.topology().set_forward_map(bucket_name, {});
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
