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

// Sub-document messages. See message.hpp for encoding and decoding. decode checks the shape;
// `check_subdoc_*` in subdoc_rules.hpp checks which flags an operation allows.

namespace reprise::wire {

inline constexpr std::size_t subdoc_path_size_max = 1024;
inline constexpr std::size_t subdoc_spec_count_max = 16;

/// Flags of one path. Combine them with |.
enum class path_flags : std::uint8_t {
    none = 0x00,
    create_parents = 0x01,  ///< create missing parent objects ("mkdir_p"), but never array elements
    xattr = 0x04,           ///< the path is in the extended attributes
    expand_macros = 0x10,   ///< the value is a macro; needs xattr
    binary_value = 0x20,    ///< the value is not JSON; needs xattr, excludes expand_macros
};

/// Flags of the whole command. Combine them with |.
enum class doc_flags : std::uint8_t {
    none = 0x00,
    create = 0x01,             ///< create the document if it is missing ("mkdoc")
    add = 0x02,                ///< fail if the document exists; CAS must be 0; excludes create
    access_deleted = 0x04,     ///< also work on a tombstone
    create_as_deleted = 0x08,  ///< create the document as a tombstone; needs create or add
    revive = 0x10,             ///< turn a tombstone into a document; needs access_deleted
    replica_read = 0x20,       ///< look up on a replica; HELLO 0x1c
};

constexpr path_flags operator|(path_flags left, path_flags right) noexcept {
    return static_cast<path_flags>(
        static_cast<std::uint8_t>(left) | static_cast<std::uint8_t>(right));
}
constexpr doc_flags operator|(doc_flags left, doc_flags right) noexcept {
    return static_cast<doc_flags>(
        static_cast<std::uint8_t>(left) | static_cast<std::uint8_t>(right));
}
/// Whether every bit of `bits` is set in `value`.
constexpr bool has(path_flags value, path_flags bits) noexcept {
    return (static_cast<std::uint8_t>(value) & static_cast<std::uint8_t>(bits)) ==
           static_cast<std::uint8_t>(bits);
}
constexpr bool has(doc_flags value, doc_flags bits) noexcept {
    return (static_cast<std::uint8_t>(value) & static_cast<std::uint8_t>(bits)) ==
           static_cast<std::uint8_t>(bits);
}

/// A sub-document command with one path: 0xc5..0xcf, 0xd2, 0xd3. Expiry, user flags and doc flags
/// are sent only if set. User flags need an expiry, and lookups may have only doc flags.
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

struct lookup_spec {
    opcode op =
        opcode::subdoc_get;  ///< subdoc_get, _exists, _get_count, or get for the whole document
    path_flags flags = path_flags::none;
    std::string_view path;
};

/// Multi lookup, 0xd0: 1 to 16 specs, attributes first.
struct subdoc_lookup_request {
    document_key key;
    std::optional<wire::doc_flags> doc_flags;
    base::bounded_list<lookup_spec, subdoc_spec_count_max> specs;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<subdoc_lookup_request, wire_errc> decode(const frame_view&, key_form);
};

struct lookup_result {
    wire::status status = wire::status::success;
    base::byte_view value;  ///< empty if the path failed
};

/// Answer to a multi lookup: one result per spec, in order. Statuses 0x00, 0xcc, 0xcd and 0xd3 have
/// this body; with any other status the value is an error body.
struct subdoc_lookup_response {
    base::bounded_list<lookup_result, subdoc_spec_count_max> results;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<subdoc_lookup_response, wire_errc> decode(const frame_view&);
};

struct mutation_spec {
    /// Any sub-document mutation, or set or remove for the whole document.
    opcode op = opcode::subdoc_dict_upsert;
    path_flags flags = path_flags::none;
    std::string_view path;
    base::byte_view value;
};

/// Multi mutation, 0xd1: 1 to 16 specs, attributes first. The server applies all or none.
struct subdoc_mutation_request {
    document_key key;
    std::optional<wire::doc_flags> doc_flags;
    std::optional<std::uint32_t> expiry;
    std::optional<std::uint32_t> user_flags;  ///< needs an expiry
    base::bounded_list<mutation_spec, subdoc_spec_count_max> specs;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<subdoc_mutation_request, wire_errc> decode(const frame_view&, key_form);
};

struct mutation_result {
    std::uint8_t index = 0;  ///< position of the spec in the request
    wire::status status = wire::status::success;
    base::byte_view value;  ///< only on success
};

/// Answer to a multi mutation. On success (0x00, 0xcd) it has the results of the specs that return
/// a value. On failure (0xcc, 0xd3) it has exactly one: the first spec that failed.
struct subdoc_mutation_response {
    std::optional<mutation_token> token;
    base::bounded_list<mutation_result, subdoc_spec_count_max> results;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<subdoc_mutation_response, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
