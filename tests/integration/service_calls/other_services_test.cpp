#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <string>
#include <thread>

#include <reprise/couchbase/asio.hpp>

#include "live_services.hpp"

// Analytics, search, views and management, with a server without faults.

namespace other_services_test {

using namespace live_services;
using couchbase::json_text;

TEST(analytics, runs_statements_and_streams_rows) {
    const auto [server, cluster] = connected(start_services());
    const auto result = must(cluster.analytics_query(
        "SELECT RAW $n + 1", {.readonly = true, .has_priority = true, .named = {{"n", 1}}}));
    EXPECT_EQ(result.rows[0].as<int>().value(), 2);
    auto stream = must(
        cluster.analytics_stream("SELECT RAW n FROM ARRAY_RANGE(0, 3) AS n", {.readonly = true}));
    std::string rows;
    auto row = stream.next();
    for (; row && *row; row = stream.next()) {
        rows += (*row)->text();
    }
    EXPECT_TRUE(row) << words(row);
    EXPECT_EQ(rows, "012");
    const auto failed = must_fail(cluster.analytics_query("SELEKT", {.readonly = true}));
    EXPECT_EQ(failed.service_code(), 24000U) << failed;
}

TEST(search, returns_hits_and_marks_partial_results) {
    const auto server = start_services();
    server->with_cluster([](sandbox::cluster& at) {
        ASSERT_TRUE(at.services().create_search_index("words", bucket_name));
    });
    const auto cluster = connect(*server);
    ASSERT_TRUE(documents(cluster).upsert("a", json_text{R"({"t":"x"})"}));
    ASSERT_TRUE(documents(cluster).upsert("b", json_text{R"({"t":"y"})"}));
    const auto all = must(cluster.search("words", couchbase::search_query::match_all()));
    EXPECT_EQ(all.rows.size(), 2U);
    EXPECT_EQ(all.metadata.total_hits, 2U);
    EXPECT_FALSE(all.metadata.is_partial());
    const auto one = must(
        cluster.search("words", couchbase::search_query::match_all(), {.limit = 1, .skip = 1}));
    EXPECT_EQ(one.rows.size(), 1U);

    add_rule(
        *server,
        disturb(
            service::search,
            sandbox::service_fault_answer{
                200,
                {},
                R"({"status":{"total":2,"failed":1,"successful":1,"errors":{"p1":"lost"}},)"
                R"("hits":[{"id":"a"}],"total_hits":1,"max_score":1.0,"took":10})"}));
    const auto partial = must(cluster.search("words", couchbase::search_query::match_all()));
    EXPECT_TRUE(partial.metadata.is_partial());
    ASSERT_EQ(partial.metadata.partition_errors.size(), 1U);
    EXPECT_EQ(partial.metadata.partition_errors[0].second, "lost");
    const auto missing = must_fail(cluster.search("nowhere", couchbase::search_query::match_all()));
    EXPECT_EQ(missing.code(), errc::index_not_found) << missing;
}

TEST(views, are_read_page_by_page) {
    const auto server = start_services();
    server->with_cluster([](sandbox::cluster& at) {
        ASSERT_TRUE(at.services().put_view(bucket_name, "design", "all"));
    });
    const auto cluster = connect(*server);
    for (const char* key : {"a", "b", "c", "d", "e"}) {
        ASSERT_TRUE(documents(cluster).upsert(key, json_text{"1"}));
    }
    const auto bucket = cluster.bucket(bucket_name);
    constexpr std::size_t page_size = 2;
    std::string ids;
    couchbase::view_options options{.limit = page_size + 1};
    while (true) {
        const auto page = must(bucket.view_query("design", "all", options));
        EXPECT_EQ(page.metadata.total_rows, 5U);
        for (std::size_t i = 0; i < std::min(page.rows.size(), page_size); ++i) {
            ids += couchbase::parse_view_row(page.rows[i])->id;
        }
        if (page.rows.size() <= page_size) {
            break;
        }
        const auto next = must(couchbase::parse_view_row(page.rows[page_size]));
        options.start_key = json_text{next.key};
        options.start_key_doc_id = next.id;
    }
    EXPECT_EQ(ids, "abcde");
    const auto one = must(bucket.view_query("design", "all", {.key = "c"}));
    EXPECT_EQ(one.rows.size(), 1U);
    auto stream = must(bucket.view_stream("design", "all"));
    EXPECT_TRUE(stream.next());
}

TEST(management, buckets_are_created_listed_and_dropped) {
    const auto [server, cluster] = connected(start_services());
    const auto buckets = cluster.buckets();
    must(buckets.create({.name = "fresh", .ram_quota_mb = 128}));
    const auto again = must_fail(buckets.create({.name = "fresh", .ram_quota_mb = 128}));
    EXPECT_EQ(again.code(), errc::bucket_exists) << again;
    const auto listed = must(buckets.list());
    EXPECT_EQ(listed.buckets.size(), 2U);
    const auto one = must(buckets.get("fresh"));
    EXPECT_EQ(one.bucket.name, "fresh");
    ASSERT_TRUE(buckets.drop("fresh"));
    const auto gone = must_fail(buckets.get("fresh"));
    EXPECT_EQ(gone.code(), errc::bucket_not_found) << gone;
}

TEST(management, scopes_and_collections_are_created_used_and_dropped) {
    const auto [server, cluster] = connected(start_services());
    const auto bucket = cluster.bucket(bucket_name);
    const auto at = bucket.collections();
    ASSERT_TRUE(at.create_scope("s"));
    must(at.create_collection({.scope = "s", .name = "c"}));
    const auto again = must_fail(at.create_collection({.scope = "s", .name = "c"}));
    EXPECT_EQ(again.code(), errc::collection_exists) << again;
    const auto written = bucket.scope("s").collection("c").upsert("k", "v");
    EXPECT_TRUE(written) << words(written);
    const auto listed = must(at.list());
    const auto found = std::ranges::find(listed.scopes, "s", &couchbase::scope_settings::name);
    ASSERT_NE(found, listed.scopes.end());
    ASSERT_EQ(found->collections.size(), 1U);
    EXPECT_EQ(found->collections[0].name, "c");
    ASSERT_TRUE(at.drop_collection("s", "c"));
    ASSERT_TRUE(at.drop_scope("s"));
    const auto missing = must_fail(at.drop_scope("s"));
    EXPECT_EQ(missing.code(), errc::scope_not_found) << missing;
}

TEST(management, query_indexes_are_created_listed_and_dropped) {
    const auto [server, cluster] = connected(start_services());
    const auto indexes = cluster.query_indexes({.bucket = bucket_name});
    must(indexes.create({.is_primary = true}));
    must(indexes.create({.name = "by_name", .keys = {"name"}}));
    const auto again = must_fail(indexes.create({.name = "by_name", .keys = {"name"}}));
    EXPECT_EQ(again.code(), errc::index_exists) << again;
    const auto listed = must(indexes.list());
    ASSERT_EQ(listed.indexes.size(), 2U);
    EXPECT_TRUE(listed.indexes[0].is_primary);
    EXPECT_EQ(listed.indexes[1].name, "by_name");
    EXPECT_EQ(listed.indexes[1].state, "online");
    ASSERT_TRUE(indexes.drop("by_name"));
    ASSERT_TRUE(indexes.drop_primary());
    const auto missing = must_fail(indexes.drop("by_name"));
    EXPECT_EQ(missing.code(), errc::index_not_found) << missing;
}

TEST(management, the_indexes_of_a_collection_are_built_later_and_awaited) {
    const auto [server, cluster] = connected(start_services());
    const auto bucket = cluster.bucket(bucket_name);
    ASSERT_TRUE(bucket.collections().create_scope("s"));
    ASSERT_TRUE(bucket.collections().create_collection({.scope = "s", .name = "c"}));
    const auto indexes = bucket.scope("s").collection("c").query_indexes();
    must(indexes.create_primary());
    ASSERT_TRUE(indexes.create({.name = "a", .keys = {"a"}, .is_deferred = true}));
    ASSERT_TRUE(indexes.create({.name = "b", .keys = {"b"}, .is_deferred = true}));
    const auto early = must_fail(indexes.watch({"", "a"}, 300ms));
    EXPECT_EQ(early.code(), errc::unambiguous_timeout) << early;
    must(indexes.build_deferred());
    const auto online = must(indexes.watch({"", "a", "b"}, 10s));
    EXPECT_EQ(online.indexes.size(), 3U);
    EXPECT_EQ(online.indexes.back().on.collection, "c");
    EXPECT_TRUE(indexes.build_deferred()) << "nothing is left to build";
    EXPECT_EQ(indexes.watch({"no"}, 10s).error().code(), errc::index_not_found);
    ASSERT_TRUE(indexes.drop("a"));
    ASSERT_TRUE(indexes.drop_primary());
    EXPECT_EQ(indexes.list()->indexes.size(), 1U);
    // Those of other collections are not theirs.
    const auto of_default = bucket.default_collection().query_indexes();
    ASSERT_TRUE(of_default.create({.name = "d", .keys = {"d"}}));
    EXPECT_EQ(of_default.list()->indexes.size(), 1U);
    EXPECT_EQ(of_default.list()->indexes.front().name, "d");
    EXPECT_EQ(indexes.list()->indexes.front().name, "b");
}

// Closes the client while a watch waits in another thread.
void expect_closing_ends_a_watch(
    sandbox::embedded_cluster& server, const couchbase::cluster& cluster) {
    const auto indexes = cluster.bucket(bucket_name).default_collection().query_indexes();
    ASSERT_TRUE(indexes.create({.name = "a", .keys = {"a"}, .is_deferred = true}));
    const auto before = requests_to(server, service::query);
    auto watching = std::async(std::launch::async, [&] { return indexes.watch({"a"}, 60s); });
    while (requests_to(server, service::query) < before + 2) {
        std::this_thread::yield();  // it has listed once, waited and listed again
    }
    cluster.close();
    const auto ended = must_fail(watching.get());
    EXPECT_EQ(ended.code(), errc::request_canceled) << ended;
}

TEST(management, closing_a_client_with_its_own_thread_ends_a_watch) {
    const auto server = start_services();
    expect_closing_ends_a_watch(*server, connect(*server));
}

TEST(management, closing_a_client_that_callers_drive_ends_a_watch) {
    const auto server = start_services();
    auto options = app_options();
    options.threads = couchbase::thread_mode::caller_drives;
    expect_closing_ends_a_watch(*server, connect(*server, options));
}

TEST(management, closing_a_client_on_an_executor_ends_a_watch) {
    const auto server = start_services();
    boost::asio::io_context context;
    auto work = boost::asio::make_work_guard(context);
    const std::jthread runner([&] { context.run(); });
    const auto cluster = must(couchbase::connect(
        context.get_executor(), server->addresses().connection_string, app_options()));
    expect_closing_ends_a_watch(*server, cluster);
    work.reset();
}

TEST(management, any_request_can_be_sent) {
    const auto [server, cluster] = connected(start_services());
    const auto answer =
        must(cluster.management_request({.target = "/pools/default/buckets/travel"}));
    EXPECT_EQ(answer.status, 200);
    EXPECT_NE(answer.body.find("travel"), std::string::npos);
    const auto pinged = cluster.management_request(
        {.service = couchbase::service_kind::query, .target = "/admin/ping"});
    EXPECT_TRUE(pinged) << words(pinged);
    const auto invalid = must_fail(cluster.management_request({.target = "no slash"}));
    EXPECT_EQ(invalid.code(), errc::invalid_argument) << invalid;
}

}  // namespace other_services_test
