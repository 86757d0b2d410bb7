#pragma once

#include <cstddef>
#include <cstdint>

#include <reprise/engine/vocabulary.hpp>

#include "topology/cluster_state.hpp"

namespace reprise::engine {

// Receives the topology's events for waiting operations: one call per event, not per operation. A
// call may re-enter the topology before it returns.
class topology_listener {
public:
    virtual ~topology_listener() = default;

    // The event that these operations waited for has happened. The first `count_max` continue in
    // the order of their arrival.
    virtual void wake(wait_list& list, std::size_t count_max, time_point now) = 0;
    // A newer configuration is in use, and the links are updated. `waiting_count` operations waited
    // for the topology before it arrived.
    virtual void on_configuration(
        bucket_state& bucket, std::size_t waiting_count, time_point now) = 0;
    // An attempt to connect failed: operations that only waited for it are notified.
    virtual void on_link_failed(node_link& link, time_point now) = 0;
    // The node is no longer in the topology: operations that were not sent go elsewhere.
    virtual void on_link_retired(node_link& link, time_point now) = 0;
    // The bucket is in a terminal state: operations that cannot be sent are notified now.
    virtual void on_terminal_state(bucket_state& bucket, time_point now) = 0;
    // The same for the services, once for all buckets, whether or not a terminal state is set.
    virtual void on_terminal_state_of_services(time_point now) = 0;
    // An endpoint's breaker has closed. Operations that waited for its connections were woken.
    virtual void on_breaker_closed(time_point now) = 0;
    // A node reported that the collection does not exist, with `reason` and `status`.
    virtual void on_collection_missing(
        collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now) = 0;
    // No operation on this collection can succeed.
    virtual void on_collection_refused(
        collection_entry& entry, errc error, std::uint16_t status, time_point now) = 0;
};

}  // namespace reprise::engine
