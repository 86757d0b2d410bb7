#pragma once

#include <memory>
#include <string>

#include <reprise/base/block_pool.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/frame.hpp>

namespace reprise::engine {

// Where the bytes of a frame are stored, so that large values can share them.
struct frame_source {
    const base::block_ref* owner;  // null: values are copied
    base::block_pool& pool;        // for copies
};

// Why the body of a successful answer could not be decoded.
struct decoding_error {
    std::error_code code{};
    std::string detail{};
    // The path of a sub-document mutation that failed. In that case nothing was changed.
    std::optional<std::uint8_t> failed_path{};
    std::uint16_t status = 0;  // of that path
};

// Null: there is none. A pointer, because each answer passes here and almost none fails.
using decoding_failure = std::unique_ptr<decoding_error>;

// An answer, what it answers, and where its content goes.
struct decoder_input {
    const operation_request& request;
    const wire::frame_view& frame;
    const frame_source& source;
    const wire::error_map* error_map;
    operation_result& result;
};

// Fills the value part of `result` from an answer with a success status.
[[nodiscard]] decoding_failure decode_result(const decoder_input& in);

}  // namespace reprise::engine
