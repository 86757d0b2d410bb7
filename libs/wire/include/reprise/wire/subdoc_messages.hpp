#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include <reprise/base/bounded_list.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/message.hpp>

// Sub-document messages. How they are encoded and decoded: see message.hpp. decode checks the
// shape; which flags an operation allows is checked by `check_subdoc_*` in subdoc_rules.hpp.

namespace reprise::wire {

inline constexpr std::size_t subdoc_path_size_max = 1024;
inline constexpr std::size_t subdoc_spec_count_max = 16;

// Flags of one path; combined by |.
enum class path_flags : std::uint8_t {
    none = 0x00,
    create_parents = 0x01,  // make missing parent objects ("mkdir_p"), never array elements
    xattr = 0x04,           // the path is in the extended attributes
    expand_macros = 0x10,   // the value is a macro; needs xattr
    binary_value = 0x20,    // the value is not JSON; needs xattr, not with expand_macros
};

// Flags of the whole command; combined by |.
enum class doc_flags : std::uint8_t {
    none = 0x00,
    create = 0x01,             // make the document if missing ("mkdoc")
    add = 0x02,                // fail if the document exists; CAS must be 0; not with create
    access_deleted = 0x04,     // work on a tombstone too
    create_as_deleted = 0x08,  // a new document is a tombstone; needs create or add
    revive = 0x10,             // make a tombstone alive; needs access_deleted
    replica_read = 0x20,       // lookups on a replica; HELLO 0x1c
};

constexpr path_flags operator|(path_flags left, path_flags right) noexcept {
    return static_cast<path_flags>(
        static_cast<std::uint8_t>(left) | static_cast<std::uint8_t>(right));
}
constexpr doc_flags operator|(doc_flags left, doc_flags right) noexcept {
    return static_cast<doc_flags>(
        static_cast<std::uint8_t>(left) | static_cast<std::uint8_t>(right));
}
// True when every bit of `bits` is set in `value`.
constexpr bool has(path_flags value, path_flags bits) noexcept {
    return (static_cast<std::uint8_t>(value) & static_cast<std::uint8_t>(bits)) ==
           static_cast<std::uint8_t>(bits);
}
constexpr bool has(doc_flags value, doc_flags bits) noexcept {
    return (static_cast<std::uint8_t>(value) & static_cast<std::uint8_t>(bits)) ==
           static_cast<std::uint8_t>(bits);
}

// Values that the server replaces when `expand_macros` is set: whole JSON strings, quotes included.
inline constexpr std::string_view macro_mutation_cas = "\"${Mutation.CAS}\"";
inline constexpr std::string_view macro_mutation_seqno = "\"${Mutation.seqno}\"";
inline constexpr std::string_view macro_mutation_value_crc32c = "\"${Mutation.value_crc32c}\"";

// A sub-document command with one path: 0xc5..0xcf, 0xd2, 0xd3. Expiry, user flags and doc flags
// are sent only when set; user flags need an expiry, lookups may have doc flags only.
struct subdoc_request {
    opcode op = opcode::subdoc_get;
    document_key key;
    path_flags flags = path_flags::none;
    std::optional<wire::doc_flags> doc_flags;
    std::optional<std::uint32_t> expiry;
    std::optional<std::uint32_t> user_flags;
    std::string_view path;
    base::byte_view value;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<subdoc_request, wire_errc> decode(const frame_view&, key_form);
};

// Answer to a command with one path; the header's status is the path's status.
struct subdoc_response {
    std::optional<mutation_token> token;  // mutations only
    base::byte_view value;                // get, get_count, counter

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<subdoc_response, wire_errc> decode(const frame_view&);
};

struct lookup_spec {
    opcode op =
        opcode::subdoc_get;  // subdoc_get, _exists, _get_count, or get for the whole document
    path_flags flags = path_flags::none;
    std::string_view path;
};

// Multi lookup, 0xd0: 1..16 specs, attributes first.
struct subdoc_lookup_request {
    document_key key;
    std::optional<wire::doc_flags> doc_flags;
    base::bounded_list<lookup_spec, subdoc_spec_count_max> specs;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<subdoc_lookup_request, wire_errc> decode(const frame_view&, key_form);
};

struct lookup_result {
    wire::status status = wire::status::success;
    base::byte_view value;  // empty for a failed path
};

// Answer to a multi lookup: one result per spec, in order. Statuses 0x00, 0xcc, 0xcd and 0xd3 have
// this body; with others the value is an error body.
struct subdoc_lookup_response {
    base::bounded_list<lookup_result, subdoc_spec_count_max> results;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<subdoc_lookup_response, wire_errc> decode(const frame_view&);
};

struct mutation_spec {
    // Any sub-document mutation; set or remove for the whole document.
    opcode op = opcode::subdoc_dict_upsert;
    path_flags flags = path_flags::none;
    std::string_view path;
    base::byte_view value;
};

// Multi mutation, 0xd1: 1..16 specs, all or nothing, attributes first.
struct subdoc_mutation_request {
    document_key key;
    std::optional<wire::doc_flags> doc_flags;
    std::optional<std::uint32_t> expiry;
    std::optional<std::uint32_t> user_flags;  // needs an expiry
    base::bounded_list<mutation_spec, subdoc_spec_count_max> specs;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<subdoc_mutation_request, wire_errc> decode(const frame_view&, key_form);
};

struct mutation_result {
    std::uint8_t index = 0;  // position of the spec in the request
    wire::status status = wire::status::success;
    base::byte_view value;  // only for success
};

// Answer to a multi mutation. On success (0x00, 0xcd) it has the results of those specs that return
// a value; on failure (0xcc, 0xd3) exactly one: the first spec that failed.
struct subdoc_mutation_response {
    std::optional<mutation_token> token;
    base::bounded_list<mutation_result, subdoc_spec_count_max> results;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<subdoc_mutation_response, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
