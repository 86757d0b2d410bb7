#include <array>
#include <bit>

#include <gtest/gtest.h>

#include "connections/key_derivations.hpp"
#include "engine_driver.hpp"

// The driver stretches passwords outside the event loop. The engine never waits for it.

namespace reprise::engine::testing::key_stretching_tests {

wire::key_derivation key_of(std::string_view salt) {
    return {wire::sasl_mechanism::scram_sha1, "secret", std::string(salt), 4096};
}

std::vector<connection_id> ids(std::initializer_list<std::uint64_t> values) {
    std::vector<connection_id> made;
    for (const std::uint64_t each : values) {
        made.push_back(connection_id{each});
    }
    return made;
}

TEST(key_stretching, a_login_waits_for_its_key_and_operations_keep_their_deadlines) {
    auto [cluster, driver] = unconnected_node();
    driver.holds_keys = true;
    auto request = driver.request(operation_kind::get, "k");
    request.timeout = 250ms;
    const time_point started = driver.now;
    const auto read = driver.after(249ms, driver.start(std::move(request)));
    ASSERT_EQ(driver.derivations.size(), 1U);
    EXPECT_EQ(cluster.count(opcode::sasl_step), 0U);
    EXPECT_EQ(read->calls, 0);
    driver.advance(2ms);
    EXPECT_EQ(read->code(), errc::unambiguous_timeout);
    EXPECT_LE(read->at - started, 251ms) << "to the tick";
    // The key arrives, and the login continues where it was.
    driver.derive();
    driver.settle();
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
    EXPECT_EQ(driver.connects.size(), 1U);
}

TEST(key_stretching, connections_that_need_the_same_key_share_it_and_it_is_cached) {
    scripted_cluster cluster(3);
    engine_options options;
    options.seeds = {{"node1", {}}, {"node2", {}}, {"node3", {}}};
    engine_driver driver(cluster, options);
    driver.holds_keys = true;
    driver.connect();
    EXPECT_EQ(driver.connections_to(0).size() + driver.connections_to(1).size(), 2U);
    ASSERT_EQ(driver.derivations.size(), 1U);
    driver.derive();
    driver.settle();
    EXPECT_EQ(driver.engine().statistics().connections_open, 3U);
    driver.close_node(0);
    driver.advance(1s);
    EXPECT_EQ(driver.engine().statistics().connections_open, 3U);
    EXPECT_TRUE(driver.derivations.empty());
}

TEST(key_stretching, servers_that_ask_for_many_rounds_do_not_delay_the_others) {
    limited_places places(2);
    key_derivations keys(places);
    action_list actions;
    for (std::uint64_t index = 1; index <= 48; ++index) {
        wire::key_derivation costly = key_of("hostile" + std::to_string(index));
        costly.iterations = 100'000;
        ASSERT_TRUE(keys.want(costly, connection_id{index}));
        keys.begin(actions);
    }
    ASSERT_EQ(actions.size(), 2U) << "the first two are running";
    ASSERT_TRUE(keys.want(key_of("healthy"), connection_id{49}));
    ASSERT_TRUE(keys.want(key_of("healthy too"), connection_id{50}));
    const auto ends = [&](std::size_t index) {
        const auto first = std::get<derive_key_action>(actions.at(index)).derivation;
        static_cast<void>(keys.on_derived(first, "key"));
        keys.begin(actions);
        return std::get<derive_key_action>(actions.back()).wanted.salt;
    };
    EXPECT_EQ(ends(0), "healthy");
    EXPECT_EQ(ends(1), "healthy too") << "equal ones in their order";
}

TEST(key_stretching, a_key_for_a_connection_that_is_gone_is_kept_for_the_next_one) {
    auto [cluster, driver] = unconnected_node();
    driver.holds_keys = true;
    driver.connect();
    ASSERT_EQ(driver.derivations.size(), 1U);
    driver.close_node(0);
    driver.settle();
    driver.derive();
    driver.settle();
    driver.advance(1s);
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
    EXPECT_TRUE(driver.derivations.empty());
}

TEST(key_stretching, late_unknown_and_repeated_answers_are_ignored) {
    scripted_cluster cluster(1);
    engine_options options;
    options.bootstrap_timeout = 100ms;
    engine_driver driver(cluster, options);
    driver.holds_keys = true;
    driver.connect();
    const derive_key_action asked = driver.derivations.at(0);
    driver.engine().on_key_derived(derivation_id{77}, "key", driver.now);
    driver.settle();
    EXPECT_EQ(cluster.count(opcode::sasl_step), 0U);
    driver.advance(99ms);
    EXPECT_EQ(driver.closes.size(), 1U) << "the bootstrap's own timeout holds";
    const std::string key = wire::derive_key(asked.wanted);
    driver.engine().on_key_derived(asked.derivation, key, driver.now);
    driver.engine().on_key_derived(asked.derivation, key, driver.now);
    driver.advance(100ms);
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
    driver.engine().close(driver.now);
    driver.engine().on_key_derived(asked.derivation, key, driver.now);
    driver.settle();
}

TEST(key_stretching, an_answer_after_the_engine_was_closed_starts_nothing) {
    auto [cluster, driver] = unconnected_node();
    driver.holds_keys = true;
    driver.connect();
    driver.engine().close(driver.now);
    driver.settle();
    driver.derive();
    driver.advance(1s);
    EXPECT_TRUE(driver.derivations.empty());
    EXPECT_EQ(driver.connects.size(), 1U);
}

TEST(key_stretching, a_key_that_cannot_be_derived_fails_that_login_only) {
    auto [cluster, driver] = unconnected_node();
    driver.holds_keys = true;
    driver.connect();
    driver.engine().on_key_derived(driver.derivations.at(0).derivation, {}, driver.now);
    driver.derivations.clear();
    driver.settle();
    EXPECT_EQ(driver.closes.size(), 1U);
    driver.holds_keys = false;
    const auto read = driver.after(1s, driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
}

TEST(key_stretching, an_answer_of_the_server_while_the_key_is_derived_ends_the_connection) {
    scripted_cluster cluster(1);
    cluster.answer_each(opcode::sasl_auth, [](const seen_request& seen) {
        const std::string nonce = seen.value.substr(seen.value.find(",r=") + 3);
        return answer{
            .status = status::auth_continue,
            .value = "r=" + nonce + "x,s=QQ==,i=4096",
            .copies = 2};
    });
    engine_driver driver(cluster);
    driver.holds_keys = true;
    driver.connect();
    EXPECT_EQ(driver.closes.size(), 1U);
}

TEST(key_stretching, an_option_allows_more_iterations) {
    scripted_cluster cluster(1);
    cluster.answer_each(opcode::sasl_auth, [](const seen_request& seen) {
        const std::string nonce = seen.value.substr(seen.value.find(",r=") + 3);
        return answer{.status = status::auth_continue, .value = "r=" + nonce + "x,s=QQ==,i=100001"};
    });
    engine_driver driver(cluster, {{.scram_iterations_max = 100'001}});
    driver.holds_keys = true;
    driver.connect();
    ASSERT_EQ(driver.derivations.size(), 1U);
    EXPECT_EQ(driver.derivations[0].wanted.iterations, 100'001U);
}

TEST(key_stretching, nonces_and_client_ids_come_from_the_entropy_and_never_from_the_seed) {
    auto [cluster, driver] = unconnected_node();
    std::uint8_t generated = 0;
    driver.random = randomness{1, [&](std::span<std::byte> out) {
                                   for (std::byte& each : out) {
                                       each = std::byte{++generated};
                                   }
                                   return true;
                               }};
    driver.connect();
    const auto agent = wire::parse_agent_key(driver.server.hello_agents.at(0));
    ASSERT_TRUE(agent.has_value());
    // The first eight bytes of the entropy, in the order of this machine.
    constexpr std::array<std::uint8_t, 8> first_bytes{1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(agent->client_id, std::bit_cast<std::uint64_t>(first_bytes));
    EXPECT_EQ(
        cluster.all(opcode::sasl_auth).at(0).value, "n,,n=app,r=090a0b0c0d0e0f101112131415161718");
    // A second connection uses another nonce.
    driver.close_node(0);
    driver.advance(1s);
    EXPECT_NE(
        cluster.all(opcode::sasl_auth).at(1).value, cluster.all(opcode::sasl_auth).at(0).value);
}

TEST(key_stretching, without_randomness_no_login_succeeds) {
    auto [cluster, driver] = unconnected_node();
    driver.random = randomness{1, [](std::span<std::byte>) { return false; }};
    driver.connect();
    EXPECT_EQ(cluster.count(opcode::sasl_auth), 0U);
    EXPECT_EQ(driver.engine().statistics().connections_open, 0U);
}

TEST(key_derivations, two_run_at_most_and_the_others_follow_in_order) {
    limited_places places(2);
    key_derivations keys(places);
    action_list begun;
    for (std::uint64_t index = 1; index <= 4; ++index) {
        ASSERT_TRUE(keys.want(key_of("salt" + std::to_string(index)), connection_id{index}));
        keys.begin(begun);
    }
    ASSERT_EQ(begun.size(), 2U);
    const auto& first = std::get<derive_key_action>(begun[0]);
    EXPECT_EQ(first.wanted.salt, "salt1");
    EXPECT_EQ(keys.on_derived(first.derivation, "key"), ids({1}));
    keys.begin(begun);
    ASSERT_EQ(begun.size(), 3U);
    EXPECT_EQ(std::get<derive_key_action>(begun[2]).wanted.salt, "salt3");
    EXPECT_EQ(keys.find(key_of("salt1")), "key");
    EXPECT_EQ(keys.find(key_of("salt2")), std::nullopt);
}

TEST(key_derivations, a_derivation_that_is_no_longer_needed_never_starts) {
    limited_places places(2);
    key_derivations keys(places);
    action_list begun;
    for (std::uint64_t index = 1; index <= 4; ++index) {
        ASSERT_TRUE(keys.want(key_of("salt" + std::to_string(index)), connection_id{index}));
    }
    keys.begin(begun);
    keys.forget(connection_id{1});  // already running: its result will be cached
    keys.forget(connection_id{3});
    EXPECT_TRUE(keys.on_derived(std::get<derive_key_action>(begun[0]).derivation, "key").empty());
    EXPECT_EQ(keys.find(key_of("salt1")), "key");
    keys.begin(begun);
    ASSERT_EQ(begun.size(), 3U);
    EXPECT_EQ(std::get<derive_key_action>(begun[2]).wanted.salt, "salt4");
}

TEST(key_derivations, the_number_of_pending_keys_is_bounded) {
    limited_places places(2);
    key_derivations keys(places);
    for (std::uint64_t index = 0; index < key_derivations::wanted_count_max; ++index) {
        ASSERT_TRUE(keys.want(key_of("salt" + std::to_string(index)), connection_id{index}));
    }
    EXPECT_FALSE(keys.want(key_of("one more"), connection_id{5000}));
    EXPECT_TRUE(keys.want(key_of("salt7"), connection_id{5000})) << "shared with another one";
}

}  // namespace reprise::engine::testing::key_stretching_tests
