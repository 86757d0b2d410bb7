#include "http_operations/http_pools.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing::http_pools_tests {

struct pooled {
    ~pooled() {
        for (const auto& pool : pools.all()) {
            while (!pool->connections.empty()) {
                pools.forget(*pool->connections.front());
            }
        }
    }
    engine_parts parts;
    http_pools pools{parts.context, parts.nodes};
    http_pool& query = pools.at({"node1", 8093}, wire::service::query);
};

TEST(http_pools, keep_one_pool_for_each_service_of_an_address) {
    pooled with;
    EXPECT_EQ(&with.pools.at({"node1", 8093}, wire::service::query), &with.query);
    EXPECT_NE(&with.pools.at({"node1", 8093}, wire::service::search), &with.query);
    EXPECT_EQ(with.pools.find({"node1", 8093}, wire::service::query), &with.query);
    EXPECT_EQ(with.pools.find({"node2", 8093}, wire::service::query), nullptr);
    EXPECT_EQ(with.pools.find(*with.query.endpoint), &with.query);
    EXPECT_TRUE(with.query.endpoint->is_pooled);
}

TEST(http_pools, keep_a_dropped_connection_until_the_driver_has_closed_it) {
    pooled with;
    with.pools.connect(with.query, with.parts.now);
    ASSERT_EQ(with.query.connections.size(), 1U);
    http_connection& connection = *with.query.connections.front();
    const connection_id id = connection.id;
    EXPECT_TRUE(connection.is_armed()) << "the connect timeout";
    with.pools.drop(connection);
    EXPECT_TRUE(with.query.connections.empty());
    EXPECT_EQ(with.pools.find(id), &connection);
    with.pools.forget(connection);
    EXPECT_EQ(with.pools.find(id), nullptr);
}

TEST(http_pools, forget_addresses_that_no_configuration_names) {
    pooled with;
    with.pools.connect(with.query, with.parts.now);
    with.pools.forget_unoffered();
    EXPECT_EQ(with.pools.all().size(), 1U) << "one connection remains";
    with.pools.forget(*with.query.connections.front());
    endpoint_record& endpoint = *with.query.endpoint;
    with.pools.forget_unoffered();
    EXPECT_TRUE(with.pools.all().empty());
    EXPECT_FALSE(endpoint.is_pooled);
}

TEST(http_pools, describe_their_connections_and_why_there_is_none) {
    pooled with;
    with.query.failed_last = with.parts.now;
    with.query.problem = "connection refused";
    std::vector<endpoint_diagnostics> seen;
    with.pools.describe(seen);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].problem, "connection refused");
    with.pools.connect(with.query, with.parts.now);
    seen.clear();
    with.pools.describe(seen);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].state, endpoint_state::connecting);
}

}  // namespace reprise::engine::testing::http_pools_tests
