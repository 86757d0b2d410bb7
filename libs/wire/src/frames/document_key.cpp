#include <reprise/wire/document_key.hpp>

#include <cstring>

namespace reprise::wire {

std::expected<void, wire_errc> check(const document_key& key) noexcept {
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

std::size_t encoded_size(const document_key& key) noexcept {
    const bool is_bare = key.form == key_form::bare;
    return key.key.size() + (is_bare ? 0 : leb128_size(key.collection.value));
}

std::byte* encode(std::byte* out, const document_key& key) noexcept {
    if (key.form == key_form::collection_prefixed) {
        out += encode_leb128(out, key.collection.value);
    }
    if (!key.key.empty()) {
        std::memcpy(out, key.key.data(), key.key.size());
    }
    return out + key.key.size();
}

std::expected<document_key, wire_errc> decode_answered_key(
    base::byte_view field, key_form form) noexcept {
    document_key key;
    key.form = form;
    if (form == key_form::collection_prefixed) {
        if (field.empty()) {
            return std::unexpected(wire_errc::key_missing);
        }
        const std::expected<leb128_number, wire_errc> prefix = decode_leb128(field);
        if (!prefix) {
            return std::unexpected(prefix.error());
        }
        key.collection = collection_id{prefix->value};
        field = field.subspan(prefix->size);
    }
    key.key = base::as_text(field);
    if (const auto checked = check(key); !checked) {
        return std::unexpected(checked.error());
    }
    return key;
}

std::expected<document_key, wire_errc> decode_document_key(
    base::byte_view field, key_form form) noexcept {
    const auto key = decode_answered_key(field, form);
    if (key && key->collection != default_collection && key->collection < collection_id_user_min) {
        return std::unexpected(wire_errc::collection_id_reserved);
    }
    return key;
}

}  // namespace reprise::wire
