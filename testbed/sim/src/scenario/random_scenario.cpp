#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "scenario/random_choice.hpp"

// Swarm scenarios: a seed does not use every feature every time. It first chooses what to leave out
// (operations, faults, limits), then fills in the rest. This makes runs differ more than if each
// had a little of everything.

namespace reprise::sim {

namespace {

using engine::operation_kind;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t network_group = 1;
constexpr std::uint32_t connecting_group = 2;
constexpr std::uint32_t server_group = 4;
constexpr std::uint32_t client_group = 8;
constexpr std::uint32_t all_groups = 15;

constexpr std::array<profile, 10> profiles = {{
    {"swarm", "everything at once; what 'reprise sim' runs", 200, 1800, 14, all_groups, 15, 150, 6,
     0, 2},
    {"quick", "small runs with few faults, easy to read", 20, 120, 6, all_groups, 0, 0, 0, 0, 1},
    {"long", "thousands of operations, many faults", 4000, 12000, 60, all_groups, 50, 1500, 20, 0,
     6},
    {"network", "only the network and connecting fail", 200, 1000, 12,
     network_group | connecting_group},
    {"servers", "only the servers fail", 200, 1000, 12, server_group, 0, 0, 0, 0, 2},
    {"client", "only the client itself stalls or is closed", 20, 200, 6, client_group},
    {"services", "the HTTP services: statements, searches, views, management", 0, 60, 8, all_groups,
     100, 120, 8, 0, 3},
    {"hostile", "a seed that does not know the password, and servers that lie", 50, 500, 6,
     network_group | connecting_group | server_group, 30, 60, 4, 3, 3},
    {"calm", "nothing fails", 200, 1000, 0, 0},
    {"bench", "nothing fails, many operations, for measuring speed", 20000, 20000, 0, 0},
}};

constexpr std::uint32_t group_of(fault_kind kind) noexcept {
    if (kind <= fault_kind::garbage) {
        return network_group;
    }
    if (kind <= fault_kind::fail_tls) {
        return connecting_group;
    }
    return kind < fault_kind::stall_client ? server_group : client_group;
}

// These have no length.
constexpr bool is_at_once(fault_kind kind) noexcept {
    using enum fault_kind;
    constexpr std::array at_once{
        reset_connections,   garbage,     move_vbuckets, failover, replay_configuration,
        recreate_collection, close_client};
    return std::ranges::find(at_once, kind) != at_once.end();
}

// --- cluster, network, clients -------------------------------------------------------------------

void random_cluster(scenario& plan) {
    random_stream random(plan.seed, cluster_stream);
    plan.node_count = random.between(1, random.percent(30) ? 5 : 3);
    plan.replica_count = random.below(std::min<std::size_t>(plan.node_count, 4));
    plan.spare_node_count = random.percent(25) ? random.between(1, 2) : 0;
    plan.vbucket_count = std::size_t{4} << random.below(4);
    plan.is_ephemeral = random.percent(15);
}

void random_network(scenario& plan) {
    random_stream random(plan.seed, network_stream);
    planned_network& network = plan.network;
    network.latency = random_scaled(random, microseconds{20}, milliseconds{5});
    network.jitter = random.percent(70)
                         ? random_scaled(random, microseconds{1}, network.latency * 2)
                         : duration::zero();
    network.tail = random.percent(40) ? static_cast<std::uint32_t>(random.between(1, 30)) : 0;
    network.send_room =
        pick(random, std::array<std::size_t, 4>{200, 4096, 65536, std::size_t{256} * 1024});
    network.split = random.percent(50) ? static_cast<std::uint32_t>(random.between(1, 60)) : 0;
    network.slow_report =
        random.percent(40) ? static_cast<std::uint32_t>(random.between(1, 100)) : 0;
}

void random_limits(random_stream& random, planned_client& client) {
    using counts = std::array<std::size_t, 4>;
    client.connections_per_node = random.percent(75) ? 1 : random.between(2, 3);
    if (random.percent(40)) {
        client.pipeline_credit = pick(random, counts{1, 2, 8, 64});
    }
    if (random.percent(20)) {
        client.parked_count_max = pick(random, counts{2, 8, 32, 256});
    }
    if (random.percent(20)) {
        client.ready_count_max = pick(random, counts{1, 4, 16, 128});
    }
    if (random.percent(25)) {
        client.write_size_max = pick(random, counts{64, 512, 4096, 65536});
    }
    if (random.percent(35)) {
        client.budget_units = static_cast<double>(random.between(10, 150));
        client.refunds_last_cost = random.percent(50);
    }
    if (random.percent(30)) {
        client.breaker = planned_breaker{
            .volume = static_cast<std::uint32_t>(random.between(1, 10)),
            .percent = static_cast<std::uint32_t>(random.between(1, 100)),
            .window = random_scaled(random, milliseconds{20}, seconds{5}),
            .sleep = random_scaled(random, milliseconds{2}, seconds{1}),
            .canary = random_scaled(random, milliseconds{5}, seconds{1})};
    }
}

planned_client random_client(random_stream& random, const planned_network& network) {
    planned_client client;
    client.strategy = random.percent(30)
                          ? strategy_choice::terminal_error
                          : static_cast<strategy_choice>(random.below(strategy_choice_count));
    // At least what a healthy network needs: the final round must be able to succeed.
    const duration trip =
        (network.latency + network.jitter) * (network.tail != 0 ? 60 : 20) + milliseconds{10};
    client.kv_timeout = std::max(trip, random_scaled(random, milliseconds{20}, seconds{3}));
    client.kv_durable_timeout =
        std::max(milliseconds{1500} + trip, random_scaled(random, milliseconds{1500}, seconds{10}));
    client.connect_timeout = std::max(trip, random_scaled(random, milliseconds{20}, seconds{2}));
    client.bootstrap_timeout =
        std::max(trip * 4, random_scaled(random, milliseconds{100}, seconds{5}));
    client.reconnect_delay_max = random_scaled(random, milliseconds{50}, seconds{2});
    client.config_poll_interval = random_scaled(random, milliseconds{50}, milliseconds{2500});
    client.probe_after = std::max(trip, random_scaled(random, milliseconds{20}, seconds{1}));
    client.probe_timeout = std::max(trip, random_scaled(random, milliseconds{20}, seconds{2}));
    client.internal_timeout = std::max(trip, random_scaled(random, milliseconds{50}, seconds{2}));
    if (random.percent(15)) {
        client.not_my_vbucket_delay = random_scaled(random, milliseconds{1}, milliseconds{100});
    }
    random_limits(random, client);
    client.uses_tls = random.percent(35);
    client.uses_scram = random.percent(25);
    client.uses_bearer = client.uses_tls && random.percent(30);
    client.uses_srv = random.percent(15);
    client.hello_last = random.percent(10);
    client.has_error_map = !random.percent(15);
    client.has_unordered = !random.percent(25);
    client.has_compression = random.percent(20);
    return client;
}

// Every fifth client has several loops, unless nothing can fail.
void random_loops(scenario& plan, const profile& from) {
    random_stream random(plan.seed, loop_stream);
    for (planned_client& client : plan.clients) {
        const std::size_t several = random.between(2, 3);
        client.loop_count = random.percent(20) && from.fault_count_max != 0 ? several : 1;
    }
}

// --- operations ----------------------------------------------------------------------------------

constexpr const wire::opcode_facts& rules_of(operation_kind kind) noexcept {
    return wire::opcode_info(engine::opcode_of(kind));
}

constexpr bool is_mutation(operation_kind kind) noexcept {
    using enum wire::response_shape;
    const wire::response_shape answer = rules_of(kind).response;
    return answer == mutation || answer == counter || answer == subdoc_mutation;
}

constexpr bool can_use_cas(operation_kind kind) noexcept {
    return is_mutation(kind) && rules_of(kind).cas == wire::cas_rule::any;
}

// The remainder that the key of the document must have; 4: any.
constexpr std::uint16_t document_of(operation_kind kind) noexcept {
    using enum wire::request_shape;
    switch (rules_of(kind).request) {
        case counter:
            return 1;
        case concat:
            return 2;
        case subdoc_path:
        case subdoc_lookup:
        case subdoc_mutation:
            return 3;
        case other:
        case empty:
        case key:
        case touch:
        case lock:
        case meta:
        case store:
        case scan:
        case scan_cancel:
            break;
    }
    return 4;
}

// Range scans have a simulation of their own.
constexpr std::size_t planned_kind_count = static_cast<std::size_t>(operation_kind::noop) + 1;

// Shared by the operations of one scenario.
struct workload {
    std::vector<operation_kind> kinds;  // each repeated according to its weight
    std::uint64_t key_groups = 1;       // there are 4 times as many keys
    std::uint64_t durable_percent = 0;
    std::uint64_t collection_percent = 0;
    std::uint64_t strategy_percent = 0;
    std::uint64_t timeout_percent = 0;
    std::uint64_t cancel_per_mille = 0;
    std::uint64_t cas_percent = 0;
    std::uint64_t burst = 1;  // approximate number of operations that start at one time
};

workload random_workload(random_stream& random) {
    using shares = std::array<std::uint64_t, 4>;
    workload made;
    for (std::size_t index = 0; index < planned_kind_count; ++index) {
        if (random.percent(65)) {
            made.kinds.insert(
                made.kinds.end(), random.between(1, 6), static_cast<operation_kind>(index));
        }
    }
    if (made.kinds.empty()) {
        made.kinds = {operation_kind::upsert, operation_kind::get};
    }
    made.key_groups = pick(random, shares{1, 2, 6, 16});
    made.durable_percent = pick(random, shares{0, 0, 15, 60});
    made.collection_percent = pick(random, shares{0, 20, 50, 100});
    made.strategy_percent = pick(random, shares{0, 0, 10, 50});
    made.timeout_percent = pick(random, shares{0, 0, 10, 40});
    made.cancel_per_mille = pick(random, shares{0, 0, 10, 40});
    made.cas_percent = pick(random, shares{0, 0, 10, 40});
    made.burst = pick(random, std::array<std::uint64_t, 5>{1, 1, 2, 10, 100});
    return made;
}

planned_operation random_operation(
    random_stream& random, const workload& from, std::size_t client_count) {
    planned_operation made;
    made.kind = from.kinds[random.below(from.kinds.size())];
    made.client = static_cast<std::uint8_t>(random.below(client_count));
    const std::uint16_t document = document_of(made.kind);
    const std::uint64_t rest = document < 4 ? document : random.below(4);
    made.key = static_cast<std::uint16_t>(random.below(from.key_groups) * 4 + rest);
    if (random.percent(from.collection_percent)) {
        made.collection = static_cast<std::uint8_t>(random.between(1, 2));
    }
    if (is_mutation(made.kind) && random.percent(from.durable_percent)) {
        made.durability = static_cast<std::uint8_t>(random.between(1, 3));
    }
    // A lock is identified by its CAS.
    made.uses_cas = made.kind == operation_kind::unlock ||
                    (can_use_cas(made.kind) && random.percent(from.cas_percent));
    if (random.percent(from.strategy_percent)) {
        made.strategy = static_cast<strategy_choice>(random.below(strategy_choice_count));
    }
    if (random.percent(from.timeout_percent)) {
        made.timeout = random_scaled(random, microseconds{200}, seconds{2});
        if (made.durability != 0) {
            made.timeout += milliseconds{1500};  // the minimum that servers accept
        }
    }
    if (random.per_mille(from.cancel_per_mille)) {
        made.cancel_after = random_scaled(random, microseconds{1}, milliseconds{200});
    }
    return made;
}

void random_operations(scenario& plan, const profile& from) {
    random_stream random(plan.seed, operation_stream);
    const workload work = random_workload(random);
    const std::size_t count = random.between(from.operation_count_min, from.operation_count_max);
    random_bursts(random, plan.operations, count, plan.span, work.burst, [&] {
        return random_operation(random, work, plan.clients.size());
    });
}

// --- faults --------------------------------------------------------------------------------------

bool can_leave(const scenario& plan) {
    const auto is_failover = [](const planned_fault& each) {
        return each.kind == fault_kind::failover || each.kind == fault_kind::graceful_failover ||
               each.kind == fault_kind::leave_refusing;
    };
    const bool is_noticed = std::ranges::any_of(plan.clients, [](const planned_client& each) {
        return each.uses_scram || each.uses_bearer || each.uses_tls;
    });
    const auto left = static_cast<std::size_t>(std::ranges::count_if(plan.faults, is_failover));
    return is_noticed && plan.node_count > 1 && left < plan.replica_count;
}

}  // namespace

bool makes_sense(fault_kind kind, const scenario& plan) {
    const auto any_client = [&plan](bool planned_client::* trait) {
        return std::ranges::any_of(
            plan.clients, [trait](const planned_client& each) { return each.*trait; });
    };
    switch (kind) {
        case fault_kind::failover:
        case fault_kind::graceful_failover:
            return plan.node_count > 1 && plan.replica_count > 0;
        case fault_kind::move_vbuckets:
        case fault_kind::forward_map:
            return plan.node_count > 1;
        case fault_kind::rebalance:
            return plan.node_slots() > 1;
        case fault_kind::fail_tls:
            return any_client(&planned_client::uses_tls);
        case fault_kind::wrong_password:
            return any_client(&planned_client::uses_scram);
        case fault_kind::stale_credentials:
            return any_client(&planned_client::uses_bearer);
        case fault_kind::reject_credentials:
            return any_client(&planned_client::uses_scram) ||
                   any_client(&planned_client::uses_bearer);
        case fault_kind::drop_default_collection:
            return plan.calls.empty();  // statements, searches and views use its documents
        case fault_kind::leave_refusing:
            return can_leave(plan);
        case fault_kind::left_over_bytes:
            return !plan.calls.empty();
        case fault_kind::slow_seeds:
            return plan.has_hostile_seed;
        default:  // all others can happen in every scenario
            return true;
    }
}

namespace {

planned_fault random_fault(random_stream& random, fault_kind kind, const scenario& plan) {
    planned_fault made;
    made.kind = kind;
    made.at = random.between(duration::zero(), plan.span * 9 / 10);
    if (!is_at_once(kind)) {
        const duration length =
            random_scaled(random, milliseconds{1}, plan.span / 2 + milliseconds{2});
        made.length = std::min(plan.span - made.at, length);
    }
    made.node = static_cast<std::uint32_t>(random.below(plan.node_count));
    made.client = static_cast<std::uint32_t>(random.below(plan.clients.size()));
    made.detail = random.next();
    if (kind == fault_kind::close_client) {
        // Some occur in the middle of the first bootstrap.
        made.at =
            random.percent(33)
                ? random.between(duration::zero(), std::min<duration>(milliseconds{30}, plan.span))
                : random.between(plan.span / 3, plan.span);
    }
    return made;
}

std::vector<fault_kind> random_fault_kinds(
    random_stream& random, const scenario& plan, const profile& from) {
    std::vector<fault_kind> kinds;
    const std::uint64_t share = pick(random, std::array<std::uint64_t, 3>{10, 30, 60});
    for (std::size_t index = 0; index < service_fault_kind_first; ++index) {
        const auto kind = static_cast<fault_kind>(index);
        // A client that closes hides much of what could happen later.
        const bool is_rare = kind == fault_kind::close_client && from.fault_groups != client_group;
        const std::uint64_t chance = is_rare ? share / 5 : share;
        if (random.percent(chance) && (group_of(kind) & from.fault_groups) != 0 &&
            makes_sense(kind, plan)) {
            // They have many variants, or have an effect only in combination with others.
            const bool is_frequent =
                kind == fault_kind::server_rule || kind == fault_kind::corrupt_answers ||
                kind == fault_kind::replay_configuration || kind == fault_kind::forward_map;
            kinds.insert(kinds.end(), is_frequent ? 3U : 1U, kind);
        }
    }
    return kinds;
}

void random_faults(scenario& plan, const profile& from) {
    random_stream random(plan.seed, fault_stream);
    const std::vector<fault_kind> kinds = random_fault_kinds(random, plan, from);
    if (kinds.empty() || from.fault_count_max == 0) {
        return;
    }
    std::size_t failovers = 0;
    for (std::size_t left = random.between(1, from.fault_count_max); left > 0; --left) {
        const fault_kind kind = kinds[random.below(kinds.size())];
        const planned_fault made = random_fault(random, kind, plan);
        // More of them than copies would leave vbuckets without a node.
        const bool is_failover =
            kind == fault_kind::failover || kind == fault_kind::graceful_failover;
        if (!is_failover || failovers++ < plan.replica_count) {
            plan.faults.push_back(made);
        }
    }
    sort_by_time(plan.faults);
}

void random_hostility(scenario& plan, const profile& from) {
    if (from.hostile_fault_count_max == 0) {
        return;
    }
    random_stream random(plan.seed, hostile_stream);
    plan.has_hostile_seed = true;
    for (planned_client& client : plan.clients) {
        client.uses_scram = true;  // proves the identity of a server
        client.uses_bearer = false;
    }
    constexpr std::uint64_t kind_count = field_fault_kind_first - hostile_fault_kind_first;
    for (std::size_t left = random.below(from.hostile_fault_count_max + 1); left > 0; --left) {
        const auto kind =
            static_cast<fault_kind>(hostile_fault_kind_first + random.below(kind_count));
        plan.faults.push_back(random_fault(random, kind, plan));
    }
    sort_by_time(plan.faults);
}

}  // namespace

std::span<const profile> all_profiles() noexcept {
    return profiles;
}

const profile* find_profile(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(profiles, name, &profile::name);
    return found == profiles.end() ? nullptr : found;
}

scenario random_scenario(std::uint64_t seed, const profile& from) {
    scenario plan;
    plan.seed = seed;
    plan.profile = from.name;
    random_cluster(plan);
    random_network(plan);
    random_stream random(seed, client_stream);
    const std::size_t client_count = random.percent(40) ? 2 : 1;
    for (std::size_t number = 0; number < client_count; ++number) {
        plan.clients.push_back(random_client(random, plan.network));
    }
    plan.span = random_scaled(random, milliseconds{100}, seconds{8});
    random_operations(plan, from);
    random_faults(plan, from);
    random_calls(plan, from);
    random_hostility(plan, from);
    random_field_faults(plan, from);
    random_names(plan, from);
    random_loops(plan, from);
    return plan;
}

}  // namespace reprise::sim
