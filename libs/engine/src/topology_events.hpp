#pragma once

#include "http_operations/http_operations.hpp"
#include "operations/key_value_operations.hpp"
#include "topology/topology_listener.hpp"

namespace reprise::engine {

// Passes changes of the topology to the operations that wait for them: key-value first, then the
// services.
class topology_events final : public topology_listener {
public:
    topology_events(key_value_operations& key_value, http_operations& http) noexcept
        : key_value_(key_value), http_(http) {}

    void wake(wait_list& list, std::size_t count_max, time_point now) override {
        key_value_.waiting().wake(list, count_max, now);
    }
    void on_configuration(
        bucket_state& bucket, std::size_t waiting_count, time_point now) override {
        key_value_.waiting().on_configuration(bucket, waiting_count, now);
        http_.on_topology(now);
    }
    void on_link_failed(node_link& link, time_point now) override {
        key_value_.waiting().on_link_failed(link, now);
        http_.waiting().find_nodes_again(now);
    }
    void on_link_retired(node_link& link, time_point now) override {
        key_value_.waiting().on_link_retired(link, now);
    }
    void on_terminal_state(bucket_state& bucket, time_point now) override {
        key_value_.waiting().on_terminal_state(bucket, now);
    }
    void on_terminal_state_of_services(time_point now) override { http_.on_terminal_state(now); }
    void on_breaker_closed(time_point now) override { http_.waiting().wake_refused(now); }
    void on_collection_missing(
        collection_entry& entry, retry_reason reason, std::uint16_t status,
        time_point now) override {
        key_value_.waiting().on_collection_missing(entry, reason, status, now);
    }
    void on_collection_refused(
        collection_entry& entry, errc error, std::uint16_t status, time_point now) override {
        key_value_.waiting().on_collection_refused(entry, error, status, now);
    }

private:
    key_value_operations& key_value_;
    http_operations& http_;
};

}  // namespace reprise::engine
