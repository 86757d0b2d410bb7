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

// Reads the members of a manifest. It keeps the first error, and what it reads after it is a
// default. A path is empty or ends with a dot.
class manifest_reader {
public:
    // `path` ends with the invalid member.
    void fail(manifest_errc code, std::string path, std::string detail) {
        if (!error_) {
            error_ = {code, std::move(path), std::move(detail)};
        }
    }
    [[nodiscard]] const std::optional<manifest_error>& error() const noexcept { return error_; }

    // Ids have 32 bits; the manifest's own uid has 64.
    std::uint64_t uid(const json::value& source, const std::string& path, std::uint64_t most) {
        const auto uid = base::parse_hex(text(source, path, "uid"));
        if (!uid || *uid > most) {
            fail(
                manifest_errc::uid_invalid, path + "uid", "not a hexadecimal number of this width");
        }
        return uid.value_or(0);
    }

    // The scopes, or the collections of a scope, each read by `read_one`. The list may be empty.
    template <class Named, class Read>
    std::vector<Named> list(
        const json::value& source, const std::string& path, const std::string& name,
        std::string duplicate, const Read& read_one) {
        std::vector<Named> listed;
        const json::value* found = member(source, path, name);
        const json::array* items = found == nullptr ? nullptr : found->as_array();
        if (items == nullptr) {
            fail(manifest_errc::wrong_type, path + name, "not an array");
            return listed;
        }
        for (std::size_t index = 0; index < items->size() && !error_; ++index) {
            const std::string at = path + name + "[" + std::to_string(index) + "].";
            listed.push_back((this->*read_one)((*items)[index], at));
        }
        if (has_duplicate_names(listed)) {
            fail(manifest_errc::duplicate_name, path + name, std::move(duplicate));
        }
        return listed;
    }

    // The `_default` collection may be missing, because users can drop it.
    manifest_scope scope(const json::value& source, const std::string& path) {
        manifest_scope scope{name(source, path), id(source, path), {}};
        scope.collections = list<manifest_collection>(
            source, path, "collections", "a collection appears twice",
            &manifest_reader::collection);
        return scope;
    }

private:
    const json::value* member(
        const json::value& source, const std::string& path, std::string_view name) {
        const json::value* found = source.find(name);
        if (found == nullptr) {
            fail(manifest_errc::missing_member, path + std::string(name), "missing");
        }
        return found;
    }

    std::string_view text(
        const json::value& source, const std::string& path, std::string_view name) {
        const json::value* found = member(source, path, name);
        const auto text = found == nullptr ? std::nullopt : found->as_string();
        if (!text) {
            fail(manifest_errc::wrong_type, path + std::string(name), "not a string");
        }
        return text.value_or(std::string_view());
    }

    // System scopes and collections are legal here.
    std::string name(const json::value& source, const std::string& path) {
        const std::string_view name = text(source, path, "name");
        if (!is_valid_collection_name(name, name_origin::server)) {
            fail(manifest_errc::name_invalid, path + "name", "violates the naming rules");
        }
        return std::string(name);
    }

    std::uint32_t id(const json::value& source, const std::string& path) {
        return static_cast<std::uint32_t>(
            uid(source, path, std::numeric_limits<std::uint32_t>::max()));
    }

    // An optional member may be absent or null, but not of another type.
    manifest_collection collection(const json::value& source, const std::string& path) {
        manifest_collection collection{name(source, path), id(source, path), {}, {}};
        const auto optional = [&](std::string_view name) {
            const json::value* found = source.find(name);
            return found != nullptr && !found->is_null() ? found : nullptr;
        };
        if (const json::value* found = optional("maxTTL")) {
            const auto seconds = found->as_int64();
            if (!seconds || *seconds < -1 || *seconds > std::numeric_limits<std::int32_t>::max()) {
                fail(manifest_errc::wrong_type, path + "maxTTL", "not a number of seconds");
            }
            collection.max_ttl = static_cast<std::int32_t>(seconds.value_or(0));
        }
        if (const json::value* found = optional("history")) {
            collection.history = found->as_bool();
            if (!collection.history) {
                fail(manifest_errc::wrong_type, path + "history", "not a boolean");
            }
        }
        return collection;
    }

    std::optional<manifest_error> error_;
};

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
    manifest_reader reader;
    collections_manifest manifest;
    if (!document) {
        const bool is_size = document.error().code == json::parse_errc::too_large;
        reader.fail(
            is_size ? manifest_errc::too_large : manifest_errc::not_json, "",
            to_string(document.error()));
    } else if (document->root.as_object() == nullptr) {
        reader.fail(manifest_errc::wrong_type, "", "not an object");
    } else {
        manifest.uid = reader.uid(document->root, "", std::numeric_limits<std::uint64_t>::max());
        manifest.scopes = reader.list<manifest_scope>(
            document->root, "", "scopes", "a scope appears twice", &manifest_reader::scope);
    }
    if (reader.error()) {
        return std::unexpected(*reader.error());
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
