#pragma once

/// The disturbances: one class for each kind, which acts on a running cluster.

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry/random_generator.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>

#include "load.hpp"
#include "write_ledger.hpp"

namespace reprise::demo {

/// The subject and the length of a phase.
struct stage {
    sandbox::embedded_cluster& servers;
    load& users;
    write_ledger& writes;
    random_generator& random;
    std::chrono::duration<double> length{};
    /// The current event, for the view; set by the phase.
    std::string note{};
    /// The reason of the last step that the cluster refused, and how many steps it refused.
    std::string refusal{};
    std::size_t refused_count = 0;

    /// Records the result of a step: a refused step means less disturbance than the note announces.
    template <class Value, class Error>
    void check(const std::expected<Value, Error>& step) {
        if (!step) {
            refusal = to_string(step.error());
            ++refused_count;
        }
    }
    /// The note and the refusals.
    [[nodiscard]] std::string remark() const;

    /// A random member that is up.
    [[nodiscard]] sandbox::node_id any_node();
    void with(const std::function<void(sandbox::cluster&)>& work) { servers.with_cluster(work); }
};

/// Order of use: begin -> tick ... (about every 20 ms) -> end. When `end` returns, the cluster is
/// intact again.
class phase {
public:
    virtual ~phase() = default;
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    virtual void begin(stage&) {}
    /// `progress` goes from 0 to 1.
    virtual void tick(stage&, double progress) { static_cast<void>(progress); }
    virtual void end(stage&) {}
};

/// A phase and its share of the total time.
struct scheduled_phase {
    std::unique_ptr<phase> played;
    double share = 1;
};

[[nodiscard]] std::unique_ptr<phase> make_steady_phase(std::string_view name);
/// Adds a node and removes an old one, one vbucket at a time.
[[nodiscard]] std::unique_ptr<phase> make_rebalance_phase();
/// A node is killed, failed over, and added back without data.
[[nodiscard]] std::unique_ptr<phase> make_node_loss_phase();
/// A node is failed over gracefully and added back.
[[nodiscard]] std::unique_ptr<phase> make_graceful_phase();
/// Nodes restart, one at a time.
[[nodiscard]] std::unique_ptr<phase> make_restart_phase();
[[nodiscard]] std::unique_ptr<phase> make_lock_phase();
/// Temporary failures, and connections that close right after a write was applied.
[[nodiscard]] std::unique_ptr<phase> make_pressure_phase();
/// A status that only the error map explains; then the nodes send a corrupt map.
[[nodiscard]] std::unique_ptr<phase> make_error_map_phase();
[[nodiscard]] std::unique_ptr<phase> make_collection_phase();
/// HTTP services that are busy, redirect, forget prepared statements, and close in the middle of an
/// answer.
[[nodiscard]] std::unique_ptr<phase> make_services_phase();

/// All phases in the order of the demonstration.
[[nodiscard]] std::vector<scheduled_phase> make_demo_phases();

}  // namespace reprise::demo
