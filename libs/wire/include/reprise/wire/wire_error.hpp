#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

namespace reprise::wire {

enum class status : std::uint16_t;

// Why bytes could not be understood, or a message could not be expressed. For a client each of the
// first two groups means: close that connection, there is no way to find the next frame. A server
// closes on the first group and answers the others with `rejection_status`.
enum class wire_errc {
    // Frame level: the stream is lost.
    unknown_magic = 1,    // byte 0 is none of the six magics
    unexpected_magic,     // a known magic, but of the other direction
    lengths_exceed_body,  // framing extras + extras + key are longer than the body
    frame_too_large,      // body above the configured limit

    // Framing extras.
    frame_info_truncated,        // an id, a length or a payload goes past the end
    frame_info_size_invalid,     // payload size not allowed for this id
    frame_info_unknown,          // a request carries an id that is not assigned
    frame_info_not_allowed,      // durability on an opcode that has none
    preserve_ttl_not_supported,  // preserve TTL on an opcode that has none
    durability_level_invalid,    // level is not 1..3
    durability_timeout_invalid,  // timeout bytes 0x0000 or 0xffff

    // Keys.
    key_missing,                 // a key is required and not there (or only its collection prefix)
    key_too_long,                // above the limit of its kind
    leb128_truncated,            // no stop byte
    leb128_too_long,             // more than 5 bytes, or above 32 bits
    leb128_not_canonical,        // not the shortest form
    collection_id_reserved,      // collection ids 1..7 in a request
    collection_not_expressible,  // a named collection on a connection without collection support

    // Fields of a message.
    opcode_mismatch,    // the frame's opcode is not one of this message's
    not_a_request,      // a request was expected, the magic is of a response
    not_a_response,     // a response was expected, the magic is of a request
    status_unexpected,  // the status has no body of this shape: look at the status first
    extras_size_invalid,
    key_unexpected,
    value_unexpected,
    value_size_invalid,
    cas_must_be_zero,
    cas_must_not_be_zero,
    vbucket_must_be_zero,
    datatype_invalid,     // unknown bits, or bits this message may not carry
    path_too_long,        // sub-document path above 1024 bytes
    path_size_invalid,    // path length goes past the body
    spec_truncated,       // sub-document spec or result goes past the body
    spec_count_invalid,   // no spec, or more than 16
    spec_opcode_invalid,  // an opcode that cannot stand in this list
    revision_invalid,     // known revision with rev < 1, or epoch < 1 other than -1
    agent_invalid,        // HELLO agent text over 200 bytes, or not the JSON it claims to be

    // Bodies in JSON.
    error_body_malformed,  // not a JSON object of the expected members

    // Writing.
    output_full,  // the writer's bound was reached; nothing was written
};

// "reprise.wire"; messages are for people.
const std::error_category& wire_category() noexcept;
std::error_code make_error_code(wire_errc error) noexcept;

// The enumerator's name, e.g. "frame_too_large".
std::string_view to_string(wire_errc error) noexcept;

// What a server answers to a request whose decoding ended with `error`: 0x80 unknown frame info,
// 0xa0 durability level or timeout, 0x83 preserve TTL where it is not supported, 0xcb spec count or
// opcode mix, 0x04 for the rest.
status rejection_status(wire_errc error) noexcept;

}  // namespace reprise::wire

template <>
struct std::is_error_code_enum<reprise::wire::wire_errc> : std::true_type {};
