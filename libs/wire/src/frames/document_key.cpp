#include <reprise/wire/document_key.hpp>

namespace reprise::wire {

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
