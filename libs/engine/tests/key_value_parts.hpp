#pragma once

// The key-value half of the engine without engine_core: operations and connections on a topology
// whose events are only recorded. Logins are skipped: `open` makes a connection usable.

#include <memory>
#include <utility>

#include "connections/connections.hpp"
#include "engine_parts.hpp"
#include "operations/key_value_operations.hpp"

namespace reprise::engine::testing {

struct key_value_parts {
    explicit key_value_parts(std::size_t node_count, engine_options options = {})
        : cluster(node_count), parts(std::move(options)) {
        parts.context.gate.set_starter(connect_request::kind::link, links);
    }
    ~key_value_parts() {
        parts.context.is_closed = true;
        parts.context.gate.clear();
        all.close(parts.now);
        ended.drain();
        parts.nodes.close();
        decider.flush_log();
        links.close();
    }
    key_value_parts(const key_value_parts&) = delete;
    key_value_parts& operator=(const key_value_parts&) = delete;

    scripted_cluster cluster;
    engine_parts parts;
    operation_retries decider{parts.context, parts.endpoints};
    completions ended;
    operation_lifecycle life{parts.context, decider, ended};
    configuration_polls polls{parts.context, parts.nodes, decider};
    collections collection_ids{parts.context, parts.listener, decider};
    connections links{parts.context, {parts.nodes, polls, collection_ids, all}};
    key_value_operations all{
        parts.context, {parts.nodes, polls, collection_ids, links, decider, life}};
    keyspace_id documents = parts.nodes.buckets().keyspace("travel", "", "");
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    int completed = 0;
    operation_result last;

    // Opens the bucket and applies the cluster's configuration.
    void configure() {
        parts.nodes.open(bucket, parts.now);
        parts.nodes.apply(bucket, cluster.configuration_text(0), "node1", parts.now);
    }
    // Makes the connection of the first link usable, as after its login.
    kv_connection& open() {
        kv_connection& connection = *bucket.links[0]->connection;
        parts.context.gate.end_opening(connection.is_opening, parts.now);
        parts.context.wheel.disarm(connection);
        connection.state = connection_state::open;
        bucket.links[0]->was_open = true;
        return connection;
    }
    operation_id get(std::string_view key) {
        operation_request request;
        request.kind = operation_kind::get;
        request.keyspace = documents;
        request.key = base::slice::copy_of(base::as_bytes(key));
        return all.start(
            std::move(request),
            [this](operation_result&& result) {
                ++completed;
                last = std::move(result);
            },
            parts.now);
    }
    [[nodiscard]] bool has_close_action() const {
        return std::ranges::any_of(parts.context.actions, [](const driver_action& action) {
            return std::holds_alternative<close_action>(action);
        });
    }
};

}  // namespace reprise::engine::testing
