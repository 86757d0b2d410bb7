#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include <reprise/base/byte_writer.hpp>
#include <reprise/engine/engine_options.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/hello_feature.hpp>

namespace reprise::engine {

class scan_progress;

// What the connection and the route add to a request.
struct encoding_context {
    std::uint32_t opaque = 0;
    wire::vbucket_id vbucket{};
    wire::collection_id collection = wire::default_collection;
    wire::key_form form = wire::key_form::collection_prefixed;
    wire::hello_feature_set features{};
    // Null if values are sent uncompressed.
    const wire::compression_options* compression = nullptr;
    // Time left for the operation. With a durability requirement, the server gets nine tenths of it
    // as its timeout.
    duration time_left{};
    // Of a range scan.
    const scan_progress* scan = nullptr;
};

struct encoding_error {
    errc code = errc::invalid_argument;
    std::string detail{};
};

// Appends the complete frame, or nothing if it fails.
[[nodiscard]] std::expected<void, encoding_error> encode_operation(
    base::byte_writer& out, const operation_request& request, const encoding_context& context);

// Checks what can be checked before there is a connection. `is_named_collection`: the collection is
// not the default one.
[[nodiscard]] std::expected<void, encoding_error> check_request(
    const operation_request& request, bool is_named_collection);

}  // namespace reprise::engine
