#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <reprise/couchbase/asio.hpp>

#include "live_cluster.hpp"

// The three ways to run the loop: on the client's thread, in calls, or on the program's executor.

namespace {

using namespace live;
namespace asio = boost::asio;

using read_result = std::expected<couchbase::get_result, couchbase::error>;

couchbase::cluster connect_on(
    const asio::any_io_executor& executor, const sandbox::embedded_cluster& server) {
    return couchbase::connect(executor, server.addresses().connection_string, app_options())
        .value();
}

TEST(thread_modes, own_thread_serves_many_threads_at_once) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    std::vector<std::jthread> threads;
    std::atomic<int> good = 0;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int round = 0; round < 50; ++round) {
                const auto key = "k" + std::to_string(thread) + "-" + std::to_string(round);
                good += at.upsert(key, plain_text{key}).has_value() && at.get(key)->text() == key;
            }
        });
    }
    threads.clear();
    EXPECT_EQ(good, 200);
}

// A blocked caller runs the loop of the client's thread itself, but only for its own operation.
TEST(thread_modes, a_blocked_caller_runs_no_handler_of_others) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    constexpr int rounds = 300;
    std::atomic<int> ended = 0;
    std::atomic<int> on_callers = 0;
    std::vector<std::jthread> callers;
    std::mutex mutex;
    std::set<std::thread::id> blocked;
    for (int thread = 0; thread < 2; ++thread) {
        callers.emplace_back([&] {
            {
                const std::scoped_lock lock(mutex);
                blocked.insert(std::this_thread::get_id());
            }
            for (int round = 0; round < rounds; ++round) {
                EXPECT_TRUE(at.get("k"));
            }
        });
    }
    for (int round = 0; round < rounds; ++round) {
        at.async_get("k", {}, [&](const read_result& result) {
            EXPECT_TRUE(result);
            const std::scoped_lock lock(mutex);
            on_callers += blocked.contains(std::this_thread::get_id()) ? 1 : 0;
            ++ended;
        });
        std::this_thread::yield();
    }
    callers.clear();
    while (ended != rounds) {
        std::this_thread::yield();
    }
    EXPECT_EQ(on_callers, 0);
}

TEST(thread_modes, a_call_that_takes_long_does_not_hold_up_others) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    for (int round = 0; round < 3; ++round) {
        auto never = fault(reprise::wire::opcode::get, sandbox::fault_no_answer{});
        never.key_pattern = "silent";
        add_fault(*server, never);
        auto slow = std::async(
            std::launch::async, [&] { return at.get("silent", {.timeout = 1s}).has_value(); });
        const auto one_is_open = [&] { return cluster.statistics()->operations_open == 1; };
        while (!one_is_open()) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(at.get("k"));
        EXPECT_TRUE(at.async_get("k", {}, asio::use_future).get());
        EXPECT_TRUE(one_is_open()) << "the others did not wait for it";
        EXPECT_FALSE(slow.get());
    }
}

TEST(thread_modes, callers_drive_and_nothing_runs_between_calls) {
    const auto [server, cluster] =
        connected(start(), app_options_in(couchbase::thread_mode::caller_drives));
    const auto at = documents(cluster);
    std::optional<read_result> seen;
    at.async_get("k", {}, [&](read_result result) { seen = std::move(result); });
    EXPECT_FALSE(seen) << "the client was not driven yet";
    must(at.upsert("k", "v"));
    EXPECT_TRUE(seen) << "the next call drains first";
    EXPECT_EQ(at.get("k")->text(), "v");

    bool is_done = false;
    at.async_get("k", {}, [&](read_result result) { is_done = result.has_value(); });
    for (int round = 0; round < 100 && !is_done; ++round) {
        ASSERT_TRUE(cluster.drive(100ms));
    }
    EXPECT_TRUE(is_done);
}

TEST(thread_modes, several_threads_may_call_a_driven_client) {
    const auto [server, cluster] =
        connected(start(), app_options_in(couchbase::thread_mode::caller_drives));
    const auto at = documents(cluster);
    std::atomic<int> good = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&, thread] {
                for (int round = 0; round < 20; ++round) {
                    good += at.upsert("k" + std::to_string(thread), "v").has_value();
                }
            });
        }
    }
    EXPECT_EQ(good, 60);
}

