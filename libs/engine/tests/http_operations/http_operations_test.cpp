#include <gtest/gtest.h>

#include <reprise/http/authorization.hpp>

#include "engine_driver.hpp"

// HTTP operations against scripted services in virtual time.

namespace reprise::engine::testing {
namespace {

constexpr std::uint16_t query_port = 8093;

class http_flow : public ::testing::Test {
protected:
    explicit http_flow(std::size_t nodes = 2) : cluster_(nodes) {
        for (scripted_node& node : cluster_.nodes) {
            node.services.set(wire::service::query, wire::transport::plain, query_port);
        }
        cluster_.answer_http({.body = R"({"results":[1,{"a":2}],"status":"success"})"});
    }
    void answer_with(std::vector<scripted_http_answer> answers) {
        cluster_.on_http = [answers = std::move(answers),
                            next = std::size_t{0}](const seen_http_request&) mutable {
            return answers[std::min(next++, answers.size() - 1)];
        };
    }
    static scripted_http_answer status(int code, std::string body = "{}") {
        scripted_http_answer answer;
        answer.status = code;
        answer.body = std::move(body);
        return answer;
    }
    static scripted_http_answer rows() {
        return status(200, R"({"results":[1],"status":"success"})");
    }
    std::size_t sent() const { return cluster_.http_requests.size(); }

