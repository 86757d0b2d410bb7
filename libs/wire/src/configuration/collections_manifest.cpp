#include <reprise/wire/collections_manifest.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <reprise/base/enum_table.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

#include "located_text.hpp"

namespace reprise::wire {

namespace {

constexpr std::string_view default_name = "_default";
constexpr std::size_t manifest_depth_max = 32;

// The path ends with the invalid member.
std::unexpected<manifest_error> manifest_failure(
    manifest_errc code, std::string path, std::string detail) {
    return std::unexpected(manifest_error{code, std::move(path), std::move(detail)});
}

// Reads a required string member. `path` is empty or ends with a dot.
std::expected<std::string_view, manifest_error> manifest_text(
    const json::value& source, const std::string& path, std::string_view name) {
    const std::string member_path = path + std::string(name);
    const json::value* found = source.find(name);
    if (found == nullptr) {
        return manifest_failure(manifest_errc::missing_member, member_path, "missing");
    }
    const auto text = found->as_string();
    if (!text) {
        return manifest_failure(manifest_errc::wrong_type, member_path, "not a string");
    }
    return *text;
}

// Ids have 32 bits; the manifest's own uid has 64.
std::expected<std::uint64_t, manifest_error> manifest_uid(
    const json::value& source, const std::string& path, std::uint64_t most) {
    const auto text = manifest_text(source, path, "uid");
    if (!text) {
        return std::unexpected(text.error());
    }
    const auto uid = base::parse_hex(*text);
    if (!uid || *uid > most) {
        return manifest_failure(
            manifest_errc::uid_invalid, path + "uid", "not a hexadecimal number of this width");
    }
    return *uid;
}

// System scopes and collections are legal here.
std::expected<std::string, manifest_error> manifest_name(
    const json::value& source, const std::string& path) {
    const auto text = manifest_text(source, path, "name");
    if (!text) {
        return std::unexpected(text.error());
    }
    if (!is_valid_collection_name(*text, name_origin::server)) {
        return manifest_failure(
            manifest_errc::name_invalid, path + "name", "violates the naming rules");
    }
    return std::string(*text);
}

// An optional member may be absent or null, but not of another type.
std::expected<manifest_collection, manifest_error> read_collection(
    const json::value& source, const std::string& path) {
    const auto name = manifest_name(source, path);
    if (!name) {
        return std::unexpected(name.error());
    }
    const auto id = manifest_uid(source, path, std::numeric_limits<std::uint32_t>::max());
    if (!id) {
        return std::unexpected(id.error());
    }
    manifest_collection collection{*name, static_cast<std::uint32_t>(*id), {}, {}};
    if (const json::value* found = source.find("maxTTL"); found != nullptr && !found->is_null()) {
        const auto seconds = found->as_int64();
        if (!seconds || *seconds < -1 || *seconds > std::numeric_limits<std::int32_t>::max()) {
            return manifest_failure(
                manifest_errc::wrong_type, path + "maxTTL", "not a number of seconds");
        }
        collection.max_ttl = static_cast<std::int32_t>(*seconds);
    }
    if (const json::value* found = source.find("history"); found != nullptr && !found->is_null()) {
        collection.history = found->as_bool();
        if (!collection.history) {
            return manifest_failure(manifest_errc::wrong_type, path + "history", "not a boolean");
        }
    }
    return collection;
}

// A name with two ids would route documents at random.
template <typename Named>
bool has_duplicate_names(const std::vector<Named>& list) {
    std::vector<std::string_view> names;
    names.reserve(list.size());
    for (const Named& each : list) {
        names.push_back(each.name);
    }
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) != names.end();
}

// Reads a required array member, which may be empty.
std::expected<const json::array*, manifest_error> manifest_list(
    const json::value& source, const std::string& path, std::string_view name) {
    const json::value* found = source.find(name);
    if (found == nullptr) {
        return manifest_failure(manifest_errc::missing_member, path + std::string(name), "missing");
    }
    if (found->as_array() == nullptr) {
        return manifest_failure(
            manifest_errc::wrong_type, path + std::string(name), "not an array");
    }
    return found->as_array();
}

// The `_default` collection may be missing, because users can drop it.
std::expected<manifest_scope, manifest_error> read_scope(
    const json::value& source, const std::string& path) {
    const auto name = manifest_name(source, path);
    if (!name) {
        return std::unexpected(name.error());
    }
    const auto id = manifest_uid(source, path, std::numeric_limits<std::uint32_t>::max());
    if (!id) {
        return std::unexpected(id.error());
    }
    const auto list = manifest_list(source, path, "collections");
    if (!list) {
        return std::unexpected(list.error());
    }
    manifest_scope scope{*name, static_cast<std::uint32_t>(*id), {}};
    for (std::size_t index = 0; index < (*list)->size(); ++index) {
        auto collection =
            read_collection((**list)[index], path + "collections[" + std::to_string(index) + "].");
        if (!collection) {
            return std::unexpected(collection.error());
        }
        scope.collections.push_back(std::move(*collection));
    }
    if (has_duplicate_names(scope.collections)) {
        return manifest_failure(
            manifest_errc::duplicate_name, path + "collections", "a collection appears twice");
    }
    return scope;
}

}  // namespace

