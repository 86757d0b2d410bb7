#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Failures that end an HTTP operation without a retry are bounded, logged and part of its history.

namespace reprise::engine::testing::http_decisions_tests {

struct logged_decision {
    log_level level{};
    retry_reason reason{};
    errc error{};
    bool is_retried = false;
    std::string endpoint;
    std::uint16_t status = 0;
};

class decision_keeper final : public log_sink {
public:
    void on_decision(log_level level, const decision_record& record) noexcept override {
        decisions.push_back(
            {level, record.reason, record.error, record.is_retried, std::string(record.endpoint),
             record.status});
    }
    void on_message(log_level, std::string_view) noexcept override {}
    std::vector<logged_decision> decisions;
};

class http_decisions : public ::testing::Test {
protected:
    http_decisions() {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
        options_.log = sink_;
    }
    void answer_with(scripted_http_answer answer) {
        cluster_.on_http = [answer = std::move(answer)](const seen_http_request&) {
            return answer;
        };
    }
    static scripted_http_answer silence() {
        scripted_http_answer answer;
        answer.is_silent = true;
        return answer;
    }
    std::size_t sent() const { return cluster_.http_requests.size(); }
    // Expects a single decision: a refusal, logged as a warning.
    void expect_logged(retry_reason reason, errc error) const {
        ASSERT_EQ(sink_->decisions.size(), 1U);
        const logged_decision& seen = sink_->decisions[0];
        EXPECT_EQ(seen.level, log_level::warn);
        EXPECT_FALSE(seen.is_retried);
        EXPECT_EQ(seen.reason, reason);
        EXPECT_EQ(seen.error, error) << to_string(seen.error);
    }

