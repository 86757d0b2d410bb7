#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Answers that are much larger than the bound of waiting rows, in virtual time.

namespace reprise::engine::testing::many_rows_test {

constexpr std::uint16_t query_port = 8093;
constexpr std::size_t rows_size_max = 64 * 1024;
constexpr std::size_t chunk_row_count = 1000;

// A query whose answer the test sends in chunks, and whose rows it takes.
class long_answer {
public:
    long_answer() : driver_(cluster_) {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, query_port);
        cluster_.answer_http({.is_silent = true});
        driver_.connect();
        auto request = query_request("{}");
        request.rows_size_max_bytes = rows_size_max;
        request.on_rows = [] {};
        done_ = driver_.start_http(std::move(request));
        driver_.settle();
        send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        send_chunk(R"({"results":[)");
    }
    // Sends numbered rows, each with a comma behind it.
    void send_rows(std::size_t count) {
        for (std::size_t sent = 0; sent < count; sent += chunk_row_count) {
            std::string rows;
            for (std::size_t row = 0; row < chunk_row_count; ++row) {
                rows += R"({"n":)" + std::to_string(next_number_++) + "},";
            }
            largest_chunk_ = std::max(largest_chunk_, rows.size());
            send_chunk(rows);
            take();
        }
    }
    void send_chunk(const std::string& bytes) {
        std::vector<std::byte> out;
        http::encode_chunk(out, base::as_bytes(bytes));
        send(base::as_text(out));
    }
    void send_end() { send("0\r\n\r\n"); }
    void send(std::string_view bytes) {
        driver_.send(cluster_.http_requests.at(0).connection, base::as_bytes(bytes));
        driver_.settle();
    }
    // Takes the waiting rows and checks that their numbers are consecutive.
    void take() {
        if (!driver_.engine().take_rows(driver_.last_id, batch_, driver_.now)) {
            return;
        }
        EXPECT_LE(batch_.size_bytes(), rows_size_max + largest_chunk_);
        for (std::size_t row = 0; row < batch_.size(); ++row) {
            ASSERT_EQ(batch_[row], R"({"n":)" + std::to_string(taken_++) + "}");
        }
        driver_.settle();
    }
    [[nodiscard]] std::size_t taken() const noexcept { return taken_; }
    [[nodiscard]] const engine_driver::outcome& done() const noexcept { return *done_; }

private:
    scripted_cluster cluster_{1};
    engine_driver driver_;
    engine_driver::outcome_ptr done_;
    row_batch batch_;
    std::size_t next_number_ = 0;
    std::size_t taken_ = 0;
    std::size_t largest_chunk_ = 0;
};

constexpr std::size_t million = 1'000'000;

TEST(many_rows, a_million_rows_pass_in_order_and_little_waits) {
    long_answer answer;
    answer.send_rows(million);
    answer.send_chunk(R"({"n":1000000}],"status":"success"})");
    answer.send_end();
    ASSERT_EQ(answer.done().calls, 1);
    EXPECT_FALSE(answer.done().result.ec) << answer.done().result.ec.message();
    EXPECT_EQ(answer.taken(), million);
    EXPECT_EQ(answer.done().result.http->rows.size(), 1U);
    EXPECT_EQ(answer.done().result.http->row_count, million + 1);
    EXPECT_EQ(answer.done().result.http->body, R"({"results":[],"status":"success"})");
}

TEST(many_rows, RH_45_invalid_json_after_a_million_rows_is_an_error_after_a_million_rows) {
    long_answer answer;
    answer.send_rows(million);
    EXPECT_EQ(answer.done().calls, 0);
    answer.send_chunk(R"({"n":oops},{"n":2}],"status":"success"})");
    ASSERT_EQ(answer.done().calls, 1);
    EXPECT_EQ(answer.done().result.ec, errc::parsing_failure);
    EXPECT_EQ(answer.taken(), million);
    EXPECT_TRUE(answer.done().result.http->rows.empty());
    EXPECT_EQ(answer.done().result.http->row_count, million);
}

TEST(many_rows, a_row_over_its_bound_after_many_rows_is_an_error) {
    long_answer answer;
    answer.send_rows(10 * chunk_row_count);
    const std::string part(4 * million, 'x');
    answer.send_chunk("{\"n\":\"");
    for (int round = 0; round < 6 && answer.done().calls == 0; ++round) {
        answer.send_chunk(part);
    }
    ASSERT_EQ(answer.done().calls, 1);
    EXPECT_EQ(answer.done().result.ec, errc::parsing_failure);
    EXPECT_EQ(answer.taken(), 10 * chunk_row_count);
}

}  // namespace reprise::engine::testing::many_rows_test
