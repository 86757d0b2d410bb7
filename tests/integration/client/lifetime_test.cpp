#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <vector>

#include <reprise/couchbase/asio.hpp>

#include "live_cluster.hpp"

// How clients and operations end in every state. Each operation completes exactly once: a future
// that is set twice throws, and one that is never set breaks its promise.

namespace {

using namespace live;
namespace asio = boost::asio;

using read_result = std::expected<couchbase::get_result, couchbase::error>;

// The stage at which the client is when it ends.
enum class stage { connecting, hello, authentication, selecting, on_wire, retrying, answered };

std::string name_of(const ::testing::TestParamInfo<stage>& each) {
    static constexpr const char* names[] = {"connecting", "hello",    "authentication", "selecting",
                                            "on_wire",    "retrying", "answered"};
    return names[static_cast<std::size_t>(each.param)];
}

class lifetime : public ::testing::TestWithParam<stage> {
protected:
    lifetime() : server_(start()) {
        using reprise::wire::opcode;
        const sandbox::fault_effect silence = sandbox::fault_no_answer{};
        switch (GetParam()) {
            case stage::hello:
                add_fault(*server_, fault(opcode::hello, silence));
                break;
            case stage::authentication:
                add_fault(*server_, fault(opcode::sasl_auth, silence));
                break;
            case stage::selecting:
                add_fault(*server_, fault(opcode::select_bucket, silence));
                break;
            case stage::on_wire:
                add_fault(*server_, fault(opcode::get, silence));
                break;
            case stage::retrying:
                add_fault(*server_, fault(opcode::get));  // temporary failure, forever
                break;
            case stage::connecting:
            case stage::answered:
                break;
        }
    }

    // A client with three reads that have reached the stage.
    couchbase::cluster begin() {
        auto cluster = connect(*server_);
        const auto at = documents(cluster);
        for (int number = 0; number < 3; ++number) {
            reads_.push_back(at.async_get("k", {.timeout = 60s}, asio::use_future));
        }
        if (GetParam() != stage::connecting) {
            await_stage(cluster);
        }
        return cluster;
    }
    void await_stage(const couchbase::cluster& cluster) {
        (void)await([&] { return has_come(cluster); });
    }
    bool has_come(const couchbase::cluster& cluster) {
        if (GetParam() == stage::answered) {
            return reads_.back().wait_for(0s) == std::future_status::ready;
        }
        if (GetParam() == stage::on_wire) {
            return cluster.statistics()->operations_on_wire == 3;
        }
        if (GetParam() == stage::retrying) {
            return cluster.statistics()->retries > 0;
        }
        std::size_t disturbed = 0;
        server_->with_cluster(
            [&](sandbox::cluster& at) { disturbed = at.faults().entries().front().effect_count; });
        return disturbed > 0;
    }
    void expect_all_ended() {
        const auto expected = GetParam() == stage::answered ? couchbase::errc::document_not_found
                                                            : couchbase::errc::request_canceled;
        for (auto& each : reads_) {
            ASSERT_EQ(each.wait_for(30s), std::future_status::ready);
            const auto read = must_fail(each.get());
            EXPECT_EQ(read.code(), expected) << read;
            EXPECT_FALSE(read.is_ambiguous());
        }
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    std::vector<std::future<read_result>> reads_;
};

TEST_P(lifetime, close_ends_every_operation_once) {
    const auto cluster = begin();
    cluster.close();
    expect_all_ended();
    const auto late = must_fail(documents(cluster).get("k"));
    EXPECT_EQ(late.code(), couchbase::errc::request_canceled);
    cluster.close();
}

TEST_P(lifetime, destruction_without_close_ends_every_operation_once) {
    {
        const auto cluster = begin();
    }
    // The client's thread is joined, so everything has happened by now.
    for (auto& each : reads_) {
        ASSERT_EQ(each.wait_for(0s), std::future_status::ready);
    }
    expect_all_ended();
}

TEST_P(lifetime, cancellation_ends_one_operation_and_leaves_the_others) {
    // A signal and the handler bound to it belong to one thread: this one. The context outlives the
    // client's thread, which posts to it.
    asio::io_context here;
    const auto cluster = begin();
    asio::cancellation_signal signal;
    const auto guard = asio::make_work_guard(here);
    std::error_code seen;
    documents(cluster).async_get(
        "other", {.timeout = 60s},
        asio::bind_executor(
            here.get_executor(),
            asio::bind_cancellation_slot(
                signal.slot(), [&](const read_result& read) { seen = read.error().code(); })));
    signal.emit(asio::cancellation_type::terminal);
    ASSERT_EQ(here.run_one_for(30s), 1U);
    EXPECT_TRUE(
        seen == couchbase::errc::request_canceled || seen == couchbase::errc::document_not_found)
        << seen;
    if (GetParam() != stage::answered && GetParam() != stage::connecting) {
        EXPECT_EQ(cluster.statistics()->operations_open, 3U);
    }
}

INSTANTIATE_TEST_SUITE_P(
    at, lifetime,
    ::testing::Values(
        stage::connecting, stage::hello, stage::authentication, stage::selecting, stage::on_wire,
        stage::retrying, stage::answered),
    name_of);

TEST(client_end, the_last_handle_may_be_released_inside_a_completion) {
    const auto server = start();
    auto cluster = std::make_unique<couchbase::cluster>(connect(*server));
    std::promise<void> gone;
    auto future = gone.get_future();
    {
        const auto at = documents(*cluster);
        at.async_get("k", {}, [&](const read_result&) {
            cluster.reset();
            gone.set_value();
        });
    }
    ASSERT_EQ(future.wait_for(30s), std::future_status::ready);
}

TEST(client_end, a_hundred_clients_are_created_and_destroyed) {
    const auto server = start();
    for (int number = 0; number < 100; ++number) {
        const auto cluster = connect(*server);
        if (number % 10 == 0) {
            ASSERT_TRUE(documents(cluster).upsert("k", "v"));
        }
    }
}

TEST(client_end, a_server_that_stops_ends_calls_at_their_timeout) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    server->stop();
    const auto read = must_fail(at.get("k", {.timeout = 300ms}));
    EXPECT_EQ(read.code(), couchbase::errc::unambiguous_timeout) << read;
    EXPECT_TRUE(read.code() == couchbase::error_condition::timeout);
    const auto stored = must_fail(at.upsert("k", "w", {.timeout = 300ms}));
    EXPECT_FALSE(stored.is_ambiguous()) << stored;
}

TEST(client_end, a_full_submission_queue_is_reported_at_once) {
    auto options = app_options();
    options.threads = couchbase::thread_mode::caller_drives;
    options.submission_count_max = 4;
    const auto [server, cluster] = connected(start(), options);
    const auto at = documents(cluster);
    std::vector<std::future<read_result>> reads;
    for (int number = 0; number < 20; ++number) {
        reads.push_back(at.async_get("k", {}, asio::use_future));
    }
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (reads.front().wait_for(0s) != std::future_status::ready &&
           std::chrono::steady_clock::now() < until) {
        ASSERT_TRUE(cluster.drive(100ms));
    }
    int full = 0;
    for (auto& each : reads) {
        const auto read = must_fail(each.get());
        if (read.code() == couchbase::errc::submission_queue_full) {
            ++full;
            EXPECT_EQ(reprise::facts_of(read).safety, reprise::retry_safety::yes);
        }
    }
    EXPECT_GE(full, 16);
}

}  // namespace
