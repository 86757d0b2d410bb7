#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/retry/random_generator.hpp>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/range_scan_messages.hpp>

#include "key_value/data_access.hpp"
#include "key_value/handlers.hpp"

// Range scans. A scan reads what the active copy has on disk when it is created. It ends when the
// copy moves or its node restarts, as on a server.

namespace reprise::sandbox::detail {

namespace {

using wire::status;

// Scans that clients have forgotten are not kept longer.
constexpr std::chrono::minutes scan_lifetime_max{3};
// Servers send items in frames of about this size.
constexpr std::size_t frame_size_bytes = 8192;

bool is_in_range(const wire::scan_range& range, std::string_view key) noexcept {
    const int from = key.compare(range.start.key);
    const int to = key.compare(range.end.key);
    return (range.start.is_exclusive ? from > 0 : from >= 0) &&
           (range.end.is_exclusive ? to < 0 : to <= 0);
}

// The sandbox keeps no older versions, so only new documents can be missing on disk.
bool is_on_disk(const vbucket& in, const document& content) noexcept {
    return content.seqno <= in.seqno_persisted || content.revision > 1;
}

// The living documents that a scan finds, in the order of their keys.
std::vector<scanned_document> take_snapshot(
    const request& current, const vbucket& in, const wire::range_scan_create_request& wanted) {
    const auto* range = std::get_if<wire::scan_range>(&wanted.what);
    std::vector<scanned_document> found;
    for (const auto& [key, content] : in.documents) {
        const bool is_alive = !content.is_deleted && !content.is_expired(seconds_of(current.now));
        if (key.collection == wanted.collection.value && is_alive && is_on_disk(in, content) &&
            (range == nullptr || is_in_range(*range, key.key))) {
            found.push_back({key.key, content});
        }
    }
    std::ranges::sort(found, {}, &scanned_document::key);
    return found;
}

void keep_sample(std::vector<scanned_document>& all, const wire::scan_sampling& wanted) {
    if (wanted.samples >= all.size()) {
        return;
    }
    std::vector<scanned_document> chosen;
    chosen.reserve(wanted.samples);
    random_generator random(wanted.seed);
    // Takes each with the probability that leaves every sample equally likely.
    for (std::size_t i = 0; chosen.size() < wanted.samples; ++i) {
        if (random.next() % (all.size() - i) < wanted.samples - chosen.size()) {
            chosen.push_back(all[i]);
        }
    }
    all = std::move(chosen);
}

// Returns false, after answering the request, if the copy lacks what the scan must see.
bool meets(request& current, const vbucket& in, const wire::scan_snapshot& needed) {
    if (needed.vbucket_uuid != in.uuid()) {
        current.fail(status::vb_uuid_not_equal);
        return false;
    }
    if (needed.seqno > in.seqno_persisted) {
        current.fail(status::etmpfail);
        return false;
    }
    return true;
}

bool has_disk(request& current) {
    const bool has_bucket = current.conv.bucket != nullptr;
    if (has_bucket && current.conv.bucket->options.type == bucket_type::ephemeral) {
        current.fail(status::not_supported, "The bucket has no disk to scan");
        return false;
    }
    return true;
}

// The collection of a scan; the default one if there is no such scan.
wire::collection_id collection_of(const request& current, const wire::scan_id& id) noexcept {
    const node_bucket* local = current.conv.local;
    const std::size_t number = current.frame.vbucket().value;
    if (local == nullptr || number >= local->vbuckets.size() || !local->vbuckets[number]) {
        return wire::default_collection;
    }
    const open_scan* scan = local->vbuckets[number]->find_scan(id);
    return scan == nullptr ? wire::default_collection : wire::collection_id{scan->collection};
}

// The active copy that has the scan. Otherwise answers the request.
vbucket* open_scanned(request& current, const wire::scan_id& id) {
    vbucket* in = open_vbucket(current, {collection_of(current, id), {}}, vbucket_state::active);
    if (in != nullptr && in->find_scan(id) == nullptr) {
        current.fail(status::key_enoent, "No scan has this id");
        return nullptr;
    }
    return in;
}

void append_item(
    base::byte_writer& out, wire::scan_content content, const scanned_document& from,
    bool is_snappy_agreed) {
    const document& stored = from.content;
    wire::scan_item item;
    item.key = from.key;
    item.flags = stored.flags;
    item.expiry = stored.expiry;
    item.seqno = stored.seqno;
    item.cas = stored.cas;
    item.datatype = stored.is_json ? wire::datatype::json : wire::datatype::raw;
    std::string scratch;
    if (stored.is_compressed && is_snappy_agreed) {
        item.datatype = item.datatype | wire::datatype::snappy;
        item.value = stored.value.view();
    } else {
        item.value = base::as_bytes(plain_value(stored, scratch));
    }
    wire::append_scan_item(out, content, item);
}

void send_items(
    request& current, wire::scan_content content, std::vector<std::byte>& items, status code) {
    std::vector<std::byte> flags;
    base::byte_writer(flags).write_u32(static_cast<std::uint32_t>(content));
    current.answer({.status = code, .extras = flags, .value = items});
    items.clear();
}

}  // namespace

void handle_scan_create(request& current, const wire::range_scan_create_request& message) {
    vbucket* in = has_disk(current)
                      ? open_vbucket(current, {message.collection, {}}, vbucket_state::active)
                      : nullptr;
    if (in == nullptr || (message.snapshot && !meets(current, *in, *message.snapshot))) {
        return;
    }
    std::erase_if(in->scans, [&](const open_scan& scan) {
        return scan.created + scan_lifetime_max <= current.now;
    });
    if (in->scans.size() >= scan_count_max) {
        return current.fail(status::ebusy, "Too many scans");
    }
    std::vector<scanned_document> found = take_snapshot(current, *in, message);
    if (const auto* sampling = std::get_if<wire::scan_sampling>(&message.what)) {
        keep_sample(found, *sampling);
    }
    if (found.empty()) {
        return current.fail(status::key_enoent);
    }
    open_scan& created = in->scans.emplace_back();
    const std::uint64_t halves[] = {current.cluster.random.next(), current.cluster.random.next()};
    std::byte* at = base::store_big_endian(created.id.bytes.data(), halves[0]);
    base::store_big_endian(at, halves[1]);
    created.created = current.now;
    created.collection = message.collection.value;
    created.is_key_only = message.is_key_only;
    created.documents = std::move(found);
    current.answer({.value = created.id.bytes});
}

void handle_scan_continue(request& current, const wire::range_scan_continue_request& message) {
    vbucket* in = open_scanned(current, message.id);
    if (in == nullptr) {
        return;
    }
    open_scan& scan = *in->find_scan(message.id);
    const auto content =
        scan.is_key_only ? wire::scan_content::keys : wire::scan_content::documents;
    const bool is_snappy_agreed = current.conv.has(wire::hello_feature::snappy) ||
                                  current.conv.has(wire::hello_feature::snappy_everywhere);
    std::vector<std::byte> items;
    std::size_t sent_count = 0;
    std::size_t sent_size = 0;
    while (scan.next < scan.documents.size()) {
        const std::size_t before = items.size();
        base::byte_writer writer(items);
        append_item(writer, content, scan.documents[scan.next++], is_snappy_agreed);
        sent_size += items.size() - before;
        ++sent_count;
        const bool is_full = (message.item_limit != 0 && sent_count >= message.item_limit) ||
                             (message.byte_limit != 0 && sent_size >= message.byte_limit);
        if (is_full) {
            return send_items(current, content, items, status::range_scan_more);
        }
        if (items.size() >= frame_size_bytes) {
            send_items(current, content, items, status::success);
        }
    }
    send_items(current, content, items, status::range_scan_complete);
    in->end_scan(message.id);
}

void handle_scan_cancel(request& current, const wire::range_scan_cancel_request& message) {
    if (vbucket* in = open_scanned(current, message.id)) {
        in->end_scan(message.id);
        current.answer({});
    }
}

}  // namespace reprise::sandbox::detail
