#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/sim/scenario.hpp>
#include <reprise/sim/simulation.hpp>

#include "checks/inspection.hpp"
#include "faults/fault_injector.hpp"
#include "world/event_queue.hpp"
#include "world/network.hpp"
#include "world/operation_records.hpp"
#include "world/recorder.hpp"
#include "world/sim_client.hpp"

namespace reprise::sim {

inline constexpr std::string_view bucket_name = "travel";
inline constexpr std::string_view scope_name = "s";
inline constexpr std::string_view default_name = "_default";
inline constexpr std::string_view user_name = "app";
inline constexpr std::string_view right_password = "secret";
inline constexpr std::string_view right_token = "token";
inline constexpr std::size_t named_collection_count = 2;  // "c1", "c2"
inline constexpr std::string_view search_index_name = "everything";
inline constexpr std::string_view design_name = "all";
inline constexpr std::string_view view_name = "documents";
// Every request of a call carries the number of its operation in this field.
inline constexpr std::string_view call_number_field = "client-context-id";
// An answer with this field was not sent for any request.
inline constexpr std::string_view left_over_field = "Left-Over";

// RH-39: after a refused login or a wrong signature, the next login to the same server waits this
// long.
inline constexpr duration login_pause = std::chrono::seconds{10};

// The only bucket, as it is created at first and after it was dropped.
sandbox::bucket_options make_bucket(const scenario& plan);
// Host and ports of a node by number. Includes the HTTP services only if they are used.
wire::cluster_node make_endpoints(const scenario& plan, std::size_t node);
// The HTTP service of a port; empty for key-value ports. Unknown ports belong to management.
std::optional<wire::service> service_at(std::uint16_t port, wire::transport over) noexcept;

// One run: the queue of events and everything they affect. The parts reach each other through it.
class world {
public:
    world(const scenario& given, const run_options& options);
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    run_report run();

    const scenario& plan;
    event_queue queue;
    recorder record;
    time_point now;
    sandbox::cluster cluster;
    operation_records records;
    network net;
    inspection checks;
    std::vector<std::unique_ptr<sim_client>> clients;
    reason_cells cells;
    situation_counts situations;
    time_point prepared_forgotten{};        // when the servers last forgot them
    std::vector<time_point> warming_until;  // by node: restarted, but not complete before this
    bool is_default_restored = false;       // the default collection was dropped, and exists again

    // The cluster's time.
    sandbox::time_point server_now() const noexcept;
    duration elapsed() const noexcept { return now - origin; }
    static constexpr time_point origin{std::chrono::hours{1}};

    // The vbucket of a key of the scenario.
    std::uint16_t vbucket_of(const planned_operation& operation);
    // The key itself.
    static const std::string& key_text(const planned_operation& operation);

private:
    void plan_start(const operation_record& added);
    void handle(const event& next);
    void dispatch(const event& next);
    void dispatch_user(const event& next);
    void start_final_round();
    void start_final_calls(std::uint8_t client, duration pause);
    void finish();
    duration settle_time() const;

    fault_injector faults_;
    std::vector<std::uint16_t> vbuckets_;  // by key
    std::optional<time_point> cluster_due_;
    std::uint64_t event_count_ = 0;
    bool is_over_ = false;
};

}  // namespace reprise::sim
