#include <gtest/gtest.h>

#include <any>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <reprise/couchbase.hpp>
#include <reprise/couchbase/asio.hpp>

#include "play.hpp"

// Awaits every call of the client with a token. The client is closed, so each call ends at once.
// Tests that its arguments are destroyed exactly once.

namespace coroutines {

namespace couchbase = reprise::couchbase;

// A user's document type: an aggregate, like most of them.
struct airline {
    std::string name;
    std::vector<std::string> fleet;
};

}  // namespace coroutines

template <>
struct reprise::couchbase::codec<coroutines::airline> {
    static encoded_value encode(const coroutines::airline& value) {
        return encoded_value::own("{\"name\":\"" + value.name + "\"}", document_format::json);
    }
};

namespace coroutines {
namespace {

using namespace std::chrono_literals;
using asio::use_awaitable;
using couchbase::json_text;
using couchbase::plain_text;

struct client_fixture {
    couchbase::cluster cluster =
        couchbase::cluster::connect(
            "couchbase://127.0.0.1:1", {.username = "app", .password = "secret"})
            .value();
    couchbase::bucket bucket = cluster.bucket("travel");
    couchbase::collection at = bucket.default_collection();
    // Options that own memory, so that a double destruction would free it twice.
    std::shared_ptr<couchbase::retry_strategy> strategy =
        std::make_shared<couchbase::best_effort_strategy>();
    std::shared_ptr<const std::any> user_data = std::make_shared<const std::any>(long_text);

    client_fixture() { cluster.close(); }

    // Sets all fields that every options struct has.
    template <class Options>
    [[nodiscard]] Options options() const {
        Options made;
        made.timeout = 1h;
        made.strategy = strategy;
        made.user_data = user_data;
        return made;
    }
};

template <class Result>
void expect_canceled(const Result& result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), couchbase::errc::request_canceled) << result.error();
}

asio::awaitable<void> await_reads(client_fixture& with) {
    const auto& at = with.at;
    const auto named = with.options<couchbase::common_options>();
    const auto replica = with.options<couchbase::get_replica_options>();
    auto get = with.options<couchbase::get_options>();
    expect_canceled(co_await at.async_get(long_text + "k", {}, use_awaitable));
    expect_canceled(co_await at.async_get("k", get, use_awaitable));
    get.with_expiry = true;
    get.project = {long_text, short_text};
    expect_canceled(co_await at.async_get("k", get, use_awaitable));
    expect_canceled(co_await at.async_get("k", get));
    expect_canceled(co_await at.async_get_and_touch("k", 10min, {}, use_awaitable));
    expect_canceled(co_await at.async_get_and_touch("k", 10min, named, use_awaitable));
    expect_canceled(co_await at.async_get_and_lock("k", 15s, {}, use_awaitable));
    expect_canceled(co_await at.async_get_and_lock("k", 15s, named, use_awaitable));
    expect_canceled(co_await at.async_get_any_replica("k", {}, use_awaitable));
    expect_canceled(co_await at.async_get_any_replica("k", replica, use_awaitable));
    expect_canceled(co_await at.async_get_all_replicas("k", {}, use_awaitable));
    expect_canceled(co_await at.async_get_all_replicas("k", replica, use_awaitable));
    expect_canceled(co_await at.async_exists("k", {}, use_awaitable));
    expect_canceled(co_await at.async_exists("k", named, use_awaitable));
    expect_canceled(co_await at.async_unlock("k", couchbase::cas{1}, {}, use_awaitable));
    expect_canceled(co_await at.async_unlock("k", couchbase::cas{1}, named, use_awaitable));
    expect_canceled(co_await at.async_touch("k", 10min, {}, use_awaitable));
    expect_canceled(co_await at.async_touch("k", 10min, named, use_awaitable));
}

asio::awaitable<void> await_writes(client_fixture& with) {
    const auto& at = with.at;
    const auto upsert = with.options<couchbase::upsert_options>();
    const auto insert = with.options<couchbase::insert_options>();
    const auto replace = with.options<couchbase::replace_options>();
    const airline own{long_text, {long_text, short_text}};
    expect_canceled(co_await at.async_upsert("a", json_text{R"({"n":1})"}, {}, use_awaitable));
    expect_canceled(co_await at.async_upsert("a", json_text{long_text}, upsert, use_awaitable));
    expect_canceled(co_await at.async_upsert("a", plain_text{short_text}, {}, use_awaitable));
    expect_canceled(co_await at.async_upsert("a", own, upsert, use_awaitable));
    expect_canceled(co_await at.async_upsert("a", own, {}, asio::deferred));
    expect_canceled(co_await at.async_insert("a", json_text{long_text}, {}, use_awaitable));
    expect_canceled(co_await at.async_insert("a", plain_text{long_text}, insert, use_awaitable));
    expect_canceled(co_await at.async_insert("a", own, insert, use_awaitable));
    expect_canceled(co_await at.async_replace("a", json_text{long_text}, {}, use_awaitable));
    expect_canceled(co_await at.async_replace("a", plain_text{long_text}, replace, use_awaitable));
    expect_canceled(co_await at.async_replace("a", own, replace, use_awaitable));
}

