#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <future>
#include <string>

#include <reprise/couchbase/asio.hpp>

#include "live_cluster.hpp"
#include "write_ledger.hpp"

// Durable writes that conflict, collections that change while the client runs, and outdated
// configurations. The server really behaves this way; no status is injected.

namespace contention_test {

using namespace live;
namespace asio = boost::asio;
using couchbase::durability_level;
using couchbase::errc;
using couchbase::retry_reason;
using reprise::wire::opcode;

class contention : public ::testing::Test {
protected:
    contention()
        : server_(start()),
          books_(*server_),
          cluster_(connect(*server_)),
          at_(documents(cluster_)) {
        EXPECT_TRUE(at_.upsert("k", "committed"));
    }
    void with(const std::function<void(sandbox::cluster&)>& work) { server_->with_cluster(work); }
    void await_pending(std::size_t wanted) {
        std::size_t pending = wanted + 1;
        (void)await([&] {
            with([&](sandbox::cluster& cluster) {
                pending = cluster.durability().pending_write_count();
            });
            return pending == wanted;
        });
        EXPECT_EQ(pending, wanted);
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    write_ledger books_;
    couchbase::cluster cluster_;
    couchbase::collection at_;
};

TEST_F(contention, RH_19_a_write_waits_for_a_pending_one_and_reads_see_the_old_value) {
    with([](sandbox::cluster& cluster) { cluster.durability().hold_replication(true); });
    const auto first = books_.begin("durable");
    auto durable = at_.async_upsert(
        "k", plain_text{first}, {.timeout = 30s, .durability = durability_level::majority},
        asio::use_future);
    await_pending(1);
    EXPECT_EQ(at_.get("k")->text(), "committed");

    const auto second = books_.begin("too early");
    const auto early = at_.upsert("k", plain_text{second}, {.timeout = 100ms});
    books_.settle(second, early);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().code(), errc::unambiguous_timeout) << early.error();
    EXPECT_TRUE(early.error().retry_reasons().contains(retry_reason::kv_sync_write_in_progress));

    const auto third = books_.begin("patient");
    auto patient = at_.async_upsert("k", plain_text{third}, {.timeout = 30s}, asio::use_future);
    with([](sandbox::cluster& cluster) { cluster.durability().hold_replication(false); });
    const auto done = durable.get();
    books_.settle(first, done);
    EXPECT_TRUE(done) << words(done);
    const auto waited = patient.get();
    books_.settle(third, waited);
    ASSERT_TRUE(waited) << words(waited);
    EXPECT_EQ(at_.get("k")->text(), third);
    EXPECT_TRUE(books_.totals().is_clean()) << to_string(books_.totals());
}

TEST_F(contention, a_durable_write_without_its_majority_in_time_is_ambiguous_and_may_happen_later) {
    with([](sandbox::cluster& cluster) { cluster.durability().hold_replication(true); });
    const auto value = books_.begin("durable");
    // The server gets nine tenths of the timeout, so its answer arrives before the client's own
    // timeout.
    const auto stored = at_.upsert(
        "k", plain_text{value}, {.timeout = 2s, .durability = durability_level::majority});
    books_.settle(value, stored);
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code(), errc::durability_ambiguous) << stored.error();
    EXPECT_TRUE(stored.error().is_ambiguous());
    EXPECT_EQ(stored.error().retry_attempts(), 0U);
    EXPECT_EQ(at_.get("k")->text(), "committed");
    with([](sandbox::cluster& cluster) { cluster.durability().hold_replication(false); });
    await_pending(0);
    EXPECT_EQ(at_.get("k")->text(), value) << "ambiguous, and this time it was applied";
    EXPECT_EQ(books_.totals().unknown_applied, 1U);
    EXPECT_TRUE(books_.totals().is_clean()) << to_string(books_.totals());
}

TEST_F(contention, RH_19_a_write_waits_for_one_that_is_committed_again) {
    with([](sandbox::cluster& cluster) {
        cluster.durability().set_replication_delay(
            60s);  // prepared everywhere, acknowledged nowhere
        cluster.durability().hold_recommit(true);
    });
    const auto value = books_.begin("durable");
    auto durable = at_.async_upsert(
        "k", plain_text{value}, {.timeout = 30s, .durability = durability_level::majority},
        asio::use_future);
    await_pending(1);
    with([](sandbox::cluster& cluster) {
        for (std::uint16_t row = 0; row < 16; ++row) {
            const reprise::wire::vbucket_id vbucket{row};
            const auto owner = cluster.topology().active_node(bucket_name, vbucket);
            const auto nodes = cluster.topology().nodes();
            ASSERT_TRUE(cluster.topology().move_vbucket(
                bucket_name, vbucket, owner == nodes[0] ? nodes[1] : nodes[0]));
        }
    });
    const auto refused = must_fail(at_.upsert("k", "plain", {.timeout = 300ms}));
    EXPECT_EQ(refused.code(), errc::unambiguous_timeout) << refused;
    EXPECT_TRUE(refused.retry_reasons().contains(retry_reason::kv_sync_write_re_commit_in_progress))
        << refused;
    with([](sandbox::cluster& cluster) { cluster.durability().hold_recommit(false); });
    const auto later = at_.upsert("k", "plain");
    EXPECT_TRUE(later) << words(later);
    cluster_.close();
    const auto ended = durable.get();
    books_.settle(value, ended);
    EXPECT_TRUE(books_.totals().is_clean()) << to_string(books_.totals());
}

