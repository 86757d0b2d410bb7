#include <gtest/gtest.h>

#include <reprise/engine/service_exchange.hpp>

#include "engine_driver.hpp"
#include "planted_choice.hpp"

// Each planted bug of HTTP operations, seen on the smallest script that shows it.

namespace reprise::engine::testing {
namespace http_bugs_tests {

using namespace std::chrono_literals;

// One node with a query service that gives these answers one after the other, the last one again
// and again.
struct query_scene {
    explicit query_scene(std::vector<scripted_http_answer> answers) {
        cluster.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
        cluster.on_http = [answers = std::move(answers),
                           next = std::size_t{0}](const seen_http_request&) mutable {
            return answers[std::min(next++, answers.size() - 1)];
        };
        driver.connect();
    }
    std::size_t sent() const { return cluster.http_requests.size(); }

    scripted_cluster cluster{1};
    engine_driver driver{cluster};
};

scripted_http_answer answer_of(int status, std::string body, http::header_list headers = {}) {
    scripted_http_answer answer;
    answer.status = status;
    answer.body = std::move(body);
    answer.headers = std::move(headers);
    return answer;
}

scripted_http_answer silent() {
    scripted_http_answer answer;
    answer.is_silent = true;
    return answer;
}

scripted_http_answer good() {
    return answer_of(200, R"({"results":[1,2],"status":"success"})");
}

std::string error_text(int code, std::string_view rows, bool is_retry_advised) {
    return R"({"results":[)" + std::string(rows) + R"(],"errors":[{"code":)" +
           std::to_string(code) + R"(,"msg":"no","retry":)" +
           (is_retry_advised ? "true" : "false") + R"(}],"status":"errors"})";
}

http_request select_request(std::shared_ptr<wire::prepared_cache> cache = nullptr) {
    wire::query_request asked;
    asked.statement = "SELECT 1";
    asked.is_readonly = true;
    query_plan plan;
    plan.cache = std::move(cache);
    return std::move(*make_query_operation(std::move(asked), std::move(plan)));
}

// Two rows, of which more could follow; the connection stays open.
scripted_http_answer two_rows() {
    scripted_http_answer answer;
    answer.raw = "HTTP/1.1 200 OK\r\nContent-Length: 38\r\n\r\n{\"results\":[1,2,";
    return answer;
}

// A call of which two rows have come and were taken.
struct half_read_call {
    explicit half_read_call(query_scene& scene) {
        http_request request = select_request();
        request.on_rows = [] {};
        done = scene.driver.start_http(std::move(request));
        scene.driver.settle();
        row_batch batch;
        EXPECT_TRUE(scene.driver.engine().take_rows(scene.driver.last_id, batch, scene.driver.now));
        taken = batch.size();
        connection = scene.cluster.http_requests.at(0).connection;
    }
    engine_driver::outcome_ptr done;
    std::size_t taken = 0;
    connection_id connection{};
};

}  // namespace http_bugs_tests

using namespace http_bugs_tests;

TEST(planted_http_bugs, redirect_followed) {
    const auto seen = observe_both(bug::redirect_followed, [] {
        query_scene scene({answer_of(307, "", {{"Location", "/elsewhere"}}), good()});
        scene.driver.start_http(select_request());
        scene.driver.advance(1s);
        return scene.cluster.http_requests.back().request.target;
    });
    EXPECT_EQ(seen.without, "/query/service");
    EXPECT_EQ(seen.with, "/elsewhere");
}

TEST(planted_http_bugs, statement_sent_again) {
    const auto seen = observe_both(bug::statement_sent_again, [] {
        query_scene scene({closing(), good()});
        scene.driver.start_http(query_request("{}"));
        scene.driver.advance(1s);
        return scene.sent();
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 2U);
}

TEST(planted_http_bugs, prepared_not_renewed) {
    const auto seen = observe_both(bug::prepared_not_renewed, [] {
        query_scene scene({answer_of(404, error_text(4040, "", false)), good()});
        const auto cache = std::make_shared<wire::prepared_cache>();
        cache->put("SELECT 1", "", {"old", {}});
        scene.driver.start_http(select_request(cache));
        scene.driver.advance(1s);
        const std::string& second = scene.cluster.http_requests.at(1).request.body;
        return second.find("PREPARE SELECT 1") != std::string::npos;
    });
    EXPECT_TRUE(seen.without);
    EXPECT_FALSE(seen.with);
}

TEST(planted_http_bugs, rows_handed_out_twice) {
    const auto seen = observe_both(bug::rows_handed_out_twice, [] {
        query_scene scene({two_rows()});
        const half_read_call call(scene);
        scene.driver.send(call.connection, base::as_bytes(R"(3],"status":"success"})"));
        scene.driver.settle();
        EXPECT_EQ(call.done->calls, 1);
        return call.taken + call.done->result.http->rows.size();
    });
    EXPECT_EQ(seen.without, 3U);
    EXPECT_EQ(seen.with, 5U);
}

TEST(planted_http_bugs, failed_rows_handed_out) {
    const auto seen = observe_both(bug::failed_rows_handed_out, [] {
        query_scene scene({answer_of(200, error_text(1181, "1,2", true))});
        http_request request = select_request();
        request.on_rows = [] {};
        scene.driver.start_http(std::move(request));
        scene.driver.settle();  // it waits for its retry now
        row_batch batch;
        EXPECT_TRUE(scene.driver.engine().take_rows(scene.driver.last_id, batch, scene.driver.now));
        return batch.size();
    });
    EXPECT_EQ(seen.without, 0U);
    EXPECT_EQ(seen.with, 2U);
}

TEST(planted_http_bugs, retried_after_rows) {
    const auto seen = observe_both(bug::retried_after_rows, [] {
        query_scene scene({two_rows(), good()});
        const half_read_call call(scene);
        scene.driver.close_peer(call.connection);
        scene.driver.advance(1s);
        EXPECT_EQ(call.done->calls, 1);
        return scene.sent();
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 2U);
}

TEST(planted_http_bugs, error_after_rows_missed) {
    const auto seen = observe_both(bug::error_after_rows_missed, [] {
        query_scene scene({answer_of(200, error_text(5000, "1", false))});
        const auto done = scene.driver.start_http(select_request());
        scene.driver.advance(1s);
        return done->result.ec == errc::internal_server_failure;
    });
    EXPECT_TRUE(seen.without);
    EXPECT_FALSE(seen.with);
}

TEST(planted_http_bugs, unread_connection_kept) {
    const auto seen = observe_both(bug::unread_connection_kept, [] {
        query_scene scene({silent()});
        http_request first = select_request();
        first.timeout = 10ms;
        scene.driver.start_http(std::move(first));
        scene.driver.advance(20ms);
        scene.driver.start_http(select_request());
        scene.driver.advance(20ms);
        return scene.cluster.http_requests.at(0).connection ==
               scene.cluster.http_requests.at(1).connection;
    });
    EXPECT_FALSE(seen.without);
    EXPECT_TRUE(seen.with);
}

TEST(planted_http_bugs, retry_after_ignored) {
    const auto seen = observe_both(bug::retry_after_ignored, [] {
        query_scene scene(
            {answer_of(503, error_text(1181, "", true), {{"Retry-After", "2"}}), good()});
        scene.driver.start_http(select_request());
        scene.driver.advance(3s);
        const auto& all = scene.cluster.http_requests;
        return duration{all.at(1).at - all.at(0).at};
    });
    EXPECT_EQ(seen.without, 2s);
    EXPECT_EQ(seen.with, 1ms);
}

}  // namespace reprise::engine::testing
