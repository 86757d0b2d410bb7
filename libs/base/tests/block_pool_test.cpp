#include <reprise/base/block_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace reprise::base::block_pool_test {

const std::byte* place_of(const block_ref& block) {
    return block.bytes().data();
}

TEST(block_pool, returns_the_requested_size_or_a_little_more) {
    block_pool pool;
    for (const std::size_t size :
         {0U, 1U, 64U, 65U, 128U, 129U, 1000U, 4095U, 4096U, 4097U, 99999U}) {
        const block_ref block = pool.make(size);
        ASSERT_GE(block.bytes().size(), size);
        EXPECT_LE(block.bytes().size(), std::max<std::size_t>(64, 2 * size)) << size;
        EXPECT_TRUE(block.is_unique());
        std::memset(block.bytes().data(), 0x5a, block.bytes().size());
    }
}

TEST(block_pool, a_released_block_is_reused) {
    block_pool pool;
    const std::byte* const first = place_of(pool.make(100));
    block_ref again = pool.make(90);
    EXPECT_EQ(place_of(again), first);
    EXPECT_TRUE(again.is_unique());
    const block_ref other = pool.make(100);
    EXPECT_NE(place_of(other), first) << "it is in use";
    const block_ref larger = pool.make(200);
    again.reset();
    EXPECT_NE(place_of(pool.make(200)), first) << "it has another size";
    EXPECT_EQ(place_of(pool.make(128)), first);
}

TEST(block_pool, many_blocks_do_not_overlap) {
    block_pool pool;
    std::vector<block_ref> held;
    std::set<const std::byte*> places;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t each = 0; each < 6000; ++each) {  // more than the pool keeps
            held.push_back(pool.make(64));
            ASSERT_TRUE(places.insert(place_of(held.back())).second);
        }
        held.clear();
        places.clear();
    }
}

TEST(block_pool, a_copy_in_a_pooled_block_is_like_any_other) {
    block_pool pool;
    for (const std::size_t size : {0U, 48U, 49U, 4096U, 5000U}) {
        const std::string text(size, 'v');
        const slice copied = slice::copy_of(as_bytes(text), pool);
        EXPECT_EQ(copied.text(), text);
        EXPECT_EQ(copied.is_shared(), size > slice::inline_size_max);
    }
}

TEST(block_pool, blocks_outlive_the_pool) {
    std::optional<block_pool> pool(std::in_place);
    block_ref first = pool->make(100);
    const block_ref second = pool->make(100);
    const slice copied = slice::copy_of(as_bytes(std::string(100, 'x')), *pool);
    pool->make(100).reset();  // a block that is free when the pool is destroyed
    pool.reset();
    first.reset();
    std::memset(second.bytes().data(), 1, second.bytes().size());
    EXPECT_EQ(copied.text(), std::string(100, 'x'));
}

TEST(block_pool, other_threads_may_release_blocks_while_the_pool_is_used_and_after_its_end) {
    constexpr std::size_t thread_count = 3;
    constexpr int block_count = 20'000;
    std::array<std::vector<block_ref>, thread_count> waiting;
    std::array<std::mutex, thread_count> locks;
    std::atomic<bool> is_over{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < thread_count; ++number) {
        threads.emplace_back([&, number] {
            for (bool is_last = false; !is_last;) {
                is_last = is_over.load();
                std::vector<block_ref> taken;
                {
                    const std::scoped_lock lock(locks[number]);
                    taken.swap(waiting[number]);
                }
                for (const block_ref& each : taken) {
                    const auto bytes = each.bytes();
                    wrong += bytes.front() == bytes.back() ? 0 : 1;
                }
            }
        });
    }
    {
        block_pool pool;
        for (int each = 0; each < block_count; ++each) {
            const std::size_t number = static_cast<std::size_t>(each) % thread_count;
            block_ref made = pool.make(64U << (each % 3));
            std::memset(made.bytes().data(), each & 0xff, made.bytes().size());
            const std::scoped_lock lock(locks[number]);
            waiting[number].push_back(std::move(made));
        }
    }
    is_over = true;
    for (std::thread& each : threads) {
        each.join();
    }
    EXPECT_EQ(wrong, 0);
}

}  // namespace reprise::base::block_pool_test
