#pragma once

#include <cstdint>
#include <expected>

#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/datatype.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/framing_extras.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/status.hpp>
#include <reprise/wire/wire_error.hpp>

// How messages are written and read. Each message is a plain struct that owns nothing: encoding
// reads the caller's memory, decoding points into the frame. Requests and responses have both
// directions, since the client and the test cluster share them:
//
//     std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
//     static std::expected<get_request, wire_errc> decode(const frame_view&[, key_form]);
//
// encode appends one whole frame or, on an error, nothing. decode checks magic, opcode and lengths.
// Of a request it also checks the rules that servers enforce (which CAS, which datatype bits, which
// parts may be there). Of a response it checks only what the message needs: a stray key or value,
// longer extras and unknown datatype bits are ignored. A response must be a success: look at
// `frame.status()` first.

namespace reprise::wire {

// What stands in a request beside its message.
struct request_header {
    std::uint32_t opaque = 0;
    vbucket_id vbucket{};
    std::uint64_t cas = 0;  // expected CAS, 0 for any; several messages demand 0
    wire::datatype datatype = wire::datatype::raw;
    request_frame_infos frame_infos;  // anything set makes it an alternative request
};

// What stands in a response beside its message.
struct response_header {
    opcode op = opcode::get;  // echoes the request
    wire::status status = wire::status::success;
    std::uint32_t opaque = 0;  // echoes the request
    std::uint64_t cas = 0;
    wire::datatype datatype = wire::datatype::raw;
    response_frame_infos frame_infos;  // anything set makes it an alternative response
};

// Where a mutation landed in its vbucket's history; sent by servers after HELLO 0x04.
struct mutation_token {
    std::uint64_t vbucket_uuid = 0;
    std::uint64_t seqno = 0;

    friend bool operator==(const mutation_token&, const mutation_token&) = default;
};

// A request without extras, key and value: noop, quit, version, sasl_list_mechanisms,
// get_collections_manifest.
struct empty_request {
    opcode op = opcode::noop;

    std::expected<void, wire_errc> encode(base::byte_writer&, const request_header&) const;
    static std::expected<empty_request, wire_errc> decode(const frame_view&);
};

// A response of which nothing is needed: noop, quit, select_bucket, touch, unlock, verbosity.
struct empty_response {
    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<empty_response, wire_errc> decode(const frame_view&);
};

// A response with nothing but a value, whatever its status: version text, error map, cluster
// configuration, collections manifest, SASL data and mechanism list; also an error with its JSON
// body, and not_my_vbucket with a configuration. An empty value is legal. decode checks neither
// opcode nor status.
struct value_response {
    base::byte_view value;

    std::expected<void, wire_errc> encode(base::byte_writer&, const response_header&) const;
    static std::expected<value_response, wire_errc> decode(const frame_view&);
};

}  // namespace reprise::wire
