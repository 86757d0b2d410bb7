#include <gtest/gtest.h>

#include <reprise/services/query_request.hpp>

#include "engine_driver.hpp"

// Bytes that answer no request, on connections that carry one answer for each request.

namespace reprise::engine::testing::http_left_over_test {

constexpr std::uint16_t query_port = 8093;

std::string answer_with(int row) {
    const std::string body = "{\"results\":[" + std::to_string(row) + "],\"status\":\"success\"}";
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The first connection answers only with what the test sends; all others answer with row 2.
class http_left_over : public ::testing::Test {
protected:
    http_left_over() {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, query_port);
        cluster_.on_http = [this](const seen_http_request& seen) {
            scripted_http_answer answer;
            answer.is_silent = !first_ || *first_ == seen.connection;
            first_ = first_.value_or(seen.connection);
            answer.body = "{\"results\":[2],\"status\":\"success\"}";
            return answer;
        };
    }
    static engine_options one_connection() {
        engine_options options;
        options.http_connections_per_node_max = 1;
        return options;
    }
    static engine_driver::outcome_ptr start(engine_driver& driver, bool is_readonly = true) {
        return driver.start_http(
            std::move(*services::make_query_operation("SELECT 1", {.readonly = is_readonly})));
    }
    static void expect_row(const engine_driver::outcome_ptr& done, int row) {
        ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
        ASSERT_EQ(done->result.http->rows.size(), 1U);
        EXPECT_EQ(done->result.http->rows[0], std::to_string(row));
    }
    void send(engine_driver& driver, std::string_view bytes) {
        driver.send(*first_, base::as_bytes(bytes));
    }

    scripted_cluster cluster_{1};
    std::optional<connection_id> first_;
};

TEST_F(http_left_over, RH_47_two_answers_at_once_never_reach_two_requests) {
    const std::string both = answer_with(1) + answer_with(9);
    for (const bool is_waiting : {false, true}) {
        for (std::size_t split = 1; split <= both.size(); ++split) {
            SCOPED_TRACE(split);
            first_.reset();
            connected_driver driver(cluster_, one_connection());
            const auto first = start(driver);
            driver.settle();
            ASSERT_TRUE(first_);
            // Either waits for the connection, or finds it idle afterwards.
            auto second = is_waiting ? start(driver) : nullptr;
            send(driver, both.substr(0, split));
            if (split < both.size()) {
                send(driver, both.substr(split));
            }
            second = second ? second : start(driver);
            driver.advance(100ms);
            expect_row(first, 1);
            expect_row(second, 2);
        }
    }
}

TEST_F(http_left_over, RH_47_bytes_on_an_idle_connection_close_it) {
    for (const std::string_view stray : {"\r\n", "\n", "x", "HTTP/1.1 200 OK\r\n"}) {
        first_.reset();
        connected_driver driver(cluster_);
        const auto first = start(driver);
        driver.settle();
        send(driver, answer_with(1));
        driver.settle();
        expect_row(first, 1);
        send(driver, stray);
        driver.settle();
        const auto second = start(driver);
        driver.advance(100ms);
        expect_row(second, 2);
    }
}

TEST_F(http_left_over, RH_47_RH_16_a_request_written_before_stray_bytes_is_lost_in_flight) {
    for (const bool is_readonly : {true, false}) {
        first_.reset();
        connected_driver driver(cluster_);
        const auto done = start(driver, is_readonly);
        driver.settle();
        send(driver, "\r\n" + answer_with(9));
        driver.advance(100ms);
        if (is_readonly) {
            expect_row(done, 2);
            EXPECT_EQ(
                done->result.history->entries[0].reason_as<retry_reason>(),
                retry_reason::socket_closed_while_in_flight);
        } else {
            ASSERT_EQ(done->code(), errc::request_canceled);
            EXPECT_TRUE(done->result.error->is_ambiguous);
        }
    }
}

}  // namespace reprise::engine::testing::http_left_over_test