TEST_F(contention, RH_41_a_recreated_collection_is_resolved_again) {
    const auto airline = cluster_.bucket(bucket_name).scope("inventory").collection("airline");
    ASSERT_TRUE(airline.upsert("k", "of the first"));
    with([](sandbox::cluster& cluster) {
        ASSERT_TRUE(cluster.buckets().recreate_collection(bucket_name, "inventory", "airline"));
    });
    const auto read = must_fail(airline.get("k"));
    EXPECT_EQ(read.code(), errc::document_not_found) << read;
    EXPECT_TRUE(read.retry_reasons().contains(retry_reason::kv_collection_outdated));
    const auto value = books_.begin();
    const auto stored = airline.upsert("k", plain_text{value});
    books_.settle(value, stored);
    EXPECT_TRUE(stored) << words(stored);
    EXPECT_TRUE(books_.totals().is_clean());
}

TEST_F(contention, RH_41_a_dropped_default_collection_is_reported_by_name) {
    ASSERT_TRUE(at_.upsert("k", "v"));
    with([](sandbox::cluster& cluster) {
        ASSERT_TRUE(cluster.buckets().drop_collection(bucket_name, "_default", "_default"));
    });
    const auto stored = must_fail(at_.upsert("k", "w"));
    EXPECT_EQ(stored.code(), errc::collection_not_found) << stored;
    EXPECT_TRUE(stored.retry_reasons().contains(retry_reason::kv_collection_outdated));
}

TEST_F(contention, RH_28_an_outdated_node_is_asked_again_for_a_new_collection) {
    const auto nodes = [&] {
        std::vector<sandbox::node_id> all;
        with([&](sandbox::cluster& cluster) { all = cluster.topology().nodes(); });
        return all;
    }();
    with([&](sandbox::cluster& cluster) {
        ASSERT_TRUE(cluster.buckets().create_collection(bucket_name, "inventory", "hotel"));
        ASSERT_TRUE(cluster.buckets().hide_collection(
            nodes.front(), bucket_name, "inventory", "hotel", true));
    });
    const auto hotel = cluster_.bucket(bucket_name).scope("inventory").collection("hotel");
    const auto patient = std::make_shared<couchbase::best_effort_strategy>();
    std::vector<std::future<std::expected<couchbase::mutation_result, couchbase::error>>> all;
    for (int number = 0; number < 8; ++number) {  // some keys are on the outdated node
        all.push_back(hotel.async_upsert(
            "h" + std::to_string(number), "v", {.timeout = 20s, .strategy = patient},
            asio::use_future));
    }
    EXPECT_TRUE(at_.upsert("k", "v")) << "other collections are not affected";
    with([&](sandbox::cluster& cluster) {
        ASSERT_TRUE(cluster.buckets().hide_collection(
            nodes.front(), bucket_name, "inventory", "hotel", false));
    });
    for (auto& each : all) {
        const auto stored = each.get();
        EXPECT_TRUE(stored) << words(stored);
    }
}

TEST_F(contention, an_old_configuration_that_is_pushed_again_changes_nothing) {
    with([](sandbox::cluster& cluster) {
        const auto nodes = cluster.topology().nodes();
        for (std::uint16_t row = 0; row < 16; ++row) {
            const reprise::wire::vbucket_id vbucket{row};
            const auto owner = cluster.topology().active_node(bucket_name, vbucket);
            ASSERT_TRUE(cluster.topology().move_vbucket(
                bucket_name, vbucket, owner == nodes[0] ? nodes[1] : nodes[0]));
        }
    });
    ASSERT_TRUE(at_.get("k"));
    ASSERT_TRUE(at_.get("k")) << "the new map is in use";
    with([](sandbox::cluster& cluster) {
        for (const auto node : cluster.topology().nodes()) {
            ASSERT_TRUE(cluster.disturbances().replay_configuration(node));
        }
    });
    for (int number = 0; number < 20; ++number) {
        const auto read = must(at_.get("k"));
        EXPECT_EQ(read.trace.retry_attempts, 0U) << "the old map was used";
    }
}

TEST(stale_tokens, RH_40_a_stale_bearer_token_is_retried_and_a_refused_one_is_reported) {
    auto options = small_options();
    options.cluster.users.front().bearer_token = "token";
    options.tls.is_enabled = true;
    const auto server = start(std::move(options));
    server->with_cluster([](sandbox::cluster& cluster) {
        sandbox::node_disturbance how;
        how.stale_login_count = 1;
        for (const auto node : cluster.topology().nodes()) {
            ASSERT_TRUE(cluster.disturbances().set(node, how));
        }
    });
    couchbase::cluster_options with;
    with.kv_timeout = 20s;
    with.bearer_token = "token";
    with.tls.ca_file = server->addresses().ca_path;
    const auto& where = server->addresses().connection_string_tls;
    const auto cluster = couchbase::cluster::connect(where, with).value();
    // Stale does not mean refused: the client logs in again on its own.
    const auto stored = documents(cluster).upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
    with.bearer_token = "other";
    const auto refused =
        must_fail(documents(couchbase::cluster::connect(where, with).value()).get("k"));
    EXPECT_EQ(refused.code(), errc::authentication_failure) << refused;
    EXPECT_EQ(refused.message().find("other"), std::string::npos) << "never shown";
}

}  // namespace contention_test
