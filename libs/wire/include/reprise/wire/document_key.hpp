#pragma once

#include <cstddef>
#include <expected>
#include <string_view>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/leb128.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

// How document keys stand on a connection: fixed by whether HELLO 0x12 was acknowledged on it.
enum class key_form {
    bare,                 // the key alone; means the default collection
    collection_prefixed,  // LEB128 collection id, then the key; also for the default collection
};

// Limits in bytes, without the prefix.
inline constexpr std::size_t key_size_max_default_collection = 250;
inline constexpr std::size_t key_size_max_named_collection = 246;
// Limit of the whole key field with a prefix.
inline constexpr std::size_t key_field_size_max = 251;

// The name of a document within a bucket. Does not own the key; `form` says how it stands on the
// wire and is not part of the identity.
struct document_key {
    collection_id collection = default_collection;
    std::string_view key;
    key_form form = key_form::collection_prefixed;
};

// Whether the key can be sent. Any collection id will do: the server has given it. Errors:
// key_missing, key_too_long, collection_not_expressible.
std::expected<void, wire_errc> check(const document_key& key) noexcept;

// Bytes of the key field, prefix included. The key must have passed `check`.
std::size_t encoded_size(const document_key& key) noexcept;

// Writes the key field; `out` must have room for `encoded_size(key)`. Returns the byte after it.
std::byte* encode(std::byte* out, const document_key& key) noexcept;

// Reads the whole key field of a request; the result points into `field`. Errors: those of `check`
// and of LEB128, and collection_id_reserved.
std::expected<document_key, wire_errc> decode_document_key(
    base::byte_view field, key_form form) noexcept;

// The same for a key in an answer, where reserved collection ids are accepted.
std::expected<document_key, wire_errc> decode_answered_key(
    base::byte_view field, key_form form) noexcept;

}  // namespace reprise::wire
