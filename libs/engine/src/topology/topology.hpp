#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry/backoff.hpp>

#include "engine_context.hpp"
#include "topology/breakers.hpp"
#include "topology/cluster_state.hpp"
#include "topology/endpoint_table.hpp"
#include "topology/topology_listener.hpp"

namespace reprise::engine {

enum class configuration_effect : std::uint8_t {
    applied,     // it is newer than what we had
    refused,     // older, or of another bucket
    unreadable,  // not a configuration
};

// Buckets, their configurations, and the links that follow from them: who shall be connected to
// whom, where a key's node is, and whether waiting helps. It asks the gate for connections and
// never opens one itself.
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

    // --- buckets and keyspaces (topology.cpp) ---

    [[nodiscard]] keyspace_id keyspace(
        std::string_view bucket, std::string_view scope, std::string_view collection);
    [[nodiscard]] const keyspace_entry& operator[](keyspace_id id) const noexcept {
        return keyspaces_[id.value];
    }
    [[nodiscard]] bool contains(keyspace_id id) const noexcept {
        return id.value < keyspaces_.size();
    }
    // The bucket's state, made if there is none; an empty name means the cluster.
    [[nodiscard]] bucket_state& bucket(std::string_view name);
    // Null: nobody has named it yet.
    [[nodiscard]] const bucket_state* find_bucket(std::string_view name) const noexcept;
    [[nodiscard]] std::span<const std::unique_ptr<bucket_state>> buckets() const noexcept {
        return buckets_;
    }
    // Somebody wants the bucket: its links are kept up from now on.
    void open(bucket_state& bucket, time_point now);
    // The name service has answered.
    void on_resolved(
        resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now);
    // Appends one entry for each link, with its connection if there is one.
    void describe(std::vector<endpoint_diagnostics>& out) const;
    // The engine closes: no timer of buckets and links is due any more.
    void close() noexcept;

    // --- configurations (topology_configuration.cpp) ---

    // What is not newer is refused without harm. `source_host` is where it came from.
    configuration_effect apply(
        bucket_state& bucket, std::string_view text, std::string_view source_host, time_point now);
    // One link for each data node (and ordinal) of the configuration; the others retire.
    void sync_links(bucket_state& bucket, time_point now);
    // The network whose addresses are used; empty until it is chosen.
    [[nodiscard]] const std::string& network() const noexcept { return network_; }
    // The newest configuration that says where the services of this bucket are; an empty name:
    // those of the cluster. Null: none is known.
    [[nodiscard]] const wire::cluster_configuration* services_of(
        std::string_view bucket) const noexcept;
    // Key-value does not open the bucket to us, and there is no configuration of it.
    [[nodiscard]] bool is_closed_to_key_value(std::string_view bucket) const noexcept;

    // --- links (topology_links.cpp) ---

    // Asks for a place; the connection begins when there is one.
    void connect(node_link& link, time_point now);
    // Links of the bucket that wait for a place get one of the next.
    void hurry(bucket_state& bucket, time_point now);
    void hurry(node_link& link, time_point now);
    // The link's connection is open. `is_news`: the bootstrap brought a newer configuration.
    void on_link_open(node_link& link, bool is_news, time_point now);
    // The link's connection is over. `has_failed`: it was never open.
    void reconnect_later(node_link& link, bool has_failed, time_point now);
    void on_link_failed(node_link& link, time_point now);
    // Links that wait after a failure try again: those to one endpoint, or all with new
    // credentials.
    void reconnect_now(const endpoint_record& endpoint, time_point now);
    void reconnect_with_new_identity();
    // The bucket's first link to this endpoint; null: there is none.
    [[nodiscard]] node_link* find_link(const bucket_state& bucket, std::uint32_t endpoint) const;
    // An open connection of the bucket, one after the other: `next` is where to look first.
    [[nodiscard]] kv_connection* any_open(bucket_state& bucket, std::size_t& next) const noexcept;
    // The endpoint has answered: those that its breaker kept away go on.
    void close_breaker(endpoint_record& endpoint, time_point now);

    // --- terminal states (topology.cpp; what they are: terminal_state.hpp) ---

    // An endpoint's state changed; several buckets may use it.
    void refresh_terminal_states() noexcept;
    // Those who wait for a connection learn now that it will not come soon. Null: in every bucket.
    void on_terminal_state(bucket_state* affected, time_point now);
    // The bucket's timer: a refusal by one seed has waited for the others long enough.
    void end_seed_patience(bucket_state& bucket, time_point now);
    // Credentials and TLS are the same for all services. What a bucket allows concerns key-value
    // alone.
    [[nodiscard]] std::optional<retry_reason> terminal_reason_of_services() const noexcept;

private:
    void add_seed_links(bucket_state& bucket, time_point now);
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
    std::vector<std::unique_ptr<bucket_state>> buckets_;
    std::vector<keyspace_entry> keyspaces_;
    std::vector<wire::bootstrap_address> seeds_;  // empty until the name service answered
    std::optional<resolution_id> resolving_;
    std::string network_;
    exponential_backoff reconnect_backoff_;
};

}  // namespace reprise::engine
