#include <utility>

#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Goal: the refusal of one seed does not count for the cluster that another seed reveals (RH-48).

namespace reprise::engine::testing::seed_refusal_tests {

// node1 refuses at once, and node2 does not answer.
struct two_seeds {
    explicit two_seeds(engine_options options = {}) : driver(cluster, with_seeds(options)) {
        cluster.nodes[0].sasl_status = wire::status::auth_error;
        cluster.nodes[1].ignores_connections = true;
    }
    static engine_options with_seeds(engine_options options) {
        options.seeds = {{"node1", {}}, {"node2", {}}};
        options.kv_timeout = 10s;
        options.connect_timeout = 5s;
        return options;
    }
    scripted_cluster cluster{2};
    engine_driver driver;
};

engine_options over_tls(bool is_verified) {
    engine_options options;
    options.transport = wire::transport::tls;
    options.tls.is_verified = is_verified;
    return options;
}

TEST(seed_refusals, RH_48_wait_until_the_other_seeds_have_been_silent_for_their_time) {
    two_seeds of;
    const auto read = of.driver.after(1490ms, of.driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    of.driver.advance(20ms);
    EXPECT_EQ(read->code(), errc::authentication_failure);
}

TEST(seed_refusals, RH_48_the_silence_is_an_option) {
    two_seeds of({{.seed_silence_max = 300ms}});
    const auto read = of.driver.after(290ms, of.driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    of.driver.advance(20ms);
    EXPECT_EQ(read->calls, 1);
}

TEST(seed_refusals, RH_48_a_slow_healthy_seed_is_used) {
    two_seeds of;
    std::swap(of.cluster.nodes[0], of.cluster.nodes[1]);
    of.cluster.data_node_count = 1;  // the second is an impostor
    of.cluster.map = {{0}, {0}, {0}, {0}};
    const auto read = of.driver.after(700ms, of.driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    of.driver.open_ignored(of.driver.connects.at(1).connection);
    of.driver.advance(100ms);
    EXPECT_EQ(read->code(), errc::document_not_found);
}

TEST(seed_refusals, RH_48_a_seed_that_makes_progress_is_not_silent) {
    two_seeds of;
    const auto read = of.driver.after(1400ms, of.driver.get("k"));
    of.cluster.nodes[1].is_silent = true;  // it accepts the connection and does not answer yet
    of.driver.open_ignored(of.driver.connects.at(1).connection);
    of.driver.advance(1400ms);
    EXPECT_EQ(read->calls, 0);
    of.driver.advance(200ms);
    EXPECT_EQ(read->calls, 1);
}

TEST(seed_refusals, RH_48_count_at_once_when_every_other_seed_has_failed) {
    two_seeds of;
    of.cluster.nodes[1].ignores_connections = false;
    of.cluster.nodes[1].connect_failure_kind = connect_failure::refused;
    const auto read = of.driver.after(10ms, of.driver.get("k"));
    EXPECT_EQ(read->code(), errc::authentication_failure);
}

TEST(seed_refusals, RH_48_count_as_soon_as_the_last_other_seed_fails) {
    two_seeds of;
    const auto read = of.driver.after(700ms, of.driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    of.driver.engine().on_connect_failed(
        of.driver.connects.at(1).connection, connect_failure::refused, "scripted", of.driver.now);
    of.driver.settle();
    EXPECT_EQ(read->code(), errc::authentication_failure);
}

// Found by simulation (hostile 772451): after a network failure every seed counted as failed, so
// the impostor's refusal counted although healthy seeds were just answering again.
TEST(seed_refusals, RH_48_a_seed_that_failed_before_and_answers_again_is_waited_for) {
    two_seeds of;
    of.cluster.nodes[1].ignores_connections = false;
    for (scripted_node& node : of.cluster.nodes) {
        node.connect_failure_kind = connect_failure::refused;
    }
    const auto read = of.driver.after(1ms, of.driver.get("k"));
    of.cluster.on_request =
        [](const seen_request& seen) -> std::optional<scripted_cluster::scripted_answer> {
        const bool is_slow = seen.node == 1 && seen.op == wire::opcode::sasl_auth;
        return is_slow ? std::optional(scripted_cluster::scripted_answer{.is_silent = true})
                       : std::nullopt;
    };
    of.cluster.nodes[1].connect_failure_kind.reset();
    of.driver.advance(200ms);
    of.cluster.nodes[0].connect_failure_kind.reset();
    of.driver.advance(1s);
    EXPECT_EQ(read->calls, 0);
    of.driver.advance(1s);
    EXPECT_EQ(read->code(), errc::authentication_failure) << "the other seed stays silent";
}

TEST(seed_refusals, RH_48_of_a_verified_server_count_at_once) {
    two_seeds of(over_tls(true));
    const auto read = of.driver.after(10ms, of.driver.get("k"));
    EXPECT_EQ(read->code(), errc::authentication_failure);
}

TEST(seed_refusals, RH_48_of_a_server_that_is_not_verified_wait) {
    two_seeds of(over_tls(false));
    const auto read = of.driver.after(1490ms, of.driver.get("k"));
    EXPECT_EQ(read->calls, 0);
}

TEST(seed_refusals, RH_48_a_certificate_that_is_not_valid_proves_nothing) {
    two_seeds of(over_tls(true));
    of.cluster.nodes[0].connect_failure_kind = connect_failure::tls_wrong_host;
    const auto read = of.driver.after(1490ms, of.driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    of.driver.advance(20ms);
    EXPECT_EQ(read->code(), errc::tls_failure);
}

TEST(seed_refusals, RH_48_the_deadline_still_ends_the_call) {
    two_seeds of;
    auto request = of.driver.request(operation_kind::get, "k");
    request.timeout = 1s;
    const auto read = of.driver.after(1001ms, of.driver.start(std::move(request)));
    EXPECT_EQ(read->code(), errc::unambiguous_timeout);
}

}  // namespace reprise::engine::testing::seed_refusal_tests
