#include <gtest/gtest.h>

#include <reprise/services/analytics_request.hpp>
#include <reprise/services/management_request.hpp>
#include <reprise/services/query_request.hpp>
#include <reprise/services/search_request.hpp>
#include <reprise/services/view_request.hpp>

#include "equipped_strategy.hpp"

// How answers of the HTTP services are handled by the engine and its retry rules.

namespace reprise::engine::testing {
namespace {

constexpr wire::service all_services[] = {
    wire::service::query, wire::service::analytics, wire::service::search, wire::service::views,
    wire::service::management};

class service_rules : public ::testing::Test {
protected:
    service_rules() : cluster_(2) {
        std::uint16_t port = 9000;
        for (const wire::service service : all_services) {
            for (scripted_node& node : cluster_.nodes) {
                node.services.set(service, wire::transport::plain, port);
            }
            ++port;
        }
    }
    using answers = std::vector<scripted_http_answer>;

    static scripted_http_answer answer(int status, std::string body) {
        scripted_http_answer made;
        made.status = status;
        made.body = std::move(body);
        return made;
    }
    static scripted_http_answer query_error(int code, std::string message, bool retry = false) {
        return answer(
            200, R"({"results":[],"errors":[{"code":)" + std::to_string(code) + R"(,"msg":")" +
                     message + R"(","retry":)" + (retry ? "true" : "false") +
                     R"(}],"status":"errors"})");
    }
    static scripted_http_answer success() {
        return answer(200, R"({"results":[1],"hits":[],"rows":[],"status":"success"})");
    }
    // The first request is answered as busy, with these headers.
    void busy_once_with(const http::header_list& headers) {
        cluster_.http_requests.clear();
        scripted_http_answer busy = query_error(23000, "busy");
        busy.headers = headers;
        cluster_.on_http = [this, busy](const seen_http_request&) {
            return cluster_.http_requests.size() == 1 ? busy : success();
        };
    }
    static services::service_operation_result readonly_analytics() {
        return services::make_analytics_operation("SELECT 1", {.readonly = true});
    }
    static services::service_operation_result one_view() {
        return services::make_view_operation("travel", "d", "v");
    }
    static services::service_operation_result search_all() {
        return services::make_search_operation("i", services::search_query::match_all());
    }
    // Gives these answers in turn, and repeats the last one.
    engine_driver::outcome_ptr run(
        engine_driver& driver, services::service_operation_result request, answers with) {
        cluster_.on_http = [with = std::move(with),
                            next = std::size_t{0}](const seen_http_request&) mutable {
            return with[std::min(next++, with.size() - 1)];
        };
        driver.connect();
        EXPECT_TRUE(request.has_value());
        http_request sent(std::move(*request));
        sent.timeout = 1s;
        auto done = driver.after(1100ms, driver.start_http(std::move(sent)));
        EXPECT_EQ(done->calls, 1);
        return done;
    }
    static services::service_operation_result readonly_query() {
        return services::make_query_operation("SELECT 1", {.readonly = true});
    }
    static services::service_operation_result writing_query() {
        return services::make_query_operation("DELETE FROM t");
    }
    void expect_retried(
        services::service_operation_result request, const scripted_http_answer& first,
        retry_reason reason) {
        cluster_.http_requests.clear();
        engine_driver driver(cluster_);
        const auto done = run(driver, std::move(request), {first, success()});
        EXPECT_FALSE(done->result.ec) << done->result.ec.message();
        ASSERT_NE(done->result.history, nullptr);
        EXPECT_EQ(done->result.history->entries[0].reason_as<retry_reason>(), reason);
        EXPECT_EQ(cluster_.http_requests.size(), 2U);
    }
    void expect_failed(
        services::service_operation_result request, const scripted_http_answer& only, errc error) {
        cluster_.http_requests.clear();
        engine_driver driver(cluster_);
        const auto done = run(driver, std::move(request), {only, success()});
        EXPECT_EQ(done->result.ec, error) << done->result.ec.message();
        EXPECT_EQ(cluster_.http_requests.size(), 1U);
    }

    scripted_cluster cluster_;
};

TEST_F(service_rules, RH_20_a_missing_index_is_retried) {
    expect_retried(
        readonly_query(), query_error(5000, "queryport.indexNotFound"),
        retry_reason::query_index_not_found);
    expect_failed(
        readonly_query(), query_error(5000, "something else"), errc::internal_server_failure);
}

