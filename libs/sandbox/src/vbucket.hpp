#pragma once

#include <cstdint>
#include <vector>

#include "document_store.hpp"

namespace reprise::sandbox::detail {

enum class vbucket_state : std::uint8_t { active, replica };

// Since which seqno a vbucket carries which uuid; a new one begins when a copy becomes active.
struct failover_entry {
    std::uint64_t uuid = 0;
    std::uint64_t seqno = 0;
};

// One copy of a vbucket on one node.
struct vbucket {
    vbucket_state state = vbucket_state::active;
    document_map documents;
    std::uint64_t seqno_high = 0;
    std::uint64_t seqno_persisted = 0;
    std::uint64_t cas_max = 0;
    // Newest first, never empty; bounded.
    std::vector<failover_entry> failover_log;

    std::uint64_t uuid() const noexcept { return failover_log.front().uuid; }

    // The document or tombstone as it is stored; null: none.
    document* find(const key_view& key) noexcept;
    const document* find(const key_view& key) const noexcept;

    // The CAS a change at `now` would get: the time in nanoseconds with its low 16 bits cleared, or
    // one more than the highest yet if the clock did not move on.
    std::uint64_t cas_next(time_point now) const noexcept;

    // Stores a document under the next CAS and seqno, and the next revision of its key. The stored
    // document is returned; it is unlocked.
    document& store(const key_view& key, document content, time_point now);
    // Takes a document over from the active copy as it is.
    void replicate(const key_view& key, const document& content);
    // A new uuid from the current seqno on.
    void begin_history(std::uint64_t new_uuid);
    // Takes over what `active` has and this copy has not.
    void catch_up(const vbucket& active);
};

inline constexpr std::size_t failover_log_size_max = 32;

}  // namespace reprise::sandbox::detail
