#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <reprise/base/slice.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/document_key.hpp>

namespace reprise::sandbox::detail {

// One document, alive or a tombstone. Copies share the bytes of value and xattrs, so replicas are
// cheap. What a pending durable write will store is kept separately, because readers must continue
// to see the committed document.
struct document {
    base::slice value;   // as stored: a snappy block if `is_compressed`
    base::slice xattrs;  // text of a JSON object; empty: no xattrs
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;  // seconds since 1970, 0: never; of a tombstone: when it was deleted
    std::uint64_t cas = 0;
    std::uint64_t seqno = 0;
    std::uint64_t revision = 0;  // number of changes of this key
    time_point locked_until{};   // in the past: not locked
    bool is_json = false;
    bool is_compressed = false;
    bool is_deleted = false;

    bool is_locked(time_point now) const noexcept { return now < locked_until; }
    bool is_expired(std::uint32_t now_seconds) const noexcept {
        return !is_deleted && expiry != 0 && expiry <= now_seconds;
    }
};

// The uncompressed body. Uses `scratch` only if the stored form is compressed; the view is valid as
// long as both arguments.
std::string_view plain_value(const document& from, std::string& scratch);

struct stored_key {
    std::uint32_t collection = 0;
    std::string key;
};

struct key_view {
    std::uint32_t collection = 0;
    std::string_view key;
};

inline key_view view_of(const wire::document_key& key) noexcept {
    return {key.collection.value, key.key};
}

// Allows lookups by view, without creating a string.
struct key_hash {
    using is_transparent = void;
    std::size_t operator()(const key_view& key) const noexcept {
        return std::hash<std::string_view>{}(key.key) ^ (std::size_t{key.collection} * 0x9e3779b1u);
    }
    std::size_t operator()(const stored_key& key) const noexcept {
        return (*this)(key_view{key.collection, key.key});
    }
};

struct key_equal {
    using is_transparent = void;
    template <class Left, class Right>
    bool operator()(const Left& left, const Right& right) const noexcept {
        return left.collection == right.collection &&
               std::string_view(left.key) == std::string_view(right.key);
    }
};

using document_map = std::unordered_map<stored_key, document, key_hash, key_equal>;

inline std::uint32_t seconds_of(time_point now) noexcept {
    return static_cast<std::uint32_t>(
        std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
}

}  // namespace reprise::sandbox::detail
