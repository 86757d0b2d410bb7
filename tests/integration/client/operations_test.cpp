#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "live_cluster.hpp"

// Every operation, blocking, over plain sockets and over TLS.

namespace {

using namespace live;

enum class wire_kind { plain, tls };

class operations : public ::testing::TestWithParam<wire_kind> {
protected:
    static void SetUpTestSuite() {
        auto options = small_options();
        options.tls.is_enabled = true;
        server_ = start(std::move(options));
    }
    static void TearDownTestSuite() { server_.reset(); }

    operations() : cluster_(connect_as(GetParam())), documents_(live::documents(cluster_)) {}

    static couchbase::cluster connect_as(wire_kind kind) {
        const auto& at = server_->addresses();
        auto options = app_options();
        const bool is_tls = kind == wire_kind::tls;
        if (is_tls) {
            options.tls.ca_file = at.ca_path;
        }
        auto made = couchbase::cluster::connect(
            is_tls ? at.connection_string_tls : at.connection_string, options);
        if (!made) {
            throw std::runtime_error(made.error().message());
        }
        return std::move(*made);
    }
    std::string key() const {
        return std::string(::testing::UnitTest::GetInstance()->current_test_info()->name());
    }

    static std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
    couchbase::collection documents_;
};

std::unique_ptr<sandbox::embedded_cluster> operations::server_;

TEST_P(operations, a_string_that_was_stored_is_read) {
    const auto stored = must(documents_.upsert(key(), "first"));
    EXPECT_TRUE(stored.cas);
    ASSERT_TRUE(stored.token);
    EXPECT_EQ(stored.token->bucket, bucket_name);
    EXPECT_GT(stored.token->seqno, 0U);

    const auto read = must(documents_.get(key()));
    EXPECT_EQ(read.text(), "first");
    EXPECT_EQ(read.format(), couchbase::document_format::string);
    EXPECT_EQ(read.cas, stored.cas);
    EXPECT_EQ(read.content_as<std::string>().value(), "first");
    const auto wrong = must_fail(read.content_as<couchbase::json_text>());
    EXPECT_EQ(wrong.code(), couchbase::errc::decoding_failure);
}

TEST_P(operations, json_and_binary_keep_their_format_and_bytes) {
    const couchbase::json_text json{R"({"name":"Reprise Air","seats":[1,2,3]})"};
    ASSERT_TRUE(documents_.upsert(key() + "j", json));
    const auto read = must(documents_.get(key() + "j"));
    EXPECT_EQ(read.content_as<couchbase::json_text>().value(), json);

    std::vector<std::byte> bytes(200'000);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        bytes[at] = static_cast<std::byte>(at * 7 % 251);
    }
    ASSERT_TRUE(documents_.upsert(key() + "b", bytes));
    const auto binary = must(documents_.get(key() + "b"));
    EXPECT_EQ(binary.content_as<std::vector<std::byte>>().value(), bytes);
}

// Its bytes are random, so that they are not compressed on the way.
TEST_P(operations, a_large_value_keeps_its_bytes_when_it_is_sent_twice) {
    auto rule = fault(
        reprise::wire::opcode::set, sandbox::fault_status{reprise::wire::status::etmpfail, {}});
    rule.when.limit = 1;
    add_fault(*server_, rule);
    std::vector<std::byte> bytes(std::size_t{1024} * 1024);
    std::mt19937 random(7);
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
    const auto stored = must(documents_.upsert(key(), bytes));
    EXPECT_EQ(stored.trace.retry_attempts, 1U);
    const auto read = must(documents_.get(key()));
    EXPECT_TRUE(read.content_as<std::vector<std::byte>>().value() == bytes);
}

TEST_P(operations, a_missing_document_is_not_found_and_does_not_exist) {
    const auto read = must_fail(documents_.get(key()));
    EXPECT_EQ(read.code(), couchbase::errc::document_not_found);
    EXPECT_FALSE(read.is_ambiguous());
    EXPECT_EQ(read.info().key, key());
    const auto found = must(documents_.exists(key()));
    EXPECT_FALSE(found.exists);
}

TEST_P(operations, insert_refuses_an_existing_document_and_replace_a_missing_one) {
    EXPECT_EQ(documents_.replace(key(), "x").error().code(), couchbase::errc::document_not_found);
    ASSERT_TRUE(documents_.insert(key(), "1"));
    EXPECT_EQ(documents_.insert(key(), "2").error().code(), couchbase::errc::document_exists);
    must(documents_.replace(key(), "3"));
    EXPECT_EQ(documents_.get(key())->text(), "3");
    EXPECT_TRUE(documents_.exists(key())->exists);
}

TEST_P(operations, a_stale_cas_is_a_mismatch_for_replace_and_remove) {
    const auto first = must(documents_.upsert(key(), "1"));
    ASSERT_TRUE(documents_.upsert(key(), "2"));
    EXPECT_EQ(
        documents_.replace(key(), "3", {.cas = first.cas}).error().code(),
        couchbase::errc::cas_mismatch);
    EXPECT_EQ(
        documents_.remove(key(), {.cas = first.cas}).error().code(), couchbase::errc::cas_mismatch);
    must(documents_.remove(key()));
    EXPECT_EQ(documents_.get(key()).error().code(), couchbase::errc::document_not_found);
}

TEST_P(operations, counters_count_and_a_missing_one_is_created_only_on_request) {
    EXPECT_EQ(documents_.increment(key()).error().code(), couchbase::errc::document_not_found);
    EXPECT_EQ(documents_.increment(key(), {.initial = 10})->value, 10U);
    EXPECT_EQ(documents_.increment(key(), {.delta = 5})->value, 15U);
    EXPECT_EQ(documents_.decrement(key(), {.delta = 100})->value, 0U);
    ASSERT_TRUE(documents_.upsert(key(), "no number"));
    EXPECT_EQ(documents_.increment(key()).error().code(), couchbase::errc::delta_invalid);
}

TEST_P(operations, append_and_prepend_add_bytes) {
    const std::string more = "+";
    const auto bytes = std::as_bytes(std::span{more});
    EXPECT_EQ(documents_.append(key(), bytes).error().code(), couchbase::errc::document_not_found);
    ASSERT_TRUE(documents_.upsert(key(), "x"));
    ASSERT_TRUE(documents_.append(key(), bytes));
    ASSERT_TRUE(documents_.prepend(key(), bytes));
    EXPECT_EQ(documents_.get(key())->text(), "+x+");
}

TEST_P(operations, a_lock_keeps_writers_out_until_it_is_released) {
    ASSERT_TRUE(documents_.upsert(key(), "1"));
    const auto locked = must(documents_.get_and_lock(key(), 30s));
    const auto refused = must_fail(documents_.upsert(key(), "2", {.timeout = 200ms}));
    EXPECT_EQ(refused.code(), couchbase::errc::unambiguous_timeout);
    EXPECT_TRUE(refused.retry_reasons().contains(couchbase::retry_reason::kv_locked));
    EXPECT_GT(refused.retry_attempts(), 2U);
    ASSERT_NE(refused.history(), nullptr);
    EXPECT_GT(refused.history()->entries.total(), 2U);

    EXPECT_EQ(
        documents_.unlock(key(), couchbase::cas{locked.cas.value + 1}).error().code(),
        couchbase::errc::cas_mismatch);
    must(documents_.unlock(key(), locked.cas));
    EXPECT_TRUE(documents_.upsert(key(), "2"));
}

TEST_P(operations, expiry_is_set_kept_and_touched) {
    const auto expiry_of = [&] {
        std::uint32_t found = 0;
        server_->with_cluster([&](sandbox::cluster& cluster) {
            const auto document = cluster.buckets().find_document(
                bucket_name, reprise::wire::default_collection, key(), sandbox::time_point{});
            found = document ? document->expiry : 0;
        });
        return found;
    };
    ASSERT_TRUE(documents_.upsert(key(), "1", {.expiry = 10min}));
    const auto first = expiry_of();
    EXPECT_GT(first, 0U);
    ASSERT_TRUE(documents_.upsert(key(), "2", {.preserve_expiry = true}));
    EXPECT_EQ(expiry_of(), first);
    ASSERT_TRUE(documents_.touch(key(), 24h * 60));  // beyond the 30 days of relative times
    EXPECT_GT(expiry_of(), first + 24 * 60 * 60);
    const auto at = std::chrono::system_clock::from_time_t(4'000'000'000);
    const auto touched = must(documents_.get_and_touch(key(), at));
    EXPECT_EQ(touched.text(), "2");
    EXPECT_EQ(expiry_of(), 4'000'000'000U);
    ASSERT_TRUE(documents_.upsert(key(), "3"));
    EXPECT_EQ(expiry_of(), 0U);
    EXPECT_EQ(documents_.touch(key(), -5s).error().code(), couchbase::errc::invalid_argument);
}

TEST_P(operations, named_collections_are_separate_and_missing_ones_are_named) {
    const auto airline = cluster_.bucket(bucket_name).scope("inventory").collection("airline");
    ASSERT_TRUE(airline.upsert(key(), "named"));
    EXPECT_EQ(airline.get(key())->text(), "named");
    EXPECT_EQ(documents_.get(key()).error().code(), couchbase::errc::document_not_found);

    const auto bucket = cluster_.bucket(bucket_name);
    EXPECT_EQ(
        bucket.scope("inventory").collection("hotel").get("k").error().code(),
        couchbase::errc::collection_not_found);
    EXPECT_EQ(
        bucket.scope("elsewhere").collection("x").get("k").error().code(),
        couchbase::errc::scope_not_found);
}

TEST_P(operations, durable_writes_are_acknowledged) {
    must(documents_.upsert(key(), "safe", {.durability = couchbase::durability_level::majority}));
    EXPECT_EQ(documents_.get(key())->text(), "safe");
}

TEST_P(operations, readiness_is_reported_and_a_missing_bucket_is_named) {
    const auto ready = cluster_.wait_until_ready(10s);
    EXPECT_TRUE(ready) << words(ready);
    const auto travel = cluster_.bucket(bucket_name).wait_until_ready(10s);
    EXPECT_TRUE(travel) << words(travel);
    const auto missing = cluster_.bucket("nowhere").wait_until_ready(10s);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), couchbase::errc::bucket_access_failure) << words(missing);
    EXPECT_GE(cluster_.statistics()->connections_open, 1U);
}

// Such a bucket refuses connections that negotiated collections. The client used to reconnect with
// them for ever.
TEST(bucket_without_collections, can_be_used_and_has_no_named_collections) {
    auto options = small_options();
    options.cluster.buckets.push_back({.name = "old", .has_collections = false});
    const auto [server, cluster] = connected(start(std::move(options)));
    const auto bucket = cluster.bucket("old");
    must(bucket.wait_until_ready(10s));
    const auto documents = bucket.default_collection();
    for (const char* name : {"a", "b", "c", "d"}) {
        must(documents.upsert(name, "old"));
        EXPECT_EQ(documents.get(name)->text(), "old");
    }
    const auto named = bucket.scope("inventory").collection("airline").get("a");
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().code(), couchbase::errc::feature_not_available) << words(named);
}

INSTANTIATE_TEST_SUITE_P(
    over, operations, ::testing::Values(wire_kind::plain, wire_kind::tls),
    [](const auto& each) { return each.param == wire_kind::tls ? "tls" : "plain"; });

}  // namespace