TEST_F(service_rules, RH_42_an_error_flagged_by_the_server_is_retried_except_12016) {
    expect_retried(
        readonly_query(), query_error(12037, "later", true),
        retry_reason::service_response_code_indicated);
    expect_failed(readonly_query(), query_error(12016, "no index", true), errc::index_not_found);
    expect_failed(readonly_query(), query_error(12037, "later", false), errc::index_failure);
}

TEST_F(service_rules, RH_42_a_statement_that_may_write_is_sent_once_whatever_is_flagged) {
    for (const int code : {1080, 12008, 5999, 1181}) {
        cluster_.http_requests.clear();
        engine_driver driver(cluster_);
        const auto done =
            run(driver, writing_query(), {query_error(code, "later", true), success()});
        EXPECT_EQ(cluster_.http_requests.size(), 1U) << code;
        ASSERT_TRUE(done->result.error);
        EXPECT_TRUE(done->result.error->is_ambiguous) << code;
        EXPECT_EQ(done->result.ec == errc::ambiguous_timeout, code == 1080) << code;
    }
    expect_retried(
        writing_query(), query_error(1201, "queue full", true),
        retry_reason::service_response_code_indicated);
}

TEST_F(service_rules, RH_29_the_servers_own_timeout_is_ambiguous_unless_readonly) {
    const auto late = answer(200, R"({"results":[],"status":"timeout"})");
    expect_failed(writing_query(), late, errc::ambiguous_timeout);
    expect_failed(readonly_query(), late, errc::unambiguous_timeout);
    expect_failed(writing_query(), query_error(1080, "late"), errc::ambiguous_timeout);
    expect_failed(readonly_query(), query_error(1080, "late"), errc::unambiguous_timeout);
    expect_failed(
        services::make_analytics_operation("SELECT 1"), query_error(21002, "late"),
        errc::ambiguous_timeout);
    expect_failed(readonly_analytics(), query_error(21002, "late"), errc::unambiguous_timeout);
}

TEST_F(service_rules, RH_29_a_failed_request_is_ambiguous_if_the_server_may_have_acted) {
    const auto is_ambiguous = [&](services::service_operation_result request, int status,
                                  std::string body) {
        engine_driver driver(cluster_);
        const auto done =
            run(driver, std::move(request), {answer(status, std::move(body)), success()});
        return done->result.error && done->result.error->is_ambiguous;
    };
    EXPECT_TRUE(is_ambiguous(writing_query(), 503, ""));
    EXPECT_TRUE(is_ambiguous(writing_query(), 200, "not JSON"));
    EXPECT_FALSE(is_ambiguous(writing_query(), 404, ""));
    EXPECT_FALSE(is_ambiguous(writing_query(), 400, "not JSON"));
    EXPECT_FALSE(is_ambiguous(readonly_query(), 503, ""));
    const auto managed = [](std::string_view method) {
        services::service_call call;
        call.method = method;
        call.target = "/pools/default/buckets";
        return services::service_operation_result(make_management_operation(call));
    };
    EXPECT_TRUE(is_ambiguous(managed("POST"), 500, "{}"));
    EXPECT_TRUE(is_ambiguous(managed("POST"), 503, ""));
    EXPECT_FALSE(is_ambiguous(managed("POST"), 400, "{}"));
    EXPECT_FALSE(is_ambiguous(managed("GET"), 500, "{}"));
}

TEST_F(service_rules, RH_24_other_answers_are_not_retried) {
    expect_failed(writing_query(), query_error(3000, "syntax"), errc::parsing_failure);
    expect_failed(writing_query(), query_error(13014, "who?"), errc::authentication_failure);
    expect_failed(writing_query(), answer(503, ""), errc::service_not_available);
}

TEST_F(service_rules, RH_21_temporary_errors_of_analytics_are_retried) {
    for (const int code : {23000, 23003, 23007}) {
        expect_retried(
            readonly_analytics(), query_error(code, "busy"),
            retry_reason::analytics_temporary_failure);
    }
}

TEST_F(service_rules, RH_22_too_many_searches_are_retried_unless_a_limit_is_named) {
    expect_retried(
        search_all(), answer(429, R"({"error":"slow down","status":"fail"})"),
        retry_reason::search_too_many_requests);
    expect_failed(
        search_all(), answer(429, R"({"error":"num_concurrent_requests","status":"fail"})"),
        errc::rate_limited);
}

