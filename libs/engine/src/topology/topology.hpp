#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/wire/cluster_messages.hpp>

#include "engine_context.hpp"
#include "topology/breakers.hpp"
#include "topology/bucket_table.hpp"
#include "topology/cluster_state.hpp"
#include "topology/endpoint_table.hpp"
#include "topology/terminal_watch.hpp"
#include "topology/topology_listener.hpp"

namespace reprise::engine {

enum class configuration_effect : std::uint8_t {
    applied,     // newer than the current one
    refused,     // older, or of another bucket
    unreadable,  // not a configuration
};

// Owns the configurations of the buckets and the links that follow from them. It determines which
// nodes to connect to and which node owns a key. It asks the gate for connections and never opens
// one itself.
//
//     open -> links to the seeds -> apply (a configuration) -> links to its nodes, others retire
//          -> a link fails: reconnect_later, on_link_failed -> a terminal state, or the seeds again
//
class topology {
public:
    topology(
        engine_context& context, endpoint_table& endpoints, breakers& breakers,
        topology_listener& listener);

    [[nodiscard]] endpoint_table& endpoints() const noexcept { return endpoints_; }
    [[nodiscard]] breakers& breakers_of_nodes() const noexcept { return breakers_; }

    [[nodiscard]] bucket_table& buckets() noexcept { return buckets_; }
    [[nodiscard]] const bucket_table& buckets() const noexcept { return buckets_; }
    [[nodiscard]] terminal_watch& terminal() noexcept { return terminal_; }
    [[nodiscard]] const terminal_watch& terminal() const noexcept { return terminal_; }

    // --- the first links (topology.cpp) ---

    // Starts to keep the bucket's links connected.
    void open(bucket_state& bucket, time_point now) {
        if (!bucket.is_open) [[unlikely]] {
            open_links(bucket, now);
        }
    }
    // The name service has answered.
    void on_resolved(
        resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now);
    // Appends one entry for each link, with its connection if it has one.
    void describe(std::vector<endpoint_diagnostics>& out) const;
    [[nodiscard]] std::vector<service_address> service_addresses(std::string_view bucket) const;
    // The engine is closing: stops the timers of buckets and links.
    void close() noexcept;

    // --- configurations (topology_configuration.cpp) ---

    // Refuses a configuration that is not newer; that is harmless. `source_host` is the node that
    // sent it.
    configuration_effect apply(
        bucket_state& bucket, std::string_view text, std::string_view source_host, time_point now);
    // Another loop of the client has applied it.
    void take_from_other_loop(
        std::string_view bucket, const wire::cluster_configuration_ptr& newest, time_point now);
    // A server sent a configuration unasked. It is applied in the next turn of the loop unless a
    // newer one arrives before that.
    void take_push(
        bucket_state& bucket, const wire::cluster_map_change_notification& pushed,
        std::string_view source_host, time_point now);
    void apply_push(pushed_configuration& pushed, time_point now);
    // Creates one link for each data node (and ordinal) of the configuration, and retires the
    // others.
    void sync_links(bucket_state& bucket, time_point now);
    // The network whose addresses are used. Empty until it is chosen.
    [[nodiscard]] const std::string& network() const noexcept { return network_; }

    // --- links (topology_links.cpp) ---

    // Asks the gate for a connection, which starts once the gate admits it.
    void connect(node_link& link, time_point now);
    // Makes the queued links of the bucket urgent.
    void hurry(bucket_state& bucket, time_point now);
    void hurry(node_link& link, time_point now);
    // The link's connection is open. `is_newer_config`: the bootstrap returned a newer
    // configuration.
    void on_link_open(node_link& link, bool is_newer_config, time_point now);
    // The link's connection has ended. `has_failed`: it was never open.
    void reconnect_later(node_link& link, bool has_failed, time_point now);
    void on_link_failed(node_link& link, time_point now);
    // Links that wait after a failure reconnect at once: those to one endpoint, or all of them with
    // new credentials.
    void reconnect_now(const endpoint_record& endpoint, time_point now);
    void reconnect_with_new_identity();
    // The bucket's first link to this endpoint. Null if there is none.
    [[nodiscard]] node_link* find_link(const bucket_state& bucket, std::uint32_t endpoint) const;
    // Returns an open connection of the bucket, in rotation. `next` is the position to start from.
    [[nodiscard]] kv_connection* any_open(bucket_state& bucket, std::size_t& next) const noexcept;
    // The endpoint has answered: closes its breaker and wakes the operations that it refused.
    void close_breaker(endpoint_record& endpoint, time_point now);
    // The same for a breaker that is closed already.
    void on_breaker_closed(endpoint_record& endpoint, time_point now);

private:
    void open_links(bucket_state& bucket, time_point now);
    void add_seed_links(bucket_state& bucket, time_point now);
    void take_srv_targets(std::span<const wire::bootstrap_address> found);
    void refuse_srv_target(node_link& link) const;
    node_link& link_to(
        bucket_state& bucket, const wire::endpoint_view& address, std::size_t ordinal,
        time_point now);
    void install(
        bucket_state& bucket, wire::cluster_configuration_ptr configuration, time_point now);
    void sync_cluster_links(bucket_state& bucket, time_point now);
    void retire_others(bucket_state& bucket, time_point now);
    void retire(std::span<node_link* const> links, time_point now);
    static void reap(bucket_state& bucket);

    engine_context& context_;
    endpoint_table& endpoints_;
    breakers& breakers_;
    topology_listener& listener_;
    bucket_table buckets_;
    terminal_watch terminal_;
    std::vector<wire::bootstrap_address> seeds_;  // empty until the name service has answered
    bool has_srv_seeds_ = false;                  // the name service named them, not the user
    std::optional<resolution_id> resolving_;
    std::string network_;
    driver::exponential_backoff reconnect_backoff_;
};

}  // namespace reprise::engine
