#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rows/json_masks.hpp"

// The fast way through rows that are objects or arrays: 64 bytes at a time, with a few operations
// on bits for all of their tokens together. For row_splitter.

namespace reprise::services::detail {

// The containers around a byte. The outermost two, the object and the array around the rows, are
// not among `object_bits`.
struct row_nesting {
    std::size_t depth = 2;
    std::uint64_t object_bits = 0;    // by level: 1 is an object
    const char* row_begin = nullptr;  // of the row around the byte, if depth > 2
};

// Between two blocks.
struct row_run_state {
    row_nesting nesting{};
    bool is_in_string = false;
    bool awaits_colon = false;    // in an object, before the colon of a member
    bool is_after_value = false;  // or name; only blanks have come since. Not if is_in_string
};

// All that passes from group to group.
struct row_run_carry {
    row_nesting nesting{};
    // All bits, or none.
    std::uint64_t in_string = 0;
    std::uint64_t in_array = 0;  // or between rows
    std::uint64_t between_rows = 0;
    std::uint64_t awaits_colon = 0;
    // The lowest bit, or none.
    std::uint64_t after_value = 0;
    std::uint64_t after_quote = 0;  // right behind a closing quote
    std::uint64_t in_scalar = 0;    // one that was checked up to scalar_end
    const char* scalar_end = nullptr;
    std::size_t row_count = 0;
};

// One group of at most json_group_size blocks from `at`; the last may be cut by `end`, the end of
// the piece.
struct row_run_group {
    const char* at;
    const char* end;
    std::size_t count;  // blocks
    std::size_t depth_max;
    std::string_view* rows;

    // Words of the masks that are in use; those behind `blocks` are of blanks.
    static constexpr std::size_t words_of(std::size_t blocks) noexcept {
        return (blocks + json_vector_size - 1) / json_vector_size * json_vector_size;
    }
};
// Takes it whole or, with nothing but `masks` changed, not at all; then returns the number of
// blocks before the first that it does not understand.
using group_function =
    std::size_t (*)(json_masks& masks, const row_run_group& group, row_run_carry& carry);

// The same in words of this processor.
struct row_run_kernel {
    std::string_view name;
    mask_function fill_masks;
    group_function take_group;
};

// What this processor can run, the best first; the last one runs everywhere. All do the same.
std::span<const row_run_kernel> row_run_kernels() noexcept;

// Reads blocks as long as it understands them, which is less than well-formed text: it leaves to
// others what is wrong, and what is rare (unusual escapes, empty containers, other white space than
// spaces and line feeds, rows that are no containers, the end of the rows).
//
// What it checks, in words: after a value, blanks apart, comes a comma, a colon or a closing
// bracket, and these come nowhere else; a colon stands right behind a string; commas and opening
// brackets of objects take turns with colons; brackets match; numbers and words are such.
class row_run {
public:
    static constexpr std::size_t depth_limit = 62;
    // Rows that a group can end: none is shorter than `[0],`.
    static constexpr std::size_t group_row_count_max = json_group_size * json_block_size / 4 + 1;

    // `depth_max` as in row_splitter_options.
    row_run(
        const row_run_state& from, std::size_t depth_max,
        const row_run_kernel& kernel = row_run_kernels().front()) noexcept;

    // Reads [at, end) and writes the rows found, at most `room` (group_row_count_max or more).
    // Returns behind the last block it took; `end` if there was nothing it did not understand and
    // room for all. A run reads one piece once.
    const char* read(
        const char* at, const char* end, std::string_view* rows, std::size_t room) noexcept;

    [[nodiscard]] std::size_t row_count() const noexcept { return carry_.row_count; }
    // It stopped before a block that it does not understand.
    [[nodiscard]] bool is_stuck() const noexcept { return is_stuck_; }
    [[nodiscard]] row_run_state state() const noexcept;

private:
    void load(const row_run_group& group, json_masks& masks) const noexcept;
    const char* stop(const char* at, bool is_stuck) noexcept;

    const row_run_kernel& kernel_;
    std::size_t depth_max_;
    row_run_carry carry_;
    bool is_stuck_ = false;
};

}  // namespace reprise::services::detail
