#include "key_value/data_access.hpp"

#include <algorithm>
#include <array>

#include <reprise/wire/compression.hpp>
#include <reprise/wire/expiry.hpp>

#include "subdoc/json_text.hpp"
#include "subdoc/xattrs.hpp"

namespace reprise::sandbox::detail {

using wire::datatype;
using wire::hello_feature;
using wire::status;

namespace {

// Returns false, after answering the request, if a pending write of the key blocks it.
bool is_free(
    request& current, const vbucket& in, const wire::document_key& key, access_kind access) {
    const auto prepared = in.prepares.find(view_of(key));
    if (prepared == in.prepares.end()) {
        return true;
    }
    if (prepared->second.is_recommitting) {
        current.fail(status::sync_write_re_commit_in_progress);
        return false;
    }
    if (access == access_kind::change) {
        current.fail(status::sync_write_in_progress);
        return false;
    }
    return true;
}

// Whether the user's roles allow the request in the collection; answers the request if not. A user
// without any rights in the collection gets the answer for an unknown collection.
bool is_permitted(request& current, std::uint32_t collection) {
    const conversation& conv = current.conv;
    if (has_all(conv.bucket_privileges, current.needs)) {
        return true;
    }
    const rights& given = conv.user->rights;
    const std::string& bucket = conv.bucket->options.name;
    privilege here = conv.bucket_privileges;
    if (given.is_narrowed(bucket)) {
        for (const wire::manifest_scope& scope : conv.bucket->manifest.scopes) {
            for (const wire::manifest_collection& each : scope.collections) {
                here = each.id == collection ? given.in_collection(bucket, scope.name, each.name)
                                             : here;
            }
        }
    }
    if (has_all(here, current.needs)) {
        return true;
    }
    if (here == privilege::none && given.is_narrowed(bucket)) {
        current.unknown_name(status::unknown_collection);
    } else {
        current.reject(status::eaccess, "No role of the user permits this");
    }
    return false;
}

// Takes the place of the stored document until the write is applied.
document& prepare(request& current, vbucket& in, const wire::document_key& key, document content) {
    document& prepared = in.prepare(view_of(key), std::move(content), current.now);
    current.pending_id = current.cluster.add_pending(
        *current.conv.bucket, current.frame.vbucket().value, view_of(key), {prepared},
        *current.infos.durability);
    current.audit.seqno = prepared.seqno;
    return prepared;
}

}  // namespace

vbucket* open_vbucket(
    request& current, const wire::document_key& key, vbucket_state wanted, access_kind access) {
    const conversation& conv = current.conv;
    if (conv.bucket == nullptr) {
        current.fail(status::no_bucket, "No bucket selected");
        return nullptr;
    }
    if (!conv.local->knows(*conv.bucket, key.collection.value)) {
        current.unknown_name(status::unknown_collection);
        return nullptr;
    }
    if (!is_permitted(current, key.collection.value)) {
        return nullptr;
    }
    const std::size_t number = current.frame.vbucket().value;
    vbucket* found =
        number < conv.local->vbuckets.size() ? conv.local->vbuckets[number].get() : nullptr;
    if (found == nullptr || found->state != wanted) {
        current.not_my_vbucket();
        return nullptr;
    }
    if (wanted == vbucket_state::active && !found->prepares.empty() &&
        !is_free(current, *found, key, access)) {
        return nullptr;
    }
    return found;
}

document make_tombstone(const document& dead, std::uint32_t now_seconds) {
    document tombstone;
    tombstone.flags = dead.flags;
    tombstone.is_deleted = true;
    tombstone.expiry = now_seconds;
    if (!dead.xattrs.empty()) {
        tombstone.xattrs = base::slice::copy_of(base::as_bytes(system_xattrs(dead.xattrs.text())));
    }
    return tombstone;
}

document* find_alive(request& current, vbucket& in, const wire::document_key& key) {
    document* found = in.find(view_of(key));
    if (found == nullptr || found->is_deleted) {
        return nullptr;
    }
    const std::uint32_t now_seconds = seconds_of(current.now);
    if (!found->is_expired(now_seconds)) {
        return found;
    }
    if (in.state == vbucket_state::active) {
        const document& stored =
            in.store(view_of(key), make_tombstone(*found, now_seconds), current.now);
        current.cluster.after_change(
            *current.conv.bucket, current.frame.vbucket().value, in, view_of(key), stored);
    }
    return nullptr;
}

std::optional<opened_document> open_document(request& current, const wire::document_key& key) {
    vbucket* in = open_vbucket(current, key, vbucket_state::active, access_kind::change);
    if (in == nullptr) {
        return std::nullopt;
    }
    document* existing = find_alive(current, *in, key);
    if (existing == nullptr) {
        current.fail(status::key_enoent);
        return std::nullopt;
    }
    return opened_document{*in, *existing};
}

status check_cas(const document& existing, std::uint64_t cas, time_point now) noexcept {
    if (existing.is_locked(now)) {
        return cas == existing.cas ? status::success : status::locked;
    }
    return cas != 0 && cas != existing.cas ? status::key_eexists : status::success;
}

bool is_durability_possible(request& current) {
    const bucket_record& bucket = *current.conv.bucket;
    auto& asked = current.infos.durability;
    if (const auto least = bucket.options.settings.durability_min;
        least && wire::opcode_info(current.op()).accepts_durability &&
        (!asked || asked->level < *least)) {
        asked = wire::durability_requirement{*least, asked ? asked->timeout : std::nullopt};
    }
    if (!current.infos.durability) {
        return true;
    }
    if (bucket.options.type == bucket_type::ephemeral &&
        current.infos.durability->level != wire::durability_level::majority) {
        current.fail(status::durability_invalid_level, "The bucket does not persist");
        return false;
    }
    const std::size_t copies = current.cluster.copies_up(bucket, current.frame.vbucket().value);
    if (copies < (1 + bucket.replica_count) / 2 + 1) {
        current.fail(status::durability_impossible, "Too few replicas");
        return false;
    }
    if (current.cluster.pending.size() >= durability_control::pending_write_count_max) {
        current.fail(status::etmpfail, "Too many pending durable writes");
        return false;
    }
    return true;
}

document& commit(request& current, vbucket& in, const wire::document_key& key, document content) {
    if (current.infos.durability &&
        current.cluster.must_wait(*current.conv.bucket, current.infos.durability->level)) {
        return prepare(current, in, key, std::move(content));
    }
    document& stored = in.store(view_of(key), std::move(content), current.now);
    current.cluster.after_change(
        *current.conv.bucket, current.frame.vbucket().value, in, view_of(key), stored);
    current.audit.is_applied = true;
    current.audit.seqno = stored.seqno;
    return stored;
}

std::uint32_t absolute_expiry(
    const request& current, std::uint32_t field, wire::collection_id collection) {
    return current.conv.bucket->absolute_expiry(collection.value, field, current.now);
}

std::expected<taken_value, status> take_value(
    const request& current, base::byte_view value, datatype given) {
    const std::size_t size_max = current.cluster.options.value_size_max_bytes;
    taken_value taken;
    taken.is_compressed = wire::has(given, datatype::snappy);
    if (taken.is_compressed) {
        const auto inflated = wire::inflate(value, size_max);
        if (!inflated) {
            return std::unexpected(status::einval);
        }
        taken.is_json = json_depth(base::as_text(*inflated)).has_value();
    } else {
        if (value.size() > size_max) {
            return std::unexpected(status::e2big);
        }
        taken.is_json = json_depth(base::as_text(value)).has_value();
    }
    taken.stored = base::slice::copy_of(value);
    return taken;
}

taken_value make_value(std::string_view text) {
    return {base::slice::copy_of(base::as_bytes(text)), json_depth(text).has_value(), false};
}

void answer_document(request& current, const document& content, std::uint64_t cas) {
    std::array<std::byte, 4> flags;
    base::store_big_endian(flags.data(), content.flags);
    answer_parts parts{.cas = cas, .extras = flags};
    parts.datatype = content.is_json ? datatype::json : datatype::raw;
    std::string scratch;
    if (content.is_compressed && current.conv.has(hello_feature::snappy)) {
        parts.datatype = parts.datatype | datatype::snappy;
        parts.value = content.value.view();
    } else {
        parts.value = base::as_bytes(plain_value(content, scratch));
    }
    current.answer(parts);
}

void answer_mutation(
    request& current, const vbucket& in, const document& content, base::byte_view value,
    answer_parts parts) {
    std::array<std::byte, 16> token;
    base::store_big_endian(base::store_big_endian(token.data(), in.uuid()), content.seqno);
    if (current.conv.has(hello_feature::mutation_seqno)) {
        parts.extras = token;
    }
    parts.cas = content.cas;
    parts.value = value;
    current.answer(parts);
}

}  // namespace reprise::sandbox::detail
