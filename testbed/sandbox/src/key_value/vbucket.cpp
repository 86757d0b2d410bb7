#include "key_value/vbucket.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/assert.hpp>

namespace reprise::sandbox::detail {

document* vbucket::find(const key_view& key) noexcept {
    const auto it = documents.find(key);
    return it == documents.end() ? nullptr : &it->second;
}

const document* vbucket::find(const key_view& key) const noexcept {
    const auto it = documents.find(key);
    return it == documents.end() ? nullptr : &it->second;
}

std::uint64_t vbucket::cas_next(time_point now) const noexcept {
    const auto nanoseconds =
        static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 0));
    return std::max(nanoseconds & ~std::uint64_t{0xffff}, cas_max + 1);
}

document& vbucket::store(const key_view& key, document content, time_point now) {
    const std::uint64_t cas = cas_next(now);
    auto it = documents.find(key);
    if (it == documents.end()) {
        it = documents.emplace(stored_key{key.collection, std::string(key.key)}, document{}).first;
    }
    content.revision = it->second.revision + 1;
    content.cas = cas;
    content.seqno = ++seqno_high;
    content.locked_until = time_point{};
    cas_max = cas;
    it->second = std::move(content);
    note_tombstone(key, it->second);
    return it->second;
}

document& vbucket::prepare(const key_view& key, document content, time_point now) {
    content.cas = cas_next(now);
    content.seqno = ++seqno_high;
    cas_max = content.cas;
    const auto [it, is_new] = prepares.try_emplace(
        stored_key{key.collection, std::string(key.key)}, prepared_write{std::move(content)});
    REPRISE_ASSERT(is_new);
    return it->second.content;
}

document& vbucket::store_prepared(const key_view& key) {
    const auto prepared = prepares.find(key);
    REPRISE_ASSERT(prepared != prepares.end());
    document content = std::move(prepared->second.content);
    prepares.erase(prepared);
    document* old = find(key);
    content.revision = old == nullptr ? 1 : old->revision + 1;
    content.seqno = ++seqno_high;
    content.locked_until = time_point{};
    if (old == nullptr) {
        old = &documents[stored_key{key.collection, std::string(key.key)}];
    }
    *old = std::move(content);
    note_tombstone(key, *old);
    return *old;
}

void vbucket::begin_recommit() noexcept {
    for (auto& [key, prepared] : prepares) {
        prepared.is_recommitting = true;
    }
}

void vbucket::replicate(const key_view& key, const document& content) {
    auto it = documents.find(key);
    if (it == documents.end()) {
        it = documents.emplace(stored_key{key.collection, std::string(key.key)}, document{}).first;
    }
    it->second = content;
    // Locks exist on the active copy only, so a failover releases them.
    it->second.locked_until = time_point{};
    seqno_high = std::max(seqno_high, content.seqno);
    cas_max = std::max(cas_max, content.cas);
    note_tombstone(key, content);
}

void vbucket::note_tombstone(const key_view& key, const document& stored) {
    if (!stored.is_deleted) {
        return;
    }
    tombstones.push_back({stored.seqno, {key.collection, std::string(key.key)}});
    if (tombstones.size() > tombstone_count_max) {
        purge_through(tombstones.front().seqno);
    }
}

void vbucket::purge_through(std::uint64_t seqno) {
    for (; !tombstones.empty() && tombstones.front().seqno <= seqno; tombstones.pop_front()) {
        const tombstone_entry& oldest = tombstones.front();
        const auto it = documents.find(key_view{oldest.key.collection, oldest.key.key});
        if (it != documents.end() && it->second.is_deleted && it->second.seqno == oldest.seqno) {
            documents.erase(it);
        }
    }
    seqno_purged = std::max(seqno_purged, seqno);
}

void vbucket::forget_documents() noexcept {
    documents.clear();
    tombstones.clear();
    seqno_high = 0;
    seqno_purged = 0;
}

void vbucket::begin_history(std::uint64_t new_uuid) {
    failover_log.insert(failover_log.begin(), failover_entry{new_uuid, seqno_high});
    if (failover_log.size() > failover_log_size_max) {
        failover_log.pop_back();
    }
    scans.clear();
    begin_recommit();
}

void vbucket::catch_up(const vbucket& active) {
    if (!is_prefix_of(active) || seqno_high < active.seqno_purged) {
        forget_documents();
    }
    purge_through(active.seqno_purged);
    const std::uint64_t seqno_seen = seqno_high;
    for (const auto& [key, content] : active.documents) {
        if (content.seqno > seqno_seen) {
            replicate(key_view{key.collection, key.key}, content);
        }
    }
    tombstones = active.tombstones;
    prepares = active.prepares;
    seqno_high = active.seqno_high;
    cas_max = std::max(cas_max, active.cas_max);
    failover_log = active.failover_log;
}

bool vbucket::is_prefix_of(const vbucket& active) const noexcept {
    if (seqno_high == 0) {
        return true;
    }
    std::uint64_t end = active.seqno_high;
    for (const failover_entry& entry : active.failover_log) {
        if (!failover_log.empty() && entry.uuid == uuid()) {
            return seqno_high <= end;
        }
        end = entry.seqno;  // where the previous history ended
    }
    return false;
}

void vbucket::forget_locks() noexcept {
    for (auto& [key, content] : documents) {
        content.locked_until = time_point{};
    }
    scans.clear();
}

open_scan* vbucket::find_scan(const wire::scan_id& id) noexcept {
    const auto at = std::ranges::find(scans, id, &open_scan::id);
    return at == scans.end() ? nullptr : &*at;
}

void vbucket::end_scan(const wire::scan_id& id) noexcept {
    std::erase_if(scans, [&](const open_scan& scan) { return scan.id == id; });
}

}  // namespace reprise::sandbox::detail
