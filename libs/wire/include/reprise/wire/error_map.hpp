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

// Attributes a server may give an error code. Each is one bit of an error_attributes set.
enum class error_attribute : std::uint8_t {
    success,                 // not an error
    item_only,               // about the document; a retry helps only if the document changes
    item_deleted,            // touched a tombstone
    item_locked,             // the document is locked
    invalid_input,           // the request's arguments are wrong
    fetch_config,            // the client's map may be stale: fetch a configuration
    conn_state_invalidated,  // close this connection and make it again
    auth,                    // authentication or authorisation
    special_handling,        // a client that does not know the code must drop the connection
    support,                 // not supported by this version, bucket or user
    temp,                    // transient; by itself no retry indication
    internal,                // the server's own fault
    retry_now,               // may be retried at once
    retry_later,             // may be retried after a while
    auto_retry,              // retry as the entry's retry spec says
    subdoc,                  // sub-document subsystem
    dcp,                     // replication subsystem
    rate_limit,              // version 2: rate limiting
    system_constraint,       // version 2: a hard limit was met
    no_retry                 // version 2: must not be retried; beats the retry attributes
};

inline constexpr std::size_t error_attribute_count = 20;

// The wire spelling: "item-only".
std::string_view to_string(error_attribute attribute) noexcept;
// Empty for a name this library does not know.
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
    // Only those that version 1 of the format has.
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

// "item-only, retry-later"
std::string to_string(error_attributes attributes);

struct error_map_entry {
    std::uint16_t code = 0;
    std::string name;
    std::string description;
    error_attributes attributes;
    // Empty if the server gave none or an unusable one.
    std::optional<retry_spec> retry;
    // The server promised a spec (auto-retry, a `retry` member, or an interval outside it), and
    // none can be used.
    bool is_retry_spec_unusable = false;

    // The server says a retry may help: one of the retry attributes, and not no-retry. `temp` alone
    // does not count.
    bool is_retry_indicated() const noexcept;
};

// Why a map was refused. All are corruption, except `empty_body`.
enum class error_map_errc : std::uint8_t {
    empty_body = 1,     // no map: go on without one
    too_large,          // over parse_error_map_options::size_max_bytes, compressed or inflated
    not_inflatable,     // the Snappy bit was set and the body is no Snappy block
    not_json,           // not JSON, truncated, or invalid UTF-8
    not_an_object,      // top level is something else
    version_invalid,    // missing, no integer, below 1, above the requested one
    revision_invalid,   // missing, no integer, negative
    errors_invalid,     // missing or no object
    code_invalid,       // a key of `errors` that is not plain hexadecimal
    code_out_of_range,  // a key above ffff
    duplicate_member,   // one code or member given twice
    entry_invalid,      // an entry that is no object
    text_invalid,       // name or desc missing or no string
    attributes_invalid  // attrs missing, no array, or with something else than strings
};

std::string_view to_string(error_map_errc code) noexcept;

// Whether the connection has to be made again without asking for the map.
constexpr bool is_corruption(error_map_errc code) noexcept {
    return code != error_map_errc::empty_body;
}

struct error_map_error {
    error_map_errc code = error_map_errc::not_json;
    std::string path;    // "errors.1f.attrs"; empty for the whole body
    std::string detail;  // for people
};

std::string to_string(const error_map_error& error);

struct parse_error_map_options {
    // The version that was asked for; a higher one in the answer is a corruption.
    std::uint16_t requested_version = 2;
    // The body has the Snappy datatype bit: it is inflated first.
    bool is_compressed = false;
    // Bytes, of the body and of the inflated text.
    std::size_t size_max_bytes = std::size_t{1} * 1024 * 1024;
};

// One node's map. Immutable once made; share it as const.
class error_map {
public:
    // Entries in any order, each code once; of a repeated code any one is kept.
    error_map(std::uint16_t version, std::int64_t revision, std::vector<error_map_entry> entries);

    std::uint16_t version() const noexcept { return version_; }
    std::int64_t revision() const noexcept { return revision_; }
    // Null if the code is not there. Code 0 is never looked up.
    const error_map_entry* find(std::uint16_t code) const noexcept;
    // By code, ascending.
    std::span<const error_map_entry> entries() const noexcept { return entries_; }

private:
    std::uint16_t version_;
    std::int64_t revision_;
    std::vector<error_map_entry> entries_;
};

// Unknown members and attributes are ignored; an unusable retry spec is dropped and its entry kept.
// Never throws on input.
std::expected<error_map, error_map_error> parse_error_map(
    std::string_view body, const parse_error_map_options& options = {});

// The server's side: the JSON text in version 1 or 2. Version 1 leaves out the attributes it does
// not have.
std::string encode_error_map(const error_map& map, std::uint16_t version);

// A map of all status codes this project knows, version 2, with descriptions for people.
const error_map& default_error_map();

}  // namespace reprise::wire
