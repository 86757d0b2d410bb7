#include <gtest/gtest.h>

#include "engine_driver.hpp"

// RH-08: if several terminal states are set, the first in the order authentication, TLS, bucket
// access, scope, collection is the reason raised, and each has its own error. Tests every pair.

namespace reprise::engine::testing::terminal_order_tests {

struct terminal_row {
    retry_reason reason;
    errc error;
};

constexpr std::array<terminal_row, 5> in_order{{
    {retry_reason::authentication_error, errc::authentication_failure},
    {retry_reason::tls_error, errc::tls_failure},
    {retry_reason::bucket_access_error, errc::bucket_access_failure},
    {retry_reason::scope_not_found, errc::scope_not_found},
    {retry_reason::collection_not_found, errc::collection_not_found},
}};

bool is_about_names(retry_reason reason) {
    return reason == retry_reason::scope_not_found || reason == retry_reason::collection_not_found;
}

void break_with(scripted_node& node, retry_reason with) {
    switch (with) {
        case retry_reason::authentication_error:
            node.sasl_status = status::auth_error;
            break;
        case retry_reason::tls_error:
            node.connect_failure_kind = connect_failure::tls_expired;
            break;
        default:
            node.select_status = status::eaccess;
            break;
    }
}

// The cluster has both states. Node 1 works but has no names; the other nodes do not work.
struct refusing_scene {
    refusing_scene(retry_reason first, retry_reason second) {
        options.seeds = {{"node1", {}}};
        cluster.map = {{0}, {1}, {2}};
        driver = std::make_unique<engine_driver>(cluster, options);
        // Covers both orders in time, whichever node connects first.
        break_with(cluster.nodes[1], is_about_names(first) ? second : first);
        break_with(cluster.nodes[2], is_about_names(second) ? first : second);
        driver->connect();
        driver->advance(10ms);
        const status answered = is_about_names(first) || second == retry_reason::scope_not_found
                                    ? status::unknown_scope
                                    : status::unknown_collection;
        cluster.answer_all(opcode::get_collection_id, {.status = answered});
    }
    engine_driver::outcome_ptr read(bool with_collection) {
        // A key of node 2, which cannot be sent.
        std::string key = "k";
        while (wire::vbucket_of(key, 3).value != 1) {
            key += "k";
        }
        const auto outcome = driver->start(
            with_collection ? driver->request(operation_kind::get, key, "", "s", "c")
                            : driver->request(operation_kind::get, key));
        driver->advance(10ms);
        return outcome;
    }
    scripted_cluster cluster{3, 3};
    engine_options options;
    std::unique_ptr<engine_driver> driver;
};

TEST(terminal_order, RH_08_of_two_states_the_first_in_order_is_raised_for_every_pair) {
    for (std::size_t first = 0; first < in_order.size(); ++first) {
        for (std::size_t second = first + 1; second < in_order.size(); ++second) {
            const terminal_row& wins = in_order[first];
            const terminal_row& loses = in_order[second];
            const std::string pair = std::string(to_string(wins.reason)) + " before " +
                                     std::string(to_string(loses.reason));
            for (const bool is_swapped : {false, true}) {
                if (is_about_names(wins.reason)) {
                    continue;  // one answer reports only one of them: see below
                }
                refusing_scene scene(
                    is_swapped && !is_about_names(loses.reason) ? loses.reason : wins.reason,
                    is_swapped && !is_about_names(loses.reason) ? wins.reason : loses.reason);
                const auto read = scene.read(is_about_names(loses.reason));
                ASSERT_EQ(read->calls, 1) << pair;
                EXPECT_EQ(read->result.ec, wins.error) << pair;
                EXPECT_EQ(read->result.error->last_reason, wins.reason) << pair;
            }
        }
    }
}

TEST(terminal_order, RH_08_a_missing_scope_is_raised_before_its_missing_collection) {
    auto [cluster, driver] = connected_node();
    const auto without_collection = driver.start(operation_kind::get, "k", "", "s", "c");
    driver.settle();
    ASSERT_EQ(without_collection->calls, 1);
    EXPECT_EQ(without_collection->result.error->last_reason, retry_reason::collection_not_found);
    cluster.answer_all(opcode::get_collection_id, {.status = status::unknown_scope});
    const auto without_scope = driver.settled(driver.start(operation_kind::get, "k", "", "s", "c"));
    ASSERT_EQ(without_scope->code(), errc::scope_not_found);
    EXPECT_EQ(without_scope->result.error->last_reason, retry_reason::scope_not_found);
}

TEST(terminal_order, RH_08_the_strategy_gives_each_reason_its_own_error) {
    fail_fast_on_terminal_error_strategy strategy;
    for (const terminal_row& row : in_order) {
        for (const bool is_idempotent : {false, true}) {
            driver::retry_question question;
            question.reason = row.reason;
            question.repeat =
                is_idempotent ? repeatability::repeatable : repeatability::not_repeatable;
            driver::retry_sink sink(nullptr, nullptr);
            strategy.retry_after(question, sink);
            ASSERT_TRUE(sink.action().has_value());
            EXPECT_FALSE(sink.action()->delay().has_value()) << to_string(row.reason);
            EXPECT_EQ(sink.action()->error(), make_error_code(row.error)) << to_string(row.reason);
        }
    }
}

}  // namespace reprise::engine::testing::terminal_order_tests
