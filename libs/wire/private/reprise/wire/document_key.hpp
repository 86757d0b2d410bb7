#pragma once

#include <cstddef>
#include <cstring>
#include <expected>
#include <string_view>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/leb128.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

/// How a connection writes document keys. It depends on whether the server acknowledged HELLO 0x12.
enum class key_form {
    bare,                 ///< the key alone, which is in the default collection
    collection_prefixed,  ///< LEB128 collection id, then the key, even for the default collection
};

/// Limits in bytes, not counting the prefix.
inline constexpr std::size_t key_size_max_default_collection = 250;
inline constexpr std::size_t key_size_max_named_collection = 246;
/// Limit of the whole key field, including the prefix, in bytes.
inline constexpr std::size_t key_field_size_max = 251;

/// The name of a document within a bucket. Does not own the key. `form` selects the wire encoding
/// and is not part of the identity.
struct document_key {
    collection_id collection = default_collection;
    std::string_view key;
    key_form form = key_form::collection_prefixed;
};

/// Checks whether the key can be sent. Accepts any collection id, because ids come from the server.
/// Fails with key_missing, key_too_long or collection_not_expressible.
[[gnu::always_inline]] inline std::expected<void, wire_errc> check(
    const document_key& key) noexcept {
    if (key.key.empty()) {
        return std::unexpected(wire_errc::key_missing);
    }
    const bool is_default = key.collection == default_collection;
    if (!is_default && key.form == key_form::bare) {
        return std::unexpected(wire_errc::collection_not_expressible);
    }
    const std::size_t size_max =
        is_default ? key_size_max_default_collection : key_size_max_named_collection;
    if (key.key.size() > size_max) {
        return std::unexpected(wire_errc::key_too_long);
    }
    return {};
}

/// Returns the size of the key field in bytes, including the prefix. The key must have passed
/// `check`.
inline std::size_t encoded_size(const document_key& key) noexcept {
    const bool is_bare = key.form == key_form::bare;
    return key.key.size() + (is_bare ? 0 : leb128_size(key.collection.value));
}

/// Writes the key field and returns a pointer past it. `out` must have room for
/// `encoded_size(key)`.
[[gnu::always_inline]] inline std::byte* encode(std::byte* out, const document_key& key) noexcept {
    if (key.form == key_form::collection_prefixed) {
        out += encode_leb128(out, key.collection.value);
    }
    if (!key.key.empty()) {
        base::copy_few(out, base::as_bytes(key.key));
    }
    return out + key.key.size();
}

/// Decodes the whole key field of a request. The result points into `field`. Fails with the errors
/// of `check` and of LEB128, and with collection_id_reserved.
std::expected<document_key, wire_errc> decode_document_key(
    base::byte_view field, key_form form) noexcept;

/// Decodes the key field of a response, where reserved collection ids are legal.
std::expected<document_key, wire_errc> decode_answered_key(
    base::byte_view field, key_form form) noexcept;

}  // namespace reprise::wire
