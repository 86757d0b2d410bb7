#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "live_services.hpp"

// Tests which answers of the HTTP services are retried: each rule once, end to end, with the
// server's own count of requests.

namespace retry_rules_test {

using namespace live_services;
using couchbase::json_text;

// The end of one call to each service: the error, the retries and the reasons.
struct ending {
    std::optional<couchbase::error> failure{};
    std::uint32_t retry_attempts = 0;

    [[nodiscard]] bool is_ok() const { return !failure; }
};

template <class Result>
ending ending_of(const Result& result) {
    if (!result) {
        return {result.error(), result.error().retry_attempts()};
    }
    return {std::nullopt, result->trace.retry_attempts};
}

struct call_plan {
    bool is_readonly = true;
    std::string context{};
    std::shared_ptr<couchbase::retry_strategy> strategy{};
};

ending call(const couchbase::cluster& cluster, service where, const call_plan& plan = {}) {
    const auto timeout = std::optional<reprise::duration>(5s);
    switch (where) {
        case service::query:
            return ending_of(cluster.query(
                plan.is_readonly ? "SELECT RAW 1"
                                 : R"(UPSERT INTO travel (KEY, VALUE) VALUES ("w", 1))",
                {.timeout = timeout,
                 .readonly = plan.is_readonly,
                 .client_context_id = plan.context,
                 .strategy = plan.strategy}));
        case service::analytics:
            return ending_of(cluster.analytics_query(
                "SELECT RAW 1", {.timeout = timeout,
                                 .readonly = plan.is_readonly,
                                 .client_context_id = plan.context,
                                 .strategy = plan.strategy}));
        case service::search:
            return ending_of(cluster.search(
                "words", couchbase::search_query::match_all(),
                {.timeout = timeout, .strategy = plan.strategy}));
        case service::views:
            return ending_of(
                cluster.bucket(bucket_name)
                    .view_query("design", "all", {.timeout = timeout, .strategy = plan.strategy}));
        default:
            break;
    }
    couchbase::management_request request{.target = "/pools/default/buckets"};
    if (!plan.is_readonly) {
        request = {
            .method = "POST",
            .target = "/pools/default/buckets/travel/scopes",
            .content_type = "application/x-www-form-urlencoded",
            .body = "name=fresh"};
    }
    return ending_of(
        cluster.management_request(request, {.timeout = timeout, .strategy = plan.strategy}));
}

const std::vector<service> all_services = {
    service::query, service::analytics, service::search, service::views, service::management};

std::unique_ptr<sandbox::embedded_cluster> start_filled() {
    auto server = start_services();
    server->with_cluster([](sandbox::cluster& at) {
        ASSERT_TRUE(at.services().create_search_index("words", bucket_name));
        ASSERT_TRUE(at.services().put_view(bucket_name, "design", "all"));
    });
    return server;
}

// The end of a call whose first request to this service gets this answer.
ending disturbed(
    sandbox::embedded_cluster& server, const couchbase::cluster& cluster, service where,
    const sandbox::service_fault_effect& effect, const call_plan& plan = {}) {
    server.with_cluster([](sandbox::cluster& at) { at.services().faults().clear(); });
    add_rule(server, disturb(where, effect));
    return call(cluster, where, plan);
}

TEST(service_retries, every_service_answers_undisturbed) {
    const auto [server, cluster] = connected(start_filled());
    for (const service where : all_services) {
        const auto ended = call(cluster, where);
        EXPECT_TRUE(ended.is_ok()) << *ended.failure;
        EXPECT_EQ(ended.retry_attempts, 0U);
    }
}

TEST(service_retries, RH_17_the_strategy_of_a_client_and_of_a_call_is_asked_for_every_service) {
    const auto of_client = std::make_shared<noting_strategy>();
    auto options = app_options();
    options.strategy = of_client;
    const auto [server, cluster] = connected(start_filled(), options);
    std::size_t asked = 0;
    for (const service where : all_services) {
        const auto ended = disturbed(*server, cluster, where, sandbox::fault_close_before{});
        EXPECT_TRUE(ended.is_ok()) << *ended.failure;
        EXPECT_EQ(ended.retry_attempts, 1U);
        ASSERT_EQ(of_client->asked().size(), ++asked);
        EXPECT_EQ(of_client->asked().back().second, retry_reason::socket_closed_while_in_flight);

        const auto of_call = std::make_shared<noting_strategy>(true);
        const auto refused = disturbed(
            *server, cluster, where, sandbox::fault_close_before{}, {.strategy = of_call});
        EXPECT_FALSE(refused.is_ok());
        EXPECT_EQ(of_call->asked().size(), 1U);
        EXPECT_EQ(of_client->asked().size(), asked) << "the call's is asked instead";
    }
    const auto operations = of_client->asked();
    ASSERT_EQ(operations.size(), 5U);
    EXPECT_EQ(operations[0].first, "query");
    EXPECT_EQ(operations[1].first, "analytics");
    EXPECT_EQ(operations[2].first, "search");
    EXPECT_EQ(operations[3].first, "view");
    EXPECT_EQ(operations[4].first, "management");
}

TEST(service_retries, RH_18_only_idempotent_requests_are_sent_again_after_a_close_in_flight) {
    const auto [server, cluster] = connected(start_filled());
    for (const service where : all_services) {
        const auto again =
            disturbed(*server, cluster, where, sandbox::fault_close_after{}, {.context = "read"});
        EXPECT_TRUE(again.is_ok()) << *again.failure;
        EXPECT_EQ(again.retry_attempts, 1U);
    }
    EXPECT_EQ(seen(*server, "read").first, 4U) << "query and analytics, twice each";
    for (const service where : {service::query, service::analytics, service::management}) {
        const auto before = requests_to(*server, where);
        const auto once = disturbed(
            *server, cluster, where, sandbox::fault_close_after{},
            {.is_readonly = false, .context = "write"});
        ASSERT_FALSE(once.is_ok());
        EXPECT_EQ(once.failure->code(), errc::request_canceled) << *once.failure;
        EXPECT_TRUE(once.failure->is_ambiguous());
        EXPECT_EQ(requests_to(*server, where), before + 1);
    }
    EXPECT_EQ(seen(*server, "write"), std::pair(std::size_t{2}, std::size_t{1}))
        << "one statement wrote, once";
}

TEST(service_retries, RH_20_RH_24_query_errors_by_code_and_text) {
    const auto [server, cluster] = connected(start_filled());
    const auto reason_of = [&](int code, const std::string& text) {
        const auto noting = std::make_shared<noting_strategy>();
        const auto ended = disturbed(
            *server, cluster, service::query, query_error(code, text), {.strategy = noting});
        EXPECT_EQ(ended.is_ok(), !noting->asked().empty()) << code;
        return noting->asked().empty() ? std::nullopt
                                       : std::optional(noting->asked().front().second);
    };
    EXPECT_EQ(reason_of(5000, "queryport.indexNotFound"), retry_reason::query_index_not_found);
    for (const int code : {5000, 4040, 4050, 4070, 4080, 3000, 12009, 1080, 13014, 99999}) {
        EXPECT_EQ(reason_of(code, "something else"), std::nullopt) << code;
    }
}

TEST(service_retries, RH_21_analytics_errors_by_code) {
    const auto [server, cluster] = connected(start_filled());
    for (const int code : {23000, 23003, 23007}) {
        const auto ended =
            disturbed(*server, cluster, service::analytics, query_error(code, "busy"));
        EXPECT_TRUE(ended.is_ok()) << *ended.failure;
        EXPECT_EQ(ended.retry_attempts, 1U) << code;
    }
    for (const int code : {24000, 23001, 25000}) {
        const auto ended = disturbed(*server, cluster, service::analytics, query_error(code, "no"));
        ASSERT_FALSE(ended.is_ok()) << code;
        EXPECT_EQ(ended.retry_attempts, 0U) << code;
        EXPECT_EQ(ended.failure->service_code(), static_cast<std::uint32_t>(code));
    }
}

TEST(service_retries, RH_22_a_search_is_retried_after_429_unless_a_limit_is_named) {
    const auto [server, cluster] = connected(start_filled());
    const auto busy = disturbed(
        *server, cluster, service::search,
        sandbox::service_fault_answer{429, {}, R"({"error":"too many requests","status":"fail"})"});
    EXPECT_TRUE(busy.is_ok()) << *busy.failure;
    EXPECT_EQ(busy.retry_attempts, 1U);
    const auto limited = disturbed(
        *server, cluster, service::search,
        sandbox::service_fault_answer{
            429, {}, R"({"error":"num_queries_per_min limit","status":"fail"})"});
    ASSERT_FALSE(limited.is_ok());
    EXPECT_EQ(limited.failure->code(), errc::rate_limited) << *limited.failure;
    EXPECT_EQ(limited.retry_attempts, 0U);
}

TEST(service_retries, RH_22_a_search_service_that_starts_is_retried) {
    const auto [server, cluster] = connected(start_filled());
    const auto starting = disturbed(
        *server, cluster, service::search,
        sandbox::service_fault_answer{
            400, {}, R"({"error":"rest_index: pindex not available","status":"fail"})"});
    EXPECT_TRUE(starting.is_ok()) << *starting.failure;
    EXPECT_EQ(starting.retry_attempts, 1U);
}

// Compared by the errors that a program sees.
TEST(service_retries, missing_keyspaces_and_paths_are_named) {
    const auto [server, cluster] = connected(start_filled());
    const auto error_of = [&](const std::string& statement) {
        const auto result = cluster.query(statement, {.timeout = 5s});
        EXPECT_FALSE(result) << statement;
        return result ? std::error_code() : result.error().code();
    };
    EXPECT_EQ(error_of("SELECT RAW 1 FROM nosuch"), errc::bucket_not_found);
    EXPECT_EQ(error_of("SELECT RAW 1 FROM travel.nosuch.c"), errc::scope_not_found);
    EXPECT_EQ(error_of("SELECT RAW 1 FROM travel._default.nosuch"), errc::collection_not_found);
    EXPECT_EQ(error_of("EXECUTE nosuch"), errc::prepared_statement_failure);
    const auto raw = must_fail(cluster.management_request({.target = "/nosuch"}));
    EXPECT_EQ(raw.code(), errc::feature_not_available) << raw;
}

TEST(service_retries, RH_23_views_are_retried_by_status_and_text) {
    const auto [server, cluster] = connected(start_filled());
    const auto attempts = [&](int status, const std::string& body) {
        return disturbed(
                   *server, cluster, service::views,
                   sandbox::service_fault_answer{status, {}, body})
            .retry_attempts;
    };
    for (const int status :
         {300, 301, 302, 303, 307, 401, 408, 409, 412, 416, 417, 501, 502, 503, 504}) {
        EXPECT_EQ(attempts(status, "{}"), 1U) << status;
    }
    EXPECT_EQ(attempts(404, R"({"error":"not_found","reason":"missing"})"), 1U);
    EXPECT_EQ(attempts(404, R"({"error":"not_found","reason":"deleted"})"), 0U);
    EXPECT_EQ(attempts(500, R"({"error":"busy"})"), 1U);
    EXPECT_EQ(attempts(500, R"({"error":"{not_found, missing_named_view}"})"), 0U);
    EXPECT_EQ(attempts(500, R"({"error":"x","reason":"badarg"})"), 0U);
    EXPECT_EQ(attempts(400, "{}"), 0U);
}

TEST(service_retries, RH_42_an_error_that_asks_for_a_retry_is_retried_except_12016) {
    const auto [server, cluster] = connected(start_filled());
    const auto asked =
        disturbed(*server, cluster, service::query, query_error(5999, "later", true));
    EXPECT_TRUE(asked.is_ok()) << *asked.failure;
    EXPECT_EQ(asked.retry_attempts, 1U);
    const auto index =
        disturbed(*server, cluster, service::query, query_error(12016, "no index", true));
    ASSERT_FALSE(index.is_ok());
    EXPECT_EQ(index.retry_attempts, 0U);
    EXPECT_EQ(index.failure->service_code(), 12016U);
}

// One document with a counter, and a statement that raises it.
class counted_write {
public:
    counted_write() : server_(start_filled()), cluster_(connect(*server_)) {
        EXPECT_TRUE(documents(cluster_).upsert("counter", json_text{R"({"hits":0})"}));
    }
    // The error of one statement whose first request is disturbed.
    couchbase::error raise(
        const sandbox::service_fault_effect& effect, reprise::duration timeout,
        std::shared_ptr<couchbase::retry_strategy> strategy = {}) {
        server_->with_cluster([](sandbox::cluster& at) { at.services().faults().clear(); });
        add_rule(*server_, disturb(service::query, effect));
        const auto result = cluster_.query(
            R"(UPDATE travel USE KEYS "counter" SET hits = hits + 1)",
            {.timeout = timeout, .strategy = std::move(strategy)});
        EXPECT_FALSE(result);
        return result ? couchbase::error(errc{}, "succeeded") : result.error();
    }
    [[nodiscard]] std::string counter() const {
        return std::string(documents(cluster_).get("counter")->text());
    }

private:
    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
};

// As seen on a real server: it ends its own timeout with HTTP 200, 1080 and `retry: true`, and the
// changes stay. The client's own timeout is half a second longer, so a retry would be possible.
TEST(service_retries, RH_42_a_statement_that_the_server_timed_out_is_executed_exactly_once) {
    counted_write write;
    const auto error = write.raise(sandbox::fault_delay{20s}, 5001ms);
    EXPECT_EQ(error.code(), errc::ambiguous_timeout) << error;
    EXPECT_TRUE(error.is_ambiguous());
    EXPECT_EQ(error.service_code(), 1080U) << error;
    EXPECT_EQ(error.retry_attempts(), 0U);
    EXPECT_EQ(write.counter(), R"({"hits":1})");
}

// Retries everything at once.
class eager_strategy final : public couchbase::retry_strategy {
public:
    void retry_after(const couchbase::retry_question&, couchbase::retry_sink& sink) override {
        sink.answer(couchbase::retry_action::after(reprise::duration::zero()));
    }
};

TEST(service_retries, RH_42_an_error_after_the_effect_is_never_followed_by_a_second_execution) {
    counted_write write;
    int raised = 0;
    for (const bool is_flagged : {true, false}) {
        for (const int code : {1080, 12008, 5999, 1181}) {
            auto answer = query_error(code, "too late", is_flagged);
            answer.is_applied = true;
            const auto error = write.raise(answer, 5s, std::make_shared<eager_strategy>());
            EXPECT_EQ(error.code() == errc::ambiguous_timeout, code == 1080) << error;
            EXPECT_TRUE(error.is_ambiguous()) << error;
            EXPECT_EQ(error.retry_attempts(), 0U) << error;
            EXPECT_EQ(write.counter(), R"({"hits":)" + std::to_string(++raised) + "}");
        }
    }
    const auto broken = write.raise(sandbox::service_fault_answer{503, {}, "", true}, 5s);
    EXPECT_EQ(broken.code(), errc::service_not_available) << broken;
    EXPECT_TRUE(broken.is_ambiguous()) << broken;
}

TEST(service_retries, RH_42_a_write_that_met_a_full_queue_is_sent_again) {
    const auto [server, cluster] = connected(start_filled());
    const auto queued = disturbed(
        *server, cluster, service::query, query_error(1201, "queue full", true),
        {.is_readonly = false, .context = "queued"});
    EXPECT_TRUE(queued.is_ok()) << *queued.failure;
    EXPECT_EQ(queued.retry_attempts, 1U);
    EXPECT_EQ(seen(*server, "queued"), std::pair(std::size_t{2}, std::size_t{1}));
}

TEST(service_retries, RH_43_retry_after_is_the_minimum_delay) {
    const auto [server, cluster] = connected(start_filled());
    const auto begun = std::chrono::steady_clock::now();
    const auto ended = disturbed(
        *server, cluster, service::views,
        sandbox::service_fault_answer{503, {{"Retry-After", "1"}}, "{}"});
    EXPECT_TRUE(ended.is_ok()) << *ended.failure;
    EXPECT_EQ(ended.retry_attempts, 1U);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 1s);
    // A wait beyond the deadline ends at the deadline.
    server->with_cluster([](sandbox::cluster& at) { at.services().faults().clear(); });
    add_rule(*server, disturb(service::query, [] {
        auto answer = query_error(5999, "later", true);
        answer.headers = {{"Retry-After", "60"}};
        return answer;
    }()));
    const auto late = must_fail(cluster.query(
        "SELECT 1", {.timeout = 200ms, .readonly = true, .client_context_id = "cap"}));
    EXPECT_EQ(late.code(), errc::unambiguous_timeout) << late;
    EXPECT_EQ(seen(*server, "cap").first, 1U);
    // More than a day is ignored.
    server->with_cluster([](sandbox::cluster& at) { at.services().faults().clear(); });
    const auto bogus = disturbed(
        *server, cluster, service::views,
        sandbox::service_fault_answer{503, {{"Retry-After", "90000"}}, "{}"});
    EXPECT_TRUE(bogus.is_ok()) << *bogus.failure;
    EXPECT_EQ(bogus.retry_attempts, 1U);
}