asio::awaitable<void> await_changes(client_fixture& with) {
    const auto& at = with.at;
    const auto change = with.options<couchbase::change_options>();
    const auto counter = with.options<couchbase::counter_options>();
    const auto bytes = std::as_bytes(std::span{long_text});
    expect_canceled(co_await at.async_remove("k", {}, use_awaitable));
    expect_canceled(co_await at.async_remove("k", change, use_awaitable));
    expect_canceled(co_await at.async_append("k", bytes, {}, use_awaitable));
    expect_canceled(co_await at.async_append("k", bytes, change, use_awaitable));
    expect_canceled(co_await at.async_prepend("k", bytes, {}, use_awaitable));
    expect_canceled(co_await at.async_prepend("k", bytes, change, use_awaitable));
    expect_canceled(co_await at.async_increment("k", {}, use_awaitable));
    expect_canceled(co_await at.async_increment("k", counter, use_awaitable));
    expect_canceled(co_await at.async_decrement("k", {}, use_awaitable));
    expect_canceled(co_await at.async_decrement("k", counter, use_awaitable));
}

asio::awaitable<void> await_paths(client_fixture& with) {
    const auto& at = with.at;
    const auto lookup = with.options<couchbase::lookup_in_options>();
    const auto mutate = with.options<couchbase::mutate_in_options>();
    using look = couchbase::lookup_spec;
    using change = couchbase::mutate_spec;
    // Lists of paths are named, because GCC 12 does not compile them inside the expression.
    const std::vector paths{look::get(long_text), look::exists(short_text)};
    const std::vector changes{change::upsert(long_text, long_text), change::increment("n")};
    expect_canceled(co_await at.async_lookup_in("k", paths, {}, use_awaitable));
    expect_canceled(co_await at.async_lookup_in("k", paths, lookup, use_awaitable));
    const auto replica = with.options<couchbase::lookup_in_replica_options>();
    expect_canceled(co_await at.async_lookup_in_any_replica("k", paths, replica, use_awaitable));
    expect_canceled(co_await at.async_lookup_in_all_replicas("k", paths, {}, use_awaitable));
    expect_canceled(co_await at.async_mutate_in("k", changes, {}, use_awaitable));
    expect_canceled(co_await at.async_mutate_in("k", changes, mutate, use_awaitable));
}

asio::awaitable<void> await_cluster_services(client_fixture& with) {
    const auto& at = with.cluster;
    auto query = with.options<couchbase::query_options>();
    query.positional = {1, long_text};
    query.client_context_id = short_text;
    const auto analytics = with.options<couchbase::analytics_options>();
    const auto search = with.options<couchbase::search_options>();
    const auto management = with.options<couchbase::management_options>();
    const couchbase::management_request request{.target = "/pools"};
    using couchbase::search_query;
    expect_canceled(co_await at.async_query("SELECT 1", {}, use_awaitable));
    expect_canceled(co_await at.async_query("SELECT " + long_text, query, use_awaitable));
    expect_canceled(co_await at.async_analytics_query("SELECT 1", {}, use_awaitable));
    expect_canceled(co_await at.async_analytics_query("SELECT 1", analytics, use_awaitable));
    expect_canceled(
        co_await at.async_search("i", search_query::match(long_text), {}, use_awaitable));
    expect_canceled(
        co_await at.async_search("i", search_query{R"({"match":"x"})"}, search, use_awaitable));
    expect_canceled(co_await at.async_management_request(request, {}, use_awaitable));
    expect_canceled(co_await at.async_management_request(request, management, use_awaitable));
    expect_canceled(co_await at.async_wait_until_ready(10s, use_awaitable));
    expect_canceled(co_await with.bucket.async_wait_until_ready(10s, use_awaitable));
}

