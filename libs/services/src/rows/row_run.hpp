#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rows/json_masks.hpp"

// The fast path for rows that are objects or arrays: it processes 64 bytes at a time, with a few
// bit operations for all their tokens together. For row_splitter.

namespace reprise::services::detail {

// The containers around a byte. `object_bits` does not include the outermost two: the object and
// the array around the rows.
struct row_nesting {
    std::size_t depth = 2;
    std::uint64_t object_bits = 0;    // by level: 1 means object
    const char* row_begin = nullptr;  // start of the row around the byte, if depth > 2
};

// The state between two blocks.
struct row_run_state {
    row_nesting nesting{};
    bool is_in_string = false;
    bool awaits_colon = false;    // in an object, before the colon of a member
    bool is_after_value = false;  // after a value or name and possibly spaces, outside strings
};

// The state that passes from group to group.
struct row_run_carry {
    row_nesting nesting{};
    // These have all bits set or none.
    std::uint64_t in_string = 0;
    std::uint64_t in_array = 0;  // also set between rows
    std::uint64_t between_rows = 0;
    std::uint64_t awaits_colon = 0;
    // These have the lowest bit set or none.
    std::uint64_t after_value = 0;
    std::uint64_t after_quote = 0;  // directly after a closing quote
    std::uint64_t in_scalar = 0;    // in a scalar that was checked up to scalar_end
    const char* scalar_end = nullptr;
    std::size_t row_count = 0;
};

// One group of at most json_group_size blocks from `at`. The last block may be shortened by `end`,
// the end of the piece.
struct row_run_group {
    const char* at;
    const char* end;
    std::size_t count;  // blocks
    std::size_t depth_max;
    std::string_view* rows;

    // Number of mask words in use. The words after `blocks` describe spaces.
    static constexpr std::size_t words_of(std::size_t blocks) noexcept {
        return (blocks + json_vector_size - 1) / json_vector_size * json_vector_size;
    }
};
// Processes the whole group. If it cannot, it changes only `masks` and returns the number of blocks
// before the first that it does not accept.
using group_function =
    std::size_t (*)(json_masks& masks, const row_run_group& group, row_run_carry& carry);

// The functions for one kind of processor.
struct row_run_kernel {
    std::string_view name;
    mask_function fill_masks;
    group_function take_group;
};

// The kernels that this processor can run, best first. The last one runs everywhere. All give the
// same results.
std::span<const row_run_kernel> row_run_kernels() noexcept;

// Reads blocks as long as it accepts them. It accepts less than all well-formed text: it leaves to
// the splitter what is invalid and what is rare (unusual escapes, empty containers, white space
// other than spaces and line feeds, rows that are not containers, the end of the rows).
//
// It checks that a value is followed, after optional spaces, by a comma, a colon or a closing
// bracket, and that these appear nowhere else; that a colon directly follows a string; that commas
// and opening brackets of objects alternate with colons; that brackets match; and that numbers and
// literals are valid.
class row_run {
public:
    static constexpr std::size_t depth_limit = 62;
    // The number of rows that can end in a group. The shortest is `[0],`.
    static constexpr std::size_t group_row_count_max = json_group_size * json_block_size / 4 + 1;

    // `depth_max` as in row_splitter_options.
    row_run(
        const row_run_state& from, std::size_t depth_max,
        const row_run_kernel& kernel = row_run_kernels().front()) noexcept;

    // Reads [at, end) and writes the rows found, at most `room` (group_row_count_max or more).
    // Returns the end of the last block taken; that is `end` if it accepted everything and had room
    // for all rows. A run reads one piece once.
    const char* read(
        const char* at, const char* end, std::string_view* rows, std::size_t room) noexcept;

    [[nodiscard]] std::size_t row_count() const noexcept { return carry_.row_count; }
    // Whether it stopped before a block that it does not accept.
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
