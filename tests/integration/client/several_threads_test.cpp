#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <reprise/couchbase/asio.hpp>
#include <reprise/couchbase/ready_observers.hpp>

#include "live_cluster.hpp"

// A client with several threads of its own (io_threads): each test runs with two and with three.

namespace several_threads_test {

using namespace live;
namespace asio = boost::asio;
using couchbase::errc;
using reprise::wire::opcode;

using read_result = std::expected<couchbase::get_result, couchbase::error>;
using store_result = std::expected<couchbase::mutation_result, couchbase::error>;

// Enough keys that every thread of the client has some.
constexpr int key_count = 24;

std::string key_of(int number) {
    return "key" + std::to_string(number);
}

class several_threads : public ::testing::TestWithParam<std::size_t> {
protected:
    several_threads() : server_(start()) {}

    static couchbase::cluster_options with_threads() {
        auto options = app_options();
        options.io_threads = GetParam();
        return options;
    }
    [[nodiscard]] couchbase::cluster connect_ready(
        const couchbase::cluster_options& options = with_threads()) const {
        auto cluster = connect(*server_, options);
        const auto ready = cluster.bucket(bucket_name).wait_until_ready(30s);
        EXPECT_TRUE(ready) << words(ready);
        return cluster;
    }
    // One read of each key. The server never answers them.
    static std::vector<std::future<read_result>> start_reads(const couchbase::cluster& cluster) {
        std::vector<std::future<read_result>> reads;
        for (int number = 0; number < key_count; ++number) {
            reads.push_back(
                documents(cluster).async_get(key_of(number), {.timeout = 60s}, asio::use_future));
        }
        return reads;
    }
    static void expect_canceled(std::vector<std::future<read_result>>& reads) {
        for (auto& each : reads) {
            ASSERT_EQ(each.wait_for(30s), std::future_status::ready);
            const auto read = must_fail(each.get());
            EXPECT_EQ(read.code(), errc::request_canceled) << read;
        }
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
};

TEST_P(several_threads, RH_50_serve_many_keys_of_many_callers) {
    auto options = with_threads();
    const auto metrics = std::make_shared<couchbase::client_metrics>();
    options.operation_observers.push_back(metrics);
    const auto cluster = connect(*server_, options);
    const auto at = documents(cluster);
    std::atomic<int> good_count = 0;
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&, caller] {
            for (int number = 0; number < 50; ++number) {
                const auto key = key_of(caller * 1000 + number);
                good_count +=
                    at.upsert(key, plain_text{key}).has_value() && at.get(key)->text() == key;
            }
        });
    }
    callers.clear();
    EXPECT_EQ(good_count, 200);
    EXPECT_EQ(metrics->successes("kv"), 400U);
    EXPECT_EQ(metrics->failures("kv"), 0U);
    EXPECT_EQ(cluster.statistics()->operations_open, 0U);
}

TEST_P(several_threads, RH_50_have_their_own_connections_and_one_report) {
    const auto cluster = connect_ready();
    for (int number = 0; number < key_count; ++number) {
        ASSERT_TRUE(documents(cluster).upsert(key_of(number), "v"));
    }
    const auto report = must(cluster.diagnostics());
    EXPECT_EQ(report.state, couchbase::cluster_state::online);
    std::size_t open_count = 0;
    std::set<std::string> ids;
    for (const auto& each : report.endpoints) {
        if (each.bucket == bucket_name) {
            open_count += each.state == couchbase::endpoint_state::connected ? 1U : 0U;
            EXPECT_TRUE(ids.insert(each.id).second) << each.id;
            EXPECT_TRUE(each.id.starts_with(report.id)) << each.id << " of " << report.id;
        }
    }
    EXPECT_EQ(open_count, 2 * GetParam()) << "two nodes";
    EXPECT_GE(cluster.statistics()->connections_open, open_count);
    const auto answers = must(cluster.bucket(bucket_name).ping());
    EXPECT_TRUE(answers.is_well());
}

TEST_P(several_threads, RH_50_keep_the_order_of_writes_to_one_key_from_one_caller) {
    const auto cluster = connect_ready();
    const auto at = documents(cluster);
    std::vector<std::string> expected(key_count);
    for (int number = 0; number < key_count; ++number) {
        ASSERT_TRUE(at.upsert(key_of(number), plain_text{""}));
    }
    std::vector<std::future<store_result>> writes;
    for (int round = 0; round < 20; ++round) {
        for (int number = 0; number < key_count; ++number) {
            const std::string text = std::to_string(round) + " ";
            expected[static_cast<std::size_t>(number)] += text;
            writes.push_back(at.async_append(
                key_of(number), std::as_bytes(std::span(text)), {}, asio::use_future));
        }
    }
    for (auto& each : writes) {
        must(each.get());
    }
    for (int number = 0; number < key_count; ++number) {
        EXPECT_EQ(at.get(key_of(number))->text(), expected[static_cast<std::size_t>(number)]);
    }
}

