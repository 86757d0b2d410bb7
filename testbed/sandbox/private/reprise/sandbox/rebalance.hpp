#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::sandbox {

// How a cluster moves from one map to another: the types of the calls in cluster.hpp. A rebalance
// is
//
//     begin_rebalance -> step_rebalance (one vbucket each) ... -> step_rebalance (the end)
//
// or it ends early with stop_rebalance. Between any two steps every vbucket has one owner, which
// the current map names and which has all its documents; the old owner answers not_my_vbucket.

struct rebalance_options {
    /// Members that leave at the end, once they hold nothing. Nodes that were failed over and not
    /// added back leave as well; they may be named here.
    std::vector<node_id> eject{};
};

enum class rebalance_kind : std::uint8_t {
    rebalance,         // moves all buckets to an even map
    graceful_failover  // moves one node's active vbuckets to their replicas
};

/// How a rebalance ended.
enum class rebalance_end : std::uint8_t {
    none,      // it is running, or there was none
    finished,  // by its last step
    stopped,   // by stop_rebalance or a hard failover
    failed     // a node that a move needed was down
};

struct rebalance_progress {
    bool is_running = false;
    /// Rebalances count from 1; 0: there has been none.
    std::uint64_t number = 0;
    /// The kind of the running rebalance, or of the last one.
    rebalance_kind kind = rebalance_kind::rebalance;
    rebalance_end end = rebalance_end::none;
    std::size_t moves_done = 0;
    std::size_t moves_total = 0;
    /// The subject of the next step. The name is empty if the next step is the end or no rebalance
    /// is running.
    std::string bucket{};
    wire::vbucket_id vbucket{};
    /// The nodes that leave at the end.
    std::vector<node_id> leaving{};
};

/// The effect of one step.
struct rebalance_step {
    /// The rebalance is over, and the other members are empty.
    bool is_end = false;
    std::string bucket{};
    wire::vbucket_id vbucket{};
    /// The row before and after the step, in node numbers: active, replicas, -1 for none.
    std::vector<std::int16_t> from{};
    std::vector<std::int16_t> to{};
};

/// The state in which a node's process restarts.
enum class restart_kind : std::uint8_t {
    with_data,    // after a clean stop: all documents, the same uuids
    without_data  // after a crash that lost what was only in memory
};

/// How long a restarted node does not have its buckets yet. Both times start with the restart.
struct restart_warmup {
    /// SELECT_BUCKET is not answered at all.
    std::chrono::nanoseconds silence{0};
    /// SELECT_BUCKET answers 0x01 (after the silence), and the search service refuses queries with
    /// HTTP 400 and `pindex not available`.
    std::chrono::nanoseconds absence{0};
};

enum class node_state : std::uint8_t {
    up,           // accepts connections and answers
    down,         // accepts nothing; its connections are closed; it keeps its data
    failed_over,  // out of the configuration, its vbuckets were promoted elsewhere; the next
                  // rebalance makes it leave unless it was added back
    left          // ejected by a rebalance; this is final
};

/// One node and its role in the topology.
struct node_overview {
    node_id node{};
    node_state state = node_state::up;
    /// Announced, but part of no bucket before the next rebalance.
    bool is_joining = false;
    /// Vbuckets over all buckets.
    std::size_t active_count = 0;
    std::size_t replica_count = 0;
};

std::string_view to_string(rebalance_kind kind) noexcept;
std::string_view to_string(rebalance_end end) noexcept;
std::string_view to_string(node_state state) noexcept;

}  // namespace reprise::sandbox