// A client that callers drive, and a key whose reads are never answered.
class driven_client : public ::testing::Test {
protected:
    driven_client() {
        EXPECT_TRUE(at_.upsert("k", "v"));
        disturb_reads("silent", sandbox::fault_no_answer{});
    }

    void disturb_reads(const char* key, sandbox::fault_effect effect) {
        auto rule = fault(reprise::wire::opcode::get, std::move(effect));
        rule.key_pattern = key;
        add_fault(*server_, rule);
    }
    // Another thread runs the loop from now on until the timeout.
    std::future<bool> wait_elsewhere(reprise::duration timeout) {
        auto waiting = std::async(std::launch::async, [this, timeout] {
            return at_.get("silent", {.timeout = timeout}).has_value();
        });
        EXPECT_TRUE(await([this] { return is_one_open(); })) << "figures do not wait for it";
        return waiting;
    }
    bool is_one_open() const { return cluster_.statistics()->operations_open == 1; }

    std::unique_ptr<sandbox::embedded_cluster> server_ = start();
    couchbase::cluster cluster_ =
        connect(*server_, app_options_in(couchbase::thread_mode::caller_drives));
    couchbase::collection at_ = documents(cluster_);
};

// The deadline of a call that finds the loop taken used to begin when the loop was free.
TEST_F(driven_client, serves_others_while_one_call_waits) {
    auto slow = wait_elsewhere(2s);
    EXPECT_TRUE(at_.get("k"));
    EXPECT_EQ(
        at_.get("silent", {.timeout = 1ms}).error().code(), couchbase::errc::unambiguous_timeout);
    EXPECT_TRUE(cluster_.drive(1ms));
    EXPECT_TRUE(cluster_.ping());
    EXPECT_TRUE(is_one_open()) << "the others did not wait for it";
    EXPECT_FALSE(slow.get());
}

TEST_F(driven_client, is_driven_by_the_next_call_when_the_one_before_has_ended) {
    ASSERT_TRUE(at_.upsert("late", "v"));
    disturb_reads("late", sandbox::fault_delay{200ms});
    auto first = wait_elsewhere(100ms);
    EXPECT_TRUE(at_.get("late")) << "answered after the first call has left the loop";
    EXPECT_FALSE(first.get());
}

TEST(thread_modes, the_programs_executor_runs_everything_on_its_thread) {
    const auto server = start();
    asio::io_context context;
    std::optional<couchbase::cluster> cluster = connect_on(context.get_executor(), *server);
    const auto at = documents(*cluster);
    const auto here = std::this_thread::get_id();
    bool is_read = false;
    at.async_upsert("k", "v", {}, [&](const auto& stored) {
        EXPECT_TRUE(stored) << words(stored);
        EXPECT_EQ(std::this_thread::get_id(), here);
        at.async_get("k", {}, [&](const read_result& read) {
            EXPECT_TRUE(read) << words(read);
            is_read = read.has_value();
            cluster->close();  // the context runs out of work
        });
    });
    context.run_for(30s);
    EXPECT_TRUE(is_read);
    cluster.reset();
    context.restart();
    context.run_for(30s);
}

TEST(thread_modes, callers_that_drive_and_an_executor_contradict_each_other) {
    asio::io_context context;
    auto options = app_options();
    options.threads = couchbase::thread_mode::caller_drives;
    const auto made =
        couchbase::connect(context.get_executor(), "couchbase://127.0.0.1:1", options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), couchbase::errc::option_invalid);
    EXPECT_NE(made.error().message().find("threads"), std::string::npos) << made.error();
}

TEST(thread_modes, a_pool_of_threads_is_used_through_a_strand) {
    const auto server = start();
    asio::thread_pool pool(3);
    {
        const auto cluster = connect_on(pool.get_executor(), *server);
        const auto at = documents(cluster);
        std::vector<std::future<std::expected<couchbase::mutation_result, couchbase::error>>> all;
        for (int number = 0; number < 100; ++number) {
            all.push_back(at.async_upsert("k" + std::to_string(number), "v", {}, asio::use_future));
        }
        for (auto& each : all) {
            const auto result = each.get();
            EXPECT_TRUE(result) << words(result);
        }
        // Blocking is allowed on a thread outside the pool.
        EXPECT_EQ(at.get("k1")->text(), "v");
    }
    pool.join();
}

