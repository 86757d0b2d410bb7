#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/datatype.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/framing_extras.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/status.hpp>
#include <reprise/wire/wire_error.hpp>

// How messages are encoded and decoded. Each message is a plain struct that owns nothing: encode
// reads the caller's memory, and a decoded message points into the frame. Requests and responses
// have both directions, because the client and the test cluster share them:
//
//     std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
//     static std::expected<get_request, wire_errc> decode(const frame_view&[, key_form]);
//
// encode appends one whole frame, or nothing if it fails. decode checks magic, opcode and lengths.
// For a request it also checks the rules that servers enforce: the CAS, the datatype bits, and
// which parts may be present. For a response it checks only what the message needs, and ignores an
// unexpected key or value, longer extras and unknown datatype bits. A response must be a success:
// check `frame.status()` first.

namespace reprise::wire {

/// The fields of a request other than its message.
struct request_header {
    std::uint32_t opaque = 0;
    vbucket_id vbucket{};
    std::uint64_t cas = 0;  ///< expected CAS, 0 for any; several messages require 0
    wire::datatype datatype = wire::datatype::raw;
    /// If anything is set in it, it is an alternative request.
    std::optional<request_frame_infos> frame_infos{};
};

/// The fields of a response other than its message.
struct response_header {
    opcode op = opcode::get;  ///< the request's opcode
    wire::status status = wire::status::success;
    std::uint32_t opaque = 0;  ///< the request's opaque
    std::uint64_t cas = 0;
    wire::datatype datatype = wire::datatype::raw;
    response_frame_infos frame_infos;  ///< if anything is set, it is an alternative response
};

/// The position of a mutation in its vbucket's history. Servers send it after HELLO 0x04.
struct mutation_token {
    std::uint64_t vbucket_uuid = 0;
    std::uint64_t seqno = 0;

    friend bool operator==(const mutation_token&, const mutation_token&) = default;
};

/// A request without extras, key or value: noop, quit, version, sasl_list_mechanisms,
/// get_collections_manifest.
struct empty_request {
    opcode op = opcode::noop;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<empty_request, wire_errc> decode(const frame_view&);
};

/// A response whose content does not matter: noop, quit, select_bucket, touch, unlock, verbosity.
struct empty_response {
    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<empty_response, wire_errc> decode(const frame_view&);
};

/// A response with only a value, with any status: version text, error map, cluster configuration,
/// collections manifest, SASL data and mechanism list, an error with its JSON body, or
/// not_my_vbucket with a configuration. An empty value is legal. decode checks neither opcode nor
/// status.
struct value_response {
    base::byte_view value;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<value_response, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
