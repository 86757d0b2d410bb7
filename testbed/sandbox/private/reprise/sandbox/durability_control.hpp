#pragma once

#include <chrono>
#include <cstddef>

namespace reprise::sandbox {

namespace detail {
struct cluster_state;
}

/// Controls replication and persistence, and so the durable writes that wait for them; see
/// cluster::durability().
///
/// A durable write that cannot reach its majority (or disk) at once is prepared, but not
/// applied: its answer waits, readers see the old document, and other changes to the key are
/// answered with 0xa2. It is applied once nothing prevents it any more. If it times out first,
/// it is answered with 0xa3 and stays pending. A copy that becomes active (failover, move,
/// restart) re-commits the prepared writes it finds; until then, changes and reads of the key
/// are answered with 0xa4. Prepares reach the replicas at once unless replication is held; a
/// prepare that did not reach one is lost with its node. A write is pending while replication is
/// held, while persistence is held (for levels that persist), while too few of its copies are on
/// nodes that are up, and during the replication delay.
class durability_control {
public:
    /// While held, replicas do not follow; once released, they catch up. A failover in between
    /// loses the held changes, as it would on real servers. Durable writes stay pending while
    /// replication is held.
    void hold_replication(bool is_held);
    /// While held, the persisted seqno of every vbucket does not change, and durable writes that
    /// must be persisted stay pending.
    void hold_persistence(bool is_held);

    /// How long replicas take to acknowledge. Applies to writes prepared from now on.
    void set_replication_delay(std::chrono::nanoseconds delay);
    /// How long a re-commit takes. Applies to those that start from now on.
    void set_recommit_delay(std::chrono::nanoseconds delay);
    /// While held, no re-commit finishes.
    void hold_recommit(bool is_held);
    std::size_t pending_write_count() const noexcept;
    /// Further durable writes are refused with 0x86.
    static constexpr std::size_t pending_write_count_max = 65'536;

private:
    friend class cluster;
    explicit durability_control(detail::cluster_state& state) noexcept : state_(&state) {}

    detail::cluster_state* state_;
};

}  // namespace reprise::sandbox
