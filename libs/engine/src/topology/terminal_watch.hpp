#pragma once

#include <optional>

#include "engine_context.hpp"
#include "topology/bucket_table.hpp"
#include "topology/topology_listener.hpp"

namespace reprise::engine {

// Follows the terminal states of all buckets (terminal_state.hpp): runs the timers after which a
// refusal or a missing bucket is final, and notifies the operations that wait.
class terminal_watch {
public:
    terminal_watch(
        engine_context& context, const bucket_table& buckets, topology_listener& listener) noexcept
        : context_(context), buckets_(buckets), listener_(listener) {}

    // A flag that all loops share was set or cleared: the other loops look again.
    void announce() const { context_.tell_others({loop_note::subject::terminal_states}); }
    // The state of an endpoint has changed. Several buckets may use it.
    void refresh() noexcept;
    // Fails operations that wait for a connection which will not open soon. Null affects every
    // bucket.
    void notify(bucket_state* affected, time_point now);
    // The bucket's timer fired: a refusal by one seed may have waited long enough for the others.
    void judge_silent_seeds(bucket_state& bucket, time_point now);
    // A node does not have the bucket, or cannot be asked any more.
    void watch_missing(bucket_state& bucket, time_point now);
    void on_missing_due(bucket_state& bucket, time_point now);
    // The terminal state that applies to all services. Credentials and TLS are shared by all
    // services; access to a bucket only concerns key-value.
    [[nodiscard]] std::optional<retry_reason> reason_of_services() const noexcept;

private:
    void wait_for_silent_seeds(bucket_state& bucket, time_point now);

    engine_context& context_;
    const bucket_table& buckets_;
    topology_listener& listener_;
};

}  // namespace reprise::engine
