#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

namespace reprise::wire {

enum class status : std::uint16_t;

/// Why bytes could not be decoded, or a message could not be encoded. A client must close the
/// connection on an error of the first two groups, because it cannot find the next frame. A server
/// closes on the first group and answers the others with `rejection_status`.
enum class wire_errc {
    /// Frame level: the stream is lost.
    unknown_magic = 1,    ///< byte 0 is not one of the six magics
    unexpected_magic,     ///< a known magic of the other direction
    lengths_exceed_body,  ///< framing extras + extras + key are longer than the body
    frame_too_large,      ///< the body exceeds the configured limit

    /// Framing extras.
    frame_info_truncated,        ///< an id, length or payload extends past the end
    frame_info_size_invalid,     ///< the payload size is not allowed for this id
    frame_info_unknown,          ///< a request carries an id that is not assigned
    frame_info_not_allowed,      ///< durability on an opcode that does not accept it
    preserve_ttl_not_supported,  ///< preserve TTL on an opcode that does not accept it
    durability_level_invalid,    ///< the level is not 1..3
    durability_timeout_invalid,  ///< the timeout is 0x0000 or 0xffff

    /// Keys.
    key_missing,                 ///< a required key is missing, or has only its collection prefix
    key_too_long,                ///< longer than the limit of its kind
    leb128_truncated,            ///< the last byte is missing
    leb128_too_long,             ///< more than 5 bytes, or more than 32 bits
    leb128_not_canonical,        ///< not the shortest form
    collection_id_reserved,      ///< a request uses a collection id from 1 to 7
    collection_not_expressible,  ///< a named collection on a connection without collection support

    /// Fields of a message.
    opcode_mismatch,    ///< the message does not have the frame's opcode
    not_a_request,      ///< expected a request, but the magic is that of a response
    not_a_response,     ///< expected a response, but the magic is that of a request
    status_unexpected,  ///< the status has no body of this shape: check the status first
    extras_size_invalid,
    key_unexpected,
    value_unexpected,
    value_size_invalid,
    cas_must_be_zero,
    cas_must_not_be_zero,
    vbucket_must_be_zero,
    datatype_invalid,     ///< unknown bits, or bits that this message may not carry
    path_too_long,        ///< a sub-document path above 1024 bytes
    path_size_invalid,    ///< the path extends past the body
    spec_truncated,       ///< a sub-document spec or result extends past the body
    spec_count_invalid,   ///< no spec, or more than 16
    spec_opcode_invalid,  ///< an opcode that is not allowed in this list
    revision_invalid,     ///< a known revision with rev < 1, or with epoch < 1 other than -1
    agent_invalid,        ///< the HELLO agent is over 200 bytes, or not the JSON it claims to be

    scan_item_malformed,  ///< an item of a range scan extends past the answer, or has no known form

    /// Bodies in JSON.
    error_body_malformed,        ///< not a JSON object with the expected members
    scan_description_malformed,  ///< the same for the description of a range scan

    /// Writing.
    output_full,  ///< the writer reached its limit and wrote nothing
};

/// The category "reprise.wire".
const std::error_category& wire_category() noexcept;
std::error_code make_error_code(wire_errc error) noexcept;

/// Returns the enumerator's name, for example "frame_too_large".
std::string_view to_string(wire_errc error) noexcept;

/// Returns what a server answers to a request that fails to decode with `error`: 0x80 for unknown
/// frame info, 0xa0 for durability level or timeout, 0x83 for preserve TTL where it is not
/// supported, 0xcb for spec count or opcode mix, and 0x04 for the rest.
status rejection_status(wire_errc error) noexcept;

}  // namespace reprise::wire

template <>
struct std::is_error_code_enum<reprise::wire::wire_errc> : std::true_type {};
