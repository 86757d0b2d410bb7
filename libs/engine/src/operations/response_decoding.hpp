#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

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

// Why the body of a successful answer could not be decoded. Two registers, because each answer
// passes here and almost none fails.
struct decoding_error {
    const char* detail = nullptr;  // a literal; null: there is no error
    errc code = errc::decoding_failure;
    std::uint16_t status = 0;  // of the failed path
    // The path of a sub-document mutation that failed. In that case nothing was changed.
    std::optional<std::uint8_t> failed_path{};

    [[nodiscard]] explicit operator bool() const noexcept { return detail != nullptr; }
};
static_assert(std::is_trivially_copyable_v<decoding_error> && sizeof(decoding_error) <= 16);

// An answer, what it answers, and where its content goes.
struct decoder_input {
    const operation_request& request;
    const wire::frame_view& frame;
    const frame_source& source;
    const wire::error_map* error_map;
    operation_result& result;
};

// Fills the value part of `result` from an answer with a success status.
[[nodiscard]] decoding_error decode_result(const decoder_input& in);

}  // namespace reprise::engine