asio::awaitable<void> await_managers(client_fixture& with) {
    const auto buckets = with.cluster.buckets();
    const auto collections = with.bucket.collections();
    const auto options = with.options<couchbase::management_options>();
    const couchbase::bucket_settings bucket{.name = long_text};
    const couchbase::collection_settings collection{.scope = long_text, .name = short_text};
    expect_canceled(co_await buckets.async_create(bucket, {}, use_awaitable));
    expect_canceled(co_await buckets.async_update(bucket, options, use_awaitable));
    expect_canceled(co_await buckets.async_drop(long_text, {}, use_awaitable));
    expect_canceled(co_await buckets.async_flush(long_text, options, use_awaitable));
    expect_canceled(co_await buckets.async_get(long_text, {}, use_awaitable));
    expect_canceled(co_await buckets.async_list({}, use_awaitable));
    expect_canceled(co_await buckets.async_list(options, use_awaitable));
    expect_canceled(co_await collections.async_create_scope(long_text, {}, use_awaitable));
    expect_canceled(co_await collections.async_drop_scope(long_text, options, use_awaitable));
    expect_canceled(co_await collections.async_create_collection(collection, {}, use_awaitable));
    expect_canceled(
        co_await collections.async_drop_collection(long_text, "c", options, use_awaitable));
    expect_canceled(co_await collections.async_list({}, use_awaitable));
}

asio::awaitable<void> await_index_managers(client_fixture& with) {
    const auto indexes = with.at.query_indexes();
    const auto options = with.options<couchbase::query_options>();
    const couchbase::query_index index{.name = long_text, .keys = {long_text}};
    const std::vector<std::string> names{long_text, short_text};
    expect_canceled(co_await indexes.async_create(index, {}, use_awaitable));
    expect_canceled(co_await indexes.async_create(index, options, use_awaitable));
    expect_canceled(co_await indexes.async_create_primary({}, use_awaitable));
    expect_canceled(co_await indexes.async_drop(long_text, options, use_awaitable));
    expect_canceled(co_await indexes.async_drop_primary(options, use_awaitable));
    expect_canceled(co_await indexes.async_build(names, {}, use_awaitable));
    expect_canceled(co_await indexes.async_build_deferred(options, use_awaitable));
    expect_canceled(co_await indexes.async_list(options));
    expect_canceled(co_await indexes.async_list());
}

// A closed client still has figures, and its ping reports that nothing answers.
asio::awaitable<void> await_reports(client_fixture& with) {
    const auto options = with.options<couchbase::ping_options>();
    EXPECT_TRUE(co_await with.cluster.async_statistics(use_awaitable));
    EXPECT_TRUE(co_await with.cluster.async_diagnostics());
    EXPECT_TRUE(co_await with.cluster.async_ping({}, use_awaitable));
    EXPECT_TRUE(co_await with.cluster.async_ping(options, use_awaitable));
    EXPECT_TRUE(co_await with.bucket.async_ping(options));
    EXPECT_TRUE(co_await with.bucket.async_ping());
}

asio::awaitable<void> await_scope_services(client_fixture& with) {
    const auto at = with.bucket.scope("inventory");
    const auto query = with.options<couchbase::query_options>();
    const auto analytics = with.options<couchbase::analytics_options>();
    const auto search = with.options<couchbase::search_options>();
    const auto view = with.options<couchbase::view_options>();
    using couchbase::search_query;
    expect_canceled(co_await at.async_query("SELECT 1", {}, use_awaitable));
    expect_canceled(co_await at.async_query("SELECT 1", query, use_awaitable));
    expect_canceled(co_await at.async_analytics_query("SELECT 1", {}, use_awaitable));
    expect_canceled(co_await at.async_analytics_query("SELECT 1", analytics, use_awaitable));
    expect_canceled(
        co_await at.async_search("i", search_query::match(long_text), {}, use_awaitable));
    expect_canceled(
        co_await at.async_search("i", search_query::match_all(), search, use_awaitable));
    expect_canceled(co_await with.bucket.async_view_query("d", "v", {}, use_awaitable));
    expect_canceled(co_await with.bucket.async_view_query("d", "v", view, use_awaitable));
}

asio::awaitable<void> await_rows(client_fixture& with) {
    const auto query = with.options<couchbase::query_options>();
    auto rows = with.cluster.query_stream("SELECT 1", query);
    if (rows) {
        expect_canceled(co_await rows->async_next(use_awaitable));
    } else {
        expect_canceled(rows);
    }
}

