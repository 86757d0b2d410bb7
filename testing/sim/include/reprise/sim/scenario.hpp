#pragma once

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

// A scenario is plain data: everything that will happen in one run, drawn from one number. It can
// be printed, changed by hand, made smaller, and run again.

namespace reprise::sim {

// What can go wrong. `length` of the planned fault says for how long, except where noted.
enum class fault_kind : std::uint8_t {
    // The network between a client and a node.
    reset_connections,    // at once; what is under way to the node may still arrive, or not
    partition,            // nothing passes
    partition_to_server,  // requests do not pass, answers do
    partition_to_client,  // answers do not pass, requests do
    slow_link,            // everything takes many times as long
    tiny_writes,          // the operating system takes a few bytes at a time
    garbage,              // at once: bytes that are no frame
    // Connecting.
    refuse_connects,
    ignore_connects,  // no answer at all
    fail_names,       // the name service does not know the host
    fail_tls,         // over TLS: untrusted, wrong host, expired, refused; otherwise reset
    // The servers.
    server_rule,     // a fault rule on operations: status, delay, no answer, close before or after
    bootstrap_rule,  // a fault rule on the steps of a bootstrap
    own_rule,        // a fault rule on the client's own requests: polls, collection ids, probes
    node_down,
    failover,       // final
    move_vbuckets,  // at once: some vbuckets change their node
    forward_map,    // announced first, vbuckets move at the end
    hold_configuration,
    hold_replication,
    hold_persistence,
    drop_collection,        // dropped, and made again at the end
    drop_scope,             // likewise
    drop_bucket,            // likewise, with all its documents
    wrong_password,         // the user's password is another one; connections are reset
    deny_bucket,            // the user may not use the bucket; connections are reset
    corrupt_answers,        // a fault rule: twice, wrong opaque, cut off, garbage, byte by byte
    freeze_node,            // accepts and reads, does nothing, says nothing; then goes on
    corrupt_error_map,      // new connections get half of the text
    corrupt_configuration,  // likewise, with every configuration
    replay_configuration,   // at once: an older configuration is pushed
    hide_collection,        // the node does not know a collection yet
    recreate_collection,    // at once: another id under the same name
    reject_credentials,     // the node refuses every login
    stale_credentials,      // the node finds tokens out of date
    hide_bucket,            // the node does not have the bucket yet, or its configuration only
    rebalance,              // vbucket by vbucket, by a forward map; nodes come and go
    graceful_failover,      // vbucket by vbucket; final
    kill_node,              // abruptly; starts again at the end, with what it had or without
    delay_replication,      // durable writes are pending for a while
    delay_recommit,         // likewise after a copy has become active
    hide_service,           // no node announces its data port
    // The client itself.
    stall_client,  // its thread does nothing
    close_client,  // at once, in the middle of everything; final
    // The HTTP services; drawn only for scenarios with calls.
    service_rule,     // a fault rule on HTTP requests: answers, delays, closes, spoiled bodies
    service_busy,     // likewise: answers that ask for a retry, with Retry-After or without
    redirect_calls,   // likewise: redirects, to other nodes and to elsewhere
    forget_prepared,  // at once: no node knows a prepared statement any more
    hide_calls,       // no node announces its HTTP services
    // Servers that lie; drawn for hostile scenarios only.
    lie_about_lengths,   // answers claim lengths they do not have; connections are reset at the end
    redirect_endlessly,  // not my vbucket, with an ever newer configuration that says otherwise
};

inline constexpr std::size_t fault_kind_count = base::enumerator_count<fault_kind>();
// Those of the HTTP services, then those of servers that lie come last.
inline constexpr auto service_fault_kind_first = static_cast<std::size_t>(fault_kind::service_rule);
inline constexpr auto hostile_fault_kind_first =
    static_cast<std::size_t>(fault_kind::lie_about_lengths);
[[nodiscard]] std::string_view to_string(fault_kind kind) noexcept;

struct planned_fault {
    fault_kind kind = fault_kind::reset_connections;
    duration at{};      // since the start
    duration length{};  // 0 for those that happen at once
    std::uint32_t node = 0;
    std::uint32_t client = 0;
    // Further choices (which status, which vbuckets, ...) are drawn from it.
    std::uint64_t detail = 0;
};

enum class strategy_choice : std::uint8_t {
    terminal_error,  // the default
    best_effort,     // ... with the exponential calculator
    jittered,        // best effort with full jitter
    server_directed,
    library,  // the retry library's standard strategy with a bucket of its own
    never,
    at_once,   // whatever may be repeated, without delay
    deferred,  // as best effort, but answers a few milliseconds later
    broken,    // throws, forgets to answer, drops the question
};

inline constexpr std::size_t strategy_choice_count = base::enumerator_count<strategy_choice>();
[[nodiscard]] std::string_view to_string(strategy_choice choice) noexcept;

struct planned_operation {
    duration at{};            // since the start
    duration timeout{};       // 0: the client's default
    duration cancel_after{};  // 0: is not canceled
    engine::operation_kind kind = engine::operation_kind::get;
    std::uint8_t client = 0;
    std::uint8_t collection = 0;  // 0: the default one; otherwise a named one
    std::uint8_t durability = 0;  // 0: none; otherwise as on the wire
    std::uint16_t key = 0;        // its remainder by 4 says what kind of document it is
    bool uses_cas = false;        // the newest CAS this client has seen of the document
    std::optional<strategy_choice> strategy{};  // absent: the client's
};

struct planned_breaker {
    std::uint32_t volume = 5;
    std::uint32_t percent = 50;
    duration window{};
    duration sleep{};
    duration canary{};
};

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
    std::size_t connections_per_node = 1;
    std::size_t pipeline_credit = 1024;
    std::size_t parked_count_max = 32768;
    std::size_t ready_count_max = 65536;
    std::size_t write_size_max = 262144;
    double budget_units = 0;  // 0: no budget
    bool refunds_last_cost = false;
    std::optional<planned_breaker> breaker{};
    bool uses_tls = false;
    bool uses_scram = false;   // otherwise the client certificate says who it is
    bool uses_bearer = false;  // a token says it; goes before the two others
    bool uses_srv = false;
    bool hello_last = false;
    bool has_error_map = true;
    bool has_unordered = true;
    bool has_compression = false;
};