TEST_F(service_rules, RH_22_a_search_whose_partitions_are_not_available_yet_is_retried) {
    const std::string starting =
        R"({"error":"rest_index: Query, err: pindex not available","status":"fail"})";
    expect_retried(
        search_all(), answer(400, starting), retry_reason::service_response_code_indicated);
    expect_failed(search_all(), answer(500, starting), errc::internal_server_failure);
    expect_failed(search_all(), answer(400, R"({"error":"bad query"})"), errc::invalid_argument);
}

TEST_F(service_rules, a_raw_request_is_named_after_its_service) {
    for (const wire::service service : all_services) {
        services::service_call call;
        call.service = service;
        call.target = "/admin/ping";
        EXPECT_EQ(make_management_operation(call).operation, wire::to_string(service));
    }
}

TEST_F(service_rules, a_path_that_the_server_does_not_offer_is_a_missing_feature) {
    for (const wire::service service : all_services) {
        services::service_call call;
        call.service = service;
        call.method = "GET";
        call.target = "/nosuch";
        expect_failed(
            make_management_operation(call), answer(404, "Not found."),
            errc::feature_not_available);
    }
}

TEST_F(service_rules, RH_20_an_execute_of_the_user_is_not_retried) {
    for (const int code : {4040, 4050, 4070}) {
        couchbase::query_options options{.readonly = true};
        const auto missing = query_error(code, "No such prepared statement: nosuch");
        expect_failed(
            services::make_query_operation("EXECUTE nosuch", options), missing,
            errc::prepared_statement_failure);
        options.adhoc = false;
        for (const bool is_enhanced : {true, false}) {
            services::query_plan plan{std::make_shared<services::prepared_cache>(), is_enhanced};
            expect_failed(
                services::make_query_operation("EXECUTE nosuch", options, {}, plan), missing,
                errc::prepared_statement_failure);
        }
    }
}

TEST_F(service_rules, RH_23_views_by_status_and_text) {
    expect_retried(one_view(), answer(302, ""), retry_reason::views_no_active_partition);
    expect_retried(
        one_view(), answer(404, R"({"error":"not_found","reason":"missing"})"),
        retry_reason::views_temporary_failure);
    expect_failed(
        one_view(), answer(404, R"({"error":"not_found","reason":"deleted"})"),
        errc::view_not_found);
}

TEST_F(service_rules, RH_23_a_redirect_is_never_followed) {
    scripted_http_answer elsewhere = answer(307, "");
    elsewhere.headers = {{"Location", "/elsewhere"}};
    expect_retried(one_view(), elsewhere, retry_reason::views_temporary_failure);
    ASSERT_EQ(cluster_.http_requests.size(), 2U);
    EXPECT_EQ(cluster_.http_requests[1].request.target, cluster_.http_requests[0].request.target);
}

TEST_F(service_rules, RH_18_management_is_idempotent_when_it_is_a_get_or_head) {
    services::service_call call;
    call.target = "/pools";
    EXPECT_TRUE(make_management_operation(call).is_idempotent);
    call.method = "HEAD";
    EXPECT_TRUE(make_management_operation(call).is_idempotent);
    call.method = "POST";
    EXPECT_FALSE(make_management_operation(call).is_idempotent);
    EXPECT_TRUE(readonly_query()->is_idempotent);
    EXPECT_FALSE(writing_query()->is_idempotent);
}

// --- prepared statements ---

class prepared_statements : public service_rules {
protected:
    static services::service_operation_result prepared(const services::query_plan& plan) {
        return services::make_query_operation(
            "SELECT 1", {.readonly = true, .adhoc = false}, {}, plan);
    }
    static scripted_http_answer prepared_and_run(const std::string& name) {
        return answer(200, R"({"results":[1],"prepared":")" + name + R"(","status":"success"})");
    }
    std::string body(std::size_t request) const {
        return cluster_.http_requests.at(request).request.body;
    }
};

TEST_F(prepared_statements, are_prepared_and_run_at_once_then_run_by_name) {
    services::query_plan plan{std::make_shared<services::prepared_cache>(), true};
    engine_driver driver(cluster_);
    const auto first = run(driver, prepared(plan), {prepared_and_run("p1"), success()});
    EXPECT_FALSE(first->result.ec);
    EXPECT_EQ(first->result.http->rows.size(), 1U);
    const auto second = driver.after(10ms, driver.start_http(std::move(*prepared(plan))));
    EXPECT_FALSE(second->result.ec);
    ASSERT_EQ(cluster_.http_requests.size(), 2U);
    EXPECT_NE(body(0).find("PREPARE SELECT 1"), std::string::npos) << body(0);
    EXPECT_NE(body(0).find("\"auto_execute\":true"), std::string::npos) << body(0);
    EXPECT_NE(body(1).find("\"prepared\":\"p1\""), std::string::npos) << body(1);
    EXPECT_EQ(body(1).find("SELECT"), std::string::npos) << body(1);
}

