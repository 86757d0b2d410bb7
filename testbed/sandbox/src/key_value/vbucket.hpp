#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include <reprise/wire/range_scan_messages.hpp>

#include "key_value/document_store.hpp"

namespace reprise::sandbox::detail {

enum class vbucket_state : std::uint8_t { active, replica };

// The seqno from which a vbucket has a uuid. A new entry begins when a copy becomes active.
struct failover_entry {
    std::uint64_t uuid = 0;
    std::uint64_t seqno = 0;
};

// A durable write that waits: the future document. It is kept in addition to the committed one,
// which readers continue to see.
struct prepared_write {
    document content;
    // This copy became active while it had the write, which is now being re-committed.
    bool is_recommitting = false;
};

using prepared_map = std::unordered_map<stored_key, prepared_write, key_hash, key_equal>;

// A deletion, in the order of its seqno.
struct tombstone_entry {
    std::uint64_t seqno = 0;
    stored_key key;
};

// A document of a scan. It shares the bytes of the stored one.
struct scanned_document {
    std::string key;
    document content;
};

// A range scan that a client has created and neither finished nor canceled.
struct open_scan {
    wire::scan_id id;
    time_point created{};
    std::uint32_t collection = 0;
    bool is_key_only = false;
    std::vector<scanned_document> documents;
    std::size_t next = 0;  // the first one that was not sent
};

// One copy of a vbucket on one node.
struct vbucket {
    vbucket_state state = vbucket_state::active;
    document_map documents;
    prepared_map prepares;
    std::uint64_t seqno_high = 0;
    std::uint64_t seqno_persisted = 0;
    std::uint64_t cas_max = 0;
    // Oldest first; bounded. An entry whose key was stored again since is out of date.
    std::deque<tombstone_entry> tombstones;
    // Tombstones up to this seqno are gone.
    std::uint64_t seqno_purged = 0;
    // Newest first, never empty; bounded.
    std::vector<failover_entry> failover_log;
    // Of the active copy; bounded.
    std::vector<open_scan> scans;

    std::uint64_t uuid() const noexcept { return failover_log.front().uuid; }

    // The document or tombstone as stored; null: none.
    document* find(const key_view& key) noexcept;
    const document* find(const key_view& key) const noexcept;

    // The CAS for a change at `now`: the time in nanoseconds with its low 16 bits cleared, or one
    // more than the highest CAS so far if the clock did not advance.
    std::uint64_t cas_next(time_point now) const noexcept;

    // Stores a document with the next CAS, the next seqno and the next revision of its key. Returns
    // the stored document, which is not locked.
    document& store(const key_view& key, document content, time_point now);
    // Records a durable write with the next CAS and seqno. The key must not have one. Returns the
    // future document.
    document& prepare(const key_view& key, document content, time_point now);
    // Stores the prepared document, which must exist and keeps the CAS of its prepare.
    document& store_prepared(const key_view& key);
    // Marks all prepared writes as being re-committed.
    void begin_recommit() noexcept;

    // Copies a document from the active copy without changes. Like the two above, purges the oldest
    // tombstone if there are too many.
    void replicate(const key_view& key, const document& content);
    // Starts a new uuid at the current seqno, as a copy does when it becomes active.
    void begin_history(std::uint64_t new_uuid);
    // Copies what `active` has and this copy lacks. If this copy contains changes from a history
    // that the active copy does not share, or misses deletions that the active copy has purged, it
    // rolls back and copies everything again.
    void catch_up(const vbucket& active);
    // Releases all locks and ends all scans: they end with the process of the active copy's node.
    void forget_locks() noexcept;

    // Null if there is no such scan.
    open_scan* find_scan(const wire::scan_id& id) noexcept;
    void end_scan(const wire::scan_id& id) noexcept;

private:
    // Call it after a change of the key.
    void note_tombstone(const key_view& key, const document& stored);
    void purge_through(std::uint64_t seqno);
    void forget_documents() noexcept;
    // Whether everything in this copy is part of the history of `active`.
    bool is_prefix_of(const vbucket& active) const noexcept;
};

inline constexpr std::size_t failover_log_size_max = 32;
inline constexpr std::size_t scan_count_max = 64;
// Servers purge by age.
inline constexpr std::size_t tombstone_count_max = 1000;

}  // namespace reprise::sandbox::detail
