#include "operations/response_decoding.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/document_messages.hpp>

#include "operations/status_mapping.hpp"

namespace reprise::engine {
namespace {

constexpr std::size_t value_size_max_bytes = std::size_t{21} * 1024 * 1024;
// Smaller values are copied, since sharing them would keep a whole receive block alive.
constexpr std::size_t share_size_min_bytes = 4096;

decoding_error unreadable(const char* detail) {
    return {.detail = detail};
}

decoding_error unreadable(wire::wire_errc error) {
    return unreadable(wire::to_string(error).data());
}

// Shares large values with the block that they were received into.
[[gnu::always_inline]] inline void keep(
    base::byte_view bytes, const frame_source& source, base::slice& kept) {
    if (bytes.size() >= share_size_min_bytes && source.owner != nullptr &&
        base::lies_within(bytes, source.owner->bytes())) {
        kept = base::slice::cut(*source.owner, bytes);
    } else {
        kept.assign(bytes, source.pool);
    }
}

decoding_error take_value(
    base::byte_view value, const wire::frame_view& frame, const frame_source& source,
    operation_result& result) {
    // The user gets the inflated value without the Snappy bit. Unknown bits are dropped.
    result.datatype = frame.datatype() & (wire::datatype::json | wire::datatype::xattr);
    if (!wire::has(frame.datatype(), wire::datatype::snappy)) {
        keep(value, source, result.value);
        return {};
    }
    const auto inflated = wire::inflate(value, value_size_max_bytes);
    if (!inflated) {
        return unreadable(wire::to_string(inflated.error()).data());
    }
    result.value = base::slice::copy_of(*inflated);
    return {};
}

// Decodes an answer of one shape.
template <wire::response_shape Shape>
decoding_error decode_shape(const decoder_input& in) = delete;

template <>
decoding_error decode_shape<wire::response_shape::empty>(const decoder_input&) {
    return {};
}

// Documents and mutations are the most frequent ones: their decoders are part of decode_result.
template <>
[[gnu::always_inline]] inline decoding_error decode_shape<wire::response_shape::document>(
    const decoder_input& in) {
    const auto answer = wire::document_response::decode(in.frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    in.result.flags = answer->flags;
    return take_value(answer->value, in.frame, in.source, in.result);
}

template <>
decoding_error decode_shape<wire::response_shape::meta>(const decoder_input& in) {
    const auto answer = wire::get_meta_response::decode(in.frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    in.result.is_present = !answer->is_deleted;
    in.result.is_deleted = answer->is_deleted;
    in.result.flags = answer->flags;
    in.result.expiry = answer->expiry;
    return {};
}

template <>
decoding_error decode_shape<wire::response_shape::subdoc_lookup>(const decoder_input& in) {
    const auto answer = wire::subdoc_lookup_response::decode(in.frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    if (answer->results.size() != in.request.specs().size()) {
        return unreadable("not as many results as paths");
    }
    for (const wire::lookup_result& path : answer->results) {
        in.result.paths.push_back(
            {path_error(path.status, in.error_map), static_cast<std::uint16_t>(path.status), {}});
        keep(path.value, in.source, in.result.paths.back().value);
    }
    return {};
}

template <>
decoding_error decode_shape<wire::response_shape::subdoc_mutation>(const decoder_input& in) {
    const auto answer = wire::subdoc_mutation_response::decode(in.frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    const bool has_failed = in.frame.status() == wire::status::subdoc_multi_path_failure ||
                            in.frame.status() == wire::status::subdoc_multi_path_failure_deleted;
    if (has_failed) {
        if (answer->results.empty()) {
            return unreadable("a failed path without its index");
        }
        const wire::mutation_result& path = answer->results[0];
        const std::error_code code = path_error(path.status, in.error_map);
        return {
            "a path failed", code ? static_cast<errc>(code.value()) : errc::decoding_failure,
            static_cast<std::uint16_t>(path.status), path.index};
    }
    in.result.token = answer->token;
    in.result.paths.resize(in.request.specs().size());
    for (const wire::mutation_result& path : answer->results) {
        if (path.index >= in.result.paths.size()) {
            return unreadable("a result for a path that was not requested");
        }
        keep(path.value, in.source, in.result.paths[path.index].value);
    }
    return {};
}

template <>
[[gnu::always_inline]] inline decoding_error decode_shape<wire::response_shape::mutation>(
    const decoder_input& in) {
    const auto answer = wire::mutation_response::decode(in.frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    in.result.token = answer->token;
    return {};
}

template <>
decoding_error decode_shape<wire::response_shape::counter>(const decoder_input& in) {
    const auto answer = wire::counter_response::decode(in.frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    in.result.counter = answer->value;
    in.result.token = answer->token;
    return {};
}

// The engine takes the answers of a scan apart itself: see operation_scan.cpp.
template <>
decoding_error decode_shape<wire::response_shape::scan>(const decoder_input&) {
    return unreadable("an answer of a range scan");
}

// The shape of the answer of each kind. All of them have a decoder.
constexpr auto shapes = []<std::size_t... Kind>(std::index_sequence<Kind...>) {
    return std::array{wire::opcode_info(operation_table[Kind].op).response...};
}(std::make_index_sequence<operation_kind_count>{});
static_assert(std::ranges::none_of(shapes, [](wire::response_shape shape) {
    return shape == wire::response_shape::other || shape == wire::response_shape::subdoc_path;
}));

// Rare, and therefore a separate function: decode_result then needs few registers.
[[gnu::noinline]] void decode_frame_infos(const decoder_input& in) {
    if (const auto infos = wire::decode_response_frame_infos(in.frame.framing_extras())) {
        in.result.server_duration = infos->server_duration;
    }
}

[[gnu::noinline]] decoding_error decode_rare(const decoder_input& in, wire::response_shape shape) {
    using enum wire::response_shape;
    switch (shape) {
        case empty:
            return decode_shape<empty>(in);
        case meta:
            return decode_shape<meta>(in);
        case counter:
            return decode_shape<counter>(in);
        case subdoc_lookup:
            return decode_shape<subdoc_lookup>(in);
        case subdoc_mutation:
            return decode_shape<subdoc_mutation>(in);
        case scan:
            return decode_shape<scan>(in);
        case document:
        case mutation:
        case subdoc_path:
        case other:
            break;
    }
    return unreadable("an answer without a decoder");  // no kind has one of these shapes
}

}  // namespace

decoding_error decode_result(const decoder_input& in) {
    const wire::frame_view& frame = in.frame;
    in.result.cas = frame.cas();
    if (frame.status() != wire::status::success) [[unlikely]] {
        in.result.is_deleted = frame.status() == wire::status::subdoc_success_deleted ||
                               frame.status() == wire::status::subdoc_multi_path_failure_deleted;
    }
    if (!frame.framing_extras().empty()) {
        decode_frame_infos(in);
    }
    const auto index = static_cast<std::size_t>(in.request.kind);
    REPRISE_ASSERT(index < shapes.size());
    using enum wire::response_shape;
    if (shapes[index] == document) {
        return decode_shape<document>(in);
    }
    return shapes[index] == mutation ? decode_shape<mutation>(in) : decode_rare(in, shapes[index]);
}

}  // namespace reprise::engine
