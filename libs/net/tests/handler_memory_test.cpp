#include "handler_memory.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <memory>

namespace {

namespace asio = boost::asio;
using reprise::net::handler_allocator;
using reprise::net::handler_memory;

TEST(handler_memory, serves_one_handler_at_a_time_and_the_heap_serves_the_others) {
    handler_memory memory;
    void* const first = memory.allocate(100);
    void* const second = memory.allocate(100);
    EXPECT_NE(first, second);
    memory.deallocate(first);
    EXPECT_EQ(memory.allocate(handler_memory::size_max), first);
    memory.deallocate(first);
    void* const large = memory.allocate(handler_memory::size_max + 1);
    EXPECT_NE(large, first);
    memory.deallocate(large);
    memory.deallocate(second);
}

// The handler owns its memory, so Asio must release the memory before it destroys the handler.
struct owner {
    handler_memory memory;
};

TEST(handler_memory, may_belong_to_the_handler_stored_in_it) {
    asio::io_context context;
    bool has_run = false;
    auto kept = std::make_shared<owner>();
    const std::weak_ptr<owner> seen = kept;
    handler_memory& memory = kept->memory;
    asio::post(context, asio::bind_allocator(handler_allocator(memory), [kept, &has_run] {
                   // The memory is free again while the handler runs, so that it can start the next
                   // operation.
                   void* const next = kept->memory.allocate(1);
                   has_run = next > static_cast<void*>(kept.get()) &&
                             next < static_cast<void*>(kept.get() + 1);
                   kept->memory.deallocate(next);
               }));
    kept.reset();
    EXPECT_FALSE(seen.expired());
    context.run();
    EXPECT_TRUE(has_run);
    EXPECT_TRUE(seen.expired());
}

TEST(handler_memory, is_released_by_a_context_destroyed_with_the_handler_inside) {
    auto kept = std::make_shared<owner>();
    const std::weak_ptr<owner> seen = kept;
    {
        asio::io_context context;
        handler_memory& memory = kept->memory;
        asio::post(context, asio::bind_allocator(handler_allocator(memory), [kept] {}));
        kept.reset();
        EXPECT_FALSE(seen.expired());
    }
    EXPECT_TRUE(seen.expired());
}

}  // namespace
