#include "client_state.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing {

TEST(client_state, two_loops_share_the_places_of_operations_that_wait) {
    engine_options options;
    options.parked_count_max = 2;
    client_state client(std::move(options), {});
    engine_context one(client, seeded_randomness(1), time_point{1h});
    engine_context other(client, seeded_randomness(2), time_point{1h});
    one.client.waiting.take();
    EXPECT_TRUE(other.client.waiting.has_place());
    other.client.waiting.take();
    EXPECT_FALSE(one.client.waiting.has_place());
    one.client.waiting.release();
    EXPECT_TRUE(other.client.waiting.has_place());
    EXPECT_EQ(one.client_number, other.client_number) << "servers see one client";
}

TEST(client_state, two_loops_share_the_terminal_state_of_a_node) {
    client_state client({}, {});
    engine_context one(client, seeded_randomness(1), time_point{1h});
    engine_context other(client, seeded_randomness(2), time_point{1h});
    endpoint_table of_one(one);
    endpoint_table of_other(other);
    of_one.at("node1", 11210).terminal->is_auth_refused = true;
    EXPECT_TRUE(of_other.at("node1", 11210).terminal->is_auth_refused);
    EXPECT_FALSE(of_other.at("node2", 11210).terminal->is_auth_refused);
}

TEST(client_state, a_terminal_state_that_no_loop_uses_is_dropped) {
    terminal_states all;
    all.of_bucket("travel")->is_access_denied = true;
    EXPECT_FALSE(all.of_bucket("travel")->is_access_denied);
    const auto kept = all.of_bucket("travel");
    kept->is_access_denied = true;
    EXPECT_TRUE(all.of_bucket("travel")->is_access_denied);
}

TEST(client_state, RH_33_a_service_pays_from_its_own_budget_or_else_from_the_clients) {
    engine_options options;
    client_state without(options, {});
    EXPECT_EQ(without.budgets.of(wire::service::query), nullptr);
    options.retry_budget = driver::token_bucket_budget(std::make_shared<token_bucket>());
    options.service_retry_budgets.query =
        driver::token_bucket_budget(std::make_shared<token_bucket>());
    client_state client(options, {});
    EXPECT_NE(client.budgets.of(wire::service::query), nullptr);
    EXPECT_NE(client.budgets.of(wire::service::query), client.budgets.of(wire::service::key_value));
    EXPECT_EQ(
        client.budgets.of(wire::service::search), client.budgets.of(wire::service::key_value));
}

}  // namespace reprise::engine::testing
