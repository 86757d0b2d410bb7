#pragma once

#include <cstdint>

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
    // A value of at least this many bytes is not copied to the output.
    std::size_t large_value_size_min = SIZE_MAX;
    // Time left for an operation whose request names a time: a scan, or a write with a durability
    // requirement, for which the server gets nine tenths of it as its timeout.
    duration time_left{};
    // Of a range scan.
    const scan_progress* scan = nullptr;
};

// Why a request cannot be sent. Two registers, because each request passes here and almost none
// fails.
struct encoding_error {
    const char* detail = nullptr;  // a literal; null: there is no error
    errc code = errc::invalid_argument;

    [[nodiscard]] explicit operator bool() const noexcept { return detail != nullptr; }
};

struct encoding_result {
    encoding_error error{};
    // The frame has no value yet: that of the request follows what was appended.
    bool is_value_apart = false;
};

// Appends the frame, or nothing if it fails.
[[nodiscard]] encoding_result encode_operation(
    base::byte_writer& out, const operation_request& request, const encoding_context& context);

// Checks what can be checked before there is a connection. `is_named_collection`: the collection is
// not the default one.
[[nodiscard]] encoding_error check_request(
    const operation_request& request, bool is_named_collection);

}  // namespace reprise::engine
