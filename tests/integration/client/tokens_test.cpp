#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <list>

#include <reprise/couchbase/asio.hpp>

#include "live_cluster.hpp"

// Completion tokens of all kinds, their executors and their cancellation.

namespace {

using namespace live;
namespace asio = boost::asio;

using read_result = std::expected<couchbase::get_result, couchbase::error>;

class tokens : public ::testing::Test {
protected:
    tokens() : server_(start()), cluster_(connect(*server_)), at_(documents(cluster_)) {}

    void never_answer() {
        add_fault(*server_, fault(reprise::wire::opcode::get, sandbox::fault_no_answer{}));
    }
    // Waits until this many requests are on the wire.
    void await_on_wire(std::size_t count) const {
        (void)await([&] { return cluster_.statistics()->operations_on_wire >= count; });
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
    couchbase::collection at_;
};

TEST_F(tokens, a_future_returns_the_result) {
    must(at_.async_upsert("k", "v", {}, asio::use_future).get());
    EXPECT_EQ(at_.async_get("k", {}, asio::use_future).get()->text(), "v");
    EXPECT_TRUE(at_.async_exists("k", {}, asio::use_future).get()->exists);
    EXPECT_TRUE(at_.async_touch("k", 1h, {}, asio::use_future).get());
    EXPECT_EQ(
        at_.async_insert("k", "v", {}, asio::use_future).get().error().code(),
        couchbase::errc::document_exists);
    EXPECT_TRUE(at_.async_replace("k", "w", {}, asio::use_future).get());
    const std::string more = "!";
    EXPECT_TRUE(at_.async_append("k", std::as_bytes(std::span{more}), {}, asio::use_future).get());
    EXPECT_TRUE(at_.async_prepend("k", std::as_bytes(std::span{more}), {}, asio::use_future).get());
    EXPECT_EQ(at_.async_get_and_touch("k", 1h, {}, asio::use_future).get()->text(), "!w!");
    const auto locked = must(at_.async_get_and_lock("k", 15s, {}, asio::use_future).get());
    EXPECT_TRUE(at_.async_unlock("k", locked.cas, {}, asio::use_future).get());
    EXPECT_TRUE(at_.async_remove("k", {}, asio::use_future).get());
    EXPECT_EQ(at_.async_increment("n", {.initial = 4}, asio::use_future).get()->value, 4U);
    EXPECT_EQ(at_.async_decrement("n", {}, asio::use_future).get()->value, 3U);
}

TEST_F(tokens, a_callback_runs_on_its_associated_executor) {
    asio::io_context context;
    bool is_called = false;
    at_.async_get("k", {}, asio::bind_executor(context, [&](const read_result& read) {
                      EXPECT_EQ(read.error().code(), couchbase::errc::document_not_found);
                      EXPECT_TRUE(context.get_executor().running_in_this_thread());
                      is_called = true;
                  }));
    context.run_for(30s);  // returns when the operation has completed
    EXPECT_TRUE(is_called);
}

asio::awaitable<std::string> store_and_read(couchbase::collection at) {
    couchbase::upsert_options options;
    const auto stored = co_await at.async_upsert("co", "routine", options, asio::use_awaitable);
    if (!stored) {
        co_return stored.error().message();
    }
    auto later = at.async_get("co", {}, asio::deferred);
    const auto read = co_await std::move(later)(asio::use_awaitable);
    co_return read ? std::string(read->text()) : read.error().message();
}

TEST_F(tokens, coroutines_and_deferred_operations_return_the_result) {
    asio::io_context context;
    auto done = asio::co_spawn(context, store_and_read(at_), asio::use_future);
    context.run_for(30s);
    ASSERT_EQ(done.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(done.get(), "routine");
}

TEST_F(tokens, a_deferred_operation_owns_its_key_and_value) {
    auto later = [&] {
        const std::string key(100, 'k');
        const plain_text value{std::string(100, 'v')};
        return at_.async_upsert(key, value, {}, asio::deferred);
    }();
    ASSERT_TRUE(std::move(later)(asio::use_future).get());
    EXPECT_EQ(at_.get(std::string(100, 'k'))->text(), std::string(100, 'v'));
}

TEST_F(tokens, a_coroutine_waits_until_a_bucket_is_ready) {
    EXPECT_TRUE(cluster_.async_wait_until_ready(10s, asio::use_future).get());
    EXPECT_TRUE(cluster_.bucket(bucket_name).async_wait_until_ready(10s, asio::use_future).get());
    const auto missing =
        must_fail(cluster_.bucket("misspelt").async_wait_until_ready(10s, asio::use_future).get());
    EXPECT_EQ(missing.code(), couchbase::errc::bucket_access_failure) << missing;
    EXPECT_TRUE(missing.message().starts_with("noop: ")) << missing;
}

TEST_F(tokens, a_cancellation_slot_cancels_the_operation) {
    never_answer();
    ASSERT_TRUE(cluster_.bucket(bucket_name).wait_until_ready(10s));
    asio::io_context context;
    asio::cancellation_signal signal;
    std::error_code code;
    at_.async_get(
        "k", {},
        asio::bind_cancellation_slot(
            signal.slot(), asio::bind_executor(context, [&](const read_result& read) {
                code = read.error().code();
            })));
    await_on_wire(1);
    signal.emit(asio::cancellation_type::terminal);
    context.run_for(30s);
    EXPECT_EQ(code, couchbase::errc::request_canceled);
    signal.emit(asio::cancellation_type::terminal);  // has no effect any more
}

asio::awaitable<void> read_one(couchbase::collection at, std::string key, int& canceled) {
    couchbase::get_options options;
    options.timeout = 60s;
    const auto read = co_await at.async_get(std::move(key), options, asio::use_awaitable);
    canceled += !read && read.error().code() == couchbase::errc::request_canceled;
}

TEST_F(tokens, a_thousand_coroutines_are_canceled_at_once) {
    never_answer();
    ASSERT_TRUE(cluster_.bucket(bucket_name).wait_until_ready(10s));
    asio::io_context context;
    std::list<asio::cancellation_signal> signals;
    int canceled = 0;
    int ended = 0;
    for (int number = 0; number < 1000; ++number) {
        auto& signal = signals.emplace_back();
        asio::co_spawn(
            context, read_one(at_, "k" + std::to_string(number), canceled),
            asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr) { ++ended; }));
    }
    context.poll();
    await_on_wire(100);
    for (auto& signal : signals) {
        signal.emit(asio::cancellation_type::terminal);
    }
    context.run_for(60s);
    EXPECT_EQ(ended, 1000);
    EXPECT_EQ(canceled, 1000);
    EXPECT_EQ(cluster_.statistics()->operations_open, 0U);
}

TEST_F(tokens, bad_arguments_complete_later_and_not_from_inside) {
    asio::io_context context;
    bool is_called = false;
    at_.async_touch("k", -1s, {}, asio::bind_executor(context, [&](const auto& touched) {
                        EXPECT_EQ(touched.error().code(), couchbase::errc::invalid_argument);
                        is_called = true;
                    }));
    EXPECT_FALSE(is_called);
    context.run_for(30s);
    EXPECT_TRUE(is_called);
}

}  // namespace
