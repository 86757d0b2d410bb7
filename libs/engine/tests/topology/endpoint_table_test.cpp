#include "topology/endpoint_table.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing::endpoint_table_tests {

std::shared_ptr<const wire::error_map> error_map_of_revision(int revision) {
    auto parsed = wire::parse_error_map(
        R"({"version":2,"revision":)" + std::to_string(revision) + R"(,"errors":{}})");
    return std::make_shared<const wire::error_map>(std::move(parsed).value());
}

TEST(endpoint_table, keeps_one_record_for_each_address) {
    engine_parts parts;
    endpoint_record& first = parts.endpoints.at("a", 1);
    endpoint_record& second = parts.endpoints.at("a", 2);
    EXPECT_NE(&first, &second);
    EXPECT_EQ(&parts.endpoints.at("a", 1), &first);
    EXPECT_EQ(&parts.endpoints[second.number], &second);
    EXPECT_EQ(second.name, "a:2");
    EXPECT_EQ(parts.endpoints.find("b", 1), nullptr);
}

TEST(endpoint_table, gives_an_unused_record_a_new_address_once_it_is_full) {
    engine_parts parts;
    for (std::size_t index = 0; index < endpoint_table::count_max; ++index) {
        ++parts.endpoints.at("host" + std::to_string(index), 1).link_count;
    }
    endpoint_record& unused = parts.endpoints.at("host5", 1);
    unused.link_count = 0;
    unused.logins->on_unproved(parts.now);
    unused.srv_name = "cluster.test";
    unused.terminal->is_auth_refused = true;
    endpoint_record& reused = parts.endpoints.at("new", 1);
    EXPECT_FALSE(reused.logins->has_to_wait()) << "another server gave no proof";
    EXPECT_TRUE(reused.srv_name.empty());
    EXPECT_FALSE(reused.terminal->is_auth_refused);
    EXPECT_EQ(reused.number, 5U);
    EXPECT_EQ(parts.endpoints.find("host5", 1), nullptr);
    EXPECT_EQ(parts.endpoints.size(), endpoint_table::count_max);
}

TEST(endpoint_table, gives_each_endpoint_a_breaker_if_the_options_enable_it) {
    engine_options options;
    options.circuit_breaker.emplace();
    engine_parts with(options);
    engine_parts without;
    EXPECT_TRUE(with.endpoints.at("a", 1).breaker);
    EXPECT_FALSE(without.endpoints.at("a", 1).breaker);
}

TEST(endpoint_record, keeps_the_newest_error_map_while_a_connection_is_alive) {
    endpoint_record endpoint;
    endpoint.share_error_map();
    endpoint.share_error_map();
    const auto newer = error_map_of_revision(2);
    endpoint.offer_error_map(newer);
    endpoint.offer_error_map(error_map_of_revision(1));
    EXPECT_EQ(endpoint.error_map, newer);
    endpoint.release_error_map();
    EXPECT_EQ(endpoint.error_map, newer);
    endpoint.release_error_map();
    EXPECT_EQ(endpoint.error_map, nullptr);
    EXPECT_FALSE(endpoint.is_in_use());
}

}  // namespace reprise::engine::testing::endpoint_table_tests
