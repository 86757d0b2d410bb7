#include "key_worker.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace reprise::net::key_worker_tests {

namespace asio = boost::asio;

wire::key_derivation with_rounds(std::uint32_t iterations) {
    return {wire::sasl_mechanism::scram_sha256, "pencil", "salt", iterations};
}

TEST(key_worker, a_key_is_derived_on_another_thread_and_received_on_the_executor) {
    asio::io_context context;
    auto work = asio::make_work_guard(context);
    key_worker worker(context.get_executor());
    std::optional<std::string> received;
    std::thread::id receiver;
    worker.derive(with_rounds(4096), [&](std::string key) {
        received = std::move(key);
        receiver = std::this_thread::get_id();
        work.reset();
    });
    EXPECT_FALSE(received) << "never from inside the call";
    context.run();
    EXPECT_EQ(received, wire::derive_key(with_rounds(4096)));
    EXPECT_EQ(receiver, std::this_thread::get_id());
}

TEST(key_worker, several_keys_are_derived_at_once_and_each_is_received_once) {
    asio::io_context context;
    auto work = asio::make_work_guard(context);
    key_worker worker(context.get_executor());
    std::multiset<std::string> received;
    for (std::uint32_t index = 0; index < 4; ++index) {
        worker.derive(with_rounds(1000 + index), [&](std::string key) {
            received.insert(std::move(key));
            if (received.size() == 4) {
                work.reset();
            }
        });
    }
    context.run();
    EXPECT_EQ(received.size(), 4U);
    for (std::uint32_t index = 0; index < 4; ++index) {
        EXPECT_EQ(received.count(wire::derive_key(with_rounds(1000 + index))), 1U);
    }
}

TEST(key_worker, destruction_waits_for_the_computation_and_calls_no_receiver) {
    asio::io_context context;
    int calls = 0;
    {
        key_worker worker(context.get_executor());
        worker.derive(with_rounds(50'000), [&](std::string) { ++calls; });
    }
    context.run();
    EXPECT_EQ(calls, 0);
}

TEST(key_worker, a_context_destroyed_before_the_worker_is_done_leaves_nothing_behind) {
    auto context = std::make_unique<asio::io_context>();
    int calls = 0;
    {
        key_worker worker(context->get_executor());
        worker.derive(with_rounds(4096), [&](std::string) { ++calls; });
    }
    context.reset();  // with the result inside
    EXPECT_EQ(calls, 0);
}

}  // namespace reprise::net::key_worker_tests
