#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <future>
#include <string>
#include <vector>

#include <reprise/couchbase/asio.hpp>

#include "live_services.hpp"

// Answers that are wrong, truncated or senseless cause a named error, never a wrong result, and
// never a second run of a statement that may have written.

namespace bad_answers_test {

using namespace live_services;
namespace asio = boost::asio;

struct bad_answer {
    const char* name;
    sandbox::service_fault_effect effect;
};

std::vector<bad_answer> all_bad_answers() {
    return {
        {"longer than it says", sandbox::service_fault_wrong_length{-3}},
        {"shorter than it says", sandbox::service_fault_wrong_length{10}},
        {"closed after the headers", sandbox::service_fault_close_after_headers{}},
        {"closed in the body", sandbox::service_fault_close_mid_body{5}},
        {"chunked nonsense", sandbox::service_fault_bad_chunk{}},
        {"encoding nobody asked for", sandbox::service_fault_unasked_encoding{}},
        {"redirect", sandbox::service_fault_redirect{302, "/query/service"}},
        {"moved", sandbox::service_fault_redirect{308, "http://127.0.0.1:1/"}},
        {"no json", sandbox::service_fault_answer{200, {}, "<html></html>"}},
        {"json cut off", sandbox::service_fault_answer{200, {}, R"({"results":[1,2)"}},
        {"json with more behind", sandbox::service_fault_answer{200, {}, R"({"results":[]} x)"}},
        {"empty", sandbox::service_fault_answer{200, {}, ""}},
        {"no status", sandbox::service_fault_answer{200, {}, R"({"results":[1]})"}},
        {"errors with 200", query_error(5000, "broken")},
        {"errors of no shape",
         sandbox::service_fault_answer{200, {}, R"({"results":[],"errors":7,"status":"success"})"}},
        {"bare 500", sandbox::service_fault_answer{500, {}, ""}},
        {"bare 999", sandbox::service_fault_answer{999, {}, "{}"}},
    };
}

TEST(bad_answers, a_reading_statement_ends_with_an_error_and_never_with_wrong_rows) {
    const auto [server, cluster] = connected(start_services());
    for (const auto& [name, effect] : all_bad_answers()) {
        server->with_cluster([](sandbox::cluster& at) { at.services().faults().clear(); });
        add_rule(*server, disturb(service::query, effect, 1'000'000));
        const auto result = cluster.query("SELECT RAW 1", {.timeout = 100ms, .readonly = true});
        EXPECT_FALSE(result) << name;
        if (!result) {
            EXPECT_FALSE(result.error().is_ambiguous()) << name << ": " << result.error();
            EXPECT_NE(result.error().code().message(), "") << name;
        }
    }
    server->with_cluster([](sandbox::cluster& at) { at.services().faults().clear(); });
    const auto healthy = cluster.query("SELECT RAW 1", {.readonly = true});
    EXPECT_TRUE(healthy) << words(healthy);
}

TEST(bad_answers, a_writing_statement_is_never_sent_twice) {
    const auto [server, cluster] = connected(start_services());
    int number = 0;
    for (const auto& [name, effect] : all_bad_answers()) {
        server->with_cluster([](sandbox::cluster& at) { at.services().faults().clear(); });
        add_rule(*server, disturb(service::query, effect));
        const std::string context = "write-" + std::to_string(++number);
        const auto result = cluster.query(
            R"(INSERT INTO travel (KEY, VALUE) VALUES ($1, 1))",
            {.timeout = 5s, .positional = {context}, .client_context_id = context});
        EXPECT_FALSE(result) << name;
        EXPECT_EQ(seen(*server, context).first, 1U) << name;
        EXPECT_LE(seen(*server, context).second, 1U) << name;
    }
}

TEST(bad_answers, a_redirect_is_not_followed) {
    const auto [server, cluster] = connected(start_services());
    add_rule(
        *server,
        disturb(service::management, sandbox::service_fault_redirect{302, "/pools/default"}));
    const auto result = must_fail(cluster.management_request({.target = "/pools/default/buckets"}));
    EXPECT_EQ(result.info().status, 302) << result;
    EXPECT_EQ(requests_to(*server, service::management), 1U);
}

TEST(bad_answers, continue_before_the_answer_is_skipped) {
    const auto [server, cluster] = connected(start_services());
    add_rule(*server, disturb(service::query, sandbox::service_fault_continue_first{3}));
    const auto result = must(cluster.query("SELECT RAW 1"));
    EXPECT_EQ(result.rows.size(), 1U);
}

TEST(bad_answers, invalid_bytes_after_many_rows_are_an_error_after_these_rows) {
    const auto [server, cluster] = connected(start_services());
    std::string body = R"({"results":[)";
    for (int i = 0; i < 20000; ++i) {
        body += "{\"n\":" + std::to_string(i) + "},";
    }
    body += "?";
    add_rule(*server, disturb(service::query, sandbox::service_fault_answer{200, {}, body}));
    auto stream =
        must(cluster.query_stream("SELECT 1", {.readonly = true, .rows_size_max_bytes = 1024}));
    std::size_t count = 0;
    auto row = stream.next();
    for (; row && *row; row = stream.next()) {
        ++count;
    }
    ASSERT_FALSE(row);
    EXPECT_EQ(count, 20000U);
    EXPECT_NE(row.error().message().find("not a valid result"), std::string::npos) << row.error();
}

TEST(bad_answers, a_slow_answer_ends_at_the_timeout) {
    const auto [server, cluster] = connected(start_services());
    add_rule(*server, disturb(service::search, sandbox::fault_delay{10s}));
    const auto result = must_fail(
        cluster.search("words", couchbase::search_query::match_all(), {.timeout = 100ms}));
    EXPECT_EQ(result.code(), errc::unambiguous_timeout) << result;
}

TEST(bad_answers, cancellation_ends_a_waiting_call) {
    const auto [server, cluster] = connected(start_services());
    add_rule(*server, disturb(service::query, sandbox::fault_no_answer{}, 2));
    asio::cancellation_signal signal;
    std::promise<std::expected<couchbase::query_result, couchbase::error>> ended;
    cluster.async_query(
        R"(UPSERT INTO travel (KEY, VALUE) VALUES ("c", 1))", {.client_context_id = "canceled"},
        asio::bind_cancellation_slot(
            signal.slot(), [&](auto result) { ended.set_value(std::move(result)); }));
    while (seen(*server, "canceled").first == 0) {
        std::this_thread::yield();
    }
    signal.emit(asio::cancellation_type::terminal);
    const auto result = must_fail(ended.get_future().get());
    EXPECT_EQ(result.code(), errc::request_canceled) << result;
    EXPECT_TRUE(result.is_ambiguous());
    EXPECT_EQ(seen(*server, "canceled").first, 1U);
}

}  // namespace bad_answers_test
