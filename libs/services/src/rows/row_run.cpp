#include "rows/row_run.hpp"

#include <algorithm>
#include <array>

namespace reprise::services::detail {

namespace {

constexpr std::uint64_t lane_if(bool is_set) noexcept {
    return is_set ? ~std::uint64_t{0} : 0;
}

}  // namespace

row_run::row_run(
    const row_run_state& from, std::size_t depth_max, const row_run_kernel& kernel) noexcept
    : kernel_(kernel), depth_max_(std::min(depth_max, depth_limit)) {
    const row_nesting& nesting = from.nesting;
    const bool is_between_rows = nesting.depth == 2;
    const bool is_object = (nesting.object_bits >> (nesting.depth - 1) & 1) != 0;
    carry_.nesting = nesting;
    carry_.in_string = lane_if(from.is_in_string);
    carry_.in_array = lane_if(is_between_rows || !is_object);
    carry_.between_rows = lane_if(is_between_rows);
    carry_.awaits_colon = lane_if(from.awaits_colon);
    carry_.after_value = from.is_after_value ? 1 : 0;
    // A colon at the start is valid if a name was last, at any distance.
    carry_.after_quote = from.is_after_value && from.awaits_colon ? 1 : 0;
}

row_run_state row_run::state() const noexcept {
    return {
        carry_.nesting, carry_.in_string != 0, carry_.awaits_colon != 0,
        carry_.after_value != 0 || carry_.in_scalar != 0};
}

const char* row_run::read(
    const char* at, const char* end, std::string_view* rows, std::size_t room) noexcept {
    json_masks masks;
    while (at != end) {
        if (room - carry_.row_count < group_row_count_max) {
            return stop(at, false);
        }
        const auto left = static_cast<std::size_t>(end - at);
        row_run_group group{at, end, 0, depth_max_, rows};
        group.count = std::min((left + json_block_size - 1) / json_block_size, json_group_size);
        load(group, masks);
        const std::size_t taken = kernel_.take_group(masks, group, carry_);
        if (taken < group.count) {
            // Tries again without the blocks that are not accepted.
            group.count = taken;
            load(group, masks);
            const bool is_taken = taken != 0 && kernel_.take_group(masks, group, carry_) == taken;
            return stop(is_taken ? at + taken * json_block_size : at, true);
        }
        at += std::min(left, taken * json_block_size);
    }
    return stop(at, false);
}

// Padding with spaces adds no token and changes no string. A scalar at the end is not taken.
void row_run::load(const row_run_group& group, json_masks& masks) const noexcept {
    const auto left = static_cast<std::size_t>(group.end - group.at);
    const std::size_t whole = std::min(left / json_block_size, group.count);
    kernel_.fill_masks(group.at, 0, whole, masks);
    std::size_t block = whole;
    if (block == row_run_group::words_of(group.count)) {
        return;
    }
    std::array<char, json_block_size> blanks;
    blanks.fill(' ');
    if (block < group.count) {
        std::array<char, json_block_size> padded = blanks;
        std::copy(group.at + whole * json_block_size, group.end, padded.begin());
        kernel_.fill_masks(padded.data(), block++, 1, masks);
    }
    for (; block < row_run_group::words_of(group.count); ++block) {
        kernel_.fill_masks(blanks.data(), block, 1, masks);
    }
}

// A scalar that was checked must not be read again.
const char* row_run::stop(const char* at, bool is_stuck) noexcept {
    is_stuck_ = is_stuck;
    return carry_.in_scalar != 0 ? carry_.scalar_end : at;
}

}  // namespace reprise::services::detail
