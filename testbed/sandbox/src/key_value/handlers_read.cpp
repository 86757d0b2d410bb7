#include <reprise/base/byte_reader.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/observe_messages.hpp>

#include "key_value/data_access.hpp"
#include "key_value/handlers.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::status;

// The CAS of a locked document is hidden, so that no other client can use it.
std::uint64_t shown_cas(const document& content, time_point now) noexcept {
    return content.is_locked(now) ? wire::cas_locked : content.cas;
}

void read_document(request& current, const wire::document_request& message, vbucket_state wanted) {
    vbucket* in = open_vbucket(current, message.key, wanted);
    if (in == nullptr) {
        return;
    }
    const document* found = find_alive(current, *in, message.key);
    if (found == nullptr) {
        return current.fail(status::key_enoent);
    }
    answer_document(current, *found, shown_cas(*found, current.now));
}

wire::observe_result observe_one(
    request& current, const vbucket& in, const wire::observe_key& wanted) {
    wire::observe_result result{wanted.vbucket, wanted.key, wire::observe_state::not_found, 0};
    const document* found = in.find(view_of(wanted.key));
    if (found == nullptr) {
        return result;
    }
    const bool is_persisted = found->seqno <= in.seqno_persisted;
    const bool is_gone = found->is_deleted || found->is_expired(seconds_of(current.now));
    if (is_gone) {
        result.state =
            is_persisted ? wire::observe_state::not_found : wire::observe_state::logically_deleted;
    } else {
        result.state = is_persisted ? wire::observe_state::persisted : wire::observe_state::found;
    }
    result.cas = shown_cas(*found, current.now);
    return result;
}

// The copy of a vbucket on this node, active or replica.
const vbucket* find_any_copy(const request& current, std::size_t number) noexcept {
    const auto& copies = current.conv.local->vbuckets;
    return number < copies.size() ? copies[number].get() : nullptr;
}

}  // namespace

void handle_get(request& current, const wire::document_request& message) {
    read_document(current, message, vbucket_state::active);
}

void handle_get_replica(request& current, const wire::document_request& message) {
    read_document(current, message, vbucket_state::replica);
}

void handle_get_meta(request& current, const wire::get_meta_request& message) {
    vbucket* in = open_vbucket(current, message.key, vbucket_state::active);
    if (in == nullptr) {
        return;
    }
    // An expired document becomes a tombstone, which is then returned.
    (void)find_alive(current, *in, message.key);
    const document* found = in->find(view_of(message.key));
    if (found == nullptr) {
        return current.fail(status::key_enoent);
    }
    std::vector<std::byte> extras;
    base::byte_writer writer(extras);
    writer.write_u32(found->is_deleted ? 1 : 0);
    writer.write_u32(found->flags);
    writer.write_u32(found->expiry);
    writer.write_u64(found->revision);
    if (message.version == 2) {
        auto type = found->is_json ? wire::datatype::json : wire::datatype::raw;
        if (found->is_compressed) {
            type = type | wire::datatype::snappy;
        }
        if (!found->xattrs.empty()) {
            type = type | wire::datatype::xattr;
        }
        writer.write_u8(static_cast<std::uint8_t>(type));
    }
    current.answer({.cas = shown_cas(*found, current.now), .extras = extras});
}

void handle_observe(request& current, const wire::observe_request& message) {
    if (current.conv.bucket == nullptr) {
        return current.fail(status::no_bucket, "No bucket selected");
    }
    wire::observe_response response;
    for (const wire::observe_key& wanted : message.keys) {
        if (!current.conv.local->knows(*current.conv.bucket, wanted.key.collection.value)) {
            return current.unknown_name(status::unknown_collection);
        }
        const vbucket* in = find_any_copy(current, wanted.vbucket.value);
        if (in == nullptr) {
            return current.not_my_vbucket();
        }
        (void)response.results.push_back(observe_one(current, *in, wanted));
    }
    // The body is the requested list with state and CAS inserted after each key.
    std::vector<std::byte> body;
    base::byte_writer writer(body);
    for (const wire::observe_result& result : response.results) {
        writer.write_u16(result.vbucket.value);
        writer.write_u16(static_cast<std::uint16_t>(wire::encoded_size(result.key)));
        if (std::byte* at = writer.extend(wire::encoded_size(result.key)); at != nullptr) {
            wire::encode(at, result.key);
        }
        writer.write_u8(static_cast<std::uint8_t>(result.state));
        writer.write_u64(result.cas);
    }
    current.answer({.value = body});
}

void handle_observe_seqno(request& current, const wire::observe_seqno_request& message) {
    if (current.conv.bucket == nullptr) {
        return current.fail(status::no_bucket, "No bucket selected");
    }
    const std::uint16_t number = current.frame.vbucket().value;
    const vbucket* in = find_any_copy(current, number);
    if (in == nullptr) {
        return current.not_my_vbucket();
    }
    // The history is sorted from new to old: the entry before a uuid's own contains the seqno where
    // that uuid ended.
    std::size_t age = 0;
    while (age < in->failover_log.size() && in->failover_log[age].uuid != message.vbucket_uuid) {
        ++age;
    }
    if (age == in->failover_log.size()) {
        return current.fail(status::key_enoent);
    }
    std::vector<std::byte> body;
    base::byte_writer writer(body);
    writer.write_u8(age == 0 ? 0 : 1);
    writer.write_u16(number);
    writer.write_u64(in->uuid());
    writer.write_u64(in->seqno_persisted);
    writer.write_u64(in->seqno_high);
    if (age != 0) {
        writer.write_u64(message.vbucket_uuid);
        writer.write_u64(in->failover_log[age - 1].seqno);
    }
    current.answer({.value = body});
}

}  // namespace reprise::sandbox::detail
