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

// Steps that data commands share. A function that returns a pointer or an optional has answered the
// request if it returns nothing.

// How a request uses a document. Reads may proceed during a pending durable write unless it is
// being re-committed.
enum class access_kind : std::uint8_t { read, change };

// Returns the copy of the request's vbucket on this node, if the bucket, the collection of `key`
// and a copy in the required state exist. Otherwise answers 0x08, 0x88 or 0x07, or 0xa2 or 0xa4 if
// a pending durable write of the key blocks the request.
vbucket* open_vbucket(
    request& current, const wire::document_key& key, vbucket_state wanted,
    access_kind access = access_kind::read);

// The remains of a document that is deleted or has expired: only its system xattrs.
document make_tombstone(const document& dead, std::uint32_t now_seconds);

// Returns the living document, or null. On an active copy, an expired document first becomes a
// tombstone. Answers nothing.
document* find_alive(request& current, vbucket& in, const wire::document_key& key);

// A living document that a request changes, and its vbucket.
struct opened_document {
    vbucket& in;
    document& existing;
};

// Finds the document on an active copy. Otherwise answers like `open_vbucket`, or 0x01 if there is
// no document, and returns nothing.
std::optional<opened_document> open_document(request& current, const wire::document_key& key);

// Whether a change with this CAS may modify an existing document: success, locked or key_eexists.
wire::status check_cas(const document& existing, std::uint64_t cas, time_point now) noexcept;

// Whether there are enough copies for the request's durability. Answers 0xa0 or 0xa1 if not, and
// 0x86 if too many durable writes are pending.
bool is_durability_possible(request& current);

// Stores the document on the active copy, its replicas and disk, and records it in the audit. A
// durable write that must wait is prepared instead; the caller answers it as if it were stored.
document& commit(request& current, vbucket& in, const wire::document_key& key, document content);

// The absolute expiry for a request's field, limited by the collection's maximum.
std::uint32_t absolute_expiry(
    const request& current, std::uint32_t field, wire::collection_id collection);

// A checked value: the bytes to store, and their datatype.
struct taken_value {
    base::slice stored;
    bool is_json = false;
    bool is_compressed = false;
};
// Errors: 0x03 too large, 0x04 cannot be decompressed.
std::expected<taken_value, wire::status> take_value(
    const request& current, base::byte_view value, wire::datatype given);
// The same for text that the server creates.
taken_value make_value(std::string_view text);

// Answers with the document: flags, CAS, and the value in a form that the connection supports.
void answer_document(request& current, const document& content, std::uint64_t cas);
// Answers a change with the CAS and, if negotiated, the mutation token.
void answer_mutation(
    request& current, const vbucket& in, const document& content, base::byte_view value = {},
    answer_parts parts = {});

}  // namespace reprise::sandbox::detail
