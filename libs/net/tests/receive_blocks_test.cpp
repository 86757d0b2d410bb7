#include "receive_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace {

using reprise::base::block_ref;
using reprise::net::receive_blocks;

constexpr std::size_t small_size = receive_blocks::size_default;
constexpr std::size_t large_size = 4 * small_size;

// A read that fills the whole space. Returns where the bytes are.
const std::byte* fill(receive_blocks& blocks) {
    const auto space = blocks.space();
    EXPECT_EQ(blocks.received(space.size()).data(), space.data());
    return space.data();
}

TEST(receive_blocks, a_block_without_other_owners_is_reused_from_its_start) {
    receive_blocks blocks;
    const auto first = blocks.space();
    EXPECT_EQ(first.size(), small_size);
    EXPECT_EQ(blocks.received(100).size(), 100U);
    const auto second = blocks.space();
    EXPECT_EQ(second.data(), first.data());
    EXPECT_EQ(second.size(), small_size);
}

TEST(receive_blocks, bytes_that_a_result_keeps_are_never_overwritten) {
    receive_blocks blocks;
    const auto first = blocks.space();
    (void)blocks.received(100);
    const block_ref held = blocks.block();
    const auto second = blocks.space();
    EXPECT_EQ(second.data(), first.data() + 100) << "the rest of the block";
    EXPECT_EQ(second.size(), small_size - 100);
    (void)blocks.received(small_size - 200);
    const auto third = blocks.space();
    EXPECT_EQ(third.size(), small_size);
    EXPECT_NE(blocks.block().bytes().data(), held.bytes().data());
}

TEST(receive_blocks, without_large_reads_blocks_neither_grow_nor_are_kept) {
    receive_blocks blocks;
    fill(blocks);
    const block_ref held = blocks.block();
    EXPECT_EQ(blocks.space().size(), small_size);
    EXPECT_TRUE(held.is_unique()) << "only the result owns it";
}

TEST(receive_blocks, large_reads_grow_while_they_fill_the_space) {
    receive_blocks blocks;
    blocks.set_read_size_max(large_size);
    std::vector<std::size_t> sizes;
    for (int round = 0; round < 4; ++round) {
        sizes.push_back(blocks.space().size());
        (void)blocks.received(sizes.back());
    }
    EXPECT_EQ(sizes, (std::vector{small_size, 2 * small_size, large_size, large_size}));
    blocks.set_read_size_max(small_size);
    EXPECT_EQ(blocks.space().size(), small_size);
}

TEST(receive_blocks, growth_does_not_depend_on_the_owners_of_the_blocks) {
    receive_blocks blocks;
    blocks.set_read_size_max(large_size);
    std::vector<block_ref> held;
    std::vector<std::size_t> sizes;
    for (int round = 0; round < 4; ++round) {
        sizes.push_back(blocks.space().size());
        (void)blocks.received(sizes.back());
        held.push_back(blocks.block());
    }
    EXPECT_EQ(sizes, (std::vector{small_size, 2 * small_size, large_size, large_size}));
}

TEST(receive_blocks, a_reader_that_keeps_two_blocks_at_a_time_needs_three) {
    receive_blocks blocks;
    blocks.set_read_size_max(large_size);
    for (int round = 0; round < 3; ++round) {
        fill(blocks);
    }
    std::vector<block_ref> held;
    std::set<const std::byte*> places;
    for (int round = 0; round < 100; ++round) {
        places.insert(fill(blocks));
        held.push_back(blocks.block());
        if (held.size() > 2) {
            held.erase(held.begin());
        }
    }
    EXPECT_EQ(places.size(), 3U);
}

TEST(receive_blocks, a_limited_number_is_kept_and_none_without_large_reads) {
    receive_blocks blocks;
    blocks.set_read_size_max(large_size);
    std::vector<block_ref> held;
    for (std::size_t round = 0; round < receive_blocks::kept_count_max + 5; ++round) {
        fill(blocks);
        held.push_back(blocks.block());
    }
    const auto count_unique = [&] { return std::ranges::count_if(held, &block_ref::is_unique); };
    EXPECT_EQ(count_unique(), 4) << "all but those kept and the one in use";
    blocks.set_read_size_max(small_size);
    EXPECT_EQ(static_cast<std::size_t>(count_unique()), held.size() - 1);
}

TEST(receive_blocks, after_many_small_reads_a_large_block_is_given_up) {
    receive_blocks blocks;
    blocks.set_read_size_max(large_size);
    for (int round = 0; round < 3; ++round) {
        fill(blocks);
    }
    const auto read = [&](std::size_t size) {
        const std::size_t space = blocks.space().size();
        (void)blocks.received(size);
        return space;
    };
    for (std::size_t round = 0; round < 2 * receive_blocks::small_count_max; ++round) {
        EXPECT_EQ(read(round % 10 == 0 ? large_size / 4 : 100), large_size) << "not in a row";
    }
    EXPECT_EQ(read(large_size / 4), large_size);
    for (std::size_t round = 0; round < receive_blocks::small_count_max; ++round) {
        EXPECT_EQ(read(100), large_size);
    }
    EXPECT_EQ(read(100), small_size);
}

}  // namespace