TEST_P(several_threads, RH_50_serve_scans_replica_reads_and_queries) {
    const auto cluster = connect_ready();
    const auto at = documents(cluster);
    for (int number = 0; number < key_count; ++number) {
        ASSERT_TRUE(at.upsert(key_of(number), "v"));
        EXPECT_TRUE(at.get_any_replica(key_of(number)));
    }
    for (std::size_t round = 0; round < GetParam(); ++round) {  // the next thread each time
        auto found = must(at.scan(couchbase::range_scan{}, {.keys_only = true}));
        int seen_count = 0;
        for (const auto& document : found) {
            ASSERT_TRUE(document) << words(document);
            seen_count += document->key.empty() ? 0 : 1;
        }
        EXPECT_EQ(seen_count, key_count);
        EXPECT_TRUE(found.finish());
    }
    must(cluster.query("SELECT RAW 1", {.readonly = true}));
}

TEST_P(several_threads, RH_50_refuse_blocking_calls_on_each_of_them) {
    const auto cluster = connect_ready();
    const auto at = documents(cluster);
    std::set<std::thread::id> loops;
    for (int number = 0; number < key_count; ++number) {
        std::promise<std::thread::id> inside;
        at.async_get(key_of(number), {}, [&](const read_result&) {
            for (int other = 0; other < key_count; ++other) {
                EXPECT_EQ(
                    at.get(key_of(other)).error().code(), couchbase::errc::blocking_call_in_loop);
            }
            EXPECT_EQ(cluster.statistics().error().code(), couchbase::errc::blocking_call_in_loop);
            EXPECT_EQ(cluster.diagnostics().error().code(), couchbase::errc::blocking_call_in_loop);
            inside.set_value(std::this_thread::get_id());
        });
        loops.insert(inside.get_future().get());
    }
    EXPECT_EQ(loops.size(), GetParam()) << "keys are spread over all threads";
}

TEST_P(several_threads, RH_50_an_operation_is_canceled_whatever_its_thread) {
    add_fault(*server_, fault(opcode::get, sandbox::fault_no_answer{}));
    asio::io_context here;
    const auto cluster = connect_ready();
    for (int number = 0; number < key_count; ++number) {
        asio::cancellation_signal signal;
        std::error_code seen;
        documents(cluster).async_get(
            key_of(number), {.timeout = 60s},
            asio::bind_executor(
                here.get_executor(),
                asio::bind_cancellation_slot(
                    signal.slot(), [&](const read_result& read) { seen = read.error().code(); })));
        signal.emit(asio::cancellation_type::terminal);
        here.restart();
        ASSERT_EQ(here.run_one_for(30s), 1U);
        EXPECT_EQ(seen, errc::request_canceled);
    }
    EXPECT_EQ(cluster.statistics()->operations_open, 0U);
}

TEST_P(several_threads, RH_50_close_ends_every_operation_once_under_load) {
    const auto cluster = connect_ready();
    std::atomic<int> started_count = 0;
    std::atomic<int> ended_count = 0;
    std::atomic<bool> is_closed = false;
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 3; ++caller) {
        callers.emplace_back([&, at = documents(cluster)] {
            for (int number = 0; !is_closed; ++number) {
                ++started_count;
                at.async_upsert(key_of(number % 100), "v", {}, [&](const store_result& stored) {
                    EXPECT_TRUE(
                        stored || stored.error().code() == errc::request_canceled ||
                        stored.error().code() == couchbase::errc::submission_queue_full)
                        << words(stored);
                    ++ended_count;
                });
                while (started_count - ended_count > 500 && !is_closed) {
                    std::this_thread::yield();
                }
            }
        });
    }
    EXPECT_TRUE(await([&] { return ended_count > 2000; }));
    cluster.close();
    const auto late = must_fail(documents(cluster).get("k"));
    EXPECT_EQ(late.code(), errc::request_canceled);
    is_closed = true;
    callers.clear();
    EXPECT_TRUE(await([&] { return started_count == ended_count; }));
}

TEST_P(several_threads, RH_50_the_last_handle_may_be_released_on_any_of_them) {
    add_fault(*server_, fault(opcode::get, sandbox::fault_no_answer{}));
    for (int number = 0; number < key_count; ++number) {
        auto cluster = std::make_unique<couchbase::cluster>(connect_ready());
        auto reads = start_reads(*cluster);
        std::promise<void> gone;
        auto future = gone.get_future();
        // The handle is released on the thread of this key, while the other threads are in use.
        documents(*cluster).async_upsert(key_of(number), "v", {}, [&](const store_result&) {
            cluster.reset();
            gone.set_value();
        });
        ASSERT_EQ(future.wait_for(30s), std::future_status::ready);
        expect_canceled(reads);
    }
}

TEST_P(several_threads, RH_50_destruction_ends_every_operation_before_it_returns) {
    add_fault(*server_, fault(opcode::get, sandbox::fault_no_answer{}));
    std::vector<std::future<read_result>> reads;
    {
        const auto cluster = connect_ready();
        reads = start_reads(cluster);
    }
    for (auto& each : reads) {
        ASSERT_EQ(each.wait_for(0s), std::future_status::ready);
    }
    expect_canceled(reads);
}

