#include <future>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <reprise/net/client.hpp>

// A blocking call on a thread that runs the client's executor would wait for itself. It is refused
// for every kind of executor that a program may give.

namespace reprise::net::executor_threads_test {

namespace asio = boost::asio;

// Whether a client on this executor refuses to block in a handler of it.
template <class Executor>
bool is_recognised(const Executor& executor) {
    engine::engine_options options;
    options.seeds = {{"127.0.0.1", 1}};
    options.username = "user";
    options.password = "password";
    const auto at = client::make(std::move(options), asio::any_io_executor(executor)).value();
    EXPECT_FALSE(at->is_loop_thread());
    std::promise<bool> inside;
    asio::post(executor, [&] { inside.set_value(at->is_loop_thread()); });
    return inside.get_future().get();
}

template <class Executor>
void expect_all_kinds_recognised(const Executor& plain) {
    EXPECT_TRUE(is_recognised(plain));
    EXPECT_TRUE(is_recognised(asio::make_strand(plain)));
    EXPECT_TRUE(is_recognised(asio::make_strand(asio::any_io_executor(plain))));
    EXPECT_TRUE(is_recognised(asio::prefer(plain, asio::execution::outstanding_work.tracked)));
    EXPECT_TRUE(is_recognised(
        asio::make_strand(asio::prefer(plain, asio::execution::outstanding_work.tracked))));
    EXPECT_TRUE(is_recognised(asio::prefer(plain, asio::execution::relationship.continuation)));
}

TEST(executor_threads, a_thread_of_an_io_context_is_recognised) {
    asio::io_context context;
    auto work = asio::make_work_guard(context);
    std::thread runner([&] { context.run(); });
    expect_all_kinds_recognised(context.get_executor());
    work.reset();
    context.stop();
    runner.join();
}

TEST(executor_threads, a_thread_of_a_pool_is_recognised) {
    asio::thread_pool pool(2);
    expect_all_kinds_recognised(pool.get_executor());
    pool.stop();
    pool.join();
}

}  // namespace reprise::net::executor_threads_test
