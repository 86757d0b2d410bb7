#pragma once

#include <cstddef>
#include <cstdint>

#include <reprise/engine/vocabulary.hpp>

#include "topology/cluster_state.hpp"

namespace reprise::engine {

// What the topology reports to those who wait: one call for each event, never one for each
// operation. A call may come back to the topology before it returns.
class topology_listener {
public:
    virtual ~topology_listener() = default;

    // What these waited for is there: the first `count_max` go on, in the order in which they came.
    virtual void wake(wait_list& list, std::size_t count_max, time_point now) = 0;
    // A newer configuration is in force, and links follow it. `waiting_count` operations waited for
    // the topology before it came.
    virtual void on_configuration(
        bucket_state& bucket, std::size_t waiting_count, time_point now) = 0;
    // An attempt to connect failed: those who only waited for it learn it.
    virtual void on_link_failed(node_link& link, time_point now) = 0;
    // The topology does not have this node any more: what was not sent goes elsewhere.
    virtual void on_link_retired(node_link& link, time_point now) = 0;
    // The bucket is in a terminal state: what cannot be sent learns it now.
    virtual void on_terminal_state(bucket_state& bucket, time_point now) = 0;
    // Likewise for the services, once for all buckets, whether or not a terminal state holds.
    virtual void on_terminal_state_of_services(time_point now) = 0;
    // An endpoint's breaker has closed; connections to it were woken.
    virtual void on_breaker_closed(time_point now) = 0;
    // There is no such collection, by the node's word: `reason` and `status`.
    virtual void on_collection_missing(
        collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now) = 0;
    // No operation on this collection can succeed.
    virtual void on_collection_refused(
        collection_entry& entry, errc error, std::uint16_t status, time_point now) = 0;
};

}  // namespace reprise::engine
