#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/base/enum_table.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/sim/planned_call.hpp>

// A scenario is plain data: everything that will happen in one run, generated from one number. It
// can be printed, edited by hand, shrunk, and run again.

namespace reprise::sim {

/// Kinds of faults. `length` of the planned fault is its duration, except where noted.
enum class fault_kind : std::uint8_t {
    /// The network between a client and a node.
    reset_connections,    // at once; bytes in flight to the node may or may not arrive
    partition,            // nothing gets through
    partition_to_server,  // answers get through, requests do not
    partition_to_client,  // requests get through, answers do not
    slow_link,            // everything takes many times as long
    tiny_writes,          // the operating system accepts a few bytes at a time
    garbage,              // at once: bytes that are not a frame
    /// Connecting.
    refuse_connects,
    ignore_connects,  // no answer at all
    fail_names,       // the name service does not resolve the host
    fail_tls,         // over TLS: untrusted, wrong host, expired, refused; otherwise reset
    /// The servers.
    server_rule,     // a fault rule for operations: status, delay, no answer, close before or after
    bootstrap_rule,  // a fault rule for the steps of a bootstrap
    own_rule,        // a fault rule for the client's own requests: polls, collection ids, probes
    node_down,
    failover,       // final
    move_vbuckets,  // at once: some vbuckets move to another node
    forward_map,    // announced at first; the vbuckets move at the end
    hold_configuration,
    hold_replication,
    hold_persistence,
    drop_collection,        // dropped, and recreated at the end
    drop_scope,             // the same
    drop_bucket,            // the same, with all its documents
    wrong_password,         // the user's password changes; connections are reset
    deny_bucket,            // the user may not use the bucket; connections are reset
    corrupt_answers,        // a fault rule: twice, wrong opaque, truncated, garbage, byte by byte
    freeze_node,            // accepts and reads, but does and sends nothing; later continues
    corrupt_error_map,      // new connections get half of the map
    corrupt_configuration,  // the same for every configuration
    replay_configuration,   // at once: pushes an older configuration
    hide_collection,        // the node does not have a collection yet
    recreate_collection,    // at once: the same name has a new id
    reject_credentials,     // the node refuses every login
    stale_credentials,      // the node treats tokens as expired
    hide_bucket,            // the node does not have the bucket yet, or only its configuration
    rebalance,              // one vbucket at a time, with a forward map; nodes join and leave
    graceful_failover,      // one vbucket at a time; final
    kill_node,              // abruptly; restarts at the end, with or without its data
    delay_replication,      // durable writes are pending for a while
    delay_recommit,         // the same after a copy has become active
    hide_service,           // no node announces its data port
    /// The client itself.
    stall_client,  // its thread does nothing
    close_client,  // at once, in the middle of everything; final
    /// The HTTP services; only in scenarios with calls.
    service_rule,       // a fault rule for HTTP requests: answers, delays, closes, corrupt bodies
    service_busy,       // the same: answers that ask for a retry, with or without Retry-After
    redirect_calls,     // the same: redirects to other nodes and to unknown addresses
    forget_prepared,    // at once: all nodes forget their prepared statements
    hide_calls,         // no node announces its HTTP services
    fail_after_effect,  // a fault rule: statements are executed, then answered with an error
    /// Servers that lie; only in hostile scenarios.
    lie_about_lengths,   // answers claim wrong lengths; connections are reset at the end
    redirect_endlessly,  // not my vbucket, with an ever newer configuration that contradicts it
    /// Seen on real clusters, or used in attacks (situation.hpp).
    restart_node,             // killed; comes back, but has its bucket and indexes only later
    drop_default_collection,  // dropped; comes back with a restored manifest at the end
    leave_refusing,           // refuses logins or fails TLS; then it is failed over, which is final
    flood_configurations,     // pushes large configurations, one after another
    left_over_bytes,          // HTTP answers are followed by bytes of no answer
    slow_seeds,               // at first, every node except the hostile seed is slow
};

inline constexpr std::size_t fault_kind_count = base::enumerator_count<fault_kind>();
/// The kinds for HTTP services, those for lying servers, and those from the field come last.
inline constexpr auto service_fault_kind_first = static_cast<std::size_t>(fault_kind::service_rule);
inline constexpr auto hostile_fault_kind_first =
    static_cast<std::size_t>(fault_kind::lie_about_lengths);
inline constexpr auto field_fault_kind_first = static_cast<std::size_t>(fault_kind::restart_node);
[[nodiscard]] std::string_view to_string(fault_kind kind) noexcept;

struct planned_fault {
    fault_kind kind = fault_kind::reset_connections;
    duration at{};      // since the start
    duration length{};  // 0 for those that happen at once
    std::uint32_t node = 0;
    std::uint32_t client = 0;
    /// Seed of further choices (which status, which vbuckets, ...).
    std::uint64_t detail = 0;
};

enum class strategy_choice : std::uint8_t {
    terminal_error,  // the default
    best_effort,     // ... with the exponential calculator
    jittered,        // best effort with full jitter
    server_directed,
    library,  // the retry library's standard strategy with its own bucket
    never,
    at_once,   // retries whatever may be repeated, without delay
    deferred,  // like best effort, but answers a few milliseconds later
    broken,    // throws, forgets to answer, or drops the question
};

inline constexpr std::size_t strategy_choice_count = base::enumerator_count<strategy_choice>();
[[nodiscard]] std::string_view to_string(strategy_choice choice) noexcept;

struct planned_operation {
    duration at{};            // since the start
    duration timeout{};       // 0: the client's default
    duration cancel_after{};  // 0: not canceled
    engine::operation_kind kind = engine::operation_kind::get;
    std::uint8_t client = 0;
    std::uint8_t collection = 0;  // 0: the default one; otherwise a named one
    std::uint8_t durability = 0;  // 0: none; otherwise as on the wire
    std::uint16_t key = 0;        // the remainder by 4 determines the kind of document
    bool uses_cas = false;        // uses the newest CAS that this client has seen of the document
    std::optional<strategy_choice> strategy{};  // absent: the client's
};

struct planned_breaker {
    std::uint32_t volume = 5;
    std::uint32_t percent = 50;
    duration window{};
    duration sleep{};
    duration canary{};
};

/// The name server's answer to a client's SRV query, which is sent once.
enum class srv_answer : std::uint8_t {
    honest,           // all nodes, or nothing at all: then the client uses its seeds
    own_and_foreign,  // all nodes, and hosts outside the name that the user wrote
    foreign_only,     // hosts outside that name, which own certificates for themselves
    no_service,       // the target "."
    hundreds,         // of hosts that do not exist or are outside; the nodes come early or too late
};

inline constexpr std::size_t srv_answer_count = base::enumerator_count<srv_answer>();
[[nodiscard]] std::string_view to_string(srv_answer answer) noexcept;

struct planned_client {
    strategy_choice strategy = strategy_choice::terminal_error;
    duration kv_timeout{};
    duration kv_durable_timeout{};
    duration connect_timeout{};
    duration bootstrap_timeout{};
    duration reconnect_delay_max{};
    duration config_poll_interval{};
    duration probe_after{};
    duration probe_timeout{};
    duration internal_timeout{};
    duration http_timeout = std::chrono::seconds{2};
    std::size_t http_connections_max = 12;  // to one service of one node
    std::optional<duration> not_my_vbucket_delay{};
    std::size_t loop_count = 1;            // io_threads
    std::size_t connections_per_node = 1;  // of each loop
    std::size_t pipeline_credit = 1024;
    std::size_t parked_count_max = 32768;
    std::size_t ready_count_max = 65536;
    std::size_t write_size_max = 262144;
    double budget_units = 0;  // 0: no budget
    bool refunds_last_cost = false;
    std::optional<planned_breaker> breaker{};
    bool uses_tls = false;
    bool uses_scram = false;   // otherwise it authenticates by client certificate
    bool uses_bearer = false;  // uses a token; takes precedence over the other two
    bool uses_srv = false;
    srv_answer srv = srv_answer::honest;  // if it uses SRV; lies only in hostile scenarios
    bool hello_last = false;
    bool has_error_map = true;
    bool has_unordered = true;
    bool has_compression = false;
};

struct planned_network {
    duration latency{};             // one way, minimum
    duration jitter{};              // added to the latency, uniformly distributed
    std::uint32_t tail = 0;         // this many of 1000 writes take ten times as long
    std::size_t send_room = 0;      // bytes that the operating system accepts before it blocks
    std::uint32_t split = 0;        // percent of deliveries that are split in two
    std::uint32_t slow_report = 0;  // percent of writes that are reported one latency later
};

struct scenario {
    std::uint64_t seed = 0;
    std::string profile{};
    std::size_t node_count = 1;        // at the start
    std::size_t spare_node_count = 0;  // may join in a rebalance; they get the next numbers
    /// A server that does not know the password. It is the first seed of every client and never
    /// part of the cluster. It has the last number.
    bool has_hostile_seed = false;
    std::size_t replica_count = 0;
    std::size_t vbucket_count = 16;
    bool is_ephemeral = false;
    std::vector<planned_client> clients{};
    planned_network network{};
    std::vector<planned_operation> operations{};  // ascending by time
    /// Operations of the HTTP services, sorted by time and numbered after `operations`. If there
    /// are none, no node announces these services and the run uses key-value only.
    std::vector<planned_call> calls{};
    std::vector<planned_fault> faults{};
    duration span{};  // operations, calls and faults happen within it; after that all faults end