TEST_F(prepared_statements, RH_20_are_prepared_again_if_the_service_has_lost_them) {
    services::query_plan plan{std::make_shared<services::prepared_cache>(), true};
    plan.cache->put("SELECT 1", "", {"old", ""});
    engine_driver driver(cluster_);
    const auto done =
        run(driver, prepared(plan),
            {query_error(4040, "No such prepared statement"), prepared_and_run("new")});
    EXPECT_FALSE(done->result.ec) << done->result.ec.message();
    EXPECT_EQ(done->result.retry_attempts, 1U);
    EXPECT_EQ(
        done->result.history->entries[0].reason_as<retry_reason>(),
        retry_reason::query_prepared_statement_failure);
    ASSERT_EQ(cluster_.http_requests.size(), 2U);
    EXPECT_NE(body(0).find("\"prepared\":\"old\""), std::string::npos);
    EXPECT_NE(body(1).find("PREPARE SELECT 1"), std::string::npos);
    EXPECT_EQ(plan.cache->find("SELECT 1")->name, "new");
}

TEST_F(prepared_statements, RH_42_preparing_changes_nothing_so_its_flagged_error_is_retried) {
    services::query_plan plan{std::make_shared<services::prepared_cache>(), false};
    engine_driver driver(cluster_);
    const auto done =
        run(driver, services::make_query_operation("DELETE FROM t", {.adhoc = false}, {}, plan),
            {query_error(1080, "late", true),
             answer(200, R"({"results":[{"name":"p1","encoded_plan":"H4"}],"status":"success"})"),
             query_error(1080, "late", true), success()});
    EXPECT_EQ(done->result.ec, errc::ambiguous_timeout) << done->result.ec.message();
    EXPECT_EQ(cluster_.http_requests.size(), 3U) << "prepared twice and executed once";
}

TEST_F(prepared_statements, of_older_servers_are_prepared_first_and_sent_with_their_plan) {
    services::query_plan plan{std::make_shared<services::prepared_cache>(), false};
    engine_driver driver(cluster_);
    const auto done = run(
        driver, prepared(plan),
        {answer(200, R"({"results":[{"name":"p1","encoded_plan":"cGxhbg=="}],"status":"success"})"),
         success()});
    EXPECT_FALSE(done->result.ec) << done->result.ec.message();
    EXPECT_EQ(done->result.retry_attempts, 0U) << "the second part is not a retry";
    ASSERT_EQ(cluster_.http_requests.size(), 2U);
    EXPECT_NE(body(1).find("\"encoded_plan\":\"cGxhbg==\""), std::string::npos) << body(1);
    ASSERT_EQ(done->result.http->rows.size(), 1U);
    EXPECT_EQ(done->result.http->rows[0], "1") << "the plan is not a row of the user";
}

TEST_F(prepared_statements, are_run_in_one_request_only_if_the_cluster_supports_it) {
    const services::query_plan plan{std::make_shared<services::prepared_cache>(), true};
    cluster_.can_prepare_and_run = false;
    engine_driver driver(cluster_);
    const auto first = run(
        driver, prepared(plan),
        {answer(200, R"({"results":[{"name":"p1","encoded_plan":"cGxhbg=="}],"status":"success"})"),
         success(), prepared_and_run("p2"), success()});
    EXPECT_FALSE(first->result.ec) << first->result.ec.message();
    ASSERT_EQ(cluster_.http_requests.size(), 2U);
    EXPECT_EQ(body(0).find("auto_execute"), std::string::npos) << body(0);
    EXPECT_NE(body(1).find("\"encoded_plan\""), std::string::npos) << body(1);
    // The cluster is upgraded while the client runs: old plans are no longer sent.
    cluster_.can_prepare_and_run = true;
    ++cluster_.revision.rev;
    driver.push_configuration(driver.connections_to(0)[0], 0, false);
    driver.settle();
    for (int round = 0; round < 2; ++round) {
        const auto next = driver.after(10ms, driver.start_http(std::move(*prepared(plan))));
        EXPECT_FALSE(next->result.ec) << next->result.ec.message();
    }
    ASSERT_EQ(cluster_.http_requests.size(), 4U);
    EXPECT_NE(body(2).find("\"auto_execute\":true"), std::string::npos) << body(2);
    EXPECT_NE(body(3).find("\"prepared\":\"p2\""), std::string::npos) << body(3);
    EXPECT_EQ(body(3).find("encoded_plan"), std::string::npos) << body(3);
}

