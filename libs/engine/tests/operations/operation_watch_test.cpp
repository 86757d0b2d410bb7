#include <gtest/gtest.h>

#include "range_scans.hpp"

// Tests the events that observers of key-value and HTTP operations receive, from start to end.

namespace reprise::engine::testing::operation_watch_tests {

class operation_book final : public operation_observer {
public:
    void on_start(const operation_start& record) noexcept override {
        write("start", record.which, record.bucket);
        has_user_data = has_user_data || record.user_data != nullptr;
    }
    void on_attempt(const operation_attempt& record) noexcept override {
        write(
            record.is_continued ? "continue" : "attempt", record.which,
            std::to_string(record.retries));
        endpoint = record.endpoint;
    }
    void on_decision(
        const operation_identity& which, const decision_record& record) noexcept override {
        if (which.id != 0) {
            write(record.is_retried ? "retry" : "refuse", which, to_string(record.reason));
        }
    }
    void on_end(const operation_end& record) noexcept override {
        write(record.error ? "failed" : "done", record.which, std::to_string(record.retries));
        last = record;
    }
    void on_orphan(const couchbase::orphan_record& record) noexcept override {
        orphans.emplace_back(record.endpoint);
    }

    std::vector<std::string> lines;
    std::vector<std::string> orphans;
    std::string endpoint;
    operation_end last;
    bool has_user_data = false;
    bool has_other_ids = false;

private:
    void write(
        std::string_view what, const operation_identity& which, std::string_view detail) noexcept {
        lines.push_back(
            std::string(what) + " " + std::string(which.service) + " " +
            std::string(which.operation) + " " + std::string(detail));
        has_other_ids = has_other_ids || (id_ != 0 && which.id != id_);
        id_ = which.id;
    }
    std::uint64_t id_ = 0;
};

struct watched {
    explicit watched(scripted_cluster& nodes) : driver(nodes, options_with(book)) {
        driver.connect();
    }
    static engine_options options_with(const std::shared_ptr<operation_book>& book) {
        engine_options options;
        options.operation_observers.push_back(book);
        return options;
    }
    std::shared_ptr<operation_book> book = std::make_shared<operation_book>();
    engine_driver driver;
};

TEST(operation_watch, a_retried_write_is_seen_from_start_to_end) {
    scripted_cluster cluster(1);
    watched w(cluster);
    cluster.on_request = [left = 1](const seen_request& seen) mutable -> std::optional<answer> {
        return seen.op == opcode::set && left-- > 0
                   ? std::optional(answer{.status = status::locked})
                   : std::nullopt;
    };
    auto request = w.driver.request(operation_kind::upsert, "k", "v");
    request.terms().user_data = std::make_shared<const std::any>(1);
    const auto stored = w.driver.after(100ms, w.driver.start(std::move(request)));
    ASSERT_TRUE(stored->result.has_value());
    ASSERT_EQ(w.book->lines.size(), 5U);
    EXPECT_TRUE(w.book->lines[0].starts_with("start kv upsert ")) << w.book->lines[0];
    EXPECT_GT(w.book->lines[0].size(), std::string_view("start kv upsert ").size());
    EXPECT_EQ(w.book->lines[1], "attempt kv upsert 0");
    EXPECT_EQ(w.book->lines[2], "retry kv upsert KV_LOCKED");
    EXPECT_EQ(w.book->lines[3], "attempt kv upsert 1");
    EXPECT_EQ(w.book->lines[4], "done kv upsert 1");
    EXPECT_EQ(w.book->last.total_time, 1ms);
    EXPECT_EQ(w.book->last.last_reason, retry_reason::kv_locked);
    EXPECT_EQ(w.book->last.ended, stored->at);
    EXPECT_FALSE(w.book->endpoint.empty());
    EXPECT_TRUE(w.book->has_user_data);
    EXPECT_FALSE(w.book->has_other_ids);
}

TEST(operation_watch, a_timeout_ends_with_its_error_and_its_late_answer_is_an_orphan) {
    scripted_cluster cluster(1);
    watched w(cluster);
    std::optional<seen_request> held;
    cluster.answer_each(opcode::get, [&](const seen_request& seen) {
        held = seen;
        return answer{.is_silent = true};
    });
    auto request = w.driver.request(operation_kind::get, "k");
    request.timeout = 10ms;
    const auto read = w.driver.after(20ms, w.driver.start(std::move(request)));
    EXPECT_EQ(w.book->lines.back(), "failed kv get 0");
    EXPECT_EQ(w.book->last.error, errc::unambiguous_timeout);
    EXPECT_EQ(w.book->last.total_time, 10ms);
    EXPECT_TRUE(w.book->orphans.empty());
    w.driver.send(held->connection, encoded(wire::document_response{}, header_for(held->opaque)));
    w.driver.settle();
    EXPECT_EQ(w.book->orphans, (std::vector<std::string>{w.book->endpoint}));
}

TEST(operation_watch, http_operations_are_seen_by_their_service) {
    scripted_cluster cluster(1);
    cluster.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
    cluster.on_http = [](const seen_http_request&) {
        scripted_http_answer rows;
        rows.body = R"({"results":[]})";
        return rows;
    };
    watched w(cluster);
    const auto asked = w.driver.after(100ms, w.driver.start_http(query_request("{}")));
    ASSERT_EQ(asked->calls, 1);
    ASSERT_EQ(w.book->lines.size(), 3U);
    EXPECT_TRUE(w.book->lines[0].starts_with("start query query")) << w.book->lines[0];
    EXPECT_EQ(w.book->lines[1], "attempt query query 0");
    EXPECT_EQ(w.book->lines[2], "done query query 0");
    EXPECT_TRUE(w.book->endpoint.ends_with(":8093")) << w.book->endpoint;
}

// Two requests of one attempt were taken for two attempts, of which the first had failed.
TEST(operation_watch, the_second_request_of_a_statement_continues_its_attempt) {
    scripted_cluster cluster(1);
    cluster.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
    cluster.answer_http({.body = R"({"results":[]})"});
    watched w(cluster);
    static constexpr exchange_result::step steps[] = {
        exchange_result::step::next, exchange_result::step::retry, exchange_result::step::next,
        exchange_result::step::done};
    const auto judge = [next = std::size_t{0}](const http_answer&) mutable {
        exchange_result verdict;
        verdict.what = steps[next++];
        verdict.reason = retry_reason::query_index_not_found;
        verdict.error = errc::temporary_failure;
        return verdict;
    };
    const auto asked = w.driver.after(100ms, w.driver.start_http(readonly_request("{}", judge)));
    ASSERT_TRUE(asked->has_succeeded());
    const std::vector<std::string> lines(w.book->lines.begin() + 1, w.book->lines.end());
    EXPECT_EQ(
        lines, (std::vector<std::string>{
                   "attempt query query 0", "continue query query 0",
                   "retry query query QUERY_INDEX_NOT_FOUND", "attempt query query 1",
                   "continue query query 1", "done query query 1"}));
}

TEST(operation_watch, the_requests_of_a_scan_continue_its_attempt) {
    scripted_cluster cluster(1);
    operation_scan_tests::scripted_scans scans;
    cluster.on_request = [&](const seen_request& seen) { return scans(seen); };
    watched w(cluster);
    for (int round = 0; round < 2; ++round) {
        auto request = w.driver.request(operation_kind::range_scan, "");
        request.scan = vbucket_scan{
            std::make_shared<scan_request>(
                scan_request{couchbase::range_scan{}, {.keys_only = true}}),
            wire::vbucket_id{1}};
        w.book->lines.clear();
        ASSERT_TRUE(w.driver.after(1s, w.driver.start(std::move(request)))->has_succeeded());
        ASSERT_EQ(w.book->lines.size(), 6U) << "four requests";
        EXPECT_TRUE(w.book->lines[1].starts_with("attempt kv")) << w.book->lines[1];
        for (std::size_t line = 2; line < 5; ++line) {
            EXPECT_TRUE(w.book->lines[line].starts_with("continue kv")) << w.book->lines[line];
        }
    }
}

}  // namespace reprise::engine::testing::operation_watch_tests