std::string_view to_string(manifest_errc code) noexcept {
    static constexpr base::enumerator_texts<manifest_errc> texts({
        {manifest_errc::too_large, "manifest too large"},
        {manifest_errc::not_json, "manifest is not JSON"},
        {manifest_errc::missing_member, "member missing"},
        {manifest_errc::wrong_type, "wrong type"},
        {manifest_errc::uid_invalid, "invalid uid"},
        {manifest_errc::name_invalid, "invalid name"},
        {manifest_errc::duplicate_name, "duplicate name"},
    });
    return texts[code];
}

std::string to_string(const manifest_error& error) {
    return located_text(error.path, to_string(error.code), error.detail);
}

const manifest_scope* collections_manifest::find_scope(std::string_view scope) const noexcept {
    const auto found = std::ranges::find(
        scopes, scope.empty() ? default_name : scope,
        [](const auto& each) -> std::string_view { return each.name; });
    return found == scopes.end() ? nullptr : &*found;
}

const manifest_collection* collections_manifest::find_collection(
    std::string_view scope, std::string_view collection) const noexcept {
    const manifest_scope* parent = find_scope(scope);
    if (parent == nullptr) {
        return nullptr;
    }
    const auto found = std::ranges::find(
        parent->collections, collection.empty() ? default_name : collection,
        [](const auto& each) -> std::string_view { return each.name; });
    return found == parent->collections.end() ? nullptr : &*found;
}

collections_manifest make_default_manifest() {
    collections_manifest manifest;
    manifest.scopes.push_back(
        {std::string(default_name), 0, {{std::string(default_name), 0, {}, {}}}});
    return manifest;
}

std::expected<collections_manifest, manifest_error> parse_collections_manifest(
    std::string_view text) {
    json::parse_options limits;
    limits.size_max_bytes = manifest_size_max_bytes;
    limits.depth_max = manifest_depth_max;
    const auto document = json::parse(text, limits);
    if (!document) {
        const bool is_size = document.error().code == json::parse_errc::too_large;
        return manifest_failure(
            is_size ? manifest_errc::too_large : manifest_errc::not_json, "",
            to_string(document.error()));
    }
    if (document->root.as_object() == nullptr) {
        return manifest_failure(manifest_errc::wrong_type, "", "not an object");
    }
    collections_manifest manifest;
    const auto uid = manifest_uid(document->root, "", std::numeric_limits<std::uint64_t>::max());
    if (!uid) {
        return std::unexpected(uid.error());
    }
    manifest.uid = *uid;
    const auto scopes = manifest_list(document->root, "", "scopes");
    if (!scopes) {
        return std::unexpected(scopes.error());
    }
    for (std::size_t index = 0; index < (*scopes)->size(); ++index) {
        auto scope = read_scope((**scopes)[index], "scopes[" + std::to_string(index) + "].");
        if (!scope) {
            return std::unexpected(scope.error());
        }
        manifest.scopes.push_back(std::move(*scope));
    }
    if (has_duplicate_names(manifest.scopes)) {
        return manifest_failure(manifest_errc::duplicate_name, "scopes", "a scope appears twice");
    }
    return manifest;
}

std::string encode_collections_manifest(const collections_manifest& manifest) {
    std::string text;
    json::writer out(text);
    out.begin_object().member("uid", base::to_shortest_hex(manifest.uid));
    out.key("scopes").begin_array();
    for (const manifest_scope& scope : manifest.scopes) {
        out.begin_object()
            .member("name", scope.name)
            .member("uid", base::to_shortest_hex(scope.id));
        out.key("collections").begin_array();
        for (const manifest_collection& collection : scope.collections) {
            out.begin_object();
            out.member("name", collection.name).member("uid", base::to_shortest_hex(collection.id));
            if (collection.max_ttl) {
                out.member("maxTTL", *collection.max_ttl);
            }
            if (collection.history) {
                out.member("history", *collection.history);
            }
            out.end_object();
        }
        out.end_array().end_object();
    }
    out.end_array().end_object();
    return text;
}

bool is_valid_collection_name(std::string_view name, name_origin origin) noexcept {
    if (name.empty() || name.size() > collection_name_size_max || name.front() == '%') {
        return false;
    }
    const bool is_system = name.front() == '_';
    if (is_system && origin == name_origin::user) {
        return false;
    }
    return std::ranges::all_of(name, [&](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '_' || each == '-' || each == '%' ||
               (each == '$' && is_system);
    });
}

}  // namespace reprise::wire
