#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::wire {

struct manifest_collection {
    std::string name;
    std::uint32_t id = 0;
    /// In seconds. Empty means the bucket's setting; -1 means that documents never expire.
    std::optional<std::int32_t> max_ttl;
    /// Empty means the bucket's setting.
    std::optional<bool> history;

    friend bool operator==(const manifest_collection&, const manifest_collection&) = default;
};

struct manifest_scope {
    std::string name;
    std::uint32_t id = 0;
    std::vector<manifest_collection> collections;

    friend bool operator==(const manifest_scope&, const manifest_scope&) = default;
};

/// The scopes and collections of a bucket at one manifest uid.
struct collections_manifest {
    /// Every change increases it.
    std::uint64_t uid = 0;
    std::vector<manifest_scope> scopes;

    /// Returns null if there is no such scope. An empty name means `_default`.
    const manifest_scope* find_scope(std::string_view scope) const noexcept;
    const manifest_collection* find_collection(
        std::string_view scope, std::string_view collection) const noexcept;

    friend bool operator==(const collections_manifest&, const collections_manifest&) = default;
};

/// Returns the manifest of a new bucket: `_default._default` with uid 0.
collections_manifest make_default_manifest();

enum class manifest_errc : std::uint8_t {
    too_large = 1,   ///< larger than manifest_size_max_bytes
    not_json,        ///< not valid JSON; the detail gives the position
    missing_member,  ///< a required member is missing
    wrong_type,      ///< a member has the wrong JSON type
    uid_invalid,   ///< not hexadecimal, empty, or wider than 64 bits (manifest) or 32 bits (others)
    name_invalid,  ///< violates the naming rules
    duplicate_name  ///< a scope, or a collection within a scope, appears twice
};

std::string_view to_string(manifest_errc code) noexcept;

struct manifest_error {
    manifest_errc code = manifest_errc::not_json;
    std::string path;    ///< for example "scopes[1].collections[0].uid"
    std::string detail;  ///< a readable explanation
};

std::string to_string(const manifest_error& error);

inline constexpr std::size_t manifest_size_max_bytes = std::size_t{4} * 1024 * 1024;
inline constexpr std::size_t collection_name_size_max = 251;

/// Uids are hexadecimal strings without a prefix. Unknown members are ignored. Never throws on bad
/// input.
std::expected<collections_manifest, manifest_error> parse_collections_manifest(
    std::string_view text);

std::string encode_collections_manifest(const collections_manifest& manifest);

enum class name_origin : std::uint8_t {
    user,   ///< must not start with `_` or `%`
    server  ///< may also be a system name, which starts with `_` and may contain `$`
};

/// A valid name has 1 to 251 characters from A-Z a-z 0-9 _ - %.
bool is_valid_collection_name(std::string_view name, name_origin origin) noexcept;

}  // namespace reprise::wire
