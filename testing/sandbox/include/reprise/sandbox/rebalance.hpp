#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::sandbox {

// How a cluster gets from one map to another: the values of the calls in cluster.hpp. A rebalance
// is
//
//     begin_rebalance -> step_rebalance (one vbucket each) ... -> step_rebalance (the end)
//
// or ends early by stop_rebalance. Between any two steps every vbucket has one owner, which the
// current map names and which has all its documents; the old owner answers not_my_vbucket.

struct rebalance_options {
    // Members that leave at the end, once they hold nothing. Nodes that were failed over and not
    // added back leave too; they may be named.
    std::vector<node_id> eject{};
};

enum class rebalance_kind : std::uint8_t {
    rebalance,         // all buckets to an even map
    graceful_failover  // one node's active vbuckets to their replicas
};

// How a rebalance ended.
enum class rebalance_end : std::uint8_t {
    none,      // it runs, or there was none
    finished,  // by its last step
    stopped,   // by stop_rebalance or a hard failover
    failed     // a node that a move needed was down
};

struct rebalance_progress {
    bool is_running = false;
    // Counts rebalances from 1; 0: there was none yet.
    std::uint64_t number = 0;
    // Of the one that runs, or of the last one.
    rebalance_kind kind = rebalance_kind::rebalance;
    rebalance_end end = rebalance_end::none;
    std::size_t moves_done = 0;
    std::size_t moves_total = 0;
    // What the next step moves. The name is empty if it is the end, or if none runs.
    std::string bucket{};
    wire::vbucket_id vbucket{};
    // Who is out at the end.
    std::vector<node_id> leaving{};
};

// What one step did.
struct rebalance_step {
    // The rebalance is over; the rest is empty then.
    bool is_end = false;
    std::string bucket{};
    wire::vbucket_id vbucket{};
    // The row before and after by node number: active, replicas, -1 for none.
    std::vector<std::int16_t> from{};
    std::vector<std::int16_t> to{};
};

// What a node's process finds when it starts again.
enum class restart_kind : std::uint8_t {
    with_data,    // a clean stop: all documents, the same uuids
    without_data  // a crash of what was only in memory
};

enum class node_state : std::uint8_t {
    up,           // accepts and answers
    down,         // accepts nothing; its connections were closed; its data is kept
    failed_over,  // out of the configuration, its vbuckets were promoted elsewhere; the next
                  // rebalance makes it leave unless it was added back
    left          // ejected by a rebalance; final
};

// One node as the topology sees it.
struct node_overview {
    node_id node{};
    node_state state = node_state::up;
    // Announced, but part of no bucket before the next rebalance.
    bool is_joining = false;
    // Vbuckets of all buckets.
    std::size_t active_count = 0;
    std::size_t replica_count = 0;
};

std::string_view to_string(rebalance_kind kind) noexcept;
std::string_view to_string(rebalance_end end) noexcept;
std::string_view to_string(node_state state) noexcept;

}  // namespace reprise::sandbox
