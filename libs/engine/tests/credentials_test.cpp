#include <gtest/gtest.h>

#include <utility>

#include "engine_driver.hpp"

// Credentials that change while the client runs.

namespace reprise::engine::testing::credentials_tests {

credentials with_password(std::string_view password) {
    credentials identity;
    identity.username = "app";
    identity.password = password;
    return identity;
}

TEST(
    credentials, RH_25_RH_39_new_credentials_are_tried_at_once_and_their_success_clears_the_state) {
    auto [cluster, driver] = connected_cluster(2);
    driver.advance(10ms);
    cluster.password = "changed";
    driver.close_node(0);
    driver.close_node(1);
    driver.advance(20s);  // the delays have grown to seconds
    const auto refused = driver.settled(driver.get("k"));
    EXPECT_EQ(refused->code(), errc::authentication_failure);
    const time_point replaced = driver.now;
    driver.engine().replace_credentials(with_password("changed"));
    driver.settle();
    EXPECT_EQ(driver.engine().statistics().connections_open, 2U);
    const auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(driver.now, replaced);
}

TEST(credentials, RH_25_a_refusal_of_replaced_credentials_does_not_count) {
    auto [cluster, driver] = unconnected_node();
    static_cast<void>(driver.engine());  // starts with the old password
    cluster.password = "changed";
    int steps = 0;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        if (seen.op == opcode::sasl_step && ++steps == 1) {
            driver.engine().replace_credentials(with_password("changed"));
        }
        return std::nullopt;
    };
    const time_point started = driver.now;
    const auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(read->at, started);
    EXPECT_EQ(steps, 2);
    EXPECT_EQ(driver.connects.size(), 2U);
}

TEST(credentials, RH_39_wrong_new_credentials_leave_open_connections_alone_and_back_off) {
    auto [cluster, driver] = connected_cluster(2);
    driver.advance(10ms);
    driver.engine().replace_credentials(with_password("wrong"));
    driver.settle();
    EXPECT_EQ(driver.engine().statistics().connections_open, 2U);
    driver.close_node(1);
    driver.advance(20s);
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
    EXPECT_LE(driver.connects.size(), 20U);
    // The other node still serves its keys.
    std::size_t answered = 0;
    for (int index = 0; index < 20; ++index) {
        const auto read = driver.settled(driver.get("k" + std::to_string(index)));
        ASSERT_EQ(read->calls, 1);
        answered += read->result.ec == errc::document_not_found ? 1U : 0U;
        EXPECT_TRUE(
            read->result.ec == errc::document_not_found ||
            read->result.ec == errc::authentication_failure);
    }
    EXPECT_GT(answered, 0U);
    EXPECT_LT(answered, 20U);
}

TEST(credentials, RH_39_logins_that_the_client_ends_do_not_delay_new_credentials) {
    scripted_cluster cluster(1);
    engine_options options;
    options.kv_connections_per_node = 3;
    connected_driver driver(cluster, std::move(options));
    driver.advance(10ms);
    cluster.password = "changed";
    std::size_t proof_count = 0;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        const bool is_waiting = seen.op == opcode::sasl_step && ++proof_count < 3;
        return is_waiting ? std::optional(answer{.is_silent = true}) : std::nullopt;
    };
    driver.close_node(0);
    driver.advance(1s);
    ASSERT_EQ(proof_count, 3U) << "the last one is refused, which ends the other two";
    EXPECT_EQ(driver.engine().statistics().connections_open, 0U);
    cluster.on_request = nullptr;
    driver.engine().replace_credentials(with_password("changed"));
    driver.settle();
    EXPECT_EQ(driver.engine().statistics().connections_open, 3U);
}

TEST(credentials, RH_39_logins_to_a_node_that_leaves_do_not_delay_its_return) {
    scripted_cluster cluster(2);
    engine_options options;
    options.kv_connections_per_node = 2;
    engine_driver driver(cluster, std::move(options));
    std::size_t proof_count = 0;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        const bool is_waiting = seen.op == opcode::sasl_step && seen.node == 1;
        proof_count += is_waiting ? 1U : 0U;
        return is_waiting ? std::optional(answer{.is_silent = true}) : std::nullopt;
    };
    driver.connect();
    driver.advance(1s);
    ASSERT_EQ(proof_count, 2U);
    cluster.data_node_count = 1;
    const auto both = std::exchange(cluster.map, {{0}, {0}, {0}, {0}});
    ++cluster.revision.rev;
    driver.push_configuration_of(0);
    cluster.on_request = nullptr;
    cluster.data_node_count = 0;
    cluster.map = both;
    ++cluster.revision.rev;
    driver.push_configuration(driver.connections_to(0).at(0), 0, false);
    driver.advance(200ms);
    EXPECT_EQ(driver.engine().statistics().connections_open, 4U);
}

TEST(credentials, RH_40_a_stale_credential_counts_only_if_authenticating_again_is_refused) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(opcode::get, {.status = status::auth_stale});
    const auto stale = driver.settled(driver.get("k"));
    ASSERT_EQ(stale->calls, 1);
    EXPECT_EQ(stale->result.error->last_reason, retry_reason::unknown) << "not the terminal state";
    cluster.on_request = nullptr;
    const auto waiting = driver.settled(driver.get("k"));
    EXPECT_EQ(waiting->calls, 0);
    cluster.nodes[0].sasl_status = status::auth_error;
    driver.advance(500ms);
    ASSERT_EQ(waiting->code(), errc::authentication_failure);
    EXPECT_EQ(waiting->result.error->last_reason, retry_reason::authentication_error);
}

TEST(credentials, RH_40_a_stale_answer_at_sasl_authenticates_again_and_does_not_count) {
    scripted_cluster cluster(1);
    cluster.nodes[0].sasl_status = status::auth_stale;
    engine_driver driver(cluster);
    const auto read = driver.after(200ms, driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    cluster.nodes[0].sasl_status.reset();
    driver.advance(1s);
    ASSERT_EQ(read->code(), errc::document_not_found);
    EXPECT_FALSE(read->result.error->retry_reasons.contains(retry_reason::authentication_error));
}

}  // namespace reprise::engine::testing::credentials_tests
