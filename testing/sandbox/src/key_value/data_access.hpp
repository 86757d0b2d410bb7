#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include <reprise/base/byte_writer.hpp>
#include <reprise/base/slice.hpp>

#include "key_value/request.hpp"
#include "key_value/vbucket.hpp"

namespace reprise::sandbox::detail {

// The steps that data commands share. Those that give a pointer or optional have answered the
// request when they give nothing.

// What a request wants with a document: readers may go on beside a pending durable write, as long
// as it is not being re-committed.
enum class access_kind : std::uint8_t { read, change };

// The copy of the request's vbucket on this node, if the bucket, the collection of `key` and the
// wanted state are there. Answers 0x08, 0x88 or 0x07 otherwise, and 0xa2 or 0xa4 if a pending
// durable write of the key is in the way.
vbucket* open_vbucket(
    request& current, const wire::document_key& key, vbucket_state wanted,
    access_kind access = access_kind::read);

// What is left of a document that is deleted or has expired: system xattrs stay, all else goes.
document make_tombstone(const document& dead, std::uint32_t now_seconds);

// The living document, or null. One whose time has come becomes a tombstone first (on an active
// copy). Answers nothing.
document* find_alive(request& current, vbucket& in, const wire::document_key& key);

// A request about one living document: what it says, where it is, and the document itself.
template <class Message>
struct opened_document {
    Message message;
    vbucket& in;
    document& existing;
};

// Decodes a request that changes something about one document, and finds that on an active copy.
// Answers as `open_vbucket` does, or 0x01 without a document, and gives nothing then.
template <class Message>
std::optional<opened_document<Message>> open_document(request& current) {
    auto message = Message::decode(current.frame, current.conv.key_form());
    if (!message) {
        current.reject(message.error());
        return std::nullopt;
    }
    vbucket* in = open_vbucket(current, message->key, vbucket_state::active, access_kind::change);
    if (in == nullptr) {
        return std::nullopt;
    }
    document* existing = find_alive(current, *in, message->key);
    if (existing == nullptr) {
        current.fail(wire::status::key_enoent);
        return std::nullopt;
    }
    return opened_document<Message>{*message, *in, *existing};
}

// Whether a change with this CAS may touch a document that exists: success, locked or key_eexists.
wire::status check_cas(const document& existing, std::uint64_t cas, time_point now) noexcept;

// Whether the copies that the request's durability asks for exist. Answers 0xa0 or 0xa1 if not,
// 0x86 if too many durable writes are pending.
bool is_durability_possible(request& current);

// Stores the document on the active copy, its replicas and disk, and notes it in the audit. A
// durable write that has to wait is prepared instead; the caller answers it as if it were stored.
document& commit(request& current, vbucket& in, const wire::document_key& key, document content);

// The absolute expiry that a request's field means here and now, the collection's limit included.
std::uint32_t absolute_expiry(
    const request& current, std::uint32_t field, wire::collection_id collection);

// A value as it came, checked: what is stored, and what it is.
struct taken_value {
    base::slice stored;
    bool is_json = false;
    bool is_compressed = false;
};
// Errors: 0x03 too large, 0x04 not inflatable.
std::expected<taken_value, wire::status> take_value(
    const request& current, base::byte_view value, wire::datatype given);
// The same for text made here.
taken_value make_value(std::string_view text);

// Answers with the document: flags, value in the form the connection understands, CAS.
void answer_document(request& current, const document& content, std::uint64_t cas);
// Answers a change: CAS, and the mutation token if agreed on.
void answer_mutation(
    request& current, const vbucket& in, const document& content, base::byte_view value = {},
    answer_parts parts = {});

}  // namespace reprise::sandbox::detail