    /// The number of node numbers: the size of everything that is indexed by node.
    [[nodiscard]] std::size_t node_slots() const noexcept {
        return node_count + spare_node_count + (has_hostile_seed ? 1U : 0U);
    }
    [[nodiscard]] bool is_hostile(std::size_t node) const noexcept {
        return has_hostile_seed && node + 1 == node_slots();
    }
    /// Whether the name server lies to a client. Only then do the nodes have names in a domain.
    [[nodiscard]] bool has_lying_name_server() const noexcept {
        return std::ranges::any_of(clients, [](const planned_client& each) {
            return each.uses_srv && each.srv != srv_answer::honest;
        });
    }
};

/// The parameters that scenarios are generated from.
struct profile {
    std::string_view name;
    std::string_view meaning;
    std::size_t operation_count_min = 0;
    std::size_t operation_count_max = 0;
    std::size_t fault_count_max = 0;
    std::uint32_t fault_groups = 0;  // bits: 1 network, 2 connecting, 4 servers, 8 client
    std::uint32_t call_percent = 0;  // percent of the seeds that also use the HTTP services
    std::size_t call_count_max = 0;
    std::size_t service_fault_count_max = 0;  // in addition to the other faults
    std::size_t hostile_fault_count_max = 0;  // the same; if it is not 0, there is also a hostile
                                              // seed
    std::size_t field_fault_count_max = 0;    // the same for faults that were seen elsewhere
};

[[nodiscard]] std::span<const profile> all_profiles() noexcept;
/// Null if there is no profile with this name.
[[nodiscard]] const profile* find_profile(std::string_view name) noexcept;

/// The same two arguments always produce the same scenario.
[[nodiscard]] scenario random_scenario(std::uint64_t seed, const profile& from);

/// Describes the cluster, the clients, the network, every fault, and the operations (each on its
/// own line if there are at most `operation_lines_max`).
[[nodiscard]] std::string to_string(const scenario& plan, std::size_t operation_lines_max = 24);

}  // namespace reprise::sim
