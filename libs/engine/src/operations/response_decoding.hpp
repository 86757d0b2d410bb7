#pragma once

#include <expected>
#include <string>

#include <reprise/base/block_pool.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/frame.hpp>

namespace reprise::engine {

// Where the bytes of a frame lie, so that large values can share them.
struct frame_source {
    const base::block_ref* owner = nullptr;  // null: values are copied
    base::block_pool* pool = nullptr;        // for copies; null: they are allocated
};

// Why a success body could not be taken over.
struct decoding_error {
    std::error_code code{};
    std::string detail{};
    // Of a sub-document mutation: the path that failed. Then nothing was changed.
    std::optional<std::uint8_t> failed_path{};
    std::uint16_t status = 0;  // of that path
};

// Fills the value part of `result` from an answer whose status is a success.
[[nodiscard]] std::expected<void, decoding_error> decode_result(
    const operation_request& request, const wire::frame_view& frame, const frame_source& source,
    const wire::error_map* error_map, operation_result& result);

}  // namespace reprise::engine
