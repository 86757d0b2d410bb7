#include <gtest/gtest.h>

#include <reprise/retry/standard_strategy.hpp>
#include <reprise/services/query_request.hpp>

#include "engine_driver.hpp"

// Bugs in HTTP operations that simulated runs (testbed/sim, profile services) have found, each in
// its smallest form and with the number of its seed.

namespace reprise::engine::testing::simulation_findings_http_tests {

void offer_query(scripted_cluster& cluster) {
    for (scripted_node& node : cluster.nodes) {
        node.services.set(wire::service::query, wire::transport::plain, 8093);
    }
}

scripted_http_answer answer_with_status(int status, std::string body) {
    scripted_http_answer answer;
    answer.status = status;
    answer.body = std::move(body);
    return answer;
}

// Clients that only use HTTP services learn about the cluster through the seeds. The first node
// leaves it.
class leaving_seed : public ::testing::Test {
protected:
    leaving_seed() : cluster_(2) {
        cluster_.bucket = "";
        cluster_.map.clear();
    }
    void let_the_first_node_leave() {
        scripted_cluster rest = cluster_;
        rest.nodes.erase(rest.nodes.begin());
        ++rest.revision.rev;
        for (scripted_node& node : cluster_.nodes) {
            node.configuration_text = rest.configuration_text(0);
        }
    }

