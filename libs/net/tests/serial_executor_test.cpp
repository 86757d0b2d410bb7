#include "serial_executor.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include "loop.hpp"

namespace reprise::net {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

TEST(serial_executor, a_dispatched_handler_runs_at_once_on_a_thread_of_the_loop) {
    asio::io_context loop;
    const auto turns = serial_executor::on(loop.get_executor());
    std::vector<int> order;
    asio::post(loop, [&] {
        asio::dispatch(turns, [&] {
            order.push_back(1);
            asio::dispatch(turns, [&] { order.push_back(2); });
            asio::post(turns, [&] { order.push_back(4); });
            order.push_back(3);
        });
    });
    asio::dispatch(turns, [&] { order.push_back(0); });  // this thread does not run the loop
    EXPECT_TRUE(order.empty());
    loop.run();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 0, 4}));
}

TEST(serial_executor, a_handler_that_finds_another_one_inside_waits_for_its_turn) {
    asio::io_context loop;
    const auto turns = serial_executor::on(loop.get_executor());
    std::atomic<bool> is_inside = false;
    std::atomic<bool> is_second_posted = false;
    std::vector<int> order;
    asio::post(turns, [&] {
        is_inside = true;
        is_inside.notify_all();
        is_second_posted.wait(false);
        order.push_back(1);
    });
    std::thread other([&] { loop.run(); });
    is_inside.wait(false);
    asio::post(turns, [&] { order.push_back(2); });
    asio::post(turns, [&] { order.push_back(3); });
    asio::post(loop, [&] {
        is_second_posted = true;
        is_second_posted.notify_all();
    });
    loop.run();  // finds the first handler inside, and does not wait for it
    other.join();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

template <class Context>
void expect_one_at_a_time(Context& context, const asio::any_io_executor& inner) {
    const auto turns = serial_executor::on(inner);
    constexpr int count = 20'000;
    int ended = 0;  // not atomic: ThreadSanitizer notices two handlers at a time
    std::vector<std::thread> threads;
    for (int each = 0; each < count; ++each) {
        asio::post(turns, [&] { ++ended; });
    }
    for (int each = 0; each < 4; ++each) {
        threads.emplace_back([&] { context.run(); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(ended, count);
}

TEST(serial_executor, many_threads_run_one_handler_at_a_time) {
    asio::io_context loop;
    expect_one_at_a_time(loop, loop.get_executor());
    loop.restart();
    expect_one_at_a_time(loop, asio::make_strand(loop));
}

TEST(serial_executor, an_exception_does_not_block_the_next_handler) {
    asio::io_context loop;
    const auto turns = serial_executor::on(loop.get_executor());
    bool is_run = false;
    asio::post(turns, [] { throw 1; });
    asio::post(turns, [&] { is_run = true; });
    EXPECT_THROW(loop.run(), int);
    loop.run();
    EXPECT_TRUE(is_run);
}

TEST(serial_executor, a_timer_keeps_a_thread_pool_running) {
    asio::thread_pool pool(2);
    bool has_fired = false;
    {
        auto timer = std::make_shared<steady_timer>(serial_executor::on(pool.get_executor()), 20ms);
        timer->async_wait([&, timer](const auto& ec) { has_fired = !ec; });
    }
    pool.join();
    EXPECT_TRUE(has_fired);
}

TEST(serial_executor, handlers_are_dropped_once_the_context_is_forgotten) {
    asio::io_context loop;
    auto turns = serial_executor::on(loop.get_executor());
    const auto held = std::make_shared<int>(1);
    turns.forget_context();
    asio::post(turns, [held] { FAIL(); });
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(loop.run(), 0U);
}

}  // namespace
}  // namespace reprise::net
