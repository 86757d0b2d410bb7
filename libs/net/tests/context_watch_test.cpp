#include "context_watch.hpp"

#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/net/client.hpp>

#include "loop.hpp"

// Goal: a client may outlive the context of the caller's executor. Method: destroy the context in
// every state; a sanitizer sees what is used afterwards.

namespace reprise::net::context_watch_test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// A listener that accepts and never answers.
struct silent_port {
    asio::io_context loop;
    asio::ip::tcp::acceptor acceptor{loop, testing::any_loopback_port()};
    std::uint16_t number() const { return acceptor.local_endpoint().port(); }
};

engine::engine_options options_for(const silent_port& port) {
    engine::engine_options options;
    options.seeds = {{"127.0.0.1", port.number()}};
    options.kv_timeout = 20s;
    options.username = "user";
    options.password = "password";
    return options;
}

engine::operation_request get_request() {
    engine::operation_request request;
    request.kind = engine::operation_kind::get;
    request.key = base::slice::copy_of(base::as_bytes("key"));
    return request;
}

// A client that is to outlive its context. If a test has failed, the client may still refer to what
// no longer exists: then it is left alone, so that the failure is reported and not a crash.
struct survivor {
    explicit survivor(std::unique_ptr<client> made) : at(std::move(made)) {}
    survivor(const survivor&) = delete;
    survivor& operator=(const survivor&) = delete;
    ~survivor() {
        if (::testing::Test::HasFailure()) {
            static_cast<void>(at.release());
        }
    }
    client& operator*() const { return *at; }
    client* operator->() const { return at.get(); }

    std::unique_ptr<client> at;
};

// How an operation ended. Shared with its completion, which may outlive the test.
using outcome = std::shared_ptr<std::optional<std::error_code>>;

refusal start_get(client& at, keyspace_number where, const outcome& ended) {
    return at.start(
        where, get_request(), [ended](engine::operation_result&& result) { *ended = result.ec; });
}

// Every call is refused by name.
void expect_refused(client& at, keyspace_number where) {
    refusal refused = refusal::none;
    ASSERT_NO_THROW(refused = at.start(where, get_request(), [](engine::operation_result&&) {}));
    ASSERT_EQ(refused, refusal::context_gone);
    const auto read = at.call(where, get_request());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error(), refusal::context_gone);
    EXPECT_EQ(at.describe().error(), refusal::context_gone);
    EXPECT_EQ(at.post([] {}), refusal::context_gone);
    EXPECT_FALSE(at.is_loop_thread());
    at.open("other");
    at.cancel(1);
    at.close();
}

TEST(context_watch, a_client_outlives_a_context_that_never_ran) {
    const silent_port port;
    auto context = std::make_unique<asio::io_context>();
    const survivor at(client::make(options_for(port), context->get_executor()).value());
    const auto where = at->keyspace("bucket");
    const auto ended = std::make_shared<std::optional<std::error_code>>();
    ASSERT_EQ(start_get(*at, where, ended), refusal::none);
    context.reset();
    ASSERT_EQ(*ended, couchbase::errc::request_canceled);
    expect_refused(*at, where);
}

TEST(context_watch, a_client_outlives_a_context_with_connections_and_timers) {
    const silent_port port;
    auto context = std::make_unique<asio::io_context>();
    const survivor at(client::make(options_for(port), context->get_executor()).value());
    const auto where = at->keyspace("bucket");
    at->open("bucket");
    const auto ended = std::make_shared<std::optional<std::error_code>>();
    ASSERT_EQ(start_get(*at, where, ended), refusal::none);
    context->run_for(100ms);
    EXPECT_FALSE(*ended);
    context->stop();
    context.reset();
    ASSERT_EQ(*ended, couchbase::errc::request_canceled);
    expect_refused(*at, where);
}

TEST(context_watch, a_client_outlives_a_pool_of_threads) {
    const silent_port port;
    for (int round = 0; round < 10; ++round) {
        auto pool = std::make_unique<asio::thread_pool>(2);
        const survivor at(client::make(options_for(port), pool->get_executor()).value());
        const auto where = at->keyspace("bucket");
        at->open("bucket");
        const auto ended = std::make_shared<std::optional<std::error_code>>();
        ASSERT_EQ(start_get(*at, where, ended), refusal::none);
        pool->stop();
        pool.reset();
        ASSERT_EQ(*ended, couchbase::errc::request_canceled);
        expect_refused(*at, where);
    }
}

TEST(context_watch, a_client_outlives_the_context_of_a_strand) {
    const silent_port port;
    auto context = std::make_unique<asio::io_context>();
    const survivor at(client::make(options_for(port), asio::make_strand(*context)).value());
    const auto where = at->keyspace("bucket");
    const auto ended = std::make_shared<std::optional<std::error_code>>();
    ASSERT_EQ(start_get(*at, where, ended), refusal::none);
    context->run_for(20ms);
    context.reset();
    ASSERT_EQ(*ended, couchbase::errc::request_canceled);
    expect_refused(*at, where);
}

TEST(context_watch, a_completion_may_destroy_the_client_while_its_context_ends) {
    const silent_port port;
    auto context = std::make_unique<asio::io_context>();
    survivor held(client::make(options_for(port), context->get_executor()).value());
    const auto where = held->keyspace("bucket");
    ASSERT_EQ(
        held->start(where, get_request(), [&](engine::operation_result&&) { held.at.reset(); }),
        refusal::none);
    context->run_for(20ms);
    context.reset();
    ASSERT_EQ(held.at, nullptr);
}

TEST(context_watch, a_client_that_is_destroyed_first_is_forgotten) {
    const silent_port port;
    asio::io_context context;
    for (int round = 0; round < 3; ++round) {
        const auto at = client::make(options_for(port), context.get_executor()).value();
        at->open("bucket");
        context.restart();
        context.run_for(10ms);
    }
}

}  // namespace reprise::net::context_watch_test
