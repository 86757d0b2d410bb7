#include "response_decoding.hpp"

#include <algorithm>
#include <utility>

#include <reprise/wire/compression.hpp>
#include <reprise/wire/document_messages.hpp>

#include "status_mapping.hpp"

namespace reprise::engine {
namespace {

using decoded = std::expected<void, decoding_error>;

constexpr std::size_t value_size_max_bytes = std::size_t{21} * 1024 * 1024;
// Smaller values are copied: they would keep a whole receive block alive.
constexpr std::size_t share_size_min_bytes = 4096;

std::unexpected<decoding_error> unreadable(std::string detail) {
    return std::unexpected(decoding_error{errc::decoding_failure, std::move(detail), {}, 0});
}

std::unexpected<decoding_error> unreadable(wire::wire_errc error) {
    return unreadable(std::string(wire::to_string(error)));
}

// Large values stay where they are, unless their frame crossed chunks and lies in the reader's
// buffer, not in the block.
base::slice keep(base::byte_view bytes, const frame_source& source) {
    if (bytes.size() >= share_size_min_bytes && source.owner != nullptr &&
        base::lies_within(bytes, source.owner->bytes())) {
        return base::slice::cut(*source.owner, bytes);
    }
    return source.pool != nullptr ? base::slice::copy_of(bytes, *source.pool)
                                  : base::slice::copy_of(bytes);
}

decoded take_value(
    base::byte_view value, const wire::frame_view& frame, const frame_source& source,
    operation_result& result) {
    // The value is handed out inflated; bits that we do not know mean nothing to the user.
    result.datatype = frame.datatype() & (wire::datatype::json | wire::datatype::xattr);
    if (!wire::has(frame.datatype(), wire::datatype::snappy)) {
        result.value = keep(value, source);
        return {};
    }
    const auto inflated = wire::inflate(value, value_size_max_bytes);
    if (!inflated) {
        return unreadable(std::string(wire::to_string(inflated.error())));
    }
    result.value = base::slice::copy_of(*inflated);
    return {};
}

decoded take_document(
    const wire::frame_view& frame, const frame_source& source, operation_result& result) {
    const auto answer = wire::document_response::decode(frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    result.flags = answer->flags;
    return take_value(answer->value, frame, source, result);
}

decoded take_meta(const wire::frame_view& frame, operation_result& result) {
    const auto answer = wire::get_meta_response::decode(frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    result.is_present = !answer->is_deleted;
    result.is_deleted = answer->is_deleted;
    result.flags = answer->flags;
    result.expiry = answer->expiry;
    return {};
}

decoded take_lookup(
    const operation_request& request, const wire::frame_view& frame, const frame_source& source,
    const wire::error_map* error_map, operation_result& result) {
    const auto answer = wire::subdoc_lookup_response::decode(frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    if (answer->results.size() != request.specs.size()) {
        return unreadable("not as many results as paths");
    }
    for (const wire::lookup_result& path : answer->results) {
        result.paths.push_back(
            {path_error(path.status, error_map), static_cast<std::uint16_t>(path.status),
             keep(path.value, source)});
    }
    return {};
}

decoded take_mutation_paths(
    const operation_request& request, const wire::frame_view& frame, const frame_source& source,
    const wire::error_map* error_map, operation_result& result) {
    const auto answer = wire::subdoc_mutation_response::decode(frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    const bool has_failed = frame.status() == wire::status::subdoc_multi_path_failure ||
                            frame.status() == wire::status::subdoc_multi_path_failure_deleted;
    if (has_failed) {
        if (answer->results.empty()) {
            return unreadable("a failed path without its index");
        }
        const wire::mutation_result& path = answer->results[0];
        std::error_code code = path_error(path.status, error_map);
        if (!code) {
            code = errc::decoding_failure;
        }
        return std::unexpected(decoding_error{
            code, "path " + std::to_string(path.index) + " failed", path.index,
            static_cast<std::uint16_t>(path.status)});
    }
    result.token = answer->token;
    result.paths.resize(request.specs.size());
    for (const wire::mutation_result& path : answer->results) {
        if (path.index >= result.paths.size()) {
            return unreadable("a result for a path that was not asked for");
        }
        result.paths[path.index].value = keep(path.value, source);
    }
    return {};
}

decoded take_mutation(const wire::frame_view& frame, operation_result& result) {
    const auto answer = wire::mutation_response::decode(frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    result.token = answer->token;
    return {};
}

decoded take_counter(const wire::frame_view& frame, operation_result& result) {
    const auto answer = wire::counter_response::decode(frame);
    if (!answer) {
        return unreadable(answer.error());
    }
    result.counter = answer->value;
    result.token = answer->token;
    return {};
}

}  // namespace

decoded decode_result(
    const operation_request& request, const wire::frame_view& frame, const frame_source& source,
    const wire::error_map* error_map, operation_result& result) {
    result.cas = frame.cas();
    result.is_deleted = frame.status() == wire::status::subdoc_success_deleted ||
                        frame.status() == wire::status::subdoc_multi_path_failure_deleted;
    if (!frame.framing_extras().empty()) {
        if (const auto infos = wire::decode_response_frame_infos(frame.framing_extras())) {
            result.server_duration = infos->server_duration;
        }
    }
    switch (request.kind) {
        case operation_kind::get:
        case operation_kind::get_replica:
        case operation_kind::get_and_touch:
        case operation_kind::get_and_lock:
            return take_document(frame, source, result);
        case operation_kind::exists:
            return take_meta(frame, result);
        case operation_kind::upsert:
        case operation_kind::insert:
        case operation_kind::replace:
        case operation_kind::remove:
        case operation_kind::append:
        case operation_kind::prepend:
            return take_mutation(frame, result);
        case operation_kind::increment:
        case operation_kind::decrement:
            return take_counter(frame, result);
        case operation_kind::lookup_in:
            return take_lookup(request, frame, source, error_map, result);
        case operation_kind::mutate_in:
            return take_mutation_paths(request, frame, source, error_map, result);
        case operation_kind::touch:
        case operation_kind::unlock:
        case operation_kind::noop:
            return {};
    }
    return {};
}

}  // namespace reprise::engine
