#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <thread>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <reprise/couchbase/asio.hpp>

#include "../client/canceling_observer.hpp"
#include "live_services.hpp"

// Statistics, diagnostics, pings and index managers through completion tokens.

namespace asynchronous_reports_test {

using namespace live_services;
using couchbase::ping_state;
using couchbase::service_kind;
using live::canceling_observer;
namespace asio = boost::asio;

class asynchronous_reports : public ::testing::Test {
protected:
    asynchronous_reports() : server_(start_services()), cluster_(connect(*server_)) {}

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
};

TEST_F(asynchronous_reports, statistics_and_diagnostics_are_those_of_the_blocking_calls) {
    ASSERT_TRUE(cluster_.bucket(bucket_name).wait_until_ready(10s));
    const auto figures = must(cluster_.async_statistics(asio::use_future).get());
    EXPECT_EQ(figures.connections_open, cluster_.statistics()->connections_open);
    EXPECT_GE(figures.connections_open, 1U);
    const auto report = must(cluster_.async_diagnostics(asio::use_future).get());
    EXPECT_EQ(report.id, cluster_.diagnostics()->id);
    EXPECT_FALSE(report.endpoints.empty());
    EXPECT_NE(report.state, couchbase::cluster_state::offline);
}

TEST_F(asynchronous_reports, a_ping_asks_the_same_nodes_as_the_blocking_call) {
    const auto bucket = cluster_.bucket(bucket_name);
    const auto blocking = bucket.ping();
    const auto report = bucket.async_ping({}, asio::use_future).get();
    ASSERT_TRUE(blocking && report) << words(report);
    EXPECT_TRUE(report->is_well());
    ASSERT_EQ(report->services.size(), blocking->services.size());
    for (std::size_t index = 0; index < report->services.size(); ++index) {
        EXPECT_EQ(report->services[index].remote, blocking->services[index].remote);
        EXPECT_EQ(report->services[index].service, blocking->services[index].service);
    }
    const couchbase::ping_options only{.services = {service_kind::search}};
    const auto some = must(cluster_.async_ping(only, asio::use_future).get());
    EXPECT_EQ(some.services.size(), server_->addresses().nodes.size());
}

TEST_F(asynchronous_reports, the_first_call_of_a_client_may_be_a_ping) {
    const auto another = connect(*server_);
    const auto report = must(another.async_ping({}, asio::use_future).get());
    EXPECT_TRUE(report.is_well());
}

TEST_F(asynchronous_reports, a_canceled_ping_reports_what_has_not_answered) {
    add_rule(*server_, disturb(service::query, sandbox::fault_no_answer{}, 1000));
    const couchbase::ping_options patient{.timeout = 10s, .services = {service_kind::query}};
    asio::cancellation_signal signal;
    auto running =
        cluster_.async_ping(patient, asio::bind_cancellation_slot(signal.slot(), asio::use_future));
    while (requests_to(*server_, service::query) == 0) {
        std::this_thread::yield();
    }
    signal.emit(asio::cancellation_type::terminal);
    const auto report = must(running.get());
    for (const couchbase::service_ping& each : report.services) {
        ASSERT_TRUE(each.failure) << each.remote;
        EXPECT_EQ(each.failure->code(), errc::request_canceled) << *each.failure;
    }
}

TEST_F(asynchronous_reports, the_first_ping_of_a_client_can_be_canceled_at_once) {
    server_->with_cluster([](sandbox::cluster& cluster) {
        sandbox::fault_rule silent;
        silent.ops = {reprise::wire::opcode::hello};
        silent.effect = sandbox::fault_no_answer{};
        cluster.faults().add(silent);
    });
    const couchbase::ping_options patient{.timeout = 5s, .services = {service_kind::key_value}};
    const auto another = connect(*server_);
    asio::cancellation_signal signal;
    auto running =
        another.async_ping(patient, asio::bind_cancellation_slot(signal.slot(), asio::use_future));
    signal.emit(asio::cancellation_type::terminal);
    const auto report = must(running.get());
    ASSERT_FALSE(report.services.empty());
    ASSERT_TRUE(report.services[0].failure);
    EXPECT_EQ(report.services[0].failure->code(), errc::request_canceled);
}

TEST_F(asynchronous_reports, they_complete_on_the_loop_where_blocking_calls_are_refused) {
    asio::io_context context;
    const auto own = must(couchbase::connect(
        context.get_executor(), server_->addresses().connection_string, app_options()));
    const auto read = [&]() -> asio::awaitable<void> {
        EXPECT_TRUE(co_await own.async_statistics());
        EXPECT_TRUE(co_await own.async_diagnostics());
        EXPECT_EQ(own.ping().error().code(), errc::blocking_call_in_loop);
        const auto report = co_await own.async_ping();
        EXPECT_TRUE(report && report->is_well());
        own.close();
    };
    auto done = asio::co_spawn(context, read, asio::use_future);
    context.run();
    done.get();
}

// Reports that start before a client or its executor ends complete: figures with a value, because
// they need no answer.
TEST_F(asynchronous_reports, a_client_that_ends_completes_them) {
    std::future<std::expected<couchbase::cluster_statistics, couchbase::error>> figures;
    std::future<std::expected<couchbase::ping_report, couchbase::error>> report;
    {
        asio::io_context context;  // never runs
        const auto own = must(couchbase::connect(
            context.get_executor(), server_->addresses().connection_string, app_options()));
        figures = own.async_statistics(asio::use_future);
        report = own.async_ping({}, asio::use_future);
    }
    EXPECT_TRUE(figures.get());
    const auto no_report = must_fail(report.get());
    EXPECT_EQ(no_report.code(), errc::request_canceled) << no_report;
}

TEST_F(asynchronous_reports, an_executor_that_ends_completes_them) {
    std::optional<couchbase::cluster> own;
    std::future<std::expected<couchbase::cluster_statistics, couchbase::error>> figures;
    std::future<std::expected<couchbase::ping_report, couchbase::error>> report;
    {
        asio::io_context context;  // never runs
        own = couchbase::connect(
                  context.get_executor(), server_->addresses().connection_string, app_options())
                  .value();
        figures = own->async_statistics(asio::use_future);
        report = own->async_ping({}, asio::use_future);
    }
    EXPECT_TRUE(figures.get());
    const auto ended = report.get();
    EXPECT_FALSE(ended && ended->is_well());
}

// Calls of several steps, and reads of streams, each in the step that has not been answered.
TEST_F(asynchronous_reports, an_executor_that_ends_in_the_middle_of_a_call_completes_it) {
    add_rule(*server_, disturb(service::query, sandbox::fault_no_answer{}, 1000));
    server_->with_cluster([](sandbox::cluster& cluster) {
        sandbox::fault_rule silent;
        silent.ops = {reprise::wire::opcode::range_scan_create};
        silent.effect = sandbox::fault_no_answer{};
        cluster.faults().add(silent);
    });
    for (const bool has_run : {false, true}) {
        std::optional<couchbase::cluster> own;
        std::optional<couchbase::query_stream> rows;
        std::optional<couchbase::scan_stream> documents;
        std::vector<std::future<errc>> ended;
        const auto note = [&ended](auto&& call) {
            auto code = std::make_shared<std::promise<errc>>();
            ended.push_back(code->get_future());
            std::move(call)([code](auto&& result) {
                code->set_value(result ? errc{} : static_cast<errc>(result.error().code().value()));
            });
        };
        {
            asio::io_context context;
            own = couchbase::connect(
                      context.get_executor(), server_->addresses().connection_string, app_options())
                      .value();
            const auto indexes = own->query_indexes({.bucket = bucket_name});
            const auto before = requests_to(*server_, service::query);
            rows = own->query_stream("SELECT 1").value();
            documents =
                own->bucket(bucket_name).default_collection().scan(couchbase::range_scan{}).value();
            note([&](auto token) { indexes.async_watch({"a"}, 60s, {}, token); });
            note([&](auto token) { indexes.async_build_deferred({}, token); });
            note([&](auto token) { own->async_query("SELECT 1", {}, token); });
            note([&](auto token) { rows->async_next(token); });
            note([&](auto token) { documents->async_next(token); });
            while (has_run && requests_to(*server_, service::query) < before + 4) {
                context.run_one_for(10ms);
            }
        }
        for (auto& each : ended) {
            ASSERT_EQ(each.wait_for(0s), std::future_status::ready);
            EXPECT_EQ(each.get(), errc::request_canceled);
        }
    }
}

TEST_F(asynchronous_reports, an_executor_that_is_gone_refuses_them) {
    std::optional<couchbase::cluster> own;
    {
        asio::io_context context;
        own = couchbase::connect(
                  context.get_executor(), server_->addresses().connection_string, app_options())
                  .value();
    }
    const auto figures = must_fail(own->async_statistics(asio::use_future).get());
    EXPECT_EQ(figures.code(), errc::executor_gone) << figures;
    const auto report = must_fail(own->async_ping({}, asio::use_future).get());
    EXPECT_EQ(report.code(), errc::executor_gone) << report;
}

TEST_F(asynchronous_reports, index_managers_return_what_the_blocking_calls_do) {
    const auto indexes = cluster_.query_indexes({.bucket = bucket_name});
    const couchbase::query_index deferred{.name = "a", .keys = {"a"}, .is_deferred = true};
    ASSERT_TRUE(indexes.async_create_primary({}, asio::use_future).get());
    ASSERT_TRUE(indexes.async_create(deferred, {}, asio::use_future).get());
    const auto again = must_fail(indexes.async_create(deferred, {}, asio::use_future).get());
    EXPECT_EQ(again.code(), errc::index_exists) << again;
    must(indexes.async_build_deferred({}, asio::use_future).get());
    const auto online = must(indexes.async_watch({"a", ""}, 10s, {}, asio::use_future).get());
    EXPECT_EQ(online.indexes.size(), 2U);
    ASSERT_TRUE(indexes.async_build_deferred({}, asio::use_future).get()) << "nothing is left";
    const auto listed = must(indexes.async_list({}, asio::use_future).get());
    ASSERT_EQ(listed.indexes.size(), 2U);
    EXPECT_TRUE(listed.indexes[0].is_primary);
    EXPECT_EQ(listed.indexes[1].name, "a");
    ASSERT_TRUE(indexes.async_drop("a", {}, asio::use_future).get());
    ASSERT_TRUE(indexes.async_drop_primary({}, asio::use_future).get());
    const auto missing = must_fail(indexes.async_drop("a", {}, asio::use_future).get());
    EXPECT_EQ(missing.code(), errc::index_not_found) << missing;
    EXPECT_FALSE(indexes.async_build({"a"}, {}, asio::use_future).get()) << "no such index";
}

TEST_F(asynchronous_reports, a_watch_ends_with_its_time_or_its_cancellation) {
    const auto indexes = cluster_.query_indexes({.bucket = bucket_name});
    ASSERT_TRUE(indexes.create({.name = "a", .keys = {"a"}, .is_deferred = true}));
    const auto early = must_fail(indexes.async_watch({"a"}, 200ms, {}, asio::use_future).get());
    EXPECT_EQ(early.code(), errc::unambiguous_timeout) << early;
    const auto unnamed = must_fail(indexes.async_watch({}, 1s, {}, asio::use_future).get());
    EXPECT_EQ(unnamed.code(), errc::invalid_argument) << unnamed;
    asio::cancellation_signal signal;
    const auto before = requests_to(*server_, service::query);
    auto watching = indexes.async_watch(
        {"a"}, 10s, {}, asio::bind_cancellation_slot(signal.slot(), asio::use_future));
    while (requests_to(*server_, service::query) < before + 2) {
        std::this_thread::yield();  // it has listed once, waited and listed again
    }
    signal.emit(asio::cancellation_type::terminal);
    const auto ended = must_fail(watching.get());
    EXPECT_EQ(ended.code(), errc::request_canceled) << ended;
}

TEST_F(asynchronous_reports, a_cancellation_between_two_requests_of_a_call_is_kept) {
    const auto between = std::make_shared<canceling_observer>();
    auto options = app_options();
    options.operation_observers = {between};
    const auto own = connect(*server_, options);
    const auto indexes = own.query_indexes({.bucket = bucket_name});
    ASSERT_TRUE(indexes.create({.name = "a", .keys = {"a"}, .is_deferred = true}));
    between->is_armed = true;
    const auto watched =
        must_fail(indexes
                      .async_watch(
                          {"a"}, 2s, {},
                          asio::bind_cancellation_slot(between->signal.slot(), asio::use_future))
                      .get());
    EXPECT_EQ(watched.code(), errc::request_canceled) << watched;
    between->is_armed = true;
    const auto built =
        indexes
            .async_build_deferred(
                {}, asio::bind_cancellation_slot(between->signal.slot(), asio::use_future))
            .get();
    ASSERT_FALSE(built) << "it was canceled before anything was built";
    EXPECT_EQ(built.error().code(), errc::request_canceled) << built.error();
    const auto listed = indexes.list();
    ASSERT_TRUE(listed && listed->indexes.size() == 1) << words(listed);
    EXPECT_TRUE(listed->indexes[0].is_deferred);
}

// The first request of a new client's ping reaches a node; what follows asks all of them. A
// cancellation in between ended nothing, and the checks ran on until their timeout.
TEST_F(asynchronous_reports, a_cancellation_between_the_steps_of_a_ping_is_kept) {
    add_rule(*server_, disturb(service::query, sandbox::fault_no_answer{}, 1000));
    const auto between = std::make_shared<canceling_observer>();
    between->is_armed = true;
    auto options = app_options();
    options.operation_observers = {between};
    const auto own = connect(*server_, options);
    const couchbase::ping_options patient{.timeout = 10s, .services = {service_kind::query}};
    const auto report =
        must(own.async_ping(
                    patient, asio::bind_cancellation_slot(between->signal.slot(), asio::use_future))
                 .get());
    EXPECT_FALSE(between->is_armed) << "the request that reaches a node has ended";
    ASSERT_EQ(report.services.size(), server_->addresses().nodes.size());
    for (const couchbase::service_ping& each : report.services) {
        ASSERT_TRUE(each.failure) << each.remote;
        EXPECT_EQ(each.failure->code(), errc::request_canceled) << *each.failure;
    }
}

// The server's logs and audits took the second request for the first one, sent again.
TEST_F(asynchronous_reports, each_request_of_a_call_has_a_context_id_of_its_own) {
    const auto indexes = cluster_.query_indexes({.bucket = bucket_name});
    const couchbase::query_index deferred{.name = "a", .keys = {"a"}, .is_deferred = true};
    ASSERT_TRUE(indexes.create(deferred));
    EXPECT_FALSE(indexes.watch({"a"}, 200ms, {.client_context_id = "watch"})) << "it is not built";
    EXPECT_EQ(seen(*server_, "watch").first, 1U);
    EXPECT_EQ(seen(*server_, "watch/2").first, 1U);
    ASSERT_TRUE(indexes.build_deferred({.client_context_id = "build"}));
    EXPECT_EQ(seen(*server_, "build"), std::pair(std::size_t{1}, std::size_t{0})) << "the list";
    EXPECT_EQ(seen(*server_, "build/2"), std::pair(std::size_t{1}, std::size_t{1}));
}

TEST_F(asynchronous_reports, both_requests_of_build_deferred_share_its_timeout) {
    const auto indexes = cluster_.query_indexes({.bucket = bucket_name});
    ASSERT_TRUE(indexes.create({.name = "a", .keys = {"a"}, .is_deferred = true}));
    add_rule(*server_, disturb(service::query, sandbox::fault_delay{600ms}, 1000));
    const auto built = indexes.build_deferred({.timeout = 1s});
    ASSERT_FALSE(built) << "each of them takes more than half of it";
    EXPECT_EQ(built.error().code(), errc::ambiguous_timeout) << built.error();
}

TEST_F(asynchronous_reports, a_failed_list_is_the_error_of_build_deferred) {
    add_rule(*server_, disturb(service::query, query_error(3000, "syntax")));
    const auto indexes = cluster_.query_indexes({.bucket = bucket_name});
    const auto built = must_fail(indexes.async_build_deferred({}, asio::use_future).get());
    EXPECT_EQ(built.code(), errc::parsing_failure) << built;
}

}  // namespace asynchronous_reports_test
