#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Several buckets of one client, opened when an operation needs them. Each fails independently.

namespace reprise::engine::testing::buckets_tests {

// A cluster with the buckets `travel` and `orders`. Either can refuse to be selected.
struct two_buckets {
    explicit two_buckets(std::size_t node_count = 2) : cluster(node_count) {
        cluster.on_request = [this](const seen_request& seen) { return play(seen); };
        driver = std::make_unique<engine_driver>(cluster);
    }
    std::optional<answer> play(const seen_request& seen) {
        if (seen.op == opcode::select_bucket) {
            selected[seen.connection] = seen.key;
            const auto found = refusals.find(seen.key);
            return answer{.status = found == refusals.end() ? status::success : found->second};
        }
        if (seen.op == opcode::get_cluster_config && selected[seen.connection] == "orders") {
            scripted_cluster other = cluster;
            other.bucket = "orders";
            return answer{
                .value = other.configuration_text(seen.node), .datatype = wire::datatype::json};
        }
        return std::nullopt;
    }
    engine_driver::outcome_ptr get(std::string_view bucket) {
        auto request = driver->request(operation_kind::get, "k");
        request.keyspace = driver->engine().keyspace(bucket);
        return driver->start(std::move(request));
    }

    scripted_cluster cluster;
    std::map<std::string, status> refusals;
    std::map<connection_id, std::string> selected;
    std::unique_ptr<engine_driver> driver;
};

TEST(buckets, a_bucket_is_opened_by_its_first_operation_and_has_its_own_connections) {
    two_buckets scene;
    const auto first = scene.get("travel");
    scene.driver->advance(10ms);
    EXPECT_EQ(first->calls, 1);
    EXPECT_EQ(scene.driver->engine().statistics().connections_open, 2U);
    const auto second = scene.get("orders");
    scene.driver->advance(10ms);
    EXPECT_EQ(second->code(), errc::document_not_found);
    EXPECT_EQ(second->result.error->bucket, "orders");
    EXPECT_EQ(scene.driver->engine().statistics().connections_open, 4U);
}

TEST(buckets, RH_27_no_access_to_one_bucket_does_not_affect_another) {
    two_buckets scene;
    scene.refusals["orders"] = status::eaccess;
    const auto denied = scene.get("orders");
    const auto fine = scene.get("travel");
    scene.driver->advance(500ms);
    ASSERT_EQ(denied->code(), errc::bucket_access_failure);
    EXPECT_EQ(denied->result.error->bucket, "orders");
    ASSERT_EQ(fine->code(), errc::document_not_found);
    EXPECT_TRUE(fine->result.error->retry_reasons.empty());
    // The same holds if the good bucket has another problem.
    for (scripted_node& node : scene.cluster.nodes) {
        node.refuses_connections = true;
    }
    scene.driver->close_node(0);
    scene.driver->close_node(1);
    const auto lost = scene.get("travel");
    scene.driver->advance(3s);
    ASSERT_EQ(lost->code(), errc::unambiguous_timeout);
    EXPECT_FALSE(lost->result.error->retry_reasons.contains(retry_reason::bucket_access_error));
}

TEST(buckets, RH_27_a_bucket_missing_on_every_node_does_not_affect_another) {
    two_buckets scene;
    scene.refusals["orders"] = status::key_enoent;
    const auto fine = scene.get("travel");
    scene.driver->advance(10ms);
    ASSERT_EQ(fine->calls, 1);
    const auto missing = scene.get("orders");
    scene.driver->advance(2100ms);
    EXPECT_EQ(missing->code(), errc::bucket_access_failure);
    // Once the bucket is created, the client finds it on its own.
    scene.refusals.clear();
    scene.driver->advance(10s);
    const auto found = scene.get("orders");
    scene.driver->settle();
    EXPECT_EQ(found->code(), errc::document_not_found);
}

TEST(buckets, RH_25_a_node_that_refuses_the_credentials_affects_only_its_own_buckets) {
    // `travel` is on the first two nodes, `orders` on the others, which refuse the credentials.
    two_buckets scene(4);
    scene.cluster.nodes[0].configuration_text = scripted_cluster(2).configuration_text(0);
    scene.cluster.nodes[2].sasl_status = status::auth_error;
    scene.cluster.nodes[3].sasl_status = status::auth_error;
    scripted_cluster elsewhere(2);
    elsewhere.bucket = "orders";
    elsewhere.nodes[0].host = scene.cluster.nodes[2].host;
    elsewhere.nodes[1].host = scene.cluster.nodes[3].host;
    const std::string orders_text = elsewhere.configuration_text(0);
    scene.cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        auto reply = scene.play(seen);
        if (reply && seen.op == opcode::get_cluster_config) {
            reply->value = orders_text;
        }
        return reply;
    };
    const auto refused = scene.get("orders");
    scene.driver->advance(500ms);
    EXPECT_EQ(refused->code(), errc::authentication_failure);
    // A bucket whose own node is still connecting is not affected.
    scene.cluster.nodes[0].ignores_connections = true;
    const auto waiting = scene.get("travel");
    scene.driver->advance(1s);
    EXPECT_EQ(waiting->calls, 0);
    scene.cluster.nodes[0].ignores_connections = false;
    scene.driver->advance(1400ms);
    ASSERT_EQ(waiting->calls, 1);
    EXPECT_NE(waiting->result.error->last_reason, retry_reason::authentication_error);
}

}  // namespace reprise::engine::testing::buckets_tests
