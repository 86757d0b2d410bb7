#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/retry_spec.hpp>

namespace reprise::wire {

/// The attributes that a server may give an error code. Each is one bit of an error_attributes set.
enum class error_attribute : std::uint8_t {
    success,                 ///< not an error
    item_only,               ///< concerns the document; a retry helps only if the document changes
    item_deleted,            ///< the document is a tombstone
    item_locked,             ///< the document is locked
    invalid_input,           ///< the request's arguments are wrong
    fetch_config,            ///< the client's map may be stale: fetch a configuration
    conn_state_invalidated,  ///< close this connection and open a new one
    auth,                    ///< authentication or authorisation
    special_handling,        ///< a client that does not know the code must close the connection
    support,                 ///< not supported by this version, bucket or user
    temp,                    ///< transient; does not on its own call for a retry
    internal,                ///< an error inside the server
    retry_now,               ///< may be retried immediately
    retry_later,             ///< may be retried after a delay
    auto_retry,              ///< retry as the entry's retry spec prescribes
    subdoc,                  ///< sub-document subsystem
    dcp,                     ///< replication subsystem
    rate_limit,              ///< version 2: the server limits the rate
    system_constraint,       ///< version 2: a hard limit was reached
    no_retry                 ///< version 2: must not be retried; overrides the retry attributes
};

inline constexpr std::size_t error_attribute_count = 20;

/// Returns the wire spelling, for example "item-only".
std::string_view to_string(error_attribute attribute) noexcept;
/// Returns nothing for an unknown name.
std::optional<error_attribute> parse_error_attribute(std::string_view name) noexcept;

class error_attributes {
public:
    constexpr error_attributes() = default;
    constexpr error_attributes(std::initializer_list<error_attribute> list) {
        for (const error_attribute attribute : list) {
            add(attribute);
        }
    }
    constexpr void add(error_attribute attribute) noexcept { bits_ |= bit(attribute); }
    constexpr bool has(error_attribute attribute) const noexcept {
        return (bits_ & bit(attribute)) != 0;
    }
    constexpr bool empty() const noexcept { return bits_ == 0; }
    /// Whether version 1 of the format has the attribute.
    static constexpr bool is_of_version_1(error_attribute attribute) noexcept {
        return attribute < error_attribute::rate_limit;
    }
    /// Returns only the attributes that version 1 of the format has.
    constexpr error_attributes version_1_only() const noexcept {
        error_attributes kept;
        kept.bits_ = bits_ & (bit(error_attribute::rate_limit) - 1);
        return kept;
    }
    friend constexpr bool operator==(error_attributes, error_attributes) = default;

private:
    static constexpr std::uint32_t bit(error_attribute attribute) noexcept {
        return std::uint32_t{1} << static_cast<unsigned>(attribute);
    }
    std::uint32_t bits_ = 0;
};

/// Returns for example "item-only, retry-later".
std::string to_string(error_attributes attributes);

struct error_map_entry {
    std::uint16_t code = 0;
    std::string name;
    std::string description;
    error_attributes attributes;
    /// Empty if the server sent no spec or an unusable one.
    std::optional<retry_spec> retry;
    /// The server announced a spec (by auto-retry, by a `retry` member, or by an interval outside
    /// it), but it is unusable.
    bool is_retry_spec_unusable = false;
    /// Names that the map's version of the format does not have, as the server sent them. They are
    /// shown to people and never acted on.
    std::vector<std::string> unknown_attributes{};

    /// Whether the server indicates that a retry may help: the entry has a retry attribute and not
    /// no-retry. `temp` alone does not count.
    bool is_retry_indicated() const noexcept;
};

/// Why the parser rejected a map. Every code except `empty_body` means that the map is corrupt.
enum class error_map_errc : std::uint8_t {
    empty_body = 1,  ///< the server sent no map: continue without one
    /// Larger than parse_error_map_options::size_max_bytes, compressed or inflated.
    too_large,
    not_inflatable,     ///< the Snappy bit is set but the body is not a Snappy block
    not_json,           ///< not JSON, truncated, or invalid UTF-8
    not_an_object,      ///< the top level is not an object
    version_invalid,    ///< missing, not an integer, below 1, or above the requested version
    revision_invalid,   ///< missing, not an integer, or negative
    errors_invalid,     ///< missing or not an object
    code_invalid,       ///< a key of `errors` is not plain hexadecimal
    code_out_of_range,  ///< a key is above ffff
    duplicate_member,   ///< a code or member appears twice
    entry_invalid,      ///< an entry is not an object
    text_invalid,       ///< name or desc is missing or not a string
    attributes_invalid  ///< attrs is missing, not an array, or contains something other than
                        ///< strings
};

std::string_view to_string(error_map_errc code) noexcept;

/// Whether the client must reopen the connection without requesting the map.
constexpr bool is_corruption(error_map_errc code) noexcept {
    return code != error_map_errc::empty_body;
}

struct error_map_error {
    error_map_errc code = error_map_errc::not_json;
    std::string path;    ///< for example "errors.1f.attrs"; empty for the whole body
    std::string detail;  ///< a readable explanation
};

std::string to_string(const error_map_error& error);

struct parse_error_map_options {
    /// The version that the client requested. A higher version in the answer is a corruption.
    std::uint16_t requested_version = 2;
    /// The body has the Snappy datatype bit; the parser inflates it first.
    bool is_compressed = false;
    /// Applies to the body and to the inflated text. In bytes.
    std::size_t size_max_bytes = std::size_t{1} * 1024 * 1024;
};

/// The error map of one node. It is immutable; share it as const.
class error_map {
public:
    /// The entries may be in any order. If a code repeats, one of its entries is kept.
    error_map(std::uint16_t version, std::int64_t revision, std::vector<error_map_entry> entries);

    std::uint16_t version() const noexcept { return version_; }
    std::int64_t revision() const noexcept { return revision_; }
    /// Returns null if the map does not have the code. Do not look up code 0.
    const error_map_entry* find(std::uint16_t code) const noexcept;
    /// In ascending order of code.
    std::span<const error_map_entry> entries() const noexcept { return entries_; }

private:
    std::uint16_t version_;
    std::int64_t revision_;
    std::vector<error_map_entry> entries_;
};

/// Ignores unknown members. Keeps unknown attributes apart from known ones; an attribute
/// of version 2 is unknown in a map of version 1. Drops an unusable retry spec and keeps its entry.
/// Never throws on bad input.
std::expected<error_map, error_map_error> parse_error_map(
    std::string_view body, const parse_error_map_options& options = {});

/// Encodes the map as a server does, as JSON in version 1 or 2. Version 1 omits the attributes that
/// it does not have.
std::string encode_error_map(const error_map& map, std::uint16_t version);

/// A version 2 map, with descriptions, of all status codes known to this project.
const error_map& default_error_map();

}  // namespace reprise::wire
