#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <reprise/engine/driver_action.hpp>
#include <reprise/wire/cluster_configuration.hpp>

#include "world/network.hpp"

namespace reprise::sim {

class world;

// A map of one client, with its node numbers by position.
struct known_map {
    wire::cluster_configuration_ptr configuration;
    std::vector<std::int32_t> nodes;

    // -1: none.
    [[nodiscard]] std::int32_t active(std::size_t vbucket) const;
    [[nodiscard]] std::int32_t forward(std::size_t vbucket) const;
    [[nodiscard]] std::int32_t replica(std::size_t vbucket) const;
    [[nodiscard]] wire::configuration_revision revision() const {
        return configuration->revision();
    }
};

// The servers' messages to one client.
struct client_view {
    std::vector<known_map> maps;  // all maps it ever had, newest last
    // The same for the cluster's own maps; kept for calls only.
    std::vector<wire::cluster_configuration_ptr> global_maps;
    bool is_map_new = false;                    // since the last iteration
    time_point opened_last{};                   // when one of its bootstraps was last completed ...
    std::int32_t opened_node = -1;              // ... by which node ...
    std::size_t opened_loop = 0;                // ... and for which loop of the client
    std::vector<std::uint8_t> is_auth_refused;  // by node
    std::vector<std::uint8_t> is_tls_failed;
    std::vector<std::uint8_t> is_bucket_missing;  // how often the node reported it, up to 2
    // The same two for calls, which also depend on the cluster's own configuration; it may arrive
    // later than the bucket's.
    std::vector<std::uint8_t> has_refused_auth;
    std::vector<std::uint8_t> has_failed_tls;
    std::vector<std::uint8_t> is_service_tls_failed;  // by node and service
    std::uint64_t prepared_count = 0;                 // answers to PREPARE
    time_point terminal_last{};  // when a node or a service was last refused or not trusted
    bool is_access_denied = false;
    bool is_default_looked_up = false;  // a server reported the default collection as unknown
    bool was_bucket_selected = false;   // by some node
    time_point name_missing{};          // when a scope or a collection was reported missing

    // Whether a node or a service refused a login or could not be trusted.
    [[nodiscard]] bool has_terminal_state() const noexcept;
};

// Whether one of the flags of a view is set.
[[nodiscard]] bool any_of(const std::vector<std::uint8_t>& flags) noexcept;

// The progress of a connection's bootstrap.
enum class link_progress : std::uint8_t { begun, of_bucket, open, of_cluster };

// Each client's view of its servers, from what the network delivered.
class client_views {
public:
    explicit client_views(world& owner);

    client_view& operator[](std::uint32_t client) { return views_[client]; }
    const client_view& operator[](std::uint32_t client) const { return views_[client]; }

    // Adds the client's newest map to its view.
    client_view& refresh(std::uint32_t client);
    // Whether the client has a map that is new since the last call.
    bool take_new_map(std::uint32_t client);

    void on_bootstrap_answer(std::uint32_t index, const sim_link::answer_mark& answer);
    void on_bytes(std::uint32_t index);
    void on_connect_failed(std::uint32_t index, engine::connect_failure failure);
    void on_tls_alert(std::uint32_t index);

    // Whether the connection belongs to the bucket and its bootstrap is complete.
    [[nodiscard]] bool is_bootstrapped(std::uint32_t link) const noexcept {
        return progress_of(link) == link_progress::open;
    }
    [[nodiscard]] bool is_bucket_gone(std::uint32_t client) const;
    // Whether a seed that is being asked may still answer (RH-48).
    [[nodiscard]] bool may_seed_answer(std::uint32_t client) const;
    [[nodiscard]] bool is_refusal_proven(std::uint32_t client) const;
    // Whether every node of the map is connected and would accept a request at once.
    [[nodiscard]] bool is_idle(std::uint32_t client) const;

private:
    [[nodiscard]] link_progress progress_of(std::uint32_t link) const noexcept;
    void set_progress(std::uint32_t link, link_progress progress);
    [[nodiscard]] bool is_node_open(std::uint32_t client, std::int32_t node) const;
    static void forget_left(client_view& view);

    world& world_;
    std::vector<client_view> views_;
    std::vector<link_progress> progress_;  // by link
};

}  // namespace reprise::sim
