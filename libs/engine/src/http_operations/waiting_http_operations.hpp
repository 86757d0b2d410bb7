#pragma once

#include <cstddef>
#include <utility>

#include "engine_context.hpp"
#include "http_operations/http_connection.hpp"
#include "http_operations/http_nodes.hpp"
#include "intrusive_list.hpp"
#include "operations/operation_lifecycle.hpp"

namespace reprise::engine {

class http_operations;

// Parks HTTP operations, and wakes them when the cause of their waiting ends. Owns the lists of
// those that wait for time, a configuration or a circuit breaker. Those that wait for a connection
// are in the queue of their pool.
class waiting_http_operations {
public:
    waiting_http_operations(
        operation_lifecycle& life, http_nodes& candidates, http_operations& requests) noexcept
        : life_(life), candidates_(candidates), requests_(requests) {}

    // Parks a failed operation for its backoff, in the list that determines what wakes it early.
    void park(http_slot& slot, duration delay, time_point now);
    // Parks an operation that was never tried until its first attempt.
    void park_before_start(http_slot& slot, duration delay, time_point now);
    // Parks it without a retry until there is a configuration, at most until `due`.
    void park_for_configuration(http_slot& slot, time_point due, time_point now);
    // Removes the operation from its list, its timer and its connection.
    void leave(http_slot& slot);
    // From wherever it waits back to the search for a node.
    void resume(http_slot& slot, time_point now);
    // Removes the operations that wait for a connection of this pool and passes each to `each`,
    // which may queue it again.
    template <class Each>
    void empty_queue(http_pool& pool, Each&& each) {
        empty_queue(pool, [](const http_slot&) { return true; }, each);
    }
    // The same for those for which `leaves(slot)` returns true. The others keep their places.
    template <class Leaves, class Each>
    void empty_queue(http_pool& pool, Leaves&& leaves, Each&& each);

    // Continues operations that a circuit breaker refused and that have a usable node now.
    void wake_refused(time_point now);
    // Nodes or their states have changed: operations look for a node again.
    void find_nodes_again(time_point now);
    // A terminal state is set: operations in a backoff that reached no node do not wait for its
    // end.
    void wake_stuck(time_point now);

private:
    [[nodiscard]] intrusive_list<http_slot>& list_for(retry_reason reason) noexcept;
    // Operations in the list for which `goes(slot)` returns true look for a node again.
    template <class Goes>
    void wake_if(intrusive_list<http_slot>& list, time_point now, Goes&& goes);

    operation_lifecycle& life_;
    http_nodes& candidates_;
    http_operations& requests_;
    intrusive_list<http_slot> topology_waiters_;
    intrusive_list<http_slot> backoff_waiters_;
    intrusive_list<http_slot> breaker_waiters_;
};

template <class Leaves, class Each>
void waiting_http_operations::empty_queue(http_pool& pool, Leaves&& leaves, Each&& each) {
    operation_lifecycle::wake_if(pool.queue, leaves, [&](http_slot& slot) {
        leave(slot);
        each(slot);
    });
}

}  // namespace reprise::engine
