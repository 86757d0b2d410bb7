#include <gtest/gtest.h>

#include <future>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "loop_shift.hpp"

// A loop that its thread and blocked callers run in turn.

namespace reprise::net::loop_shift_test {

namespace asio = boost::asio;

class attended_loop : public ::testing::Test {
protected:
    attended_loop() : thread_([this] { shift_.attend([] {}); }) {
        // Not before its first turn: it would be called, so that no caller could begin.
        static_cast<void>(run_somewhere().get());
    }
    ~attended_loop() override {
        work_.reset();
        shift_.call();
        asio::post(context_, [] {});
        thread_.join();
    }

    // The thread that runs a handler.
    std::future<std::thread::id> run_somewhere() {
        auto ran = std::make_shared<std::promise<std::thread::id>>();
        auto here = ran->get_future();
        shift_.call_then(
            [&] { asio::post(context_, [ran] { ran->set_value(std::this_thread::get_id()); }); });
        return here;
    }

    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
    loop_shift shift_{context_};
    std::thread thread_;
};

TEST_F(attended_loop, a_caller_takes_the_loop_from_its_thread) {
    ASSERT_TRUE(shift_.try_begin());
    auto ran = std::promise<std::thread::id>();
    asio::post(context_, [&] { ran.set_value(std::this_thread::get_id()); });
    auto here = ran.get_future();
    while (here.wait_for(std::chrono::seconds{0}) != std::future_status::ready) {
        ASSERT_GT(context_.run_one(), 0U);
    }
    EXPECT_EQ(here.get(), std::this_thread::get_id());
    EXPECT_FALSE(shift_.is_called());
    shift_.end();
}

TEST_F(attended_loop, one_caller_at_a_time) {
    ASSERT_TRUE(shift_.try_begin());
    EXPECT_FALSE(std::async(std::launch::async, [this] { return shift_.try_begin(); }).get());
    shift_.end();
    EXPECT_TRUE(shift_.try_begin()) << "nobody called the thread, so the next one may";
    shift_.end();
}

TEST_F(attended_loop, the_thread_takes_the_loop_back_when_no_caller_comes) {
    ASSERT_TRUE(shift_.try_begin());
    std::promise<std::thread::id> ran;
    asio::post(context_, [&] { ran.set_value(std::this_thread::get_id()); });
    shift_.end();
    EXPECT_EQ(ran.get_future().get(), thread_.get_id());
}

TEST_F(attended_loop, a_caller_that_is_called_leaves_the_loop_to_the_thread) {
    ASSERT_TRUE(shift_.try_begin());
    auto ran = run_somewhere();
    EXPECT_TRUE(shift_.is_called());
    shift_.end();
    EXPECT_EQ(ran.get(), thread_.get_id());
    EXPECT_FALSE(shift_.try_begin()) << "others use the loop, so it would be called again";
    for (int refused = 1; refused < 64; ++refused) {
        EXPECT_FALSE(shift_.try_begin()) << refused;
    }
    EXPECT_TRUE(shift_.try_begin());
    shift_.end();
}

// It would run what is posted, find nothing that concerns it, and wait for the next event.
TEST_F(attended_loop, a_caller_is_called_before_it_can_see_what_is_posted) {
    ASSERT_TRUE(shift_.try_begin());
    bool was_called = false;
    shift_.call_then([&] { was_called = shift_.is_called(); });
    EXPECT_TRUE(was_called);
    shift_.end();
}

TEST_F(attended_loop, callers_and_the_thread_never_run_the_loop_together) {
    std::atomic<bool> is_inside{false};
    std::atomic<int> overlaps{0};
    std::atomic<int> runs{0};
    const auto visit = [&] {
        overlaps += is_inside.exchange(true) ? 1 : 0;
        std::this_thread::yield();
        is_inside = false;
        ++runs;
    };
    constexpr int rounds = 500;
    const auto drive = [&] {
        for (int round = 0; round < rounds; ++round) {
            asio::post(context_, visit);
            if (shift_.try_begin()) {
                context_.poll();
                shift_.end();
            } else {
                shift_.call();
            }
        }
    };
    auto other = std::async(std::launch::async, drive);
    drive();
    other.get();
    shift_.call();
    while (runs != 2 * rounds) {
        std::this_thread::yield();
    }
    EXPECT_EQ(overlaps, 0);
}

}  // namespace reprise::net::loop_shift_test