TEST_P(several_threads, RH_50_recover_from_the_failure_of_a_node) {
    const auto cluster = connect_ready();
    const auto at = documents(cluster);
    const auto set_state = [&](bool is_up) {
        server_->with_cluster([&](sandbox::cluster& brain) {
            auto& topology = brain.topology();
            ASSERT_TRUE(
                is_up ? topology.set_node_state(topology.nodes().back(), true)
                      : topology.kill(topology.nodes().back()));
        });
    };
    for (int round = 0; round < 3; ++round) {
        set_state(false);
        std::vector<std::future<store_result>> writes;
        for (int number = 0; number < key_count; ++number) {
            const auto text = std::to_string(round);
            writes.push_back(at.async_upsert(
                key_of(number), plain_text{text}, {.timeout = 30s}, asio::use_future));
        }
        set_state(true);
        for (auto& each : writes) {
            const auto written = each.get();
            // The node may have been reached before its connections were reset.
            EXPECT_TRUE(written || written.error().is_ambiguous()) << words(written);
        }
        for (int number = 0; number < key_count; ++number) {
            const auto written = at.upsert(key_of(number), "after", {.timeout = 30s});
            EXPECT_TRUE(written) << words(written);
        }
    }
    server_->with_cluster([&](sandbox::cluster& brain) {
        ASSERT_TRUE(brain.topology().failover(brain.topology().nodes().back()));
    });
    for (int number = 0; number < key_count; ++number) {
        const auto read = at.get(key_of(number), {.timeout = 30s});
        EXPECT_TRUE(read) << words(read);
    }
}

TEST_P(
    several_threads, RH_50_a_wrong_password_ends_the_waiting_on_all_and_a_new_one_is_used_by_all) {
    auto options = with_threads();
    options.password = "wrong";
    const auto cluster = connect(*server_, options);
    const auto at = documents(cluster);
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::future<read_result>> reads;
    for (int number = 0; number < key_count; ++number) {
        reads.push_back(at.async_get(key_of(number), {.timeout = 60s}, asio::use_future));
    }
    for (auto& each : reads) {
        const auto read = must_fail(each.get());
        EXPECT_EQ(read.code(), errc::authentication_failure) << read;
    }
    ASSERT_TRUE(cluster.replace_credentials({.username = "app", .password = "secret"}));
    // Calls fail at once until the first login of a thread succeeds.
    for (int number = 0; number < key_count; ++number) {
        EXPECT_TRUE(await([&] { return at.upsert(key_of(number), "v").has_value(); }));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 9s) << "no pause between logins";
}

TEST_P(several_threads, RH_50_count_waiting_operations_together) {
    auto options = with_threads();
    options.parked_count_max = 8;
    const auto cluster = couchbase::cluster::connect("couchbase://127.0.0.1:1", options).value();
    std::atomic<int> refused_count = 0;
    std::atomic<int> ended_count = 0;
    for (int number = 0; number < 100; ++number) {
        documents(cluster).async_get(
            key_of(number), {.timeout = 60s}, [&](const read_result& read) {
                refused_count += read.error().code() == errc::retry_queue_full ? 1 : 0;
                ++ended_count;
            });
    }
    // Threads that ask at the same moment may each take the last place.
    const int excess_max = static_cast<int>(GetParam()) - 1;
    EXPECT_TRUE(await([&] { return refused_count >= 92 - excess_max; }));
    EXPECT_LE(refused_count, 92);
    EXPECT_LE(cluster.statistics()->operations_parked, 8U + GetParam() - 1);
    cluster.close();
    EXPECT_TRUE(await([&] { return ended_count == 100; }));
}

INSTANTIATE_TEST_SUITE_P(of, several_threads, ::testing::Values(2, 3));

TEST(several_threads_refused, with_an_executor_or_callers_that_drive) {
    asio::io_context context;
    auto options = app_options();
    for (const bool is_in_string : {false, true}) {
        options.io_threads = is_in_string ? 1 : 2;
        const std::string where =
            std::string("couchbase://127.0.0.1:1") + (is_in_string ? "?io_threads=2" : "");
        const auto on_executor =
            must_fail(couchbase::connect(context.get_executor(), where, options));
        EXPECT_EQ(on_executor.code(), couchbase::errc::option_invalid);
        EXPECT_NE(
            on_executor.message().find("io_threads must be 1 if the client runs on an executor"),
            std::string::npos)
            << on_executor;
    }
    options.io_threads = 2;
    options.threads = couchbase::thread_mode::caller_drives;
    const auto driven = couchbase::cluster::connect("couchbase://127.0.0.1:1", options);
    ASSERT_FALSE(driven);
    EXPECT_EQ(driven.error().code(), couchbase::errc::option_invalid);
    EXPECT_NE(
        driven.error().message().find("io_threads must be 1 if callers drive the client"),
        std::string::npos)
        << driven.error();
}

}  // namespace several_threads_test