TEST(service_retries, timeouts_are_ambiguous_only_for_statements_that_may_have_written) {
    const auto [server, cluster] = connected(start_filled());
    add_rule(*server, disturb(service::query, sandbox::fault_no_answer{}, 2));
    const auto read = must_fail(cluster.query("SELECT 1", {.timeout = 100ms, .readonly = true}));
    EXPECT_EQ(read.code(), errc::unambiguous_timeout) << read;
    const auto write = must_fail(cluster.query(
        R"(UPSERT INTO travel (KEY, VALUE) VALUES ("t", 1))",
        {.timeout = 100ms, .client_context_id = "late"}));
    EXPECT_EQ(write.code(), errc::ambiguous_timeout) << write;
    EXPECT_TRUE(write.is_ambiguous());
    EXPECT_EQ(seen(*server, "late"), std::pair(std::size_t{1}, std::size_t{1}));
}

TEST(service_retries, a_call_waits_until_the_timeout_for_a_service_that_no_node_offers) {
    auto options = service_options();
    options.services = {service::query};
    const auto [server, cluster] = connected(start(std::move(options)));
    const auto none =
        must_fail(cluster.analytics_query("SELECT 1", {.timeout = 200ms, .readonly = true}));
    EXPECT_EQ(none.code(), errc::unambiguous_timeout) << none;
    EXPECT_TRUE(none.retry_reasons().contains(retry_reason::service_not_available));
}

}  // namespace retry_rules_test
