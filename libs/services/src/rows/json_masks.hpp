#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Classifies 64 bytes at a time, with one bit per byte. For row_run.

namespace reprise::services::detail {

inline constexpr std::size_t json_block_size = 64;
inline constexpr std::size_t json_group_size = 64;  // blocks processed together; at most 64

inline constexpr std::size_t json_vector_size = 4;  // words processed together
static_assert(json_group_size % json_vector_size == 0 && json_group_size <= 64);

// One word for each block, so that several blocks fit into one processor register.
using block_words = std::array<std::uint64_t, json_group_size>;

struct json_masks {
    block_words quotes;
    block_words backslashes;
    block_words commas;
    block_words colons;
    block_words opens;     // { [
    block_words closes;    // } ]
    block_words blanks;    // space and line feed; other white space counts as a control character
    block_words controls;  // below 0x20, including the line feed
    block_words digits;    // 0 to 9
    block_words zeros;     // 0
};

// Fills the words [first, first + count) from `count` times 64 bytes.
using mask_function =
    void (*)(const char* bytes, std::size_t first, std::size_t count, json_masks& masks);

void fill_masks_portable(
    const char* bytes, std::size_t first, std::size_t count, json_masks& masks);
#if defined(__x86_64__)
// Requires a processor with AVX2.
void fill_masks_avx2(const char* bytes, std::size_t first, std::size_t count, json_masks& masks);
#endif

}  // namespace reprise::services::detail