// The strategy of a call sees one attempt, although it takes two requests.
class prepared_attempts : public prepared_statements {
protected:
    prepared_attempts() {
        cluster_.on_http = [this](const seen_http_request& seen) {
            const bool is_first = seen.request.body.contains("PREPARE");
            scripted_http_answer made =
                is_first ? answer(
                               200, R"({"results":[{"name":"p1","encoded_plan":"cGxhbg=="}],)"
                                    R"("status":"success"})")
                         : success();
            made.closes = is_first && loses_connection;
            for (scripted_node& node : cluster_.nodes) {
                node.ignores_http_connections = loses_connection;
            }
            return made;
        };
    }
    http_request statement(driver::strategy_traits traits) const {
        services::query_plan plan{std::make_shared<services::prepared_cache>(), false};
        http_request made(std::move(*prepared(plan)));
        made.strategy = std::make_shared<three_attempts>(traits);
        made.timeout = 1s;
        return made;
    }
    bool loses_connection = false;  // after the first request, and no other one opens
    circuit_breaker breaker_{sensitive_breaker()};
};

// The second request was refused because the first one was the probe of the half-open breaker.
TEST_F(prepared_attempts, close_a_half_open_breaker) {
    kept_summaries observer;
    connected_driver driver(cluster_);
    open(breaker_, driver.now);
    driver.advance(1500ms);
    const auto done = driver.after(
        100ms, driver.start_http(statement({.circuit = &breaker_, .observer = &observer})));
    EXPECT_TRUE(done->has_succeeded()) << done->result.ec.message();
    EXPECT_EQ(breaker_.state(), circuit_state::closed);
    ASSERT_EQ(observer.ended.size(), 1U);
    EXPECT_EQ(observer.ended[0].attempts, 1U);
}

TEST_F(prepared_attempts, do_not_open_the_breaker_while_they_wait_for_a_connection) {
    loses_connection = true;
    for (int round = 0; round < 2; ++round) {
        for (scripted_node& node : cluster_.nodes) {
            node.ignores_http_connections = false;
        }
        connected_driver driver(cluster_);
        const auto done = driver.after(2s, driver.start_http(statement({.circuit = &breaker_})));
        ASSERT_EQ(done->code(), errc::unambiguous_timeout) << "nothing was executed";
    }
    EXPECT_EQ(breaker_.state(), circuit_state::closed);
}

// --- Retry-After ---

TEST_F(service_rules, RH_43_retry_after_is_read_as_seconds_or_against_the_date_of_the_answer) {
    for (const auto& headers :
         {http::header_list{{"Retry-After", "2"}},
          http::header_list{
              {"Date", "Sun, 15 Nov 2026 08:00:00 GMT"},
              {"Retry-After", "Sun, 15 Nov 2026 08:00:02 GMT"}}}) {
        busy_once_with(headers);
        connected_driver driver(cluster_);
        auto done = driver.after(1990ms, driver.start_http(std::move(*readonly_analytics())));
        EXPECT_EQ(done->calls, 0);
        driver.advance(20ms);
        EXPECT_EQ(done->calls, 1);
    }
}

// SM-12 ignores what is longer than a day, unparsable or negative. Taken as a minimum, such a value
// would only hold the request until its deadline.
TEST_F(service_rules, RH_43_a_retry_after_outside_the_limits_is_ignored) {
    const auto dated = [](std::string_view until) {
        return http::header_list{
            {"Date", "Sun, 15 Nov 2026 08:00:00 GMT"}, {"Retry-After", std::string(until)}};
    };
    for (const auto& headers :
         {http::header_list{{"Retry-After", "90000"}}, http::header_list{{"Retry-After", "-5"}},
          http::header_list{{"Retry-After", "soon"}}, dated("Mon, 16 Nov 2026 08:00:01 GMT")}) {
        busy_once_with(headers);
        connected_driver driver(cluster_);
        auto done = driver.after(100ms, driver.start_http(std::move(*readonly_analytics())));
        ASSERT_TRUE(done->has_succeeded()) << headers.back().value << done->result.ec.message();
    }
}

}  // namespace
}  // namespace reprise::engine::testing
