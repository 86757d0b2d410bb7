#pragma once

#include "engine_context.hpp"
#include "topology/own_requests.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

class kv_connection;

// Polls the nodes for newer configurations: at intervals with the bucket's timer, and sooner on
// request. It asks the nodes in rotation, never sooner than the floor after the last poll, and
// never a node that has not answered its last poll. The loops of a client poll in turn, as often
// as one loop would.
class configuration_polls {
public:
    configuration_polls(
        engine_context& context, topology& topology, own_request_rules& judge) noexcept
        : context_(context), topology_(topology), judge_(judge) {}

    // Polls soon, because there seems to be a newer configuration.
    void want(bucket_state& bucket, time_point now);
    // The bucket's timer fired.
    void poll(bucket_state& bucket, time_point now);
    // Schedules an early poll. Without a configuration that names owners nothing can be sent.
    void poll_soon(bucket_state& bucket, time_point now);
    // A connection of the bucket is open, and its bootstrap has just asked for the configuration.
    void on_open(bucket_state& bucket, time_point now);
    void on_answer(kv_connection& connection, const wire::frame_view& frame, time_point now);
    // The connection with the pending poll is gone.
    void on_lost(bucket_state& bucket, const endpoint_record& asked, time_point now);

private:
    // The shortest time between the last poll and one of this loop.
    [[nodiscard]] duration pause_after(
        const poll_pace::last_poll& last, const bucket_state& bucket) const;
    kv_connection* choose(bucket_state& bucket, time_point now) const;
    void ask(bucket_state& bucket, kv_connection& connection, time_point now);
    void on_refused(
        bucket_state& bucket, const endpoint_record& asked, wire::status status, time_point now);
    void on_unreadable(bucket_state& bucket, const endpoint_record& asked, time_point now);
    void on_failed(
        bucket_state& bucket, const endpoint_record& asked, const retry_case& failed,
        time_point now);

    engine_context& context_;
    topology& topology_;
    own_request_rules& judge_;
};

}  // namespace reprise::engine
