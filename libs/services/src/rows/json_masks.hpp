#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Which of 64 bytes are what, one bit for each. For row_run.

namespace reprise::services::detail {

inline constexpr std::size_t json_block_size = 64;
inline constexpr std::size_t json_group_size = 64;  // blocks looked at together; at most 64

inline constexpr std::size_t json_vector_size = 4;  // words that are handled together
static_assert(json_group_size % json_vector_size == 0 && json_group_size <= 64);

// A word for each block, so that several blocks fit into one register of the processor.
using block_words = std::array<std::uint64_t, json_group_size>;

struct json_masks {
    block_words quotes;
    block_words backslashes;
    block_words commas;
    block_words colons;
    block_words opens;     // { [
    block_words closes;    // } ]
    block_words blanks;    // space and line feed; other white space is a control here
    block_words controls;  // below 0x20, the line feed included
    block_words digits;    // 0 to 9
    block_words zeros;     // 0
};

// Fills in the words [first, first + count) from `count` times 64 bytes.
using mask_function =
    void (*)(const char* bytes, std::size_t first, std::size_t count, json_masks& masks);

void fill_masks_portable(
    const char* bytes, std::size_t first, std::size_t count, json_masks& masks);
#if defined(__x86_64__)
// Only where the processor has it.
void fill_masks_avx2(const char* bytes, std::size_t first, std::size_t count, json_masks& masks);
#endif

}  // namespace reprise::services::detail