// Without a token a call is awaited as it is; without options it has the defaults.
asio::awaitable<void> await_defaults_of_documents(client_fixture& with) {
    const auto& at = with.at;
    const auto get = with.options<couchbase::get_options>();
    const auto upsert = with.options<couchbase::upsert_options>();
    const auto bytes = std::as_bytes(std::span{long_text});
    const std::vector paths{couchbase::lookup_spec::get(long_text)};
    const std::vector changes{couchbase::mutate_spec::upsert(long_text, long_text)};
    const airline own{long_text, {long_text, short_text}};
    expect_canceled(co_await at.async_get(long_text + "k"));
    expect_canceled(co_await at.async_get("k", {}));
    expect_canceled(co_await at.async_get("k", get));
    expect_canceled(co_await at.async_get_and_touch("k", 10min));
    expect_canceled(co_await at.async_get_and_lock("k", 15s));
    expect_canceled(co_await at.async_get_any_replica("k"));
    expect_canceled(co_await at.async_get_all_replicas("k"));
    expect_canceled(co_await at.async_exists("k"));
    expect_canceled(co_await at.async_unlock("k", couchbase::cas{1}));
    expect_canceled(co_await at.async_touch("k", 10min));
    expect_canceled(co_await at.async_upsert("k", json_text{long_text}));
    expect_canceled(co_await at.async_upsert("k", own, upsert));
    expect_canceled(co_await at.async_insert("k", plain_text{short_text}));
    expect_canceled(co_await at.async_replace("k", own));
    expect_canceled(co_await at.async_remove("k"));
    expect_canceled(co_await at.async_append("k", bytes));
    expect_canceled(co_await at.async_prepend("k", bytes));
    expect_canceled(co_await at.async_increment("k"));
    expect_canceled(co_await at.async_decrement("k"));
    expect_canceled(co_await at.async_lookup_in("k", paths));
    expect_canceled(co_await at.async_lookup_in_any_replica("k", paths));
    expect_canceled(co_await at.async_lookup_in_all_replicas("k", paths));
    expect_canceled(co_await at.async_mutate_in("k", changes));
}

asio::awaitable<void> await_defaults_of_services(client_fixture& with) {
    const auto& at = with.cluster;
    const auto scope = with.bucket.scope("inventory");
    const auto query = with.options<couchbase::query_options>();
    const couchbase::management_request request{.target = "/pools"};
    using couchbase::search_query;
    expect_canceled(co_await at.async_query("SELECT " + long_text));
    expect_canceled(co_await at.async_query("SELECT 1", query));
    expect_canceled(co_await at.async_analytics_query("SELECT 1"));
    expect_canceled(co_await at.async_search("i", search_query::match(long_text)));
    expect_canceled(co_await at.async_management_request(request));
    expect_canceled(co_await at.async_wait_until_ready(10s));
    expect_canceled(co_await with.bucket.async_wait_until_ready(10s));
    expect_canceled(co_await scope.async_query("SELECT 1"));
    expect_canceled(co_await scope.async_analytics_query("SELECT 1"));
    expect_canceled(co_await scope.async_search("i", search_query::match_all()));
    expect_canceled(co_await with.bucket.async_view_query("d", "v"));
    if (auto rows = at.query_stream("SELECT 1", query)) {
        expect_canceled(co_await rows->async_next());
    }
}

TEST(client_coroutines, calls_without_options_or_token_are_awaited_with_the_defaults) {
    client_fixture with;
    play(await_defaults_of_documents(with));
    play(await_defaults_of_services(with));
    EXPECT_EQ(with.strategy.use_count(), 1);
    EXPECT_EQ(with.user_data.use_count(), 1);
}

TEST(client_coroutines, reads_can_be_awaited_in_one_expression) {
    client_fixture with;
    play(await_reads(with));
}

TEST(client_coroutines, writes_can_be_awaited_in_one_expression) {
    client_fixture with;
    play(await_writes(with));
}

TEST(client_coroutines, other_changes_can_be_awaited_in_one_expression) {
    client_fixture with;
    play(await_changes(with));
}

TEST(client_coroutines, paths_can_be_awaited_in_one_expression) {
    client_fixture with;
    play(await_paths(with));
}

TEST(client_coroutines, services_can_be_awaited_in_one_expression) {
    client_fixture with;
    play(await_cluster_services(with));
    play(await_managers(with));
    play(await_index_managers(with));
    play(await_reports(with));
    play(await_scope_services(with));
    play(await_rows(with));
}

TEST(client_coroutines, options_are_released_exactly_once) {
    client_fixture with;
    play(await_reads(with));
    play(await_writes(with));
    EXPECT_EQ(with.strategy.use_count(), 1);
    EXPECT_EQ(with.user_data.use_count(), 1);
}

}  // namespace
}  // namespace coroutines
