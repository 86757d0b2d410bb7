#include "http_services/documents.hpp"

#include <algorithm>

#include <reprise/wire/expiry.hpp>
#include <reprise/wire/vbucket.hpp>

#include "key_value/data_access.hpp"

namespace reprise::sandbox::detail {

namespace {

// The current location of a key in a keyspace.
struct key_place {
    bucket_record* bucket = nullptr;
    std::size_t number = 0;
    vbucket* active = nullptr;  // null: no node that is up is responsible
};

key_place place_of(cluster_state& cluster, const keyspace& in, std::string_view id) {
    key_place place;
    place.bucket = cluster.find_bucket(in.bucket);
    if (place.bucket == nullptr || !place.bucket->collections.contains(in.collection_id)) {
        place.bucket = nullptr;
        return place;
    }
    place.number = wire::vbucket_of(id, cluster.options.vbucket_count).value;
    const std::int16_t node = place.bucket->rows[place.number][0];
    if (cluster.is_up(node)) {
        place.active = cluster.find_copy(node, in.bucket, place.number);
    }
    return place;
}

document* living(key_place& place, const key_view& key, time_point now) {
    document* found = place.active == nullptr ? nullptr : place.active->find(key);
    const bool is_alive =
        found != nullptr && !found->is_deleted && !found->is_expired(seconds_of(now));
    return is_alive ? found : nullptr;
}

}  // namespace

std::string keyspace::path() const {
    return "default:" + bucket + (is_default() ? "" : "." + scope + "." + collection);
}

std::expected<keyspace, keyspace_errc> find_keyspace(
    const cluster_state& cluster, std::string_view bucket, std::string_view scope,
    std::string_view collection) {
    const bucket_record* record = cluster.find_bucket(bucket);
    if (record == nullptr) {
        return std::unexpected(keyspace_errc::unknown_bucket);
    }
    const auto& scopes = record->manifest.scopes;
    const auto in = std::ranges::find(scopes, scope, &wire::manifest_scope::name);
    if (in == scopes.end()) {
        return std::unexpected(keyspace_errc::unknown_scope);
    }
    const auto found =
        std::ranges::find(in->collections, collection, &wire::manifest_collection::name);
    if (found == in->collections.end()) {
        return std::unexpected(keyspace_errc::unknown_collection);
    }
    return keyspace{std::string(bucket), std::string(scope), std::string(collection), found->id};
}

std::vector<keyspace> keyspaces_of(const cluster_state& cluster, std::string_view bucket) {
    std::vector<keyspace> all;
    if (const bucket_record* record = cluster.find_bucket(bucket); record != nullptr) {
        for (const wire::manifest_scope& scope : record->manifest.scopes) {
            for (const wire::manifest_collection& each : scope.collections) {
                all.push_back({std::string(bucket), scope.name, each.name, each.id});
            }
        }
    }
    return all;
}

bool is_reachable(cluster_state& cluster, const keyspace& in, std::string_view id) {
    const key_place place = place_of(cluster, in, id);
    return place.bucket == nullptr || place.active != nullptr;
}

std::optional<found_document> read_document(
    cluster_state& cluster, const keyspace& in, std::string_view id, time_point now) {
    key_place place = place_of(cluster, in, id);
    const document* found = living(place, {in.collection_id, id}, now);
    if (found == nullptr) {
        return std::nullopt;
    }
    std::string scratch;
    return found_document{std::string(id), std::string(plain_value(*found, scratch)),
                          found->cas,      found->flags,
                          found->expiry,   found->is_json};
}

std::vector<std::string> document_ids(cluster_state& cluster, const keyspace& in, time_point now) {
    std::vector<std::string> ids;
    const bucket_record* bucket = cluster.find_bucket(in.bucket);
    if (bucket == nullptr) {
        return ids;
    }
    for (std::size_t number = 0; number < bucket->rows.size(); ++number) {
        const std::int16_t node = bucket->rows[number][0];
        const vbucket* copy =
            cluster.is_up(node) ? cluster.find_copy(node, in.bucket, number) : nullptr;
        if (copy == nullptr) {
            continue;
        }
        for (const auto& [key, content] : copy->documents) {
            if (key.collection == in.collection_id && !content.is_deleted &&
                !content.is_expired(seconds_of(now))) {
                ids.push_back(key.key);
            }
        }
    }
    std::ranges::sort(ids);
    return ids;
}

write_result write_document(
    cluster_state& cluster, const keyspace& in, const document_write& change, time_point now) {
    if (change.id.empty() || change.id.size() > 250 ||
        change.value.size() > cluster.options.value_size_max_bytes) {
        return write_result::too_large;
    }
    key_place place = place_of(cluster, in, change.id);
    if (place.bucket == nullptr) {
        return write_result::bucket_gone;
    }
    if (place.active == nullptr) {
        return write_result::unavailable;
    }
    const key_view key{in.collection_id, change.id};
    const document* existing = living(place, key, now);
    if (existing != nullptr && change.rule == write_rule::insert) {
        return write_result::exists;
    }
    if (existing == nullptr && change.rule == write_rule::replace) {
        return write_result::missing;
    }
    const bool is_locked = existing != nullptr && existing->is_locked(now);
    if (is_locked || place.active->prepares.contains(key)) {
        return write_result::locked;
    }
    taken_value taken = make_value(change.value);
    document content;
    content.value = std::move(taken.stored);
    content.is_json = taken.is_json;
    content.flags = 0x02000000;  // JSON, in the format that all clients share
    if (existing != nullptr) {
        content.xattrs = existing->xattrs;
    }
    content.expiry = existing != nullptr && change.keeps_expiry && change.expiry == 0
                         ? existing->expiry
                         : place.bucket->absolute_expiry(in.collection_id, change.expiry, now);
    const document& stored = place.active->store(key, std::move(content), now);
    cluster.after_change(*place.bucket, place.number, *place.active, key, stored);
    return write_result::done;
}

write_result remove_document(
    cluster_state& cluster, const keyspace& in, std::string_view id, time_point now) {
    key_place place = place_of(cluster, in, id);
    if (place.bucket == nullptr) {
        return write_result::bucket_gone;
    }
    if (place.active == nullptr) {
        return write_result::unavailable;
    }
    const key_view key{in.collection_id, id};
    const document* existing = living(place, key, now);
    if (existing == nullptr) {
        return write_result::missing;
    }
    if (existing->is_locked(now) || place.active->prepares.contains(key)) {
        return write_result::locked;
    }
    const document& stored =
        place.active->store(key, make_tombstone(*existing, seconds_of(now)), now);
    cluster.after_change(*place.bucket, place.number, *place.active, key, stored);
    return write_result::done;
}

void flush_documents(cluster_state& cluster, std::string_view bucket) {
    const bucket_record* record = cluster.find_bucket(bucket);
    if (record == nullptr) {
        return;
    }
    ++cluster.removal_generation;
    for (std::size_t number = 0; number < record->rows.size(); ++number) {
        const std::uint64_t uuid = cluster.random_uuid();
        for (const auto& node : cluster.nodes) {
            vbucket* copy =
                cluster.find_copy(static_cast<std::int16_t>(node->id.value), bucket, number);
            if (copy != nullptr) {
                copy->documents.clear();
                copy->begin_history(uuid);
            }
        }
    }
}

}  // namespace reprise::sandbox::detail