    scripted_cluster cluster_;
};

// Seed 216: an answer contains rows and then asks for a retry. Rows that had not been taken could
// be taken during the backoff, and were delivered again with the next answer.
TEST(simulation_findings_http, RH_45_rows_of_an_answer_that_failed_cannot_be_taken_any_more) {
    scripted_cluster cluster(1);
    offer_query(cluster);
    int answered = 0;
    connected_driver driver(cluster);
    cluster.on_http = [&](const seen_http_request&) {
        return answer_with_status(
            200, answered++ == 0 ? R"({"results":[1,2],"retry":1})" : R"({"results":[1]})");
    };
    auto request = readonly_request("{}", [](const http_answer& answer) {
        exchange_result verdict;
        if (answer.body.find("retry") != std::string_view::npos) {
            verdict.what = exchange_result::step::retry;
            verdict.reason = retry_reason::service_response_code_indicated;
        }
        return verdict;
    });
    request.on_rows = [] {};
    const auto done = driver.settled(driver.start_http(std::move(request)));
    ASSERT_EQ(answered, 1);
    row_batch batch;
    EXPECT_TRUE(driver.engine().take_rows(driver.last_id, batch, driver.now));
    EXPECT_TRUE(batch.empty());
    driver.advance(10ms);
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    EXPECT_EQ(done->result.http->rows.size(), 1U);
}

// Seed 36: the number of operations that wait for the first configuration was not bounded.
TEST(simulation_findings_http, RH_32_waiting_for_the_first_configuration_is_bounded_too) {
    scripted_cluster cluster(1);
    offer_query(cluster);
    engine_driver driver(cluster, {{.parked_count_max = 2}});
    std::vector<engine_driver::outcome_ptr> all;
    for (int round = 0; round < 3; ++round) {
        all.push_back(driver.start_http(readonly_request("{}")));
    }
    EXPECT_EQ(driver.engine().statistics().operations_parked, 2U);
    driver.engine().drain_completions();
    EXPECT_EQ(all[2]->code(), errc::retry_queue_full);
    EXPECT_EQ(all[0]->calls, 0);
}

// Seed 287: the server's minimum delay was not passed to strategies of the retry library.
TEST(simulation_findings_http, RH_43_a_strategy_of_the_retry_library_keeps_the_servers_minimum) {
    scripted_cluster cluster(1);
    offer_query(cluster);
    int answered = 0;
    cluster.on_http = [&](const seen_http_request&) {
        return answer_with_status(answered++ == 0 ? 503 : 200, R"({"results":[]})");
    };
    const auto inner =
        std::make_shared<driver::virtual_strategy<standard_strategy>>(standard_strategy::options{});
    connected_driver driver(cluster, {{.strategy = inner}});
    const auto done = driver.start_http(
        readonly_request("{}", always_retry(retry_reason::analytics_temporary_failure, 3s)));
    driver.advance(2900ms);
    EXPECT_EQ(done->calls, 0);
    EXPECT_EQ(answered, 1);
    driver.advance(200ms);
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
}

// Seed 5: a separate request prepares a statement that changes something. That request itself
// changes nothing, so it is sent again if it is lost, and the result is not ambiguous.
TEST(simulation_findings_http, RH_16_RH_29_a_lost_request_that_only_prepares_is_not_ambiguous) {
    scripted_cluster cluster(1);
    offer_query(cluster);
    int answered = 0;
    cluster.on_http = [&](const seen_http_request& seen) {
        EXPECT_NE(seen.request.body.find("PREPARE"), std::string::npos);
        if (answered++ == 0) {
            return closing();
        }
        scripted_http_answer answer;
        answer.is_silent = true;
        return answer;
    };
    connected_driver driver(cluster);
    services::query_plan plan;
    plan.cache = std::make_shared<services::prepared_cache>();
    plan.may_be_enhanced = false;
    auto made =
        services::make_query_operation("DELETE FROM travel", {.adhoc = false}, {}, std::move(plan));
    ASSERT_TRUE(made);
    http_request request(std::move(*made));
    request.timeout = 1s;
    const auto done = driver.after(1001ms, driver.start_http(std::move(request)));
    EXPECT_EQ(answered, 2);
    ASSERT_EQ(done->code(), errc::unambiguous_timeout);
    EXPECT_FALSE(done->result.error->is_ambiguous);
}

// Seed 3: reading stopped because rows waited, but the rest of the answer had already arrived. The
// connection returned to its pool and was never read again.
TEST(
    simulation_findings_http,
    a_connection_whose_answer_ends_while_reading_is_paused_is_read_again) {
    scripted_cluster cluster(1);
    offer_query(cluster);
    cluster.answer_http({.is_silent = true});
    connected_driver driver(cluster);
    auto request = readonly_request("{}");
    request.rows_size_max_bytes = 1;
    request.on_rows = [] {};
    const auto done = driver.settled(driver.start_http(std::move(request)));
    const connection_id used = cluster.http_requests.at(0).connection;
    const auto whole = bytes_of(answer_with_status(200, R"({"results":[1,2]})"));
    const base::byte_view bytes(whole);
    driver.engine().on_bytes(used, bytes.first(bytes.size() - 2), driver.now);
    driver.settle();
    ASSERT_TRUE(driver.is_paused(used));
    driver.engine().on_bytes(used, bytes.last(2), driver.now);
    driver.settle();
    ASSERT_EQ(done->calls, 1);
    EXPECT_FALSE(driver.is_paused(used));
}

// Regression: once the only seed was gone, the client stopped asking for the cluster's
// configuration.
TEST_F(leaving_seed, another_node_takes_its_place) {
    connected_driver driver(cluster_);
    ASSERT_EQ(driver.connections_to(0).size(), 1U);
    let_the_first_node_leave();
    driver.advance(5s);
    EXPECT_TRUE(driver.connections_to(0).empty());
    EXPECT_EQ(driver.connections_to(1).size(), 1U);
}

// Regression (seeds 3098 and 4141): the seed had refused the credentials, and remained the reason
// for all later failures.
TEST_F(leaving_seed, RH_25_its_refusal_is_dropped_with_it) {
    cluster_.nodes[0].sasl_status = wire::status::auth_error;
    engine_options options;
    options.seeds = {
        {cluster_.nodes[0].host, cluster_.nodes[0].port},
        {cluster_.nodes[1].host, cluster_.nodes[1].port}};
    connected_driver driver(cluster_, options);
    const auto before = driver.settled(driver.start_http(query_request("{}")));
    EXPECT_EQ(before->code(), errc::authentication_failure);
    let_the_first_node_leave();
    driver.advance(5s);
    const auto after = driver.settled(driver.start_http(query_request("{}")));
    EXPECT_EQ(after->calls, 0) << "no node has the service";
}

}  // namespace reprise::engine::testing::simulation_findings_http_tests
