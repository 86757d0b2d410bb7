#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "key_value/document_store.hpp"

namespace reprise::sandbox::detail {

enum class vbucket_state : std::uint8_t { active, replica };

// Since which seqno a vbucket carries which uuid; a new one begins when a copy becomes active.
struct failover_entry {
    std::uint64_t uuid = 0;
    std::uint64_t seqno = 0;
};

// A durable write that waits: what the document will be. It stands beside the committed one, which
// readers go on seeing.
struct prepared_write {
    document content;
    // This copy became active with it: it is being re-committed.
    bool is_recommitting = false;
};

using prepared_map = std::unordered_map<stored_key, prepared_write, key_hash, key_equal>;

// One copy of a vbucket on one node.
struct vbucket {
    vbucket_state state = vbucket_state::active;
    document_map documents;
    prepared_map prepares;
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
    // Notes a durable write under the next CAS and seqno; the key must have none. The document as
    // it will be is returned.
    document& prepare(const key_view& key, document content, time_point now);
    // Stores what was prepared, which must be there: it keeps the CAS of its prepare.
    document& store_prepared(const key_view& key);
    // From now on its prepares are being re-committed.
    void begin_recommit() noexcept;

    // Takes a document over from the active copy as it is.
    void replicate(const key_view& key, const document& content);
    // A new uuid from the current seqno on: what a copy gets that becomes active.
    void begin_history(std::uint64_t new_uuid);
    // Takes over what `active` has and this copy has not. Changes that this copy made or got under
    // a history the active copy does not share are rolled back: everything is taken anew then.
    void catch_up(const vbucket& active);
    // Locks live as long as the process of the active copy's node.
    void forget_locks() noexcept;

private:
    // Whether all this copy has is part of the history of `active`.
    bool is_prefix_of(const vbucket& active) const noexcept;
};

inline constexpr std::size_t failover_log_size_max = 32;

}  // namespace reprise::sandbox::detail