    scripted_cluster cluster_{1};
    std::shared_ptr<decision_keeper> sink_ = std::make_shared<decision_keeper>();
    engine_options options_;
};

TEST_F(http_decisions, RH_32_calls_that_wait_for_a_connection_are_bounded) {
    options_.parked_count_max = 2;
    options_.http_connections_per_node_max = 1;
    answer_with(silence());
    connected_driver driver(cluster_, options_);
    std::vector<engine_driver::outcome_ptr> all;
    for (int round = 0; round < 4; ++round) {
        all.push_back(driver.start_http(query_request("{}")));
        driver.settle();
    }
    EXPECT_EQ(sent(), 1U);
    EXPECT_EQ(driver.engine().statistics().operations_parked, 2U);
    EXPECT_EQ(all[1]->calls + all[2]->calls, 0);
    ASSERT_EQ(all[3]->code(), errc::retry_queue_full);
    EXPECT_EQ(all[3]->result.error->last_reason, retry_reason::socket_not_available);
    ASSERT_NE(all[3]->result.history, nullptr);
    EXPECT_EQ(all[3]->result.history->entries[0].refusal(), refusal_reason::queue_full);
    expect_logged(retry_reason::socket_not_available, errc::retry_queue_full);
    // The waiting calls are served and free their places.
    for (std::size_t round = 0; round < 3; ++round) {
        scripted_http_answer answer;
        answer.body = R"({"results":[]})";
        driver.send(cluster_.http_requests[round].connection, bytes_of(answer));
        driver.settle();
        EXPECT_FALSE(all[round]->result.ec) << all[round]->result.ec.message();
    }
    EXPECT_EQ(driver.engine().statistics().operations_parked, 0U);
}

TEST_F(http_decisions, RH_32_the_last_reason_is_that_of_the_previous_retry) {
    options_.parked_count_max = 1;
    options_.http_connections_per_node_max = 1;
    int answers = 0;
    cluster_.on_http = [&](const seen_http_request&) {
        scripted_http_answer answer;
        answer.is_silent = answers++ != 0;
        answer.status = 503;
        return answer;
    };
    connected_driver driver(cluster_, options_);
    auto first = driver.start_http(
        readonly_request("{}", always_retry(retry_reason::query_index_not_found, 100ms)));
    driver.settle();  // it waits for its retry
    auto second = driver.start_http(readonly_request("{}"));
    driver.settle();  // it has the connection
    ASSERT_EQ(sent(), 2U);
    driver.advance(150ms);  // the first one keeps its place and waits for the connection
    EXPECT_EQ(first->calls, 0);
    auto third = driver.settled(driver.start_http(readonly_request("{}")));
    EXPECT_EQ(third->code(), errc::retry_queue_full);
    EXPECT_EQ(first->calls, 0);
    EXPECT_EQ(second->calls, 0);
}

TEST_F(http_decisions, RH_14_waiting_for_the_first_configuration_beyond_the_bound_is_logged) {
    options_.parked_count_max = 1;
    engine_driver driver(cluster_, options_);
    driver.start_http(query_request("{}"));
    auto refused = driver.start_http(query_request("{}"));
    driver.engine().drain_completions();
    ASSERT_EQ(refused->code(), errc::retry_queue_full);
    EXPECT_EQ(refused->result.error->last_reason, retry_reason::socket_not_available);
    expect_logged(retry_reason::socket_not_available, errc::retry_queue_full);
}

TEST_F(http_decisions, RH_14_an_unreadable_answer_is_logged_and_in_the_history) {
    answer_with(cut_answer("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"results\":x"));
    connected_driver driver(cluster_, options_);
    const auto done = driver.settled(driver.start_http(query_request("{}")));
    ASSERT_EQ(done->code(), errc::parsing_failure);
    ASSERT_NO_FATAL_FAILURE(expect_logged(retry_reason::unknown, errc::parsing_failure));
    EXPECT_EQ(sink_->decisions[0].endpoint, "node1:8093");
    EXPECT_EQ(sink_->decisions[0].status, 200);
    ASSERT_NE(done->result.history, nullptr);
    EXPECT_EQ(done->result.history->entries[0].refusal(), refusal_reason::unclassified);
    EXPECT_NE(done->result.error->detail.find("not a valid result"), std::string::npos);
}

TEST_F(http_decisions, RH_14_a_request_that_cannot_be_written_is_logged) {
    struct unwritable final : http_exchange {
        const service_call& compose(const wire::cluster_configuration*) override {
            call.target = "no path";
            return call;
        }
        exchange_result judge(const http_answer&) override { return {}; }
        service_call call;
    };
    connected_driver driver(cluster_, options_);
    auto request = query_request("{}");
    request.exchange = std::make_unique<unwritable>();
    const auto done = driver.settled(driver.start_http(std::move(request)));
    EXPECT_EQ(done->code(), errc::invalid_argument);
    expect_logged(retry_reason::unknown, errc::invalid_argument);
}

// --- where the request was ---

// The error named the node that it waited for last.
TEST(http_last_node, is_the_one_that_received_the_request) {
    for (const bool is_moved : {true, false}) {
        scripted_cluster cluster(2);
        cluster.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
        if (is_moved) {
            cluster.nodes[1].services.set(wire::service::query, wire::transport::plain, 8093);
        }
        cluster.answer_http({.status = 503});
        connected_driver driver(cluster);
        auto request =
            readonly_request("{}", always_retry(retry_reason::query_index_not_found, 100ms));
        request.timeout = 1s;
        const auto done = driver.start_http(std::move(request));
        for (int step = 0; step < 100 && cluster.http_requests.empty(); ++step) {
            driver.advance(1ms);
        }
        ASSERT_EQ(cluster.http_requests.size(), 1U);
        const scripted_node& asked = cluster.nodes[cluster.http_requests[0].node];
        const std::string name = asked.host + ":8093";
        for (scripted_node& node : cluster.nodes) {
            node.ignores_http_connections = true;
            if (!is_moved) {
                node.services = {};
            }
        }
        driver.close_peer(cluster.http_requests[0].connection);
        if (!is_moved) {
            ++cluster.revision.rev;
            driver.push_configuration(driver.connections_to(1)[0], 1, false);
        }
        driver.advance(1s);
        ASSERT_EQ(done->code(), errc::unambiguous_timeout);
        ASSERT_EQ(cluster.http_requests.size(), 1U);
        EXPECT_EQ(done->result.error->last_dispatched_to, name) << is_moved;
    }
}

// --- delivered rows ---

class taken_rows : public http_decisions {
protected:
    // Answers with rows first. The test decides how the answer ends.
    taken_rows() {
        scripted_http_answer head;
        head.raw =
            "HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\n"
            R"({"results":[1,2],)";
        answer_with(head);
    }
    engine_driver::outcome_ptr start(engine_driver& driver) {
        auto request = readonly_request("{}", [](const http_answer&) {
            exchange_result verdict;
            verdict.what = exchange_result::step::retry;
            verdict.reason = retry_reason::service_response_code_indicated;
            verdict.error = errc::internal_server_failure;
            return verdict;
        });
        request.on_rows = [&] { driver.engine().take_rows(driver.last_id, batch_, driver.now); };
        auto done = driver.settled(driver.start_http(std::move(request)));
        EXPECT_EQ(batch_.size(), 2U);
        return done;
    }
    row_batch batch_;
};

TEST_F(taken_rows, RH_45_a_complete_answer_that_asks_for_a_retry_is_not_retried) {
    connected_driver driver(cluster_, options_);
    const auto done = start(driver);
    driver.send(
        cluster_.http_requests[0].connection,
        base::as_bytes(std::string(R"("retry":true)") + "  }"));
    driver.advance(10s);
    ASSERT_EQ(done->code(), errc::internal_server_failure) << done->result.ec.message();
    EXPECT_FALSE(done->result.error->is_ambiguous) << "the answer is complete";
    EXPECT_EQ(done->result.retry_attempts, 0U);
    EXPECT_EQ(sent(), 1U);
    expect_logged(retry_reason::service_response_code_indicated, errc::internal_server_failure);
}

TEST_F(taken_rows, RH_14_RH_45_a_connection_that_breaks_is_logged_and_not_retried) {
    connected_driver driver(cluster_, options_);
    const auto done = start(driver);
    driver.close_peer(cluster_.http_requests[0].connection);
    driver.advance(10s);
    EXPECT_EQ(done->code(), errc::request_canceled);
    EXPECT_EQ(sent(), 1U);
    expect_logged(retry_reason::socket_closed_while_in_flight, errc::request_canceled);
}

// Whether the reader was fast makes no difference to what it gets: the rows, then the error.
TEST_F(http_decisions, rows_that_nobody_took_before_the_error_are_delivered_with_it) {
    answer_with({.status = 200, .body = R"({"results":[1,2],"errors":[{}]})"});
    connected_driver driver(cluster_, options_);
    auto request = readonly_request("{}", [](const http_answer&) {
        exchange_result verdict;
        verdict.what = exchange_result::step::failed;
        verdict.error = errc::internal_server_failure;
        return verdict;
    });
    request.on_rows = [] {};
    const auto done = driver.settled(driver.start_http(std::move(request)));
    ASSERT_EQ(done->code(), errc::internal_server_failure);
    EXPECT_EQ(done->result.http->rows.size(), 2U);
}

class http_error_text : public ::testing::Test {
protected:
    // The error of a call with a statement and a server message of these sizes.
    std::shared_ptr<const error_info> failed(std::size_t statement_size, std::size_t words_size) {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
        cluster_.answer_http({.status = 400});
        connected_driver driver(cluster_);
        auto request = readonly_request("{}", [words_size](const http_answer&) {
            exchange_result verdict;
            verdict.what = exchange_result::step::failed;
            verdict.error = errc::parsing_failure;
            verdict.server_text = std::string(words_size, 'w');
            return verdict;
        });
        request.statement = std::string(statement_size, 's');
        const auto done = driver.settled(driver.start_http(std::move(request)));
        return done->result.error;
    }
    scripted_cluster cluster_{1};
};

TEST_F(http_error_text, a_statement_is_cut_at_one_kibibyte_and_marked) {
    EXPECT_EQ(failed(1024, 0)->key, std::string(1024, 's'));
    EXPECT_EQ(failed(1025, 0)->key, std::string(1024, 's') + "... (1 more bytes)");
    const auto large = failed(1'000'000, 0);
    EXPECT_LT(large->key.size(), 1100U);
    EXPECT_EQ(to_string(*large).find("sss"), std::string::npos) << "nobody asked to see it";
    error_info shown = *large;
    shown.shows_key = true;
    EXPECT_NE(to_string(shown).find("... (998976 more bytes)"), std::string::npos);
}

// Services quote the statement in their messages.
TEST_F(http_error_text, the_message_of_the_service_is_cut_in_the_same_way) {
    EXPECT_EQ(failed(1, 1024)->server_context, std::string(1024, 'w'));
    EXPECT_EQ(failed(1, 5000)->server_context, std::string(1024, 'w') + "... (3976 more bytes)");
}

}  // namespace reprise::engine::testing::http_decisions_tests