struct planned_network {
    duration latency{};             // one way, at least
    duration jitter{};              // added, uniformly
    std::uint32_t tail = 0;         // per mille of the writes that take ten times as long
    std::size_t send_room = 0;      // bytes the operating system takes before it blocks
    std::uint32_t split = 0;        // percent of deliveries that are cut in two
    std::uint32_t slow_report = 0;  // percent of writes that are reported a latency later
};

struct scenario {
    std::uint64_t seed = 0;
    std::string profile{};
    std::size_t node_count = 1;        // at the start
    std::size_t spare_node_count = 0;  // may join by a rebalance; they get the next numbers
    // A server that does not know the password, the first of everybody's seeds and never part of
    // the cluster. It has the last number.
    bool has_hostile_seed = false;
    std::size_t replica_count = 0;
    std::size_t vbucket_count = 16;
    bool is_ephemeral = false;
    std::vector<planned_client> clients{};
    planned_network network{};
    std::vector<planned_operation> operations{};  // ascending by time
    // Of the HTTP services; ascending by time, numbered after `operations`. Without any, nobody
    // announces these services and the run is one of key-value alone.
    std::vector<planned_call> calls{};
    std::vector<planned_fault> faults{};
    duration span{};  // operations, calls and faults lie within; then everything is healed

    // Numbers that nodes may have: the size of everything that is kept by node.
    [[nodiscard]] std::size_t node_slots() const noexcept {
        return node_count + spare_node_count + (has_hostile_seed ? 1U : 0U);
    }
    [[nodiscard]] bool is_hostile(std::size_t node) const noexcept {
        return has_hostile_seed && node + 1 == node_slots();
    }
};

// A profile says what scenarios are drawn from.
struct profile {
    std::string_view name;
    std::string_view meaning;
    std::size_t operation_count_min = 0;
    std::size_t operation_count_max = 0;
    std::size_t fault_count_max = 0;
    std::uint32_t fault_groups = 0;  // bits: 1 network, 2 connecting, 4 servers, 8 client
    std::uint32_t call_percent = 0;  // of the seeds: with operations of the HTTP services, too
    std::size_t call_count_max = 0;
    std::size_t service_fault_count_max = 0;  // beside the other faults
    std::size_t hostile_fault_count_max = 0;  // likewise; with any, a hostile seed, too
};

[[nodiscard]] std::span<const profile> all_profiles() noexcept;
// Null if there is none of that name.
[[nodiscard]] const profile* find_profile(std::string_view name) noexcept;

// The same scenario from the same two arguments, always.
[[nodiscard]] scenario random_scenario(std::uint64_t seed, const profile& from);

// For people: the cluster, the clients, the network, every fault, and the operations (each on a
// line of its own if they are at most `operation_lines_max`).
[[nodiscard]] std::string to_string(const scenario& plan, std::size_t operation_lines_max = 24);

}  // namespace reprise::sim
