#pragma once

#include "engine_context.hpp"
#include "topology/own_requests.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

class kv_connection;

// Asks for newer configurations: at intervals by the bucket's timer, sooner when something calls
// for it. One node after the other; never sooner than the floor after the last time, and never a
// node that has not answered the last question.
class configuration_polls {
public:
    configuration_polls(
        engine_context& context, topology& topology, own_request_judge& judge) noexcept
        : context_(context), topology_(topology), judge_(judge) {}

    // Something shows that there is a newer configuration.
    void want(bucket_state& bucket, time_point now);
    // The bucket's timer is due.
    void poll(bucket_state& bucket, time_point now);
    // Without a configuration that names owners nothing can be sent: the next poll comes sooner.
    void poll_soon(bucket_state& bucket, time_point now);
    // A connection of the bucket is open: its bootstrap has just asked.
    void on_open(bucket_state& bucket, time_point now);
    void on_answer(kv_connection& connection, const wire::frame_view& frame, time_point now);
    // The connection that was asked is gone.
    void on_lost(bucket_state& bucket, const endpoint_record& asked, time_point now);

private:
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
    own_request_judge& judge_;
};

}  // namespace reprise::engine
