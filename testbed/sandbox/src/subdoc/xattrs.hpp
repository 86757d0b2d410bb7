#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/wire/status.hpp>

#include "key_value/vbucket.hpp"

namespace reprise::sandbox::detail {

// The extended attributes of a document are stored as the text of one JSON object, so that paths
// into them work like paths into the body. The first component is the attribute's key.

inline constexpr std::size_t xattr_key_size_max = 15;

// The key of an xattr path, up to its first dot or bracket. Error: 0x87 if it is empty, too long or
// quoted.
std::expected<std::string_view, wire::status> xattr_key(std::string_view path) noexcept;
inline bool is_system_xattr(std::string_view key) noexcept {
    return key.starts_with('_');
}
inline bool is_virtual_xattr(std::string_view key) noexcept {
    return key.starts_with('$');
}

// The attributes that survive the removal of their document, as text; empty if there are none.
std::string system_xattrs(std::string_view xattrs);
// Returns "" for an object without members: this is how "no xattrs" is stored.
std::string normalized_xattrs(std::string xattrs);

// The values from which virtual attributes are computed.
struct virtual_source {
    const document* existing = nullptr;
    std::uint64_t vbucket_uuid = 0;
    bool can_access_system_xattrs = true;
    std::uint64_t clock_cas = 0;  // the CAS that a change would have now
};
// The object that contains the virtual attribute `key`: {"$document":{...}}, {"$vbucket":{...}} or
// {"$XTOC":[...]}. Empty for an unknown key.
std::optional<std::string> virtual_xattrs(std::string_view key, const virtual_source& source);

// The values of macros.
struct macro_source {
    std::uint64_t cas = 0;
    std::uint64_t seqno = 0;
    std::uint32_t value_crc32c = 0;
    virtual_source virtuals;
};
// The expansion of a macro (which has its quotes). Errors: 0xd0 unknown macro, 0xd5 unknown member
// of `$document`.
std::expected<std::string, wire::status> expand_macro(
    std::string_view macro, const macro_source& source);
bool is_crc32c_macro(std::string_view macro) noexcept;

// Binary attribute values, which JSON cannot represent, are stored as marked base64 strings.
std::string encode_binary_xattr(std::string_view bytes);
// Empty if the JSON text is not such a string.
std::optional<std::string> decode_binary_xattr(std::string_view json_text);

// CRC-32C (Castagnoli), shown as `value_crc32c`.
std::uint32_t crc32c(std::string_view bytes) noexcept;

}  // namespace reprise::sandbox::detail
