#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine_context.hpp"
#include "engine_timer.hpp"
#include "operations/operation_endings.hpp"
#include "operations/operation_lifecycle.hpp"
#include "operations/operation_routes.hpp"
#include "operations/operation_slot.hpp"
#include "topology/topology.hpp"

namespace reprise::engine {

class connections;
class key_value_operations;

// Parks operations, and wakes them when the cause of their waiting ends. Owns those that wait only
// for time; the others are in the lists of what they wait for.
//
// An event may wake a million operations. Each turn of the loop dispatches a bounded number of
// them, so that answers and deadlines of others do not have to wait; the rest keeps its order.
class waiting_operations {
public:
    // How many operations one turn of the loop wakes: about a millisecond of work.
    static constexpr std::size_t wake_count_max = 16'384;

    waiting_operations(
        engine_context& context, topology& nodes, operation_lifecycle& life,
        connections& kv_connections, operation_endings& endings,
        key_value_operations& requests) noexcept
        : context_(context),
          routes_(context, nodes),
          life_(life),
          kv_connections_(kv_connections),
          endings_(endings),
          requests_(requests) {}

    // Parks a failed operation for its backoff, in the list that determines what wakes it early.
    void park(operation_slot& slot, const retry_outcome& decided, time_point now);
    // Parks an operation that was never tried until its first attempt.
    void park_before_start(operation_slot& slot, duration delay, time_point now);
    // Parks it without a retry until a resource is available, if there is a place.
    void park_without_retry(operation_slot& slot, wait_list& list, time_point now);
    // Removes the operation from its list, its timer and its connection.
    void leave(operation_slot& slot);
    // From wherever it waits back to dispatch.
    void resume(operation_slot& slot, bool is_woken, time_point now);
    // Whether a new revision may cut the operation's wait short. Counts each time it does. If
    // revisions arrive slowly, it always may.
    static bool may_retry_early(operation_slot& slot, const bucket_state& bucket) noexcept;

    // --- topology (contracts: topology_listener.hpp) ---

    // Wakes the first of them now, and if there are many, the rest in the next turns.
    void wake(wait_list& list, std::size_t count_max, time_point now);
    void on_configuration(bucket_state& bucket, std::size_t waiting_count, time_point now);
    void on_link_failed(node_link& link, time_point now);
    void on_link_retired(node_link& link, time_point now);
    void on_terminal_state(bucket_state& bucket, time_point now);
    void on_collection_missing(
        collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now);
    void on_collection_refused(
        collection_entry& entry, errc error, std::uint16_t status, time_point now);

    // --- large wake-ups ---

    // Continues with the wake-ups that the last turn did not finish.
    void wake_more(time_point now);
    // Forgets them. All operations have ended.
    void close() noexcept;

private:
    enum class wake_cause : std::uint8_t {
        resource,  // what these operations waited for is there
        revision,  // a configuration: an operation that was woken often waits a little longer
    };
    // Operations that were woken, but not yet dispatched: the first `left` of the list.
    struct unfinished_wake {
        wait_list* list;
        std::size_t left;
        wake_cause cause;
    };

    void wake_some(unfinished_wake wake, std::size_t& budget, time_point now);
    // The list is about to go: dispatches everything that is in it.
    void wake_all(wait_list& list, time_point now);
    [[nodiscard]] bool goes_now(operation_slot& slot, wake_cause cause, time_point now);
    [[nodiscard]] wait_list& list_for(operation_slot& slot);
    // Dispatches the operations in the list for which `goes(slot)` returns true.
    template <class Goes>
    void wake_if(wait_list& list, bool is_woken, time_point now, Goes&& goes);
    void wake_silent(wait_list& list, time_point now);
    void wake_for_terminal_state(wait_list& list, time_point now);
    void wake_if_stuck(wait_list& list, const bucket_state& bucket, time_point now);

    engine_context& context_;
    operation_routes routes_;
    operation_lifecycle& life_;
    connections& kv_connections_;
    operation_endings& endings_;
    key_value_operations& requests_;
    wait_list backoff_waiters_;
    std::vector<unfinished_wake> unfinished_;  // each list at most once
    engine_timer next_wake_{timer_kind::wake};
};

}  // namespace reprise::engine