    scripted_cluster cluster_;
};

TEST_F(http_flow, a_request_with_a_delay_is_sent_after_it_unless_it_ends_before) {
    connected_driver driver(cluster_);
    auto later = query_request("{}");
    later.delay = 100ms;
    auto done = driver.after(99ms, driver.start_http(std::move(later)));
    EXPECT_EQ(sent(), 0U);
    driver.advance(2ms);
    EXPECT_EQ(sent(), 1U);
    EXPECT_EQ(done->calls, 1);
    auto short_of_time = query_request("{}");
    short_of_time.delay = 100ms;
    short_of_time.timeout = 50ms;
    auto late = driver.after(51ms, driver.start_http(std::move(short_of_time)));
    EXPECT_EQ(late->result.ec, errc::unambiguous_timeout);
    EXPECT_EQ(sent(), 1U);
}

TEST_F(http_flow, an_answer_is_split_into_rows_and_the_rest) {
    connected_driver driver(cluster_);
    auto done = driver.start_http(query_request(R"({"statement":"SELECT 1"})"));
    driver.settle();
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    ASSERT_EQ(done->result.http->rows.size(), 2U);
    EXPECT_EQ(done->result.http->rows[0], "1");
    EXPECT_EQ(done->result.http->rows[1], R"({"a":2})");
    EXPECT_EQ(done->result.http->body, R"({"results":[],"status":"success"})");
    ASSERT_EQ(sent(), 1U);
    const http::request& seen = cluster_.http_requests[0].request;
    EXPECT_EQ(seen.body, R"({"statement":"SELECT 1"})");
    const auto who =
        http::parse_basic_authorization(*http::find_header(seen.headers, "Authorization"));
    EXPECT_EQ(who->username, "app");
    EXPECT_EQ(who->password, "secret");
}

TEST_F(http_flow, connections_are_kept_and_closed_when_idle) {
    connected_driver driver(cluster_);
    for (int round = 0; round < 6; ++round) {
        driver.start_http(readonly_request("{}"));
        driver.settle();
    }
    std::set<connection_id> used;
    for (const auto& seen : cluster_.http_requests) {
        used.insert(seen.connection);
    }
    EXPECT_EQ(sent(), 6U);
    EXPECT_EQ(used.size(), 2U) << "one for each node, in turn";
    const std::size_t closed_before = driver.closes.size();
    driver.advance(1100ms);
    EXPECT_EQ(driver.closes.size(), closed_before + 2);
}

TEST_F(http_flow, connections_of_a_node_are_bounded_and_the_others_wait) {
    engine_options options;
    options.http_connections_per_node_max = 2;
    cluster_.nodes.resize(1);
    cluster_.map = {{0}};
    cluster_.answer_http({.is_silent = true});
    connected_driver driver(cluster_, options);
    std::vector<engine_driver::outcome_ptr> all;
    for (int round = 0; round < 5; ++round) {
        all.push_back(driver.start_http(readonly_request("{}")));
    }
    driver.settle();
    EXPECT_EQ(sent(), 2U);
    const auto text = R"({"results":[]})";
    for (int round = 0; round < 5; ++round) {
        const auto answer = bytes_of(status(200, text));
        driver.send(cluster_.http_requests[std::size_t(round)].connection, answer);
        driver.settle();
    }
    EXPECT_EQ(sent(), 5U);
    for (const auto& one : all) {
        EXPECT_EQ(one->calls, 1);
        EXPECT_FALSE(one->result.ec);
    }
}

TEST_F(
    http_flow, RH_15_a_call_to_a_service_that_no_node_offers_waits_until_a_configuration_wakes_it) {
    for (scripted_node& node : cluster_.nodes) {
        node.services = {};
    }
    connected_driver driver(cluster_);
    auto done = driver.after(20ms, driver.start_http(query_request("{}")));
    EXPECT_EQ(done->calls, 0);
    EXPECT_EQ(driver.engine().statistics().operations_parked, 1U);
    cluster_.nodes[1].services.set(wire::service::query, wire::transport::plain, query_port);
    ++cluster_.revision.rev;
    driver.push_configuration(driver.connections_to(0)[0], 0, false);
    driver.settle();
    ASSERT_TRUE(done->has_succeeded()) << "at once, not at the end of its backoff";
    ASSERT_NE(done->result.history, nullptr);
    EXPECT_EQ(
        done->result.history->entries[0].reason_as<retry_reason>(),
        retry_reason::service_not_available);
    EXPECT_EQ(cluster_.http_requests[0].node, 1U);
}

TEST_F(http_flow, RH_16_a_readonly_call_lost_in_flight_goes_to_another_node) {
    answer_with({closing(), rows()});
    connected_driver driver(cluster_);
    auto done = driver.after(10ms, driver.start_http(readonly_request("{}")));
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    ASSERT_EQ(sent(), 2U);
    EXPECT_NE(cluster_.http_requests[0].node, cluster_.http_requests[1].node);
}

TEST_F(http_flow, RH_16_any_other_call_lost_in_flight_is_ambiguous_and_sent_once) {
    answer_with({closing(), rows()});
    connected_driver driver(cluster_);
    auto done = driver.after(1s, driver.start_http(query_request("{}")));
    ASSERT_EQ(done->code(), errc::request_canceled);
    EXPECT_TRUE(done->result.error->is_ambiguous);
    EXPECT_EQ(sent(), 1U);
}

TEST_F(http_flow, RH_16_a_request_that_never_left_is_sent_again_whatever_it_does) {
    connected_driver driver(cluster_);
    driver.write_room = 0;
    auto done = driver.settled(driver.start_http(query_request("{}")));
    const auto first = driver.connects.back();
    driver.close_peer(first.connection);
    driver.write_room = std::size_t(-1);
    driver.advance(10ms);
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    EXPECT_EQ(done->result.retry_attempts, 1U);
    EXPECT_EQ(sent(), 1U);
}

TEST_F(http_flow, RH_17_the_strategy_of_the_call_is_asked_on_http) {
    struct counting final : best_effort_strategy {
        int asked = 0;
        void retry_after(
            const driver::retry_question& question, driver::retry_sink& sink) override {
            ++asked;
            EXPECT_EQ(request_of(question).operation, "query");
            EXPECT_EQ(reason_of(question), retry_reason::query_index_not_found);
            best_effort_strategy::retry_after(question, sink);
        }
    };
    answer_with({status(500), status(500), rows()});
    connected_driver driver(cluster_);
    auto request = readonly_request("{}", always_retry(retry_reason::query_index_not_found));
    const auto strategy = std::make_shared<counting>();
    request.strategy = strategy;
    auto done = driver.after(100ms, driver.start_http(std::move(request)));
    ASSERT_TRUE(done->has_succeeded());
    EXPECT_EQ(strategy->asked, 2);
    EXPECT_EQ(done->result.retry_attempts, 2U);
}

TEST_F(http_flow, RH_33_each_service_charges_its_own_budget) {
    answer_with({status(503)});
    engine_options options;
    const auto of_query = std::make_shared<token_bucket>(token_bucket::options{.capacity = 10});
    const auto of_all = std::make_shared<token_bucket>(token_bucket::options{.capacity = 100});
    options.retry_budget = driver::token_bucket_budget(of_all);
    options.service_retry_budgets.query = driver::token_bucket_budget(of_query);
    connected_driver driver(cluster_, options);
    auto done = driver.after(
        1s, driver.start_http(
                readonly_request("{}", always_retry(retry_reason::query_index_not_found))));
    ASSERT_EQ(done->code(), errc::temporary_failure);
    EXPECT_EQ(done->result.retry_attempts, 2U);
    EXPECT_EQ(done->result.history->entries.back().refusal(), refusal_reason::budget_exhausted);
    EXPECT_EQ(of_all->milli_level(), 100000);
}

// Regression: they were shown in hexadecimal, like key-value statuses.
TEST_F(http_flow, histories_show_http_statuses_in_decimal) {
    answer_with({status(503), rows()});
    connected_driver driver(cluster_);
    auto done = driver.start_http(
        readonly_request("{}", always_retry(retry_reason::analytics_temporary_failure, 1ms)));
    driver.advance(100ms);
    ASSERT_NE(done->result.history, nullptr);
    const std::string text = to_string(*done->result.history);
    EXPECT_NE(text.find("ANALYTICS_TEMPORARY_FAILURE (503) at"), std::string::npos) << text;
}

TEST_F(http_flow, RH_43_the_servers_delay_is_the_minimum) {
    answer_with({status(503), rows()});
    connected_driver driver(cluster_);
    auto done = driver.start_http(
        readonly_request("{}", always_retry(retry_reason::analytics_temporary_failure, 3s)));
    driver.advance(2900ms);
    EXPECT_EQ(done->calls, 0);
    driver.advance(200ms);
    ASSERT_TRUE(done->has_succeeded());
    EXPECT_EQ(done->result.history->entries[0].delay(), 3s);
}

TEST_F(http_flow, RH_43_the_minimum_is_capped_by_the_deadline) {
    answer_with({status(503), rows()});
    connected_driver driver(cluster_);
    auto request =
        readonly_request("{}", always_retry(retry_reason::analytics_temporary_failure, 3s));
    request.timeout = 1s;
    auto done = driver.after(1001ms, driver.start_http(std::move(request)));
    EXPECT_EQ(done->code(), errc::unambiguous_timeout);
    EXPECT_EQ(sent(), 1U);
}

TEST_F(http_flow, RH_29_a_timeout_is_ambiguous_only_on_the_wire_and_not_readonly) {
    cluster_.answer_http({.is_silent = true});
    connected_driver driver(cluster_);
    auto write = query_request("{}");
    write.timeout = 1s;
    auto read = readonly_request("{}");
    read.timeout = 1s;
    auto written = driver.start_http(std::move(write));
    auto was_read = driver.after(1001ms, driver.start_http(std::move(read)));
    ASSERT_EQ(written->code(), errc::ambiguous_timeout);
    EXPECT_TRUE(written->result.error->is_ambiguous);
    ASSERT_EQ(was_read->code(), errc::unambiguous_timeout);
    EXPECT_FALSE(was_read->result.error->is_ambiguous);
}

TEST_F(http_flow, a_canceled_operation_gives_up_its_connection) {
    cluster_.answer_http({.is_silent = true});
    connected_driver driver(cluster_);
    auto done = driver.start_http(query_request("{}"));
    const operation_id id = driver.last_id;
    driver.settle();
    EXPECT_TRUE(driver.engine().cancel(id, driver.now));
    EXPECT_FALSE(driver.engine().cancel(id, driver.now));
    driver.settle();
    ASSERT_EQ(done->code(), errc::request_canceled);
    EXPECT_TRUE(done->result.error->is_ambiguous);
    EXPECT_EQ(driver.closes.back().first, cluster_.http_requests[0].connection);
}

TEST_F(http_flow, closing_the_client_ends_each_operation_once) {
    cluster_.answer_http({.is_silent = true});
    connected_driver driver(cluster_);
    std::vector<engine_driver::outcome_ptr> all;
    for (int round = 0; round < 30; ++round) {
        all.push_back(driver.start_http(readonly_request("{}")));
    }
    driver.settle();
    driver.engine().close(driver.now);
    all.push_back(driver.start_http(readonly_request("{}")));
    driver.settle();
    for (const auto& one : all) {
        EXPECT_EQ(one->code(), errc::request_canceled);
    }
    EXPECT_EQ(driver.engine().statistics().operations_open, 0U);
}

// --- rows ---

TEST_F(http_flow, RH_45_an_answer_whose_rows_were_taken_is_never_retried) {
    cluster_.on_http = [](const seen_http_request&) {
        scripted_http_answer answer;
        answer.raw =
            "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"results\":[{\"a\":1},{\"a\":2},";
        return answer;
    };
    connected_driver driver(cluster_);
    row_batch batch;
    auto request = readonly_request("{}");
    request.on_rows = [&] { driver.engine().take_rows(driver.last_id, batch, driver.now); };
    auto done = driver.settled(driver.start_http(std::move(request)));
    EXPECT_EQ(batch.size(), 2U);
    driver.close_peer(cluster_.http_requests[0].connection);
    driver.advance(1s);
    EXPECT_EQ(done->code(), errc::request_canceled);
    EXPECT_EQ(sent(), 1U);
}

TEST_F(http_flow, RH_45_rows_that_were_not_taken_are_dropped_and_the_request_is_retried) {
    answer_with(
        {cut_answer("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"results\":[{\"a\":1},"),
         rows()});
    connected_driver driver(cluster_);
    auto done = driver.after(1s, driver.start_http(readonly_request("{}")));
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    EXPECT_EQ(done->result.http->rows.size(), 1U) << "only the rows of the second answer";
    EXPECT_EQ(sent(), 2U);
}

TEST_F(http_flow, rows_wait_in_bounded_memory_until_they_are_taken) {
    std::string body = R"({"results":[)";
    constexpr std::size_t row_count = 20000;
    for (std::size_t row = 0; row < row_count; ++row) {
        body += row == 0 ? "" : ",";
        body += R"({"number":)" + std::to_string(row) + "}";
    }
    body += "]}";
    answer_with({status(200, body)});
    engine_driver driver(cluster_);
    driver.read_size = 4096;
    driver.connect();
    auto request = readonly_request("{}");
    request.rows_size_max_bytes = 16384;
    int notified = 0;
    request.on_rows = [&] { ++notified; };
    auto done = driver.start_http(std::move(request));
    const operation_id id = driver.last_id;
    driver.settle();
    EXPECT_EQ(notified, 1);
    EXPECT_EQ(done->calls, 0);
    ASSERT_EQ(sent(), 1U);
    EXPECT_TRUE(driver.is_paused(cluster_.http_requests[0].connection));
    std::size_t taken = 0;
    row_batch batch;
    for (int round = 0; round < 1000 && done->calls == 0; ++round) {
        ASSERT_TRUE(driver.engine().take_rows(id, batch, driver.now));
        EXPECT_LE(batch.size_bytes(), 16384U + 4096U);
        for (std::size_t row = 0; row < batch.size(); ++row) {
            ASSERT_EQ(batch[row], R"({"number":)" + std::to_string(taken + row) + "}");
        }
        taken += batch.size();
        driver.settle();
    }
    ASSERT_EQ(done->calls, 1);
    taken += done->result.http->rows.size();
    EXPECT_EQ(taken, row_count);
    EXPECT_EQ(done->result.http->row_count, row_count);
}

// Reading stopped for a reader that did not exist, or that had nothing to take, and the call waited
// until its deadline.
TEST_F(http_flow, reading_stops_only_for_rows_that_a_reader_can_take) {
    struct bounded {
        std::size_t size_max = 0;
        bool is_streamed = false;
        bool is_whole = true;  // the rows do not exceed the bound
    };
    for (const bounded each : {bounded{2, false}, bounded{0, true}, bounded{0, false, false}}) {
        cluster_.answer_http({.is_silent = true});
        connected_driver driver(cluster_);
        auto request = readonly_request("{}");
        request.rows_size_max_bytes = each.size_max;
        row_batch batch;
        std::size_t taken = 0;
        const auto take = [&] {
            static_cast<void>(driver.engine().take_rows(driver.last_id, batch, driver.now));
            taken += batch.size();
        };
        if (each.is_streamed) {
            request.on_rows = take;
        }
        const auto done = driver.settled(driver.start_http(std::move(request)));
        for (const char* const piece :
             {"HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n", R"({"results":[)", "11", "]",
              "} "}) {
            const connection_id used = cluster_.http_requests.back().connection;
            ASSERT_FALSE(driver.is_paused(used)) << piece;
            if (done->calls == 0) {
                driver.send(used, base::as_bytes(std::string_view(piece)));
                driver.settle();
            }
        }
        driver.advance(1ms);
        ASSERT_EQ(done->calls, 1);
        EXPECT_EQ(!done->result.ec, each.is_whole) << done->result.ec.message();
        const std::size_t kept = done->result.http->rows.size();
        EXPECT_EQ(taken + kept, 1U);
    }
}

TEST_F(http_flow, streamed_rows_stay_in_the_received_block_and_kept_rows_release_it) {
    const std::string body = R"({"results":[{"a":1},{"a":2}],"status":"success"})";
    cluster_.on_http = [&](const seen_http_request&) {
        scripted_http_answer answer;
        answer.raw =
            "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
        return answer;
    };
    connected_driver driver(cluster_);
    for (const bool is_streamed : {true, false}) {
        auto request = readonly_request("{}");
        if (is_streamed) {
            request.on_rows = [] {};
        }
        const auto done = driver.settled(driver.start_http(std::move(request)));
        const auto block = base::block_ref::make(body.size());
        std::ranges::copy(base::as_bytes(body), block.bytes().begin());
        driver.engine().on_bytes(
            cluster_.http_requests.back().connection, block, block.bytes(), driver.now);
        driver.settle();
        ASSERT_EQ(done->calls, 1);
        ASSERT_EQ(done->result.http->rows.size(), 2U);
        EXPECT_EQ(done->result.http->rows[1], R"({"a":2})");
        EXPECT_EQ(block.is_unique(), !is_streamed);
        done->result.http->rows.clear();
        EXPECT_TRUE(block.is_unique());
    }
}

// --- bad input ---

class bad_http_answers : public http_flow {
protected:
    void expect_refused(const std::string& raw, std::string_view word) {
        SCOPED_TRACE(raw);
        answer_with({cut_answer(raw)});
        connected_driver driver(cluster_);
        auto done = driver.after(1s, driver.start_http(query_request("{}")));
        ASSERT_EQ(done->code(), errc::parsing_failure) << done->result.ec.message();
        EXPECT_TRUE(done->result.error->is_ambiguous) << "the statement may have been run";
        EXPECT_NE(done->result.error->detail.find(word), std::string::npos)
            << done->result.error->detail;
        EXPECT_EQ(sent(), 1U);
    }
};

TEST_F(bad_http_answers, malformed_ones_close_the_connection_with_a_named_error) {
    expect_refused("HTTP/3.7 YES\r\n\r\n", "version");
    cluster_.http_requests.clear();
    expect_refused("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "length");
    cluster_.http_requests.clear();
    expect_refused(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n", "chunk");
    cluster_.http_requests.clear();
    expect_refused(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "compressed");
    cluster_.http_requests.clear();
    expect_refused(
        "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"results\":x", "not a valid result");
    cluster_.http_requests.clear();
    expect_refused("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"results\":[", "truncated");
}

TEST_F(http_flow, redirects_are_never_followed) {
    scripted_http_answer moved = status(307);
    moved.headers.push_back({"Location", "http://elsewhere:1/"});
    answer_with({moved});
    connected_driver driver(cluster_);
    const std::size_t connects = driver.connects.size();
    auto done = driver.after(1s, driver.start_http(readonly_request("{}")));
    ASSERT_EQ(done->calls, 1);
    EXPECT_EQ(done->result.error->status, 307);
    EXPECT_EQ(driver.connects.size(), connects + 1);
    EXPECT_EQ(sent(), 1U);
}

TEST_F(http_flow, a_reset_does_not_complete_a_body_without_a_length) {
    scripted_http_answer answer;
    answer.raw = "HTTP/1.1 200 OK\r\n\r\n{\"results\":[]}";
    for (const close_reason reason : {close_reason::end_of_stream, close_reason::reset}) {
        answer_with({answer});
        connected_driver driver(cluster_);
        const auto done = driver.settled(driver.start_http(query_request("{}")));
        ASSERT_EQ(done->calls, 0);
        driver.close_peer(cluster_.http_requests.back().connection, reason);
        driver.settle();
        const bool is_complete = reason == close_reason::end_of_stream;
        EXPECT_EQ(done->code(), is_complete ? std::error_code() : errc::request_canceled);
        EXPECT_TRUE(is_complete || done->result.error->is_ambiguous);
    }
}

TEST_F(http_flow, an_informational_answer_is_skipped) {
    scripted_http_answer answer;
    answer.raw =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n"
        "{\"results\":[]}";
    answer_with({answer});
    connected_driver driver(cluster_);
    auto done = driver.settled(driver.start_http(readonly_request("{}")));
    ASSERT_TRUE(done->has_succeeded());
}

TEST_F(http_flow, a_kept_connection_that_the_server_closes_is_replaced) {
    connected_driver driver(cluster_);
    driver.start_http(query_request("{}"));
    driver.settle();
    driver.close_peer(cluster_.http_requests[0].connection, close_reason::end_of_stream);
    std::vector<engine_driver::outcome_ptr> all;
    for (int round = 0; round < 4; ++round) {
        all.push_back(driver.start_http(query_request("{}")));
        driver.settle();
    }
    for (const auto& one : all) {
        EXPECT_EQ(one->calls, 1);
        EXPECT_FALSE(one->result.ec);
    }
}

TEST_F(http_flow, a_node_that_refuses_connections_is_replaced_by_another) {
    cluster_.nodes[1].refuses_connections = true;
    connected_driver driver(cluster_);
    for (int round = 0; round < 4; ++round) {
        auto done = driver.after(50ms, driver.start_http(query_request("{}")));
        ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    }
    for (const auto& seen : cluster_.http_requests) {
        EXPECT_EQ(seen.node, 0U);
    }
}

}  // namespace
}  // namespace reprise::engine::testing