TEST(thread_modes, a_blocking_call_from_inside_the_loop_is_refused_by_name) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    std::promise<std::error_code> inside;
    at.async_get(
        "k", {}, [&](const read_result&) { inside.set_value(at.get("k").error().code()); });
    EXPECT_EQ(inside.get_future().get(), couchbase::errc::blocking_call_in_loop);

    asio::thread_pool pool(2);
    const auto on_pool = connect_on(pool.get_executor(), *server);
    std::promise<std::error_code> refused;
    asio::post(pool, [&] { refused.set_value(documents(on_pool).get("k").error().code()); });
    EXPECT_EQ(refused.get_future().get(), couchbase::errc::blocking_call_in_loop);
    on_pool.close();
    EXPECT_EQ(cluster.drive(1ms).error().code(), couchbase::errc::option_invalid);
}

TEST(thread_modes, a_context_destroyed_with_operations_inside_completes_them) {
    const auto server = start();
    add_fault(*server, fault(reprise::wire::opcode::get, sandbox::fault_no_answer{}));
    int canceled = 0;
    {
        std::optional<couchbase::cluster> cluster;
        asio::io_context context;
        cluster = connect_on(context.get_executor(), *server);
        const auto at = documents(*cluster);
        at.async_get("k", {}, [&](const read_result& read) {
            canceled += !read && read.error().code() == couchbase::errc::request_canceled;
        });
        context.run_for(300ms);
        cluster.reset();
    }
    EXPECT_EQ(canceled, 1);
}

TEST(thread_modes, a_client_may_outlive_the_context_of_its_executor) {
    const auto server = start();
    add_fault(*server, fault(reprise::wire::opcode::get, sandbox::fault_no_answer{}));
    int canceled = 0;
    auto context = std::make_unique<asio::io_context>();
    const auto cluster = connect_on(context->get_executor(), *server);
    const auto at = documents(cluster);
    asio::thread_pool elsewhere(1);
    at.async_get("k", {}, asio::bind_executor(elsewhere, [&](const read_result& read) {
                     canceled += !read && read.error().code() == couchbase::errc::request_canceled;
                 }));
    context->run_for(300ms);
    context->stop();
    context.reset();
    elsewhere.join();
    EXPECT_EQ(canceled, 1);
    // The handles are still valid, and every call is refused by name.
    const auto read = must_fail(at.get("k"));
    EXPECT_EQ(read.code(), couchbase::errc::executor_gone) << read;
    EXPECT_EQ(cluster.diagnostics().error().code(), couchbase::errc::executor_gone);
    EXPECT_EQ(cluster.query("SELECT 1").error().code(), couchbase::errc::executor_gone);
    auto later = at.async_get("k", {}, asio::use_future);
    EXPECT_EQ(later.get().error().code(), couchbase::errc::executor_gone);
    cluster.close();
}

TEST(thread_modes, a_client_may_outlive_a_pool_of_threads_with_logins_in_progress) {
    const auto server = start();
    for (int round = 0; round < 20; ++round) {
        std::optional<couchbase::cluster> cluster;
        {
            asio::thread_pool pool(2);
            cluster = connect_on(pool.get_executor(), *server);
            if (round % 2 == 1) {
                EXPECT_TRUE(cluster->bucket(live::bucket_name).wait_until_ready(10s));
            }
            pool.stop();
        }
        EXPECT_EQ(cluster->diagnostics().error().code(), couchbase::errc::executor_gone);
    }
}

TEST(thread_modes, a_client_on_a_strand_may_outlive_its_context) {
    const auto server = start();
    auto context = std::make_unique<asio::io_context>();
    const auto cluster = connect_on(asio::make_strand(*context), *server);
    context->run_for(100ms);
    context.reset();
    EXPECT_EQ(cluster.diagnostics().error().code(), couchbase::errc::executor_gone);
}

}  // namespace
