#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/base/slice.hpp>

namespace slice_test {

using reprise::base::as_bytes;
using reprise::base::block_ref;
using reprise::base::slice;

block_ref block_filled_with(const std::string& text) {
    const block_ref block = block_ref::make(text.size());
    std::ranges::copy(as_bytes(text), block.bytes().begin());
    return block;
}

TEST(block_ref, counts_its_owners) {
    const block_ref empty;
    EXPECT_FALSE(empty);
    EXPECT_FALSE(empty.is_unique());
    EXPECT_TRUE(empty.bytes().empty());

    block_ref block = block_ref::make(100);
    EXPECT_EQ(block.bytes().size(), 100u);
    EXPECT_TRUE(block.is_unique());
    {
        const block_ref other = block;
        EXPECT_FALSE(block.is_unique());
    }
    EXPECT_TRUE(block.is_unique());
    const block_ref moved = std::move(block);
    EXPECT_TRUE(moved.is_unique());
    EXPECT_FALSE(block);  // NOLINT: the moved-from state is what is tested
}

TEST(slice, a_small_part_is_copied_and_does_not_keep_the_block_alive) {
    const std::string text(1000, 'x');
    const block_ref block = block_filled_with(text);
    const slice small = slice::cut(block, block.bytes().subspan(10, slice::inline_size_max));
    EXPECT_FALSE(small.is_shared());
    EXPECT_TRUE(block.is_unique());
    block.bytes()[10] = std::byte{'y'};
    EXPECT_EQ(small.text(), std::string(slice::inline_size_max, 'x'));
}

TEST(slice, a_large_part_shares_the_block_without_copying) {
    const block_ref block = block_filled_with(std::string(1000, 'x'));
    slice large = slice::cut(block, block.bytes().subspan(100, 500));
    EXPECT_TRUE(large.is_shared());
    EXPECT_FALSE(block.is_unique());
    EXPECT_EQ(large.view().data(), block.bytes().data() + 100);
    large = slice();
    EXPECT_TRUE(block.is_unique());
}

TEST(slice, keeps_the_bytes_after_all_other_owners_are_gone) {
    slice kept;
    {
        const block_ref block = block_filled_with(std::string(200, 'k'));
        kept = slice::cut(block, block.bytes());
    }
    EXPECT_EQ(kept.text(), std::string(200, 'k'));
}

TEST(slice, copies_and_moves_have_the_same_bytes_and_a_moved_from_slice_is_empty) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{300}}) {
        const std::string text(size, 'z');
        slice original = slice::copy_of(as_bytes(text));
        const slice copy = original;  // NOLINT: a copy is what is tested
        EXPECT_EQ(copy.text(), text);
        const slice moved = std::move(original);
        EXPECT_EQ(moved.text(), text);
        EXPECT_TRUE(original.empty());  // NOLINT: the moved-from state is what is tested
        EXPECT_TRUE(original.view().empty());
    }
}

TEST(slice, assign_replaces_small_and_large_bytes_by_copies) {
    const std::string small = "small";
    const std::string large(slice::inline_size_max + 1, 'x');
    slice target;
    for (const std::string& text : {small, large, small, std::string(), large, large}) {
        target.assign(as_bytes(text));
        EXPECT_EQ(target.text(), text);
        EXPECT_NE(target.view().data(), as_bytes(text).data());
        EXPECT_EQ(target.is_shared(), text.size() > slice::inline_size_max);
    }
}

TEST(slice, clear_releases_the_block_at_once) {
    const block_ref block = block_ref::make(100);
    slice shared = slice::cut(block, block.bytes());
    EXPECT_FALSE(block.is_unique());
    shared.clear();
    EXPECT_TRUE(shared.empty());
    EXPECT_TRUE(block.is_unique());
}

TEST(slice, may_be_released_on_another_thread) {
    const block_ref block = block_filled_with(std::string(500, 'q'));
    std::vector<slice> slices(64, slice::cut(block, block.bytes()));
    std::thread other([moved = std::move(slices)]() mutable { moved.clear(); });
    other.join();
    EXPECT_TRUE(block.is_unique());
}

TEST(slice_death, a_part_outside_its_block_is_a_programming_error) {
    const block_ref block = block_ref::make(100);
    const block_ref other = block_ref::make(100);
    EXPECT_DEATH((void)slice::cut(block, other.bytes()), "assertion failed");
}

}  // namespace slice_test
